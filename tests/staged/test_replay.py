"""Replays compared with the program itself: equal values, cotangents, exceptions, to the last bit, on every path."""

import math
import queue
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import shown
from random_programs import RandomProgram, programs

import tapeengine as te
from tapeengine.staged import Staged


def staged(program: Callable[..., Any]) -> Staged:
    return te.stage(program)


def gradient(program: Callable[..., Any], *primals: Any) -> Any:
    value, backpropagator = te.vjp(program, *primals)
    return value, backpropagator(value)


def agree(program: Callable[..., Any], replayed: Staged, *primals: Any) -> None:
    assert shown(lambda: gradient(replayed, *primals)) == shown(lambda: gradient(program, *primals))
    assert shown(lambda: replayed(*primals)) == shown(lambda: te.vjp(program, *primals)[0])


@settings(max_examples=150, deadline=None)
@given(programs, st.lists(st.lists(st.floats(-2, 2), min_size=6, max_size=6), min_size=1, max_size=5))
def test_random_programs_at_random_inputs(program: RandomProgram, others: list[list[float]]) -> None:
    def run(*xs: Any) -> list[Any]:
        return program(te.math, *xs)

    replayed = staged(run)
    for inputs in [program.inputs, *[tuple(other[: len(program.inputs)]) for other in others], program.inputs]:
        if len(inputs) == len(program.inputs):
            agree(run, replayed, *inputs)


