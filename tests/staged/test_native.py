"""Native code of recordings: the bits of the program on every path, and the interpreter where a body does not hold."""

import math
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from branching_programs import EXPRESSION, evaluated
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import shown

import tapeengine as te
from tapeengine._core.tape.table import OPS
from tapeengine.chad.backends.llvm import compile
from tapeengine.errors import StagingError
from tapeengine.staged import Staged, bodies, compiling

pytestmark = pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
needs_llvm = pytest.mark.skipif(not compiling.is_installed(), reason="LLVM is not installed")
FLOATS = st.one_of(st.floats(-3, 3), st.sampled_from([0.0, -0.0, 1e200, -1e308, 5e-324, math.inf, math.nan, 2.0]))

COLUMNS = st.integers(1, 20).flatmap(
    lambda n: st.lists(st.lists(FLOATS, min_size=n, max_size=n), min_size=3, max_size=3)
)


def gradient(program: Callable[..., Any], *primals: Any) -> Any:
    value, back = te.vjp(program, *primals)
    return value, back(1.0), back(0.0), back(-math.inf)


def agree(program: Callable[..., Any], staged: Staged, *primals: Any) -> None:
    wanted = shown(lambda: gradient(program, *primals))
    for _ in range(3):  # recorded, compiled, run by native code
        assert shown(lambda: gradient(staged, *primals)) == wanted


def compiled(program: Callable[..., Any], **options: Any) -> Staged:
    return te.stage(program, optimise="native", **options)


@needs_llvm
@settings(max_examples=30, deadline=None)
@given(EXPRESSION, st.lists(st.lists(FLOATS, min_size=3, max_size=3), min_size=1, max_size=40), st.data())
def test_random_loops(e: Any, rows: list[list[float]], data: st.DataObject) -> None:
    """A random program with branches, once for each row, each time with the last result."""

    def run(rows: Any) -> Any:
        total = 0.5
        for x, y, z in rows:
            total = evaluated(e, [x, total, z]) * 0.5 + y
        return total

    staged = compiled(run)
    agree(run, staged, rows)
    others = data.draw(st.lists(st.lists(FLOATS, min_size=3, max_size=3), min_size=len(rows), max_size=len(rows)))
    agree(run, staged, others)
    agree(run, staged, rows)


@needs_llvm
@settings(max_examples=15, deadline=None)
@given(
    EXPRESSION,
    st.integers(1, 20).flatmap(lambda n: st.lists(st.lists(FLOATS, min_size=n, max_size=n), min_size=3, max_size=3)),
)
def test_random_programs_in_lanes(e: Any, columns: list[list[float]]) -> None:
    def run(xs: Any) -> Any:
        total = 1.0
        for _ in range(4):
            total = evaluated(e, [xs[0], total, xs[2]]) * 0.5 + xs[1]
        return total

    rows = np.array(columns).T.tolist()
    wanted = [shown(lambda row=row: gradient(run, row)[:2]) for row in rows]
    staged = compiled(run)
    for _ in range(2):

        def found() -> Any:
            value, back = te.vjp(staged.batch, [np.array(column) for column in columns])
            (parts,) = back(np.ones(len(rows)))
            return [repr((float(v), ([float(part[k]) for part in parts],))) for k, v in enumerate(value)]

        got = shown(found)
        assert got == repr(wanted) or any("Error" in one for one in wanted)


CALLS = [op.signature[0] for op in OPS if op.doc]


@needs_llvm
@pytest.mark.parametrize("name", CALLS)
def test_each_function(name: str) -> None:
    """Each function of `tapeengine.math` with instructions of its own, in a loop and in lanes."""
    function = getattr(te.math, name)
    arity = next(op.arity for op in OPS if op.doc and op.signature[0] == name)
    shift = 1.25 if name == "acosh" else 0.0

    def run(x: Any, y: Any) -> Any:
        total = x * 0.0
        for _ in range(80):
            x, y = x * 0.99, y * 0.98
            total = total + (function(x + shift) if arity == 1 else function(x + shift, y)) * y
        return total

    staged = compiled(run)
    agree(run, staged, 0.7, 0.4)
    assert staged.refused is not None or staged.kept_plans()[0].has_calls or staged.stats().native == 1
    xs, ys = np.linspace(0.5, 0.7, 11), np.linspace(0.4, 0.3, 11)
    for _ in range(2):
        value, back = te.vjp(staged.batch, xs, ys)
        dx, dy = back(np.ones(11))
        for k in range(11):
            wanted, one = te.vjp(run, float(xs[k]), float(ys[k]))
            assert (float(value[k]), (float(dx[k]), float(dy[k]))) == (wanted, one(1.0))


