"""Staged programs: their keys, their limits, their refusals, and their descriptions."""

import math
import pickle
import queue
import random
import threading
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from branching_programs import EXPRESSION, NUMBER, Expression, evaluated
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import shown

import tapeengine as te
from tapeengine.errors import RepeatError, StagingError, StagingWarning
from tapeengine.staged.watch import Watch


# -- random branching programs -----------------------------------------------------------------------------------------
def gradient(program: Callable[..., Any], xs: list[float]) -> Any:
    value, back = te.vjp(program, xs)
    return value, back(1.0 if isinstance(value, float) else None)


POINT = st.lists(st.one_of(NUMBER, st.sampled_from([0.0, -0.0, 1.0, 1e200])), min_size=3, max_size=3)


@settings(max_examples=200, deadline=None)
@given(EXPRESSION, st.lists(POINT, min_size=1, max_size=8))
def test_the_result_is_always_the_programs(expression: Expression, points: list[list[float]]) -> None:
    def program(xs: Any) -> Any:
        return evaluated(expression, xs)

    staged = te.stage(program, paths=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StagingWarning)
        for xs in [*points, *points]:
            assert shown(gradient, staged, xs) == shown(gradient, program, xs)
            assert shown(staged, xs) == shown(program, xs)
    assert staged.stats().paths <= 3 * staged.stats().forms


# -- keys --------------------------------------------------------------------------------------------------------------
def counted(program: Callable[..., Any]) -> tuple[Any, Callable[[], int]]:
    """A staged program, and the number of its runs."""

    runs = queue.SimpleQueue[None]()  # shows nothing of its contents, so they are not compared

    def counting(*args: Any, **keywords: Any) -> Any:
        runs.put(None)
        return program(*args, **keywords)

    return te.stage(counting), runs.qsize


def test_keyword_arguments_key_recordings() -> None:
    staged, runs = counted(lambda x, *, n=1, rate=0.5, data=(): sum((rate * x**k for k in range(n)), sum(data, 0.0)))
    for _ in range(2):
        assert staged(2.0) == 0.5
        assert staged(2.0, n=3) == 3.5
        assert staged(2.0, n=3, rate=0.25) == 1.75
        assert staged(2.0, n=3, rate=0.25, data=[1.0, 2.0]) == 4.75
        assert staged(2.0, n=True) == 0.5
    assert runs() == 5
    value, back = te.vjp(staged, 3.0, n=3)
    assert (value, back(1.0), runs()) == (6.5, (3.5,), 5)


def test_a_keyword_argument_that_cannot_be_compared_is_refused() -> None:
    with pytest.warns(StagingWarning, match="keyword argument holds a function"):
        assert te.stage(lambda x, f: f(x))(2.0, f=lambda x: x * x) == 4.0


def test_zeros_and_classes_of_discrete_values_are_told_apart() -> None:
    staged, runs = counted(lambda x, k: x * (2.0 if k is True else 3.0 if type(k) is int else 4.0))
    for _ in range(2):
        assert [staged(1.0, k) for k in (True, 1, np.int64(1), np.True_)] == [2.0, 3.0, 4.0, 4.0]
    assert runs() == 4
    staged, _ = counted(lambda x, *, sign: math.copysign(1.0, sign) * x)
    assert [staged(1.0, sign=s) for s in (0.0, -0.0, 0.0)] == [1.0, -1.0, 1.0]


def test_integer_arrays_are_compared_as_they_were() -> None:
    staged, _ = counted(lambda x, n: x * float(n.sum()))
    n = np.array([1, 2])
    assert staged(2.0, n) == 6.0
    n[0] = 5
    assert staged(2.0, n) == 14.0
    n[0] = 1
    assert staged(2.0, n) == 6.0
    staged, _ = counted(lambda x: [x, np.array([1, 2])])
    staged(1.0)[1][0] = 100
    assert staged(1.0)[1][0] == 1
    staged(1.0)[1][0] = 100
    assert staged(1.0)[1][0] == 1


@dataclass
class Point:
    x: float
    y: float