LOOKS: dict[str, Callable[[Any, Any], Any]] = {
    "less": lambda x, y: x if x < y else y,
    "less than a constant": lambda x, y: x if x < 0.5 else y,
    "an integer is less": lambda x, y: x if x > 1 else y,
    "a large integer is less": lambda x, y: x if x < 2**60 + 1 else y,
    "a constant is less or equal": lambda x, y: x * y if y >= 0.25 else y,
    "equal": lambda x, y: x * x if x == y else y,
    "unequal": lambda x, y: x * x if x != 1.0 else y,
    "bool": lambda x, y: x * y if x else y,
    "not": lambda x, y: x * y if not x else y,
    "int": lambda x, y: x * int(y),
    "floor": lambda x, y: x * math.floor(y),
    "ceil": lambda x, y: x * math.ceil(y),
    "trunc": lambda x, y: x * math.trunc(y),
    "round": lambda x, y: x * round(y),
    "round to digits": lambda x, y: x * round(y, 1),
    "floor division": lambda x, y: x * (y // 0.5),
    "divmod": lambda x, y: x * divmod(y, 0.5)[0] + divmod(y, 0.5)[1],
    "value": lambda x, y: x * te.value(y),
    "is_integer": lambda x, y: x if y.is_integer() else y,
    "text": lambda x, y: x * float(str(te.value(y))),
    "format": lambda x, y: x * float(f"{te.value(y):.3f}"),
    "isfinite": lambda x, y: x if te.math.isfinite(y * 1e308 * 10.0) else y,
    "isnan": lambda x, y: x if te.math.isnan(y) else y,
    "isclose": lambda x, y: x if te.math.isclose(x, y, abs_tol=0.5) else y,
    "index": lambda x, y: [x, y, x * y][int(abs(y)) % 3],
    "range": lambda x, y: sum((x * k for k in range(int(abs(y)))), y),
    "while": lambda x, y: halved(x, y),
    "sorted": lambda x, y: sorted([x, y, 0.5])[1] * x,
    "max": lambda x, y: max(x, y, 0.0) * y,
    "sum of a list": lambda x, y: sum([x, y, x * y]),
    "hypot": lambda x, y: te.math.hypot(x, y),
    "gamma": lambda x, y: te.math.gamma(x * x + 1.0) * te.math.lgamma(y * y + 0.5),
    "fsum": lambda x, y: te.math.fsum([x, y, x * y]),
    "log of a base": lambda x, y: te.math.log(x * x + 1.0, 3.0) * y,
    "log2": lambda x, y: te.math.log2(x * x + 1.0) * y,
    "fma": lambda x, y: te.math.fma(x, y, x),
    "division": lambda x, y: x / y,
    "modulo": lambda x, y: x % y,
    "power": lambda x, y: x**y,
    "logarithm": lambda x, y: te.math.log(x) * y,
    "exponential": lambda x, y: te.math.exp(x * 400.0) * y,
    "caught": lambda x, y: caught(x, y),
    "atan2": lambda x, y: te.math.atan2(x, y) * te.math.copysign(x, y),
    "remainder": lambda x, y: te.math.remainder(x, 0.3) * te.math.fmod(y, 0.7),
    "numpy's ufunc": lambda x, y: np.sin(x) * y,
    "an inner gradient": lambda x, y: te.grad(lambda z: z * z * (y if z > 1 else x))(x) + 1.0,
    "ldexp": lambda x, y: te.math.ldexp(x, 2) * y,
    "a power of an integer": lambda x, y: x**3 * y**-2,
    "modf": lambda x, y: te.math.modf(x)[0] * y + te.math.modf(y)[1],
}


def halved(x: Any, y: Any) -> Any:
    while abs(x) > 0.3:
        x = x * 0.5 + y * 0.01
    return x * y


def caught(x: Any, y: Any) -> Any:
    try:
        return x / y
    except ZeroDivisionError:
        return x * 3.0


NUMBERS = [1.0, 0.0, -0.0, 0.5, -0.5, 2.0, -1.5, 0.25, 3.75, 1e-300, -2.0, 1.0]


@pytest.mark.parametrize("name", LOOKS)
def test_whatever_a_program_looks_at(name: str) -> None:
    program = LOOKS[name]
    replayed = staged(program)
    for x in NUMBERS:
        for y in NUMBERS:
            agree(program, replayed, x, y)
    for x, y in [(math.nan, 1.0), (1.0, math.inf), (-math.inf, math.nan)]:
        if name not in ("numpy's ufunc", "int", "floor", "ceil", "trunc", "round", "index", "range", "while"):
            agree(program, replayed, x, y)


def count_runs(program: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[[], int]]:
    runs = queue.SimpleQueue[None]()  # shows nothing of its contents, so they are not compared

    def counting(*args: Any) -> Any:
        runs.put(None)
        return program(*args)

    return counting, runs.qsize


@pytest.mark.parametrize(
    "name",
    ["less", "int", "round", "while", "sorted", "max", "bool", "isfinite", "log2", "equal", "an integer is less"],
)
def test_a_path_that_was_taken_before_is_replayed(name: str) -> None:
    program, runs = count_runs(LOOKS[name])
    replayed = staged(program)
    pairs = [(1.25, 2.5), (0.1, 0.2), (-1.0, 3.25), (0.75, -1.0)]
    for x, y in pairs:
        replayed(x, y)
    first = runs()
    for x, y in pairs:
        assert repr(replayed(x, y)) == repr(LOOKS[name](x, y))
        te.vjp(replayed, x, y)
    assert runs() == first


@dataclass
class State:
    position: tuple[float, float]
    name: str
    steps: int


def advance(state: State, parameters: dict[str, float], extra: list[Any]) -> dict[str, Any]:
    x, y = state.position
    for _ in range(state.steps):
        x, y = x + parameters["dt"] * y, y - parameters["dt"] * x
    return {"state": State((x, y), state.name, state.steps), "energy": x * x + y * y, "extra": extra, "constant": 2.5}


def test_structures_and_discrete_leaves() -> None:
    program, runs = count_runs(advance)
    replayed = staged(program)

    def check(name: str, steps: int, x: float) -> None:
        arguments = State((x, 0.5), name, steps), {"dt": 0.1}, [1.5, None, True]
        value, back = te.vjp(replayed, *arguments)
        plain, plain_back = te.vjp(advance, *arguments)
        assert repr(value) == repr(plain) == repr(replayed(*arguments))
        cotangent = {"state": State((1.0, 2.0), None, None), "energy": 3.0, "extra": [0.5, None, None], "constant": 7.0}  # type: ignore[arg-type]
        assert repr(back(cotangent)) == repr(plain_back(cotangent))

    for x in (1.0, 2.0, 3.0):
        check("a", 3, x)
    assert runs() == 1
    check("b", 3, 1.0)
    assert runs() == 2
    check("b", 2, 1.0)
    check("a", 3, 4.0)
    assert runs() == 3


def test_the_form_of_arguments_is_taken_strictly() -> None:
    program, runs = count_runs(lambda xs: xs[0] * 2.0)
    replayed = staged(program)
    for argument in ([1.0], (1.0,), [1], [True], {0: 1.0}, [1.0, 2.0]):
        assert repr(replayed(argument)) == repr(te.vjp(lambda xs: xs[0] * 2.0, argument)[0])
    assert runs() == 6
    assert repr(replayed((3.0,))) == "6.0"
    assert runs() == 6


def test_a_backpropagator_keeps_its_values() -> None:
    replayed = staged(lambda x: x * x * x)
    _, first = te.vjp(replayed, 2.0)
    _, second = te.vjp(replayed, 3.0)
    _, third = te.vjp(replayed, 4.0)
    assert [b(1.0)[0] for b in (first, second, third, second, first)] == [12.0, 27.0, 48.0, 27.0, 12.0]


def test_a_cotangent_that_does_not_fit_is_refused() -> None:
    replayed = staged(lambda x: [x, x * x])
    for _ in range(2):
        _, back = te.vjp(replayed, 2.0)
        with pytest.raises(te.errors.CotangentError, match=r"cotangent"):
            back([1.0])
        assert back([1.0, 1.0]) == (5.0,)


def same(found: Any, wanted: Any) -> None:
    """Equal numbers, where a zero has any sign."""
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))


