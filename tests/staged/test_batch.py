"""Programs on many arguments at a time: every lane has the bits of the program's own run, on every path."""

import contextlib
import math
import queue
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from branching_programs import EXPRESSION, evaluated
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import RandomProgram, programs

import tapeengine as te
from tapeengine.errors import CotangentError, RepeatError, StagingWarning, StructureError
from tapeengine.staged import batch


def bits(x: Any) -> bytes:
    """Numbers by their bits, except for the sign of a NaN."""
    x = np.array(x, float)
    return bytes(np.where(np.isnan(x), np.nan, x).tobytes())


def agree(program: Callable[..., Any], columns: list[Any], threads: int = 1) -> None:
    """Compare values and cotangents in lanes with the program, lane by lane."""
    staged = te.stage(program, paths=8)
    mapped = te.vmap(staged, threads=threads)
    rows = np.array(columns).T.tolist()
    wanted = [te.vjp(program, row) for row in rows]
    cotangent = np.linspace(-1.0, 2.0, len(rows))
    along = np.round(np.array(columns)) - 1.0  # with zeros
    tangents = [te.jvp(program, (row,), (each.tolist(),))[1] for row, each in zip(rows, along.T, strict=True)]
    tangents = [tangent + 0.0 for tangent in tangents]  # arrays are sums that begin with a positive zero
    for _ in range(2):
        assert bits(te.jvp(mapped, (columns,), (list(along),))[1] + 0.0) == bits(tangents)
        assert bits(mapped(columns)) == bits([value for value, _ in wanted])
        value, back = te.vjp(mapped, columns)
        assert bits(value) == bits([value for value, _ in wanted])
        (found,) = back(cotangent)
        each = [back(float(c))[0] for (_, back), c in zip(wanted, cotangent, strict=True)]
        for k, column in enumerate(found):
            assert bits(column) == bits([parts[k] for parts in each])


POINTS = st.integers(1, 40).flatmap(
    lambda n: st.lists(st.lists(st.floats(-3, 3), min_size=n, max_size=n), min_size=6, max_size=6)
)


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning", "ignore::RuntimeWarning")
@settings(max_examples=60, deadline=None)
@given(programs, POINTS)
def test_random_programs(program: RandomProgram, points: list[list[float]]) -> None:
    def run(xs: Any) -> Any:
        return program(te.math, *xs)[-1] * 1.0

    with contextlib.suppress(ArithmeticError, ValueError):
        agree(run, [np.array(column) for column in points[: len(program.inputs)]])


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning", "ignore::RuntimeWarning")
@settings(max_examples=60, deadline=None)
@given(EXPRESSION, POINTS)
def test_random_branching_programs(expression: Any, points: list[list[float]]) -> None:
    with contextlib.suppress(ArithmeticError, ValueError):
        agree(lambda xs: evaluated(expression, xs) * xs[0], [np.array(column) for column in points[:3]])


ANYWHERE = "sin cos tan atan sinh cosh tanh asinh exp expm1 erf erfc cbrt exp2 expit softplus relu fabs".split()
POSITIVE = "sqrt log log1p log2 log10 digamma".split()


def unary(name: str, is_positive: bool) -> Callable[[Any, Any], Any]:
    f = getattr(te.math, name)
    return (lambda x, y: f(x * x * 0.01 + 0.5) * y) if is_positive else lambda x, y: f(x) * y


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: unary(name, False) for name in ANYWHERE},
    **{name: unary(name, True) for name in POSITIVE},
    "arithmetic": lambda x, y: (x + 2.0 * y - 3.0) * (1.5 - x) / (y * y + 0.1) - (2.0 / (x * x + 1.0)) + -x,
    "powers": lambda x, y: (x * x + 0.1) ** y + 1.3**x + x**3,
    "selections": lambda x, y: te.math.maximum(x, y) + te.math.minimum(x, 0.25) * te.math.hypot(x, y),
    "angles": lambda x, y: te.math.atan2(x, y) + te.math.copysign(x, y) + te.math.fmod(x, 0.7) + x % 0.3,
    "of statistics": lambda x, y: te.math.logaddexp(x, y) + te.math.xlogy(x, y * y + 1.0),
    "one operand twice": lambda x, y: x * x + y / (y + 10.0) - (x - x) + x**x if x > 0 else y + y,
    "zero cotangents": lambda x, y: te.math.sqrt(x * x) * 0.0 + te.math.maximum(x, -x) * (y * 0.0),
    "guards": lambda x, y: x * int(y) + math.floor(x) * y + math.ceil(y) + round(x) * x,
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("lanes", [1, 15, 16, 100])
def test_every_operation(name: str, lanes: int) -> None:
    rng = np.random.default_rng(lanes)
    x, y = rng.normal(size=lanes) * 2.0, rng.normal(size=lanes) * 2.0
    x[:3], y[:2] = [0.0, -0.0, 1.0][: min(lanes, 3)], [-0.0, 1.0][: min(lanes, 2)]
    agree(lambda xs: OPERATIONS[name](*xs), [x, y])