def test_containers_of_other_classes_key_recordings() -> None:
    staged, runs = counted(lambda p: next(iter(p.values())) * 2.0 if isinstance(p, dict) else p.x * p.y)
    for _ in range(2):
        for argument in (
            Point(2.0, 3.0),
            {"a": 1.0},
            OrderedDict(a=1.0),
            defaultdict(int, a=1.0),
            {1: 1.0},
            {True: 1.0},
        ):
            assert repr(staged(argument)) == repr(6.0 if isinstance(argument, Point) else 2.0)
    assert runs() == 6


def test_an_argument_that_may_change_unseen_is_refused() -> None:
    factor = [2.0]
    with pytest.warns(StagingWarning, match="takes or returns a function"):
        assert te.stage(lambda x, f: f(x))(2.0, lambda x: factor[0] * x) == 4.0
    with pytest.warns(StagingWarning, match="takes or returns a function"):
        assert te.stage(lambda x: [x, lambda: x])(2.0)[0] == 2.0


# -- captures ----------------------------------------------------------------------------------------------------------
RATE = 2.0
TABLE = {"rate": 3.0}


def by_globals(x: float) -> float:
    return x * RATE * TABLE["rate"]


class Model:
    def __init__(self) -> None:
        self.scale = 2.0
        self.weights = np.array([1.0, 2.0])

    def loss(self, x: float) -> float:
        return float(self.weights[0]) * x * self.scale


def test_globals_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    staged, runs = counted(by_globals)
    assert staged(1.0) == staged(1.0) == 6.0
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert staged(1.0) == te.grad(staged)(1.0) == 15.0
    monkeypatch.setitem(TABLE, "rate", 1.0)
    assert staged(1.0) == te.grad(staged)(1.0) == 5.0
    assert runs() == 3


def captures() -> Iterator[tuple[str, Callable[[float], float], Callable[[], None]]]:
    cell = 2.0
    items, array, names, model, point, pool = (
        [1.0, 2.0],
        np.array([1.0, 2.0]),
        {2.0},
        Model(),
        Point(1.0, 2.0),
        bytearray(3),
    )

    def move() -> None:
        nonlocal cell
        cell = 7.0

    yield "cell", lambda x: x * cell, move
    yield "list", lambda x: x * items[0], lambda: items.__setitem__(0, 7.0)
    yield "longer list", lambda x: x * len(items), lambda: items.append(7.0)
    yield "array", lambda x: x * float(array[0]), lambda: array.__setitem__(0, 7.0)
    yield "zero", lambda x: x * math.copysign(1.0, float(array[0] * 0.0)), lambda: array.__setitem__(0, -7.0)
    yield "set", lambda x: x * len(names), lambda: names.add(7.0)
    yield "attribute", model.loss, lambda: setattr(model, "scale", 7.0)
    yield "array in an attribute", model.loss, lambda: model.weights.__setitem__(0, 8.0)
    yield "dataclass", lambda x: x * point.x, lambda: setattr(point, "x", 7.0)
    yield "bytes", lambda x: x * pool[0], lambda: pool.__setitem__(0, 7)


@pytest.mark.parametrize("name", [name for name, _, _ in captures()])
def test_what_is_captured_is_compared(name: str) -> None:
    program, change = next((program, change) for found, program, change in captures() if found == name)
    staged = te.stage(program)
    staged(3.0)
    assert staged(3.0) == program(3.0)
    assert staged.stats().replays == 1
    change()
    assert repr(staged(3.0)) == repr(program(3.0))
    assert repr(te.grad(staged)(3.0)) == repr(te.grad(program)(3.0))
    assert staged.stats().changes == 1


def test_a_capture_that_changes_with_each_call_is_noticed() -> None:
    count = [0.0]
    staged = te.stage(lambda x: x * count[0])
    with pytest.warns(StagingWarning, match="changes from call to call"):
        for k in range(60):
            count[0] = float(k)
            assert staged(2.0) == 2.0 * k
    assert staged.refused is not None and str(staged.stats()) == f"not replayed, because {staged.refused}"


def test_what_cannot_be_replayed_is_run() -> None:
    log: list[float] = []
    rng = np.random.default_rng(0)
    cases: dict[str, Callable[[Any], Any]] = {
        "draws random": lambda x: x * random.random(),
        "draws random numbers": lambda x: x * np.random.rand(),
        "draws": lambda x: x * float(rng.normal()),
        "writes into": lambda x: log.append(1.0) or x * len(log),  # type: ignore[func-returns-value]
    }
    for why, program in cases.items():
        staged = te.stage(program)
        with pytest.warns(StagingWarning, match=why):
            first = te.grad(staged)(3.0)
        values = [staged(3.0) for _ in range(3)]
        assert staged.stats().replays == 0
        assert "draws" not in why or len({first, *values}) == 4
    assert len(log) == 4


