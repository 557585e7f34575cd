"""The structure of tapes compared with elementwise propagation and with dense Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from dependency_sets import expected, expected_scalars
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine._core.sweeps import linear
from tapeengine.sparse.structure import Structure, by_inputs, by_outputs, key_of
from tapeengine.sparse.tracing import traced


def found(program: Callable[[Any], Any], x: Any) -> list[set[int]]:
    result = te.dependencies(program, x)
    assert result.dense == {}
    return [set(result.of(k)) for k in range(result.shape[0])]


def values(n: int) -> Any:
    return np.linspace(0.3, 1.7, n)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: np.sin(x) * x + 2.0,
    "neighbours": lambda x: x[1:] * x[:-1],
    "outer": lambda x: x[:, None] * x[None, :3],
    "sum": lambda x: np.sum(x * x),
    "sum over an axis": lambda x: np.sum(np.reshape(x, (2, 3)), axis=0),
    "mean over two axes": lambda x: np.sum(np.reshape(x, (2, 3, 1)), axis=(0, 2)),
    "kept axes": lambda x: np.reshape(x, (2, 3)) / np.sum(np.reshape(x, (2, 3)), axis=1, keepdims=True),
    "indices": lambda x: x[np.array([0, 0, 5, 2])] * x[1:5],
    "negative steps": lambda x: x[::-2] * x[1::2],
    "transposed": lambda x: np.reshape(x, (2, 3)).T * np.reshape(x, (3, 2)),
    "joined": lambda x: np.concatenate([x[3:], 2.0 * x[:2], np.ones(2)]),
    "stacked": lambda x: np.stack([x[:2], x[2:4], np.zeros(2)], axis=1),
    "rolled": lambda x: x + np.roll(x, 2),
    "cumulated": lambda x: np.cumsum(x),
    "matrix and vector": lambda x: np.reshape(x, (2, 3)) @ x[:3],
    "constant matrix": lambda x: np.arange(12.0).reshape(2, 6) @ x,
    "matrices": lambda x: np.reshape(x, (2, 3)) @ np.reshape(x[::-1], (3, 2)),
    "vector and matrix": lambda x: x[:2] @ np.reshape(x, (2, 3)),
    "dot": lambda x: np.dot(np.reshape(x, (3, 2)), np.reshape(x, (2, 3))),
    "einsum": lambda x: np.einsum("ij,kj->ik", np.reshape(x, (2, 3)), np.reshape(x, (2, 3))),
    "repeated": lambda x: np.repeat(x[:3], 2) * x,
    "element by element": lambda x: [x[0] * x[1], x[2] - x[3], x[0] / x[5]],
    "a broadcast view": lambda x: np.broadcast_to(x[:3], (2, 3)) * np.reshape(x, (2, 3)),
    "a constant": lambda x: [3.0, x[1], np.ones(2)],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_patterns_are_those_of_the_elements(name: str) -> None:
    assert found(PROGRAMS[name], values(6)) == expected(PROGRAMS[name], 6)


def writes(x: Any) -> Any:
    y = tnp.zeros(6)
    y[1:4] = x[:3]
    y[2] = x[5] * x[4]
    z = y.copy()
    y[np.array([0, 3])] = x[1]
    y[4] = 1.0
    return [y, z, y[1:] * y[:-1]]


def test_writes_replace_what_was_there() -> None:
    plain = [{1}, {0}, {4, 5}, {1}, set(), set()]
    copied = [set(), {0}, {4, 5}, {2}, set(), set()]
    assert found(writes, values(6)) == plain + copied + [a | b for a, b in pairwise(plain)]


def test_additions_in_place_add_to_what_was_there() -> None:
    def program(x: Any) -> Any:
        y = x * 1.0
        np.add.at(y, np.array([0, 0, 2]), x[3:])
        return y

    assert found(program, values(6)) == [{0, 3, 4}, {1}, {2, 5}, {3}, {4}, {5}]


LINEAR_ALGEBRA: dict[str, tuple[Callable[[Any], Any], int]] = {
    "solve": (lambda a: np.linalg.solve(a[:, :2], a[:, 2:]), 2),
    "inverse": (lambda a: np.linalg.inv(a[:, :2]), 2),
    "determinant": (lambda a: np.linalg.det(a[:, :2]), 2),
    "convolution": (lambda a: np.convolve(a[0], a[1], "same"), 2),
    "transform": (lambda a: np.fft.rfft(a, axis=1).real, 2),
    "sorted": (lambda a: np.sort(a, axis=1), 2),
    "products": (lambda a: np.cumprod(a, axis=1), 2),
    "extremes": (lambda a: np.max(a, axis=0), 2),
    "norm": (lambda a: np.linalg.norm(a, axis=0), 2),
    "deviations": (lambda a: np.std(a, axis=1), 2),
    "triangles": (lambda a: np.tril(a) @ np.triu(a).T, 2),
    "windows": (lambda a: np.sum(np.lib.stride_tricks.sliding_window_view(a[0], 2) * 2.0, axis=1), 2),
    "where": (lambda a: np.where(a > 0.5, a, a[::-1]), 2),
    "weighted counts": (lambda a: np.bincount(np.array([0, 2, 0, 1]), weights=a[0]), 2),
    "gradients": (lambda a: np.gradient(a, axis=1), 2),
    "differences": (lambda a: np.diff(a, axis=1), 2),
    "padding": (lambda a: np.pad(a, 1), 2),
    "interpolated": (lambda a: np.interp(np.array([0.4, 0.8]), np.arange(4.0), a[0]), 2),
    "least squares": (lambda a: np.linalg.lstsq(a[:, :1], a[:, 2], rcond=None)[0], 2),
    "least squares of a right-hand side": (lambda a: np.linalg.lstsq(np.eye(2), a[:, 2], rcond=None)[0], 2),
    "inverses of no matrices": (lambda a: np.linalg.inv(np.reshape(a[:, :0], (0, 2, 2))), 2),
    "products with nothing": (lambda a: a @ np.zeros((4, 0)), 2),
    "sums of nothing": (lambda a: np.dot(a[:, :0], np.zeros((0, 3))), 2),
    "complex parts": (lambda a: ((a + 1j * a[::-1]) ** 2).imag, 2),
}


@pytest.mark.parametrize("name", LINEAR_ALGEBRA)
def test_patterns_hold_all_entries(name: str) -> None:
    program, rows = LINEAR_ALGEBRA[name]
    a = np.random.default_rng(3).uniform(0.1, 1.0, (rows, 4))
    result = te.dependencies(program, a)
    assert result.dense == {}
    jacobian = te.jacobian(program)(a)
    assert not np.any((jacobian.reshape(result.shape) != 0) & ~result.matrix.toarray())


@pytest.mark.parametrize("name", ["solve", "inverse", "determinant", "norm", "products"])
def test_patterns_of_batches_keep_the_batches_apart(name: str) -> None:
    program, _ = LINEAR_ALGEBRA[name]
    a = np.random.default_rng(3).uniform(0.1, 1.0, (2, 4))
    shape = te.dependencies(program, a).shape
    pattern = te.dependencies(program, a).matrix.toarray()
    assert ((te.jacobian(program)(a).reshape(shape) != 0) == pattern).all()


def test_what_declares_nothing_is_dense_and_named() -> None:
    mixed = te.primitive(lambda x: x[::-1] * 2.0, name="example.mixed")
    mixed.defvjp(lambda ct, x: 2.0 * ct[::-1]) if hasattr(mixed, "defvjp") else None

    @te.custom_vjp
    def doubled(x: Any) -> Any:
        return 2.0 * x

    doubled.defvjp(lambda x: (2.0 * x, None), lambda kept, ct: (2.0 * ct,))
    result = te.dependencies(lambda x: doubled(x[:2]) * x[2:], np.ones(4))
    assert [result.of(k) for k in range(2)] == [[0, 1, 2], [0, 1, 3]]
    assert list(result.dense) == ["a function with a custom rule"]


# -- both solutions ----------------------------------------------------------------------------------------------------
def chain(xs: Any) -> Any:
    out = [xs[0]]
    for x in xs[1:]:
        out.append(out[-1] * 0.5 + x)
    return out


@pytest.mark.parametrize(("outputs", "n"), [(3, 200), (200, 130), (200, 200), (1, 1), (70, 3)])
def test_blocks_of_bits_find_what_searches_find(outputs: int, n: int) -> None:
    generator = np.random.default_rng(outputs + n)
    chosen = generator.integers(0, n, (outputs, 4))

    def program(xs: Any) -> Any:
        return [xs[a] * xs[b] + chained[c] * chained[d] for a, b, c, d in chosen for chained in [chain(xs)]][:outputs]

    structure = Structure(traced(te.default_engine(), program, ([1.0] * n,))[1])
    ends, begins = structure.outputs, structure.inputs
    searched = structure.slots.search(ends, 1 << 40)
    for other in (by_outputs(structure.slots, ends, begins), by_inputs(structure.slots, ends, begins)):
        for one, two in zip(searched, other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_long_chain_is_left_to_blocks_of_bits() -> None:
    n = 3000
    back = traced(te.default_engine(), chain, ([1.0] * n,))[1]
    structure = Structure(back)
    assert structure.slots.search(structure.outputs, n)[0] is None
    rows = structure.rows()
    assert rows is not None
    assert (np.diff(rows.starts) == np.arange(1, n + 1)).all()


# -- random programs ---------------------------------------------------------------------------------------------------
SCALAR_STEPS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x * y,
    lambda x, y: x + y,
    lambda x, y: -x,
    lambda x, y: x / 3.0,
    lambda x, y: 2.0 - x * x,
]


@st.composite
def scalar_programs(draw: Any) -> Callable[[Any], Any]:
    number = st.integers(0, 130)
    steps = draw(st.lists(st.tuples(st.integers(0, 4), number, number), max_size=40))
    outputs = draw(st.lists(number, min_size=1, max_size=6))

    def program(xs: Any) -> Any:
        known = list(xs)
        for op, a, b in steps:
            x, y = known[a % len(known)], known[b % len(known)]
            known.append(SCALAR_STEPS[op](x, y))
        return [known[k % len(known)] * 1.0 for k in outputs]

    return program


@settings(deadline=None, max_examples=60)
@given(scalar_programs(), st.sampled_from([1, 2, 7, 33, 100]))
def test_random_scalar_programs(program: Any, n: int) -> None:
    xs = list(np.linspace(0.5, 1.5, n))
    sets = found(program, xs)
    assert sets == expected_scalars(program, n)
    jacobian = np.array(te.jacobian(program)(xs)).reshape(len(sets), n)
    assert all({int(k) for k in np.flatnonzero(row)} <= one for row, one in zip(jacobian, sets, strict=True))
    np.testing.assert_allclose(
        te.sparse_jacobian(program)(xs).matrix.toarray(), jacobian, rtol=1e-10, atol=1e-9 * abs(jacobian).max()
    )


ARRAY_STEPS: list[Callable[[Any, Any, int], Any]] = [
    lambda x, y, k: x * y,
    lambda x, y, k: x + y[::-1],
    lambda x, y, k: np.concatenate([x[k:], y[:k]]),
    lambda x, y, k: x[np.arange(6) * (k + 1) % 6] * 0.5,
    lambda x, y, k: x - np.sum(y[: k + 1]),
    lambda x, y, k: np.reshape(np.reshape(x, (2, 3)).T, (6,)) + y,
    lambda x, y, k: np.reshape(np.reshape(x, (3, 2)) @ np.reshape(y[:4], (2, 2)), (6,)),
    lambda x, y, k: np.roll(x, k) * np.repeat(np.sum(np.reshape(y, (3, 2)), axis=1), 2),
    lambda x, y, k: x / (2.0 + y[k] * y[k]),
    lambda x, y, k: np.cumsum(x) * np.ones(6),
    lambda x, y, k: np.stack([x[:3], y[3:]], axis=1)[:, :].reshape(6),
    lambda x, y, k: np.einsum("ij,jk->ik", np.reshape(x, (2, 3)), np.reshape(y, (3, 2)))[0, k % 2] + x,
]


@st.composite
def array_programs(draw: Any) -> Callable[[Any], Any]:
    step = st.tuples(st.integers(0, len(ARRAY_STEPS) - 1), st.integers(0, 9), st.integers(0, 9), st.integers(0, 5))
    steps = draw(st.lists(step, min_size=1, max_size=8))

    def program(x: Any) -> Any:
        known = [x]
        for op, a, b, k in steps:
            known.append(ARRAY_STEPS[op](known[a % len(known)], known[b % len(known)], k))
        return known[-1]

    return program


@settings(deadline=None, max_examples=120)
@given(array_programs())
def test_random_array_programs(program: Any) -> None:
    x = values(6)
    sets = found(program, x)
    assert sets == expected(program, 6)
    jacobian = te.jacobian(program)(x)
    assert all(set(np.flatnonzero(row)) <= one for row, one in zip(jacobian, sets, strict=True))
    np.testing.assert_allclose(
        te.sparse_jacobian(program)(x).toarray(), jacobian, rtol=1e-10, atol=1e-9 * abs(jacobian).max()
    )


# -- keys --------------------------------------------------------------------------------------------------------------
def key(program: Callable[..., Any], *primals: Any) -> Any:
    return key_of(traced(te.default_engine(), program, primals)[1])


def test_values_do_not_change_the_key() -> None:
    program = PROGRAMS["kept axes"]
    assert key(program, values(6)) == key(program, 2 * values(6))
    assert key(chain, [1.0, 2.0]) == key(chain, [3.0, 4.0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: np.sum(x.reshape(2, 2), axis=0), lambda x: np.sum(x.reshape(2, 2), axis=1)),
        (lambda x: np.cumsum(x.reshape(2, 2), axis=0), lambda x: np.cumsum(x.reshape(2, 2), axis=1)),
        (lambda x: np.roll(x, 1), lambda x: np.roll(x, 2)),
        (lambda x: x[np.array([0, 1])], lambda x: x[np.array([0, 2])]),
        (lambda x: x[0] * x[1], lambda x: x[0] * x[2]),
        (lambda x: x[:2] * 2.0, lambda x: x[1:3] * 2.0),
        (lambda x: np.bincount([0, 1, 1, 0], x), lambda x: np.bincount([0, 1, 0, 1], x)),
        (lambda x: [x[0], x[1]], lambda x: [x[1], x[0]]),
    ],
)
def test_another_way_has_another_key(one: Any, other: Any) -> None:
    assert key(one, np.ones(4)) != key(other, np.ones(4))


def test_slots_are_few() -> None:
    """Functions of one number, reads and views need no slots; neither does a union that adds nothing."""
    back = traced(te.default_engine(), lambda x: np.exp(np.sin(x[::-1]) * x[::-1])[1:], (np.ones(10),))[1]
    assert len(Structure(back).slots) == 10


def rowwise(x: Any, y: Any) -> Any:
    """What reads rows of two arrays by indices, and one of the two row by row."""
    camera, point = x[np.arange(100) % 7], y[np.arange(100) % 13]
    moved = camera[:, :3] * point + point[:, ::-1]
    return np.sum(moved * moved, axis=1)[:, None] * camera


def test_rows_of_arrays_of_one_extent_share_groups() -> None:
    """All unions of what was read for one row are words: there are no slots but those of inputs."""
    back = traced(te.default_engine(), rowwise, (np.ones((7, 5)), np.ones((13, 3))))[1]
    assert len(Structure(back, apart=True).slots) == 7 * 5 + 13 * 3 + 100 * (5 + 3)


def test_rows_in_groups_give_the_pattern_and_the_values() -> None:
    generator = np.random.default_rng(2)
    x, y = generator.uniform(0.5, 1.0, (7, 5)), generator.uniform(0.5, 1.0, (13, 3))
    dense = np.concatenate([part.reshape(500, -1) for part in te.jacobian(rowwise, argnums=(0, 1))(x, y)], axis=1)
    np.testing.assert_array_equal(te.dependencies(rowwise, x, y).matrix.toarray(), dense != 0)
    matrix = te.sparse_jacobian(rowwise, argnums=(0, 1))(x, y).matrix
    np.testing.assert_allclose(matrix.toarray(), dense, rtol=1e-12)


def test_a_scalar_read_apart_is_an_input_of_its_own() -> None:
    back = traced(te.default_engine(), lambda x: [x[0] * x[1], x[0] * x[2]], (np.ones(3),))[1]
    structure = Structure(back, apart=True)
    assert linear.reads_of(back.tape, structure.apart).size == 4
    assert structure.slots.numbers(
        structure.slots.ids(structure.slots.of_ids(linear.reads_of(back.tape, structure.apart)))
    ).tolist() == [
        0,
        1,
        0,
        2,
    ]