def collatz(xs: Any) -> Any:
    x, y = xs
    while abs(x) > 0.3:
        x = x * 0.5 + y * 0.01 if int(x * 4.0) % 2 else x * 0.7
    return x * y


def test_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "ENOUGH", 1)
    rng = np.random.default_rng(3)
    columns = [rng.normal(size=1000), rng.normal(size=1000)]
    staged = te.stage(collatz, paths=1000)
    results = []
    for threads in (1, 2, 3, 7):
        value, back = te.vjp(te.vmap(staged, threads=threads), columns)
        results.append((bits(value), *map(bits, back(np.ones(1000))[0])))
    assert len(set(results)) == 1
    seen = []
    monkeypatch.setattr(batch.Workers, "make", lambda self, calls: seen.append(len(calls)) or [c([]) for c in calls])
    te.vjp(te.vmap(staged, threads=4), columns)[1](np.ones(1000))
    assert seen[0] == 4  # parts of the first path
    assert seen[-1] >= 4  # the way back is shared as well
    monkeypatch.undo()
    monkeypatch.setattr(batch, "ENOUGH", 1)
    agree(collatz, [column[:200] for column in columns], threads=2)


def test_lanes_of_one_way_run_together() -> None:
    runs = queue.SimpleQueue[None]()  # shows nothing of its contents, so they are not compared

    def counting(x: Any) -> Any:
        runs.put(None)
        return x * x if x > 0 else te.math.sin(x) if x > -1 else -x

    staged = te.stage(counting)
    x = np.random.default_rng(0).normal(size=500)
    for _ in range(3):
        te.vjp(staged.batch, x)
    assert runs.qsize() == 4  # the first lane was tried before it was recorded
    assert staged.stats().paths == 3


@dataclass
class Pair:
    a: float
    b: float


def test_structures_and_shared_arguments() -> None:
    def program(p: Pair, d: dict[str, Any], n: int) -> dict[str, Any]:
        return {"sum": p.a * n + d["x"], "pair": Pair(p.b * p.b, 2.5), "name": "n", "count": n}

    staged = te.stage(program)
    a, b = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    value, back = te.vjp(te.vmap(staged, (0, None, None)), Pair(a, b), {"x": 10.0}, 3)  # type: ignore[arg-type]
    assert value["sum"].tolist() == [13.0, 16.0, 19.0]
    assert value["pair"].a.tolist() == [16.0, 25.0, 36.0]
    assert value["pair"].b.tolist() == [2.5, 2.5, 2.5]
    assert (value["name"], value["count"].tolist()) == ("n", [3, 3, 3])
    ones = np.ones(3)
    p, d, n = back({"sum": ones, "pair": Pair(ones, ones), "name": None, "count": None})  # type: ignore[arg-type]
    assert (p.a.tolist(), p.b.tolist(), d, n) == ([3.0] * 3, [8.0, 10.0, 12.0], {"x": 3.0}, None)
    with pytest.raises(CotangentError, match=r"'sum'.*\(3,\)"):
        back({"sum": np.ones(2), "pair": Pair(ones, ones), "name": None, "count": None})  # type: ignore[arg-type]


