"""Lanes with arguments that they share, and values with a number at several places: bits of a loop, and few calls."""

import collections
import tracemalloc
from typing import Any

import numpy as np
import pytest
from counted_calls import calls
from hypothesis import given, settings
from hypothesis import strategies as st
from leaves import bits

import tapeengine as te
from tapeengine.errors import StructureError

Point = collections.namedtuple("Point", "x y")


def total(x: Any) -> Any:
    if isinstance(x, dict):
        x = list(x.values())
    return sum(map(total, x)) if isinstance(x, (list, tuple)) else x * x if not isinstance(x, (int, str)) else 1.0


def of_shape(values: Any, shape: Any) -> Any:
    """A structure of a shape, with the next values where the shape has None."""
    if isinstance(shape, dict):
        return {key: of_shape(values, item) for key, item in shape.items()}
    if isinstance(shape, Point):
        return Point(*[of_shape(values, item) for item in shape])
    if isinstance(shape, (list, tuple)):
        return type(shape)([of_shape(values, item) for item in shape])
    return next(values) if shape is None else shape


SHAPES: list[Any] = [
    None,
    [None] * 5,
    [[None, None], [None], []],
    {"a": [None, 3], "b": (None, "name", [None, None])},
    Point(None, {"x": [None, None, 2]}),
    (None, [None, [None, (None, 7, None)]], None),
]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(SHAPES),
    st.sampled_from(SHAPES),
    st.one_of(st.integers(1, 40), st.just(300)),
    st.sampled_from([float, np.float64]),
    st.integers(0, 9),
    st.sampled_from([1, 3]),
)
def test_the_bits_of_a_loop(shared: Any, mapped: Any, lanes: int, number: type, seed: int, step: int) -> None:
    random = np.random.default_rng(seed)
    p = of_shape(iter(map(number, random.normal(size=20) * 10.0 ** random.integers(-8, 8, 20))), shared)
    wide = random.normal(size=(20, step * lanes))
    x = of_shape(iter(wide[:, ::step]), mapped)
    cotangent = random.normal(size=lanes)

    def program(p: Any, x: Any) -> Any:
        return total(p) * total(x) + total(x)

    each = [
        te.vjp(program, p, of_shape(iter(map(float, wide[:, k * step])), mapped))[1](float(cotangent[k]))
        for k in range(lanes)
    ]
    wanted_p = [np.array(leaves) for leaves in zip(*[leaves_of(one[0]) for one in each], strict=True)]
    wanted_x = [np.array(leaves) for leaves in zip(*[leaves_of(one[1]) for one in each], strict=True)]
    for axes in [(None, 0), (None, axes_of(mapped))]:
        staged = te.vmap(te.stage(program), axes)
        for _ in range(2):
            found_p, found_x = te.vjp(staged, p, x)[1](cotangent)
            assert bits(leaves_of(found_p)) == bits([number(np.sum(leaf)) for leaf in wanted_p])
            assert [leaf.tobytes() for leaf in leaves_of(found_x)] == [leaf.tobytes() for leaf in wanted_x]
            assert type(found_p) is type(p) or shared is None


def axes_of(shape: Any) -> Any:
    """The axis 0 for each leaf."""
    if isinstance(shape, dict):
        return {key: axes_of(item) for key, item in shape.items()}
    if isinstance(shape, Point):
        return Point(*map(axes_of, shape))
    return type(shape)(map(axes_of, shape)) if isinstance(shape, (list, tuple)) else 0


def leaves_of(x: Any) -> list[Any]:
    """The leaves of a cotangent that are not None."""
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (list, tuple)):
        return [leaf for item in x for leaf in leaves_of(item)]
    return [] if x is None else [x]


@pytest.mark.parametrize("nested", [False, True])
def test_calls_do_not_grow_with_the_shared_numbers(nested: bool) -> None:
    def calls_for(n: int) -> int:
        p = [[0.5 + k, 1.5] for k in range(n)] if nested else [0.5 + k for k in range(n)]
        mapped = te.vmap(te.stage(lambda p, x: total(p) * x), (None, 0))
        x = np.ones(8)
        for _ in range(2):
            te.vjp(mapped, p, x)[1](x)
        return len(calls(lambda: te.vjp(mapped, p, x)[1](x)))

    assert calls_for(400) == calls_for(10)


@pytest.mark.parametrize("lanes", [1, 8, 13])
@pytest.mark.parametrize("shared", [[0, 2], [1, 2, 4], [1], [3], [0, 1, 2, 3]])
def test_shared_numbers_between_others(shared: list[int], lanes: int) -> None:
    def program(xs: Any) -> Any:
        return xs[0] * xs[1] + xs[2] * xs[3] * xs[4] + xs[2]

    random = np.random.default_rng(lanes)
    xs = [float(random.normal()) if k in shared else random.normal(size=lanes) for k in range(5)]
    each = [te.grad(program)([x if k in shared else float(x[i]) for k, x in enumerate(xs)]) for i in range(lanes)]
    columns = [np.array(column) for column in zip(*each, strict=True)]
    mapped = te.vmap(te.stage(program), ([None if k in shared else 0 for k in range(5)],))
    for _ in range(2):
        found = te.vjp(mapped, xs)[1](np.ones(lanes))[0]
        assert bits(found) == bits([float(np.sum(x)) if k in shared else x for k, x in enumerate(columns)])