# -- bounds ------------------------------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_paths_are_bounded_and_those_in_use_stay() -> None:
    staged, runs = counted(lambda x: sum((x * k for k in range(int(x))), 0.0))
    staged.paths = 4
    for n in range(1, 30):
        assert staged(float(n)) == sum(n * k for k in range(n))
        assert staged(2.0) == 2.0
    assert staged.stats().paths == 4
    assert staged.stats().evicted == 25
    assert runs() == 29


def test_one_warning_when_paths_keep_growing() -> None:
    staged = te.stage(lambda x: x * int(x), paths=3)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for n in range(20):
            staged(float(n))
    assert [w.category for w in found] == [StagingWarning]
    assert "more than 3 paths" in str(found[0].message)
    assert found[0].filename == __file__


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 8), max_size=60))
def test_any_order_of_paths(ns: list[int]) -> None:
    def program(x: Any) -> Any:
        total = 0.0
        while x > 1.0:
            total, x = total + (x if int(x) % 2 else 0.5 * x), x - 1.0
        return total * x

    staged = te.stage(program, paths=3)
    for n in ns:
        assert te.value_and_grad(staged)(n + 0.5) == te.value_and_grad(program)(n + 0.5)


def test_forms_are_bounded() -> None:
    staged = te.stage(lambda x, n: x * n)
    for n in range(100):
        assert staged(1.0, n) == n
    assert staged.stats().forms <= 32
    for n in range(100):
        assert te.stage(lambda x, *, n: x * n)(1.0, n=n) == n


# -- transforms --------------------------------------------------------------------------------------------------------
def test_argnums() -> None:
    staged, runs = counted(lambda x, y, z=2.0: x * x * y * z)
    for k in (1.0, 2.0):
        assert te.grad(staged, 1)(3.0, k) == 18.0
        assert te.grad(staged, (0, 1))(3.0, k) == (12.0 * k, 18.0)
        assert te.grad(staged)(3.0, k) == 12.0 * k
        assert te.value_and_grad(staged, 0)(3.0, k, z=5.0) == (45.0 * k, 30.0 * k)
    assert runs() == 2
    assert te.grad(staged, "z")(3.0, 1.0, z=1.0) == 9.0
    assert te.jacobian(staged, 1)(3.0, 1.0) == 18.0
    assert te.hessian(staged, 0)(3.0, 1.0) == 4.0


def test_a_chosen_argument_beside_what_is_not_differentiated() -> None:
    class Opaque:
        def __init__(self) -> None:
            self.factor = 3.0

    staged = te.stage(lambda x, o: x * o.factor)
    assert te.grad(staged)(2.0, Opaque()) == 3.0


def test_debug_sees_the_program() -> None:
    engine = te.Engine()
    staged = engine.stage(lambda x: x * x)
    staged(2.0)
    with engine.debug(records=True):
        _, back = engine.vjp(staged, 3.0)
        assert back(1.0) == (6.0,)
        assert back.line(2).function == "<lambda>"


def test_another_engine_runs_the_program() -> None:
    engine = te.Engine(max_tape_bytes=10_000_000)
    assert engine.grad(te.stage(lambda x: x * x))(3.0) == 6.0


def test_exceptions_of_the_program_pass() -> None:
    staged = te.stage(lambda x: te.math.sqrt(x) if x < 5 else [][1])
    assert staged(4.0) == 2.0
    for _ in range(2):
        with pytest.raises(ValueError, match="math domain error"):
            staged(-1.0)
        with pytest.raises(IndexError):
            te.grad(staged)(7.0)
        assert te.grad(staged)(4.0) == 0.25