@needs_llvm
def test_zero_times_an_infinite_partial_is_nothing() -> None:
    def run(xs: Any, ws: Any) -> Any:
        total = 0.0
        for x, w in zip(xs, ws, strict=True):
            total = total + te.math.sqrt(x) * w
        return total

    staged = compiled(run)
    xs, ws = [0.0, 2.0, 3.0] * 20, [0.0, 1.0, 0.0] * 20
    agree(run, staged, xs, ws)
    assert staged.stats().native == 1 and te.grad(staged)(xs, ws)[:2] == [0.0, 0.5 / math.sqrt(2.0)]


@needs_llvm
def test_checks_in_the_middle_of_a_body() -> None:
    """A replay leaves a body at any of its checks, and goes on along another path."""

    def run(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            total = total + (x * x if x > 0.0 else te.math.exp(x)) / (x + 4.0)
            if total > 1e6:
                return total
            total = total + te.math.log(x + 3.0)
        return total

    staged = compiled(run, paths=100)
    xs = [0.1 * k + 0.1 for k in range(60)]
    agree(run, staged, xs)
    for k in range(0, 60, 7):
        for x in (-1.0, -3.5, -4.0, 2e9, math.nan):
            other = [*xs[:k], x, *xs[k + 1 :]]
            agree(run, staged, other)
    assert staged.stats().native > 10


@needs_llvm
def test_a_loop_that_branches_is_covered_by_few_bodies() -> None:
    def run(xs: Any) -> Any:
        total = 1.0
        for x in xs:
            total = total * te.math.sin(x) + x if total > 0 else total * x - te.math.sin(x)
        return total

    xs = np.random.default_rng(0).uniform(-1, 1, 5000).tolist()
    staged = te.stage(run)
    staged(xs)
    code = bodies.Code.of(staged.kept_plans()[0].paths[0])
    found = bodies.bodies_of(code)
    assert sum(len(body.op) for body in found) <= bodies.MOST
    assert sum(len(body.op) * len(body.starts) for body in found) > 0.98 * len(code.op)
    entries = bodies.schedule_of(code, found)
    assert (np.diff(entries[:, 0].astype(int)) > 0).all() and len(entries) < len(code.op) / 10
    agree(run, compiled(run), xs)


@needs_llvm
def test_a_periodic_loop_is_one_body() -> None:
    def run(x: Any, v: Any) -> Any:
        for _ in range(500):
            a = -2.0 * x - 0.1 * v * abs(v)
            x, v = x + 0.01 * v, v + 0.01 * a
        return x * v

    staged = compiled(run)
    agree(run, staged, 0.3, 0.4)
    code = bodies.Code.of(staged.kept_plans()[0].paths[0])
    (body,) = bodies.bodies_of(code)
    assert len(body.op) * len(body.starts) > 0.9 * len(code.op) and len(body.live) <= 4


@needs_llvm
@pytest.mark.parametrize(("short", "level"), [(600, 2), (0, 0)])
def test_short_bodies_get_all_that_llvm_has(monkeypatch: pytest.MonkeyPatch, short: int, level: int) -> None:
    levels: list[int] = []
    made = compile.compiled
    monkeypatch.setattr(compile, "compiled", lambda text, at: levels.append(at) or made(text, at))
    monkeypatch.setattr(compiling, "SHORT", short)

    def run(xs: list[float]) -> float:
        total = 0.0
        for x in xs:
            total = total * x + te.math.sin(x)
        return total

    agree(run, compiled(run), [0.1 * k for k in range(50)])
    assert set(levels) == {level}


@needs_llvm
def test_a_path_is_compiled_when_it_has_been_run_often(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    monkeypatch.setattr(compiling.Compiler, "worth", lambda self, n: 10 * n)
    monkeypatch.setattr(compiling.Compiler, "__call__", lambda self, path, in_lanes: made.append(in_lanes))
    staged = te.stage(lambda x: x * x + x)
    for _ in range(11):
        assert not made
        staged(2.0)
    staged(2.0)
    assert made == [False]
    for _ in range(20):
        staged.batch(np.arange(3.0))
    assert made == [False, True]
    plain = te.stage(lambda x: x * x + x, optimise=False)
    for _ in range(20):
        plain(2.0)
    assert made == [False, True]


@needs_llvm
def test_without_native_code_the_interpreter_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "module", lambda *args: "no module")
    staged = compiled(lambda x: x * x + x)
    with pytest.warns(RuntimeWarning, match="without native code"):
        assert [staged(x) for x in (1.0, 2.0, 3.0, 4.0)] == [2.0, 6.0, 12.0, 20.0]
    assert staged.stats().native == 0
    monkeypatch.setattr("tapeengine.staged.program.is_installed", lambda: False)
    staged = compiled(lambda x: x * x + x)
    assert [staged(x) for x in (1.0, 2.0, 3.0)] == [2.0, 6.0, 12.0] and staged.stats().native == 0
    with pytest.raises(StagingError, match="optimise"):
        te.stage(abs, optimise="fast")


@needs_llvm
def test_second_derivatives_files_and_captures(tmp_path: Path) -> None:
    factor = [2.0]

    def run(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            total = total + x * x * x * factor[0]
        return total

    staged, xs = compiled(run), [0.5, 1.5, -2.0]
    agree(run, staged, xs)
    hessian = te.hessian(run)(xs)
    assert repr(te.hessian(staged)(xs)) == repr(hessian)
    factor[0] = 3.0
    agree(run, staged, xs)
    staged.save(tmp_path / "cubes")
    loaded = te.load_staged(tmp_path / "cubes")
    agree(run, loaded, xs)


@needs_llvm
def test_threads_while_a_path_is_compiled() -> None:
    def run(xs: Any) -> Any:
        total = 1.0
        for x in xs:
            total = total * 0.5 + te.math.sin(x * total)
        return total

    points = [[0.01 * k + j for k in range(200)] for j in range(40)]
    wanted = [gradient(run, xs) for xs in points]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            staged = compiled(run)
            assert repr(list(pool.map(lambda xs: gradient(staged, xs), points))) == repr(wanted)
    finally:
        sys.setswitchinterval(interval)


@needs_llvm
def test_a_long_path_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "MOST_IN_PATH", 3)
    staged = compiled(lambda x: (x * x + x) * (x + 2.0) * x)
    assert [staged(x) for x in (1.0, 2.0, 3.0)] == [6.0, 48.0, 180.0] and staged.stats().native == 0


@needs_llvm
def test_outputs_inside_of_bodies_and_cotangents_for_some_of_them() -> None:
    """Every value of a loop is returned; each one, and each pair, has the cotangents of the program."""

    def run(x: Any, y: Any) -> Any:
        values = []
        for _ in range(30):
            x, y = x * y * 0.5 + 0.1, te.math.sqrt(x * x + y)
            values += [x, y, x]
        return values

    staged = compiled(run)
    for _ in range(3):
        _, back = te.vjp(staged, 0.3, 0.4)
        _, wanted = te.vjp(run, 0.3, 0.4)
        for k in range(0, 90, 7):
            cotangent = [float(i in (k, k // 2)) * (1.5 - i) for i in range(90)]
            assert repr(back(cotangent)) == repr(wanted(cotangent))
    assert staged.stats().native == 1


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "floor division": lambda x: int(x // 0.5),
    "is finite": lambda x: int(te.math.isfinite(x)),
    "is infinite": lambda x: int(te.math.isinf(x)),
    "is no number": lambda x: int(te.math.isnan(x)),
    "truth": lambda x: 1 if x else 0,
    "equal": lambda x: 2 if x == 0.75 else 0,
    "less": lambda x: 1 if x < 0.6 else 0,
}


@needs_llvm
@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_in_loops_are_checked_by_native_code(name: str) -> None:
    """Paths of one number, and points that leave them: the value and the slope are those of the plain program."""
    convert = CONVERSIONS[name]

    def run(xs: Any) -> Any:
        total = 0.25
        for x in xs:
            total = total * 0.5 + x * (1.0 + 0.125 * convert(x))
        return total

    staged, plain = compiled(run), np.tile([0.3, 0.4, 0.55, 0.75], 20)
    points = [plain, plain + 0.01, plain + 0.9, np.where(plain == 0.55, 0.0, plain), -plain, plain]
    for xs in points:
        value, gradient = te.value_and_grad(staged)(list(xs))
        assert value == run(xs.tolist())
        steps = [
            0.5**k * (1.0 + 0.125 * convert(x)) for k, x in zip(range(len(xs) - 1, -1, -1), xs.tolist(), strict=True)
        ]
        np.testing.assert_allclose(gradient, steps, rtol=1e-14)