def test_shared_numbers_take_no_memory_for_each_lane() -> None:
    p, x = [0.5] * 400, np.ones(1 << 14)
    mapped = te.vmap(te.stage(lambda p, x: total(p) * x), (None, 0))
    mapped(p, x)
    tracemalloc.start()
    mapped(p, x)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20 * x.nbytes


def test_one_call_for_each_column() -> None:
    def calls_for(n: int) -> int:
        staged = te.stage(total)
        columns = [np.arange(8.0) + k for k in range(n)]
        for _ in range(2):
            te.vjp(staged.batch, columns)[1](np.ones(8))
        return len(calls(lambda: te.vjp(staged.batch, columns)[1](np.ones(8))))

    assert calls_for(400) - calls_for(10) <= 390


@pytest.mark.parametrize(
    ("axes", "args"),
    [
        ((0, 0), (np.ones(3), 2.0)),
        ((0, 0), (np.ones(3), np.float64(2.0))),
        ((0, 0), (np.ones(3), np.ones(2))),
        ((0, 0), (np.ones(0), np.ones(0))),
        ((None, None), (1.0, 2.0)),
        ((0,), (np.ones(3), 2.0)),
        ((0, 0), (np.ones(3), np.array(2.0))),
    ],
)
def test_what_does_not_fit_is_refused_after_a_recording(axes: Any, args: Any) -> None:
    staged = te.stage(lambda x, y: x * y)
    assert te.vmap(staged, (0, None))(np.ones(3), 2.0).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(StructureError):
        te.vmap(staged, axes)(*args)


def test_an_array_that_lanes_share_is_no_column() -> None:
    program = te.stage(lambda x, y: x * y)
    x = np.array([1.0, 2.0])
    assert te.vmap(program, (0, 0))(x, x).tolist() == [1.0, 4.0]
    assert te.vmap(program, (0, None))(x, x).tolist() == [[1.0, 2.0], [2.0, 4.0]]
    discrete = te.stage(lambda x, n: x * n[0])
    n = np.array([3, 4])
    assert discrete(1.0, n) == 3.0
    with pytest.raises((IndexError, TypeError)):
        te.vmap(discrete, (0, 0))(x, n)


NESTED = st.recursive(st.integers(0, 4), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=12)


@settings(max_examples=80, deadline=None)
@given(NESTED.filter(lambda shape: isinstance(shape, list)), st.booleans(), st.integers(0, 99))
def test_a_number_at_several_places_of_a_value(shape: Any, tuples: bool, seed: int) -> None:
    def program(a: Any, b: Any) -> Any:
        return filled(shape, [a, b, a * b, 2.0, 3], tuples)

    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, 3))
    cotangent = filled(shape, Draws(random), tuples)
    lanes = te.vjp(te.vmap(te.stage(program)), a, b)[1](cotangent)
    for k in range(3):
        plain = te.vjp(program, float(a[k]), float(b[k]))[1](element(cotangent, k))
        assert [float(part[k]).hex() for part in lanes] == [part.hex() for part in plain]


class Draws:
    """At each index, new numbers for three lanes."""

    def __init__(self, random: Any) -> None:
        self.random = random

    def __getitem__(self, k: int) -> Any:
        return None if k == 4 else self.random.normal(size=3)


def filled(shape: Any, values: Any, tuples: bool) -> Any:
    if not isinstance(shape, list):
        return values[shape]
    found = [filled(item, values, tuples) for item in shape]
    return tuple(found) if tuples and len(found) % 2 else found


def element(x: Any, k: int) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)([element(item, k) for item in x])
    return None if x is None else float(x[k])


@pytest.mark.parametrize("number", [float, np.float64])
def test_a_recording_looks_at_lists_of_numbers_without_python(number: type) -> None:
    def calls_for(n: int, run: Any) -> int:
        xs = [number(k) for k in range(n)]
        return len(calls(lambda: run(xs)))

    def program(xs: Any) -> Any:
        return xs[0] * xs[1]

    for run in (lambda xs: te.stage(program)(xs), lambda xs: te.vjp(te.stage(program), xs)):
        run([number(1.0), number(2.0)])
        assert calls_for(500, run) == calls_for(5, run)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("number", [lambda x: x[1], np.sum], ids=["element", "sum"])
def test_a_shared_traced_number_keeps_its_class(number, dtype):
    """A recording is made for the class that the plain program has: of a Python float it would not fit."""
    x = np.array([0.7, -1.2, 2.3], dtype)
    mapped = te.vmap(te.stage(lambda v, w: v * w), (0, None))
    found = te.grad(lambda x: np.sum(mapped(np.ones(3, dtype), number(x))).real)(x)
    wanted = te.grad(lambda x: np.sum(np.ones(3, dtype) * number(x)).real)(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.dtype == dtype


def test_runs_for_values_see_numpys_numbers():
    """Where numpy divides by zero with a warning, Python would raise."""
    seen = []

    def inverse(v):
        seen.append(type(v))
        with np.errstate(divide="ignore"):
            return 1.0 / (v - v) + v

    value = te.vjp(lambda x: te.checkpoint(inverse)(x[1]), np.ones(2))[0]
    assert value == np.inf
    assert float not in seen