# -- what it says ------------------------------------------------------------------------------------------------------
def test_stats_and_listing() -> None:
    staged = te.stage(lambda x: x * 2.0 if x > 1.0 else te.math.sin(x))
    assert [staged(x) for x in (3.0, 4.0, 0.0)] == [6.0, 8.0, 0.0]
    stats = staged.stats()
    assert (stats.recordings, stats.replays, stats.forms, stats.paths, stats.guards) == (2, 1, 1, 2, 2)
    assert stats.nbytes < 60 * stats.instructions
    assert staged.at_once
    assert len(staged.checks) == 2  # the function's code and default arguments, and the names that it looks up
    text = str(staged)
    assert "check %2 < %1" in text
    assert "sin %1" in text
    assert "2 recordings" in repr(staged)
    staged.clear()
    assert staged.stats().paths == 0
    assert staged.stats().replays == 1


def test_verify_finds_what_a_recording_cannot_see(tmp_path: Path) -> None:
    file = tmp_path / "factor"
    file.write_text("2.0")
    staged = te.stage(lambda x: x * float(file.read_text()))
    staged.verify(3.0)
    staged.verify(4.0)
    file.write_text("5.0")
    with pytest.raises(RepeatError, match=r"value was 15.0 and is 6.0"):
        staged.verify(3.0)
    staged.clear()
    staged.verify(3.0)


def test_a_staged_program_is_pickled_by_its_program() -> None:
    staged = pickle.loads(pickle.dumps(te.stage(by_globals, paths=7)))
    assert staged(1.0) == 6.0
    assert staged.paths == 7


