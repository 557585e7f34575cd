"""Programs of whole arrays that the core enters itself: what they give, and what they share with the caller."""

import sys
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from asv_bench.programs.typed import product
from tapeengine._core.arrays.kernels import outer, summed
from tapeengine._core.programs.native import WholeBackpropagator
from tapeengine.chad.backends.poles import at_poles
from tapeengine.chad.backends.whole import running
from tapeengine.errors import CotangentError

Matrix = te.Array[te.Vec]


@dataclass
class Box:
    x: te.Vec


@te.program
def layer(w: Matrix, b: te.Vec, x: te.Vec) -> te.Vec:
    return np.maximum(w @ x + b, 0.0)


@te.program
def both(w: Matrix, pair: tuple[te.Vec, float]) -> tuple[te.Vec, float]:
    x, scale = pair
    return np.sin(w @ x) * scale, np.sum(x) * scale


def matrices(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(5)
    return draws.normal(size=(n, n)), draws.normal(size=(n, n))


def entered(program, *primals):
    """Run a program twice: the second time the core enters it."""
    te.vjp(program, *primals)
    value, back = te.vjp(program, *primals)
    assert type(back) is WholeBackpropagator
    return value, back


def test_the_core_enters_what_dual_numbers_compute() -> None:
    draws = np.random.default_rng(0)
    primals = draws.normal(size=(150, 140)), draws.normal(size=150), draws.normal(size=140)
    value, back = entered(layer, *primals)
    plain, again = te.vjp(layer.python, *primals)
    np.testing.assert_array_equal(value, plain)
    ct = draws.normal(size=150)
    for found, wanted in zip(back(ct), again(ct), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_structures_are_entered_as_well() -> None:
    draws = np.random.default_rng(1)
    w, x = draws.normal(size=(150, 140)), draws.normal(size=140)
    value, back = entered(both, w, (x, 1.5))
    plain, again = te.vjp(both.python, w, (x, 1.5))
    np.testing.assert_array_equal(value[0], plain[0])
    assert value[1] == plain[1] and type(value[1]) is float
    found, wanted = back((np.ones(150), 2.0)), again((np.ones(150), 2.0))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(found[1][0], wanted[1][0], rtol=1e-12)
    assert found[1][1] == pytest.approx(wanted[1][1], rel=1e-12)


def test_lists_stay_lists_and_calls_share_nothing() -> None:
    a, b = matrices()
    value, back = entered(product, a, b)
    assert type(value) is list and {type(row) for row in value} == {list} and {type(x) for x in value[0]} == {float}
    np.testing.assert_allclose(value, a @ b, rtol=1e-12)
    cts = [[[float(k * i - j) for j in range(150)] for i in range(150)] for k in range(3)]
    found = [back(ct) for ct in cts]
    for ct, (da, db) in zip(cts, found, strict=True):
        np.testing.assert_allclose(da, np.array(ct) @ b.T, rtol=1e-10, atol=1e-8)
        np.testing.assert_allclose(db, a.T @ np.array(ct), rtol=1e-10, atol=1e-8)
    whole = [[1 for _ in range(150)] for _ in range(150)]  # not floats: taken by the longer way
    np.testing.assert_allclose(back(whole)[0], np.ones((150, 150)) @ b.T, rtol=1e-10, atol=1e-10)
    assert all((x == 0.0).all() for x in back([[0.0] * 150] * 150))
    for wrong in ([[1.0] * 149] * 150, None, [None] * 150):
        with pytest.raises(CotangentError):
            back(wrong)


@pytest.mark.parametrize(
    "hold",
    [
        lambda value: value,
        lambda value: value[3],
        lambda value: value[3][4],
        lambda value: [row[:] for row in value],
        lambda value: value.__setitem__(1, value[0]),
        lambda value: value[2].append(7.0),
        lambda value: value[5].__setitem__(0, value[5][1]),
        lambda value: value[6].__setitem__(0, "a string"),
        lambda value: value.__setitem__(0, ((1.0, 2.0), [3.0])),
        lambda value: value.append(value),
        lambda value: value.clear(),
    ],
)
def test_a_value_keeps_its_numbers_when_the_program_runs_again(hold) -> None:
    a, b = matrices(140)
    entered(product, a, b)
    for k in range(4):
        value, _ = te.vjp(product, a * k, b)
        held = hold(value)
        before = repr(held)
        wanted = a * k @ b
        del value
        again, _ = te.vjp(product, a + k, b)
        np.testing.assert_allclose(again, (a + k) @ b, rtol=1e-12, atol=1e-12)
        assert {type(x) for row in again for x in row} == {float} and len({id(row) for row in again}) == 140
        assert repr(held) == before
        if isinstance(held, list) and len(held) == 140 and isinstance(held[0], list):
            np.testing.assert_allclose(held, wanted, rtol=1e-12, atol=1e-12)


def test_threads_do_not_share_the_spare_array() -> None:
    a, b = matrices(130)
    _, back = entered(product, a, b)
    wrong = []

    def run(k: int) -> None:
        ct = [[float(k)] * 130 for _ in range(130)]
        wanted = float(k) * (np.ones((130, 130)) @ b.T)
        for _ in range(10):
            if not np.allclose(back(ct)[0], wanted, rtol=1e-9, atol=1e-9):
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_arguments_may_change_after_the_run() -> None:
    draws = np.random.default_rng(2)
    w, b, x = draws.normal(size=(20, 140)), draws.normal(size=20), draws.normal(size=140)
    kept = w.copy()
    value, back = entered(layer, w, b, x)
    w[...] = 0.0
    value[...] = 0.0
    ct = (kept @ x + b > 0.0).astype(float)
    np.testing.assert_allclose(back(np.ones(20))[2], ct @ kept, rtol=1e-12)


@pytest.mark.parametrize("how", ["ignore", "raise"])
def test_the_state_of_floating_point_errors_is_the_callers_afterwards(how: str) -> None:
    draws = np.random.default_rng(3)
    primals = draws.normal(size=(150, 140)), draws.normal(size=150), draws.normal(size=140)
    te.vjp(layer, *primals)
    with np.errstate(all=how):
        te.vjp(layer, *primals)[1](np.ones(150))
        assert set(np.geterr().values()) == {how}
    state = np.geterr()
    te.vjp(layer, *primals)[1](np.ones(150))
    assert np.geterr() == state


@pytest.mark.parametrize("own", [False, True])
def test_an_interrupt_at_any_instruction_leaves_the_state_of_floating_point_errors(own: bool) -> None:
    run = at_poles("raise", lambda: 1.0)
    code = run.__code__

    def interrupted(at: int) -> bool:
        count = 0

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal count
            if frame.f_code is not code:
                return None
            frame.f_trace_opcodes = True
            count += event == "opcode"
            if count == at and event == "opcode":
                raise KeyboardInterrupt
            return trace

        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            return run() != 1.0
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(previous)

    with np.errstate(all="warn") if own else nullcontext():
        state = np.geterr()
        at = 1
        while interrupted(at):
            assert np.geterr() == state
            at += 1
        assert at > 10 and np.geterr() == state


def test_a_total_that_overflows_raises_where_numpys_does() -> None:
    x = np.array([[1e308, 1e308], [1.0, -1.0]])
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        summed(x)
    with np.errstate(over="raise"):
        assert summed(np.array([np.inf, 1.0])) == np.inf and np.isnan(summed(np.array([np.nan, 1.0])))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (7, 9), (300, 17), (17, 300), (0, 3), (3, 0)])