@settings(max_examples=40, deadline=None)
@given(programs)
def test_every_transform_is_that_of_the_program(program: RandomProgram) -> None:
    def run(xs: Any) -> list[Any]:
        return program(te.math, *xs)

    def first(xs: Any) -> Any:
        return program(te.math, *xs)[-1] * 1.0

    xs = list(program.inputs)
    tangent = [0.5 + k for k in range(len(xs))]
    replayed, replayed_first = staged(run), staged(first)
    for _ in range(2):
        assert repr(te.jvp(replayed, (xs,), (tangent,))) == repr(te.jvp(run, (xs,), (tangent,)))
        assert repr(te.jacobian(replayed)(xs)) == repr(te.jacobian(run)(xs))
        same(te.hessian(replayed_first)(xs), te.hessian(first)(xs))
        same(te.hvp(replayed_first, (xs,), (tangent,)), te.hvp(first, (xs,), (tangent,)))
        same(te.vhp(replayed_first, (xs,), ([1.0] * len(xs),)), te.vhp(first, (xs,), ([1.0] * len(xs),)))


def test_transforms_replay() -> None:
    program, runs = count_runs(lambda xs: xs[0] * te.math.sin(xs[1]) if xs[0] > 0 else xs[1])
    replayed = staged(program)
    replayed([1.0, 2.0])
    te.jvp(replayed, ([2.0, 1.0],), ([1.0, 1.0],))
    te.jacobian(replayed)([3.0, 1.0])
    te.hessian(replayed)([4.0, 1.0])
    te.hvp(replayed, ([5.0, 1.0],), ([1.0, 1.0],))
    assert runs() == 1


def test_a_recording_inside_another_trace() -> None:
    replayed = staged(lambda x: x * x * x)
    assert te.grad(lambda x: replayed(x) * 2.0)(2.0) == 24.0
    assert te.grad(te.grad(replayed))(2.0) == 12.0
    assert te.grad(te.grad(lambda x: replayed(x) * x))(2.0) == 48.0
    assert replayed(3.0) == 27.0
    assert te.grad(te.grad(replayed))(2.0) == 12.0