def test_threads_share_recordings() -> None:
    def program(x: Any) -> Any:
        total = 0.0
        for k in range(3000 if x < 8.0 else 6000):
            total = total + x * k if x < k % 17 else total * 0.5
        return total

    staged = te.stage(program, paths=4)
    wanted = {float(x): te.value_and_grad(program)(float(x)) for x in range(17)}
    failures: list[Any] = []

    def work(seed: int) -> None:
        own = random.Random(seed)
        for _ in range(60):
            x = float(own.randrange(17))
            if te.value_and_grad(staged)(x) != wanted[x]:
                failures.append(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


# -- what raises -------------------------------------------------------------------------------------------------------
RAISES: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "quotient": (lambda y: 1.0 / y, 0.0, 2.0),
    "remainder": (lambda y: 7.0 % y, 0.0, 2.0),
    "whole quotient": (lambda y: y * (7.0 // y), 0.0, 2.0),
    "power": (lambda y: 3.0**y, 1e5, 2.0),
    "power of zero": (lambda y: y**-1.5, 0.0, 2.0),
    "int": (lambda y: y * int(y), math.inf, 2.0),
    "round": (lambda y: y * round(y), math.nan, 2.0),
    "floor": (lambda y: y * math.floor(y), math.nan, 2.0),
    "exp": (te.math.exp, 1e4, 1.0),
    "sqrt": (te.math.sqrt, -1.0, 4.0),
    "log": (te.math.log, 0.0, 4.0),
    "log2": (te.math.log2, -1.0, 4.0),
    "acos": (te.math.acos, 2.0, 0.5),
    "fmod": (lambda y: te.math.fmod(7.0, y), 0.0, 2.0),
    "math.pow": (lambda y: te.math.pow(y, 0.5), -1.0, 4.0),
    "ldexp": (lambda y: te.math.ldexp(y, 1000), 1e300, 4.0),
    "gamma": (te.math.gamma, 0.0, 4.0),
    "complex quotient": (lambda y: abs((1 + 1j) / te.math.fma(y, 1.0, 0.0) * 1.0), 0.0, 2.0),
    "complex power": (lambda y: abs((y * (1 + 0j)) ** -2), 0.0, 2.0),
    "complex logarithm": (lambda y: te.cmath.log(y * (1 + 0j)).real, 0.0, 2.0),
    "absolute value": (lambda y: abs(y * (1 + 1j)), 1.7e308, 2.0),
    "index": (lambda y: [y, 2.0 * y][int(y)], 5.0, 1.0),
}


@pytest.mark.parametrize("name", RAISES)
def test_what_raises_tells_the_program_something(name: str) -> None:
    operation, raises, works = RAISES[name]

    def program(x: Any, y: Any) -> Any:
        try:
            return x * operation(y)
        except (ArithmeticError, ValueError, IndexError):
            return x * 3.0

    for order in ([raises, works], [works, raises]):
        staged = te.stage(program)
        for y in [*order, *order]:
            assert repr(staged(1.5, y)) == repr(program(1.5, y))
            assert repr(te.grad(staged, (0, 1))(1.5, y)) == repr(te.grad(program, (0, 1))(1.5, y))


# -- inside other traces -----------------------------------------------------------------------------------------------
def test_a_recording_is_made_inside_other_traces() -> None:
    program, runs = counted(lambda xs: xs[0] * te.math.sin(xs[1]) if xs[0] > 0 else xs[1])
    plain = program.program
    for x in (1.0, 2.0, -1.0, 3.0):
        assert te.hessian(program)([x, 0.5]) == te.hessian(lambda xs: plain(xs))([x, 0.5])
    before = runs()
    te.hessian(program)([7.0, 0.5])
    te.hvp(program, ([5.0, 1.0],), ([1.0, 1.0],))
    te.grad(te.grad(lambda x: program([x, x]) * 2.0))(3.0)
    assert program.stats().paths == 2
    assert runs() == before + 1  # a call on traced numbers of an open trace leaves its records there


def test_captured_numbers_of_a_trace() -> None:
    def outer(x: Any) -> Any:
        inner = te.stage(lambda y: y * y * x)
        return sum(te.grad(inner)(float(k)) for k in range(3)) + te.grad(inner)(x)

    assert te.grad(outer)(3.0) == 2.0 * (1 + 2) + 4.0 * 3.0
    staged = te.stage(lambda y, *, rate=1.0: y * y * rate)
    staged(2.0, rate=3.0)
    assert te.grad(lambda r: te.vjp(staged, 2.0, rate=r)[1](1.0)[0])(3.0) == 4.0
    cell = 1.0
    varying = te.stage(lambda y: y * cell)
    varying(2.0)

    def with_cell(x: Any) -> Any:
        nonlocal cell
        cell = x
        return te.vjp(varying, 2.0)[0]

    assert te.grad(with_cell)(5.0) == 2.0
    cell = 1.0
    assert varying(2.0) == 2.0


def test_pictures() -> None:
    def program(x: Any, y: Any) -> Any:
        return {"a": te.math.sin(x) * 2.5 if x > y else x / y, "b": y * y}

    staged = te.stage(program)
    assert "<table>" in staged._repr_html_()
    with pytest.raises(StagingError, match="call it first"):
        staged.svg()
    te.vjp(staged, 2.0, 1.0)
    te.vjp(staged, 1.0, 2.0)
    space = "{http://www.w3.org/2000/svg}"
    for number, instruction in enumerate(("sin %1", "div %1 %2")):
        picture = ElementTree.fromstring(staged.svg(path=number))
        words = [text.text or "" for text in picture.iter(f"{space}text")]
        assert sum(instruction in word for word in words) == 1
        assert sum(word.startswith(("check %2 < %1", "check %2 not < %1")) for word in words) == 1
        frames = [part for part in picture.iter(f"{space}rect") if part.get("rx")]
        assert len(frames) == len(staged.kept_plans()[0].paths[number]) + 2  # and the inputs
        assert sum(part.get("class") == "result" for part in frames) == 2
    assert "more are not shown" in staged.svg(most=2)
    with pytest.raises(StagingError, match="there is no path 2"):
        staged.svg(path=2)
    arrays = te.stage(lambda a: (a[0] * a).sum() if a.max() > 0 else a.sum())
    te.vjp(arrays, np.array([1.0, 2.0]))
    ElementTree.fromstring(arrays.svg())
    assert "<svg" in arrays._repr_html_()


@pytest.mark.parametrize("argnums", [0, 1, 2, -1, (0, 1), (1, 0), (2, 1), (2, 0), (2, 1, 0), (-1, 0)], ids=repr)
@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian"])
def test_transforms_of_some_arguments(transform: str, argnums: Any) -> None:
    """Recordings have all arguments as inputs, whichever a transform is of, and in whichever order."""

    def values(x: Any, y: Any, z: Any) -> Any:
        return [x[0] * y * z["a"] + te.math.sin(x[1] * y), y * y * x[0] + z["a"] ** 3]

    program = values if transform.startswith("jac") else lambda x, y, z: math.prod(values(x, y, z))
    staged = te.stage(program)
    for args in (([0.5, 1.5], 2.0, {"a": 0.7}), ([0.3, -1.5], 1.0, {"a": 0.9})):
        wanted = repr(getattr(te, transform)(program, argnums)(*args))
        assert [repr(getattr(te, transform)(staged, argnums)(*args)) for _ in range(2)] == [wanted] * 2


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


@pytest.mark.parametrize("first", COMPARISONS)
@pytest.mark.parametrize("second", COMPARISONS)
def test_a_guard_may_follow_from_another(first: str, second: str) -> None:
    """On all pairs of numbers, NaN included, a replay gives what the program gives."""
    points = [(a, b) for a in (1.0, 2.0, math.nan, -0.0, 0.0) for b in (1.0, 2.0, math.nan, 0.0)]
    results = {p: (COMPARISONS[first](*p), COMPARISONS[second](*p)) for p in points}

    def run(x: Any, y: Any) -> Any:
        return [float(COMPARISONS[first](x, y)), float(COMPARISONS[second](x, y))]

    for recorded in points:
        optimised, plain = te.stage(run), te.stage(run, optimise=False)
        assert optimised(*recorded) == plain(*recorded) == list(map(float, results[recorded]))
        assert optimised.stats().guards == plain.stats().guards == 2
        for p in points:
            assert optimised(*p) == plain(*p) == list(map(float, results[p]))


def test_what_is_captured_is_read_once_for_all_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    read, factors = [], [0.5, 1.5]

    def watched(*args: Any) -> Watch:
        read.append(1)
        return Watch(*args)

    monkeypatch.setattr("tapeengine.staged.program.Watch", watched)
    staged = te.stage(lambda x: x * factors[0] if x > 2.0 else x * factors[1] if x > 1.0 else -x)
    for x in (0.5, 1.5, 2.5, 0.25):
        staged(x)
    assert (staged.stats().recordings, len(read)) == (3, 1)
    factors[0] = 2.5
    assert (staged(3.0), staged(1.5), len(read)) == (7.5, 2.25, 2)


def test_a_later_path_draws_from_a_captured_generator() -> None:
    rng = np.random.default_rng(0)
    staged = te.stage(lambda x: x * rng.normal() if x > 0.0 else -x)
    assert staged(-1.0) == 1.0
    with pytest.warns(StagingWarning, match="draws random numbers"):
        staged(1.0)
    assert staged(1.0) != staged(1.0)


def by_keyword(x: float, n: int = 0) -> float:
    return x * n


FORMS: dict[str, tuple[Any, Any, str]] = {
    "an integer": (lambda x, n: x * n, lambda n: ((2.0, n), {}), "argument 1 was 31 and is 32"),
    "an integer within": (
        lambda d: d["x"] * d["n"][0],
        lambda n: (({"x": 2.0, "n": [n]},), {}),
        "argument 0['n'][0] was",
    ),
    "a text": (lambda x, t: x * len(t), lambda n: ((2.0, str(n)), {}), "argument 1 was '31' and is '32'"),
    "a shape": (
        lambda x: x * 2.0,
        lambda n: ((np.ones(n + 1),), {}),
        "argument 0 was float64[32] and is float64[33]",
    ),
    "a length": (sum, lambda n: (([1.0] * (n + 1),), {}), "the argument 0 has another structure"),
    "a number of arguments": (lambda *xs: xs[0] * len(xs), lambda n: ((1.0,) * (n + 1), {}), "their number differs"),
    "a keyword": (by_keyword, lambda n: ((2.0,), {"n": n}), "argument 'n' was 31 and is 32"),
}


@pytest.mark.parametrize("name", FORMS)
def test_arguments_of_too_many_forms_are_told_once(name: str) -> None:
    program, arguments, text = FORMS[name]
    staged = te.stage(lambda *primals, **keywords: program(*primals, **keywords))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in range(70):
            primals, keywords = arguments(n)
            wanted = te.vjp(program, *primals, **keywords)[0]
            assert np.array_equal(te.vjp(staged, *primals, **keywords)[0], wanted)
    assert len(told) == 1 and told[0].category is StagingWarning
    assert text in str(told[0].message) and "as a float or in an array" in str(told[0].message)


def test_32_forms_and_many_paths_are_not_told_of() -> None:
    staged = te.stage(lambda x, n: x * n if x > n else x)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for k in range(200):
            staged(float(k % 7), k % 32)
    assert not told and staged.stats().forms == 32