def test_kernels_have_numpys_bits(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(4).normal(size=shape)
    for y in (x, x.T, x[::2], np.asfortranarray(x), x.astype(np.float32)):
        for axis in (0, 1, None):
            np.testing.assert_array_equal(summed(y, axis), y.sum(axis))
    a, b = np.arange(shape[0]) / 3.0, np.arange(shape[1]) - 0.1
    np.testing.assert_array_equal(outer(a, b), a[:, None] * b)
    np.testing.assert_array_equal(outer(a[::-1], b.astype(complex)), a[::-1][:, None] * b)
    for value in (2.5, 3, b, a[:, None], x, b[None, :]):
        np.testing.assert_array_equal(running.spread(value, shape), np.broadcast_to(value, shape))
    assert running.spread(1.0, (2, -1)).shape == (2, 0) and running.spread(True, (2,), bool).dtype == bool


@te.program
def of_parts(x: te.Vec, pair: tuple[te.Vec, float], table, box: Box) -> float:
    return np.sum(x) * pair[1] + np.sum(pair[0]) + np.sum(table["x"]) + np.sum(box.x)


@pytest.mark.parametrize("at", range(5))
def test_few_numbers_are_few_in_every_part(at: int) -> None:
    sizes = [129 if k == at else 128 for k in range(4)]
    x, y, z, u = map(np.ones, sizes)
    primals = (x, (y, 2.0), {"x": z}, Box(u))
    te.vjp(of_parts, *primals)
    value, back = te.vjp(of_parts, *primals)
    assert value == sum(sizes) + sizes[0]
    assert (type(back) is WholeBackpropagator) == (at < 4)


def test_places_of_arrays_in_arguments_are_looked_at_by_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python looks again only where one of them holds something else."""

    def inside(table, box: Box, x: te.Vec) -> float:
        return np.sum(table["x"] * x) + np.sum(table["inner"]["y"] - x) + np.sum(box.x * x)

    program, calls, x = te.program(inside), [], np.ones(3)
    monkeypatch.setattr(type(program), "check_lists", lambda self, primals: calls.append(primals))
    good = ({"x": x, "inner": {"y": x}}, Box(x), x)
    te.vjp(program, *good)
    calls.clear()
    value, _ = te.vjp(program, *good)
    assert value == 6.0 and not calls
    listed = [1.0] * 3
    for bad in (
        ({"x": listed, "inner": {"y": x}}, Box(x), x),
        ({"x": x, "inner": {"y": listed}}, Box(x), x),
        ({"x": x, "inner": {"y": x}}, Box(listed), x),
        ({"x": x, "inner": {"y": x}}, Box(x), listed),
    ):
        calls.clear()
        te.vjp(program, *bad)
        assert calls


@dataclass
class Point:
    x: float
    y: float


@te.program
def of_points(points: list[Point]) -> float:
    return sum(p.x * p.y for p in points)


@te.program
def of_pairs(pairs: list[tuple[float, float]]) -> float:
    return sum(a * b for a, b in pairs)


@te.program
def of_numbers(m: Matrix) -> float:
    return sum(sum(v * v for v in row) for row in m)


@pytest.mark.parametrize(("program", "is_in_loops"), [(of_points, True), (of_pairs, True), (of_numbers, False)])
def test_lists_of_other_values_than_numbers_are_run_in_loops_without_being_converted(
    program: Any, is_in_loops: bool
) -> None:
    assert (program.executable.entry is not None) is is_in_loops