def test_axes() -> None:
    x = np.arange(6.0).reshape(2, 3)
    for f in (lambda v, a: v * a, te.stage(lambda v, a: v * a)):
        assert te.vmap(f, (0, None))(x[0], 2.0).tolist() == [0.0, 2.0, 4.0]
        assert te.vmap(f, (1, 0))(x, np.ones(3)).tolist() == x.T.tolist()
        assert te.vmap(f, (1, 0), 1)(x, np.ones(3)).tolist() == x.tolist()
        assert te.vmap(f, (None, 0))(x, np.array([1.0, 2.0])).tolist() == [x.tolist(), (2 * x).tolist()]
    assert te.vmap(lambda p: p["a"] * p["b"], ({"a": 0, "b": None},))({"a": x[0], "b": 3.0}).tolist() == [0.0, 3.0, 6.0]
    assert te.vmap(lambda v: (v, 1.0), out_axes=(0, None))(x[0])[1] == 1.0
    for axes, args, text in (
        ((0,), (x, x), "entries"),
        (0, (x, 2.0), "give it None"),
        (0, (x, x.T), "one length"),
        (None, (x,), "one length"),
    ):
        with pytest.raises(StructureError, match=text):
            te.vmap(lambda *v: v[0], axes)(*args)


def test_transforms_of_mapped_programs() -> None:
    staged = te.stage(lambda x, a: te.math.sin(x) * a if x > 0 else x * a * a)
    x = np.array([0.5, -1.0, 2.0])

    def of(f: Any) -> Callable[[Any], Any]:
        return lambda a: np.sum(te.vmap(f, (0, None))(x, a) ** 2)

    plain, fast = of(lambda x, a: te.math.sin(x) * a if x > 0 else x * a * a), of(staged)
    assert te.value_and_grad(fast)(1.5) == pytest.approx(te.value_and_grad(plain)(1.5), rel=1e-14)
    assert te.hessian(fast)(1.5) == pytest.approx(te.hessian(plain)(1.5), rel=1e-13)
    assert te.jvp(fast, (1.5,), (1.0,)) == pytest.approx(te.jvp(plain, (1.5,), (1.0,)), rel=1e-13)
    np.testing.assert_allclose(
        te.jacobian(lambda v: te.vmap(staged, (0, None))(v, 2.0))(x),
        np.diag(2.0 * np.cos(x)) * (x > 0) + np.diag(4.0 * (x < 0)),
    )
    assert len(te.tape(fast, 1.5)) < 5


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_programs_that_are_not_replayed_run_one_by_one() -> None:
    x = np.array([1.0, 2.0])
    drawing = te.vmap(te.stage(lambda v: v * np.random.rand()))
    assert len({*drawing(x).tolist(), *drawing(x).tolist()}) == 4
    assert te.vmap(te.stage(lambda v: te.numpy.sum(v * v)))(np.ones((3, 2))).tolist() == [2.0] * 3
    assert te.grad(lambda v: np.sum(te.vmap(lambda u: u * u)(v)))(x).tolist() == [2.0, 4.0]


def test_errors_of_lanes_pass() -> None:
    staged = te.stage(lambda x: te.math.sqrt(x))
    assert staged.batch(np.array([4.0, 9.0])).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="math domain error"):
        staged.batch(np.array([4.0, -9.0]))
    with pytest.raises(StructureError, match="different structures"):
        te.stage(lambda x: x if x > 0 else [x]).batch(np.array([1.0, -1.0]))


def test_a_way_of_its_own_for_each_lane() -> None:
    staged = te.stage(lambda x: x * int(x), paths=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StagingWarning)
        x = np.arange(400.0)
        value, back = te.vjp(staged.batch, x)
        assert value.tolist() == (x * x).tolist()
        assert back(np.ones(400))[0].tolist() == x.tolist()


@pytest.mark.parametrize("wrap", [lambda f: f, te.stage], ids=["plain", "staged"])
def test_arrays_among_keyword_arguments_are_mapped_over_their_first_axis(wrap: Any) -> None:
    def program(x: Any, weights: Any = None, power: int = 1, scale: float = 1.0) -> Any:
        return (weights * x**power).sum() * scale

    x, weights = np.arange(6.0).reshape(3, 2) + 1, np.arange(6.0).reshape(3, 2) - 2
    expected = (weights * x**2).sum(1) * 3.0
    mapped = te.vmap(wrap(program))
    np.testing.assert_allclose(mapped(x, weights=weights, power=2, scale=3.0), expected)
    gradient = te.grad(lambda x: mapped(x, weights=weights, power=2, scale=3.0).sum())(x)
    np.testing.assert_allclose(gradient, 6.0 * weights * x)
    by_keyword = te.grad(lambda w: mapped(x, weights=w, power=2).sum())(weights)
    np.testing.assert_allclose(by_keyword, x**2)