FUNCTIONS = sorted(
    name
    for name in te.math.__all__
    if name not in ("comb", "factorial", "gcd", "isqrt", "lcm", "perm") and callable(getattr(te.math, name))
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_scalars_with_constants_on_either_side(name: str) -> None:
    function = getattr(te.math, name)
    forms: dict[str, Callable[..., Any]] = {
        "one": lambda x, y: function(x) * y,
        "two": lambda x, y: function(x, y) * y,
        "right": lambda x, y: function(x, 0.75) * y,
        "left": lambda x, y: function(1.25, x) * y,
    }
    for form in forms.values():
        try:
            te.grad(form)(0.5, 0.25)
        except Exception:  # a function of other arguments, or one that is undefined here
            continue
        replayed = staged(form)
        for x in (0.5, -0.5, 0.0, 1.5, 1e-9, 30.0):
            for y in (0.25, -2.0, 0.0):
                agree(form, replayed, x, y)


def test_cotangents_that_are_kept_stay_what_they_were() -> None:
    """Floats are used again, but only those that nobody has any longer."""

    def program(xs: list[Any], pair: tuple[Any, dict[str, Any]]) -> Any:
        return sum((x * x * pair[0] for x in xs), pair[1]["a"] * xs[0])

    replayed = staged(program)
    points = [([1.0 + k, 2.0 * k, 3.0], (0.5 - k, {"a": 4.0 * k})) for k in range(6)]
    kept, parts, same_call = [], [], []
    for point in points:
        kept.append(gradient(replayed, *point))
        parts.append(gradient(replayed, *point)[1][0][1])  # one number of a result that goes
        _, back = te.vjp(replayed, *point)
        same_call.append([back(1.0), back(2.0), back(1.0)])
    wanted = [gradient(program, *point) for point in points]
    assert kept == wanted
    assert parts == [cotangents[0][1] for _, cotangents in wanted]
    for (first, double, again), (value, _), point in zip(same_call, wanted, points, strict=True):
        assert first == again == te.vjp(program, *point)[1](1.0)
        assert double == te.vjp(program, *point)[1](2.0)
        assert value == program(*point)


COTANGENTS = [1, True, np.float64(2.0), np.float32(1.5), np.array(2.0), -0.0, math.nan, "x", None, [1.0], 10**400]


@pytest.mark.parametrize("cotangent", COTANGENTS, ids=repr)
@pytest.mark.parametrize("program", [lambda x: x, lambda x: x * x, lambda x: 3.0, lambda x: (x, x)])
def test_cotangents_of_any_kind(program: Callable[..., Any], cotangent: Any) -> None:
    replayed = staged(program)
    replayed(1.0)
    found = [
        shown(lambda run=run: te.vjp(run, 1.5)[1](cotangent))  # type: ignore[misc]
        for run in (replayed, replayed, program)
    ]
    assert found[0] == found[1] == found[2]


def test_backpropagators_that_live_on() -> None:
    """Registers are used again, but only those of a backpropagator that is gone."""

    def program(x: Any, y: Any) -> Any:
        return x * y + te.math.exp(x)

    replayed = staged(program)
    replayed(1.0, 2.0)
    points = [(0.1 * k, 1.0 - k) for k in range(10)]
    held = [te.vjp(replayed, *point)[1] for point in points]
    wanted = [te.vjp(program, *point)[1](1.0) for point in points]
    assert [held[k](1.0) for k in (3, 1, 9)] == [wanted[k] for k in (3, 1, 9)]
    del held[::2]
    assert te.vjp(replayed, *points[4])[1](1.0) == wanted[4]
    replayed.clear()
    assert [back(1.0) for back in held] == wanted[1::2]


def test_replays_on_several_threads() -> None:
    def program(xs: list[Any], k: Any) -> Any:
        return sum((x * x * k if x > 0 else -x for x in xs), xs[0] * k)

    replayed = staged(program)

    def run(seed: int) -> list[tuple[Any, Any]]:
        rng = np.random.default_rng(seed)
        results = []
        for _ in range(100):
            point = (np.abs(rng.normal(size=30)).tolist(), float(rng.normal()))
            results.append((gradient(replayed, *point), gradient(program, *point)))
        return results

    replayed([1.0] * 30, 2.0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(6) as pool:
            for found in pool.map(run, range(6)):
                assert all(replay == wanted for replay, wanted in found)
    finally:
        sys.setswitchinterval(interval)