#: Programs that tell Python's floats from numpy's numbers.
TELLING: dict[str, Callable[[Any, Any], Any]] = {
    "division by zero": lambda x, y: caught(lambda: x / y, x * 7.0),
    "remainder by zero": lambda x, y: caught(lambda: x % y, x * 5.0),
    "power of zero": lambda x, y: caught(lambda: (y * x) ** -1.0, x * 3.0),
    "overflow": lambda x, y: caught(lambda: (x * 1e200) ** 2.0, x + y),
    "comparison": lambda x, y: x * float((y > 0.0) + (x > 0.0)),
}


def caught(f: Callable[[], Any], otherwise: Any) -> Any:
    try:
        return f()
    except ArithmeticError:
        return otherwise


@pytest.mark.parametrize("wrap", [lambda f: f, te.stage, lambda f: te.stage(f, optimise=False), te.checkpoint])
@pytest.mark.parametrize("name", TELLING)
def test_lanes_are_numbers_of_one_kind_whether_traced_or_not(name: str, wrap: Callable[..., Any]) -> None:
    program = TELLING[name]
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0])
    lanes = te.vmap(wrap(program))
    expected = [program(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal(lanes(x, y), expected)
    np.testing.assert_array_equal(te.vjp(lanes, x, y)[0], expected)
    np.testing.assert_array_equal(te.vjp(lambda x: lanes(x * 1.0, y), x)[0], expected)
    np.testing.assert_array_equal(te.jvp(lanes, (x, y), (x, y))[0], expected)
    by_lanes = [te.grad(program, (0, 1))(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    gradient = te.grad(lambda x, y: np.sum(lanes(x, y)), (0, 1))(x, y)
    np.testing.assert_allclose(np.stack(gradient, axis=1), by_lanes, rtol=1e-15)


@pytest.mark.parametrize(
    "make", [lambda x: np.ones(int(x)), lambda x: x * np.ones(int(x)), lambda x: x if x > 1 else [x][0:1]]
)
def test_lanes_of_different_shapes_are_refused(make: Any) -> None:
    for transform in (te.vmap(make), te.grad(lambda xs: np.sum(te.vmap(make)(xs)))):
        with pytest.raises(StructureError, match="cannot be joined"):
            transform(np.array([1.0, 2.0]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("staged", [False, True])
def test_the_numbers_of_a_vector_in_their_lanes(dtype: Any, staged: bool) -> None:
    """As docs/exact.md says: a float64 vector has Python's floats in its lanes, another one numpy's scalars."""
    mapped = te.vmap(te.stage(lambda a: 1 / a) if staged else lambda a: 1 / a)
    vector = np.array([2.0, 0.0], dtype)
    if dtype == np.float64:
        with pytest.raises(ZeroDivisionError):
            mapped(vector)
    else:
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(mapped(vector), np.array([0.5, np.inf], dtype))


@pytest.mark.parametrize(
    ("derivative", "want", "is_run_again"),
    [
        (lambda run: te.grad(run)(1.5), 3.0, False),
        (lambda run: te.jvp(run, (1.5,), (1.0,))[1], 3.0, True),
        (lambda run: te.hvp(run, (1.5,), (1.0,)), 2.0, True),
        (lambda run: te.grad(te.grad(run))(1.5), 2.0, True),
        (lambda run: te.linearize(run, 1.5)[1](1.0), 3.0, True),
    ],
)
def test_captured_data_that_changes_after_a_call(derivative: Any, want: float, is_run_again: bool) -> None:
    factors = [1.0]
    lanes = te.vmap(te.stage(lambda y: y * factors[0]))

    def run(x: Any) -> Any:
        factors[0] = 1.0
        found = lanes(x * np.ones(2))[0]
        factors[0] = 2.0
        return found * found

    for _ in range(3):
        try:
            assert derivative(run) == want
        except RepeatError as error:
            assert is_run_again
            assert "has changed since the call" in str(error)
