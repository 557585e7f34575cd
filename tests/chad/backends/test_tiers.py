"""Which back end runs a program, and what happens where compiling fails."""

import itertools
import math
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from chad.backends.runs import run

import tapeengine as te
from tapeengine._core.programs.native import WholeBackpropagator
from tapeengine.chad.backends import tiers
from tapeengine.chad.run import execute

needs_llvm = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")


#: The steps of a strip.
STRIP = 1 << 14


def oscillator(x: float, n: int) -> float:
    y, v = x, 0.0
    for _ in range(n):
        v = v - 0.01 * math.sin(y)
        y = y + 0.01 * v if y > 0.0 else y + 0.02 * v
    return y * v


@needs_llvm
def test_a_program_is_compiled_after_some_work_and_gives_the_same_bits():
    slow, fast = te.program(oscillator, backend="machine"), te.program(oscillator, backend="native")
    both = te.program(oscillator)
    wanted = run(slow, 0.7, 5000)
    assert run(fast, 0.7, 5000) == wanted
    assert run(both, 0.7, 5000) == wanted
    assert both.ways.native.better is None
    for _ in range(100):
        assert run(both, 0.7, 5000) == wanted
    assert both.ways.native.better is not None
    assert slow.ways.native.better is None
    assert run(both, 0.7, 5000) == wanted


@needs_llvm
def test_compiled_code_is_improved_after_a_long_run_and_gives_the_same_bits(monkeypatch):
    from tapeengine.chad.backends.llvm import calling

    monkeypatch.setattr(calling, "EACH_STATEMENT", 1000)
    program = te.program(oscillator, backend="native")
    wanted = run(program, 0.7, 10)
    assert program.ways.native.better is None
    long = run(program, 0.7, 50_000)
    assert program.ways.native.better is not None and program.ways.native.better.better is None
    assert run(program, 0.7, 10) == wanted
    assert run(program, 0.7, 50_000) == long


@needs_llvm
def test_a_program_takes_up_its_fastest_code_when_it_is_told_to():
    program = te.program(oscillator)
    wanted = run(program, 0.7, 10)
    program.ways.native.promote()
    assert program.ways.native.better.better is not None and program.ways.native.better.better.better is None
    assert run(program, 0.7, 10) == wanted


@needs_llvm
def test_a_long_program_has_code_between_the_first_and_the_last_with_the_same_bits(monkeypatch):
    from tapeengine.chad.backends.llvm import calling

    levels, compiled = [], calling.compiled
    monkeypatch.setattr(calling, "compiled", lambda text, level: levels.append(level) or compiled(text, level))
    monkeypatch.setattr(calling, "EACH_STATEMENT", 1000)
    monkeypatch.setattr(calling, "LONG", 0)
    program = te.program(oscillator, backend="native")
    wanted = run(program, 0.7, 10)
    long = [run(program, 0.7, 50_000) for _ in range(3)]
    assert levels == [0, 1, 2]
    assert program.ways.native.better.better is not None and program.ways.native.better.better.better is None
    assert run(program, 0.7, 10) == wanted
    assert long[0] == long[1] == long[2]


@needs_llvm
def test_code_of_very_long_programs_has_the_same_bits_and_leaves_llvm_as_it_was(monkeypatch):
    from tapeengine.chad.backends.llvm import compile as compiling

    given, binding = [], compiling.binding()
    set_option = binding.set_option
    monkeypatch.setattr(binding, "set_option", lambda *args: given.append(args[1]) or set_option(*args))
    monkeypatch.setattr(compiling, "MADE", {})
    programs = []
    for most in (compiling.VERY_LONG, 0):
        monkeypatch.setattr(compiling, "VERY_LONG", most)
        compiling.MADE.clear()
        programs.append(te.program(oscillator, backend="native"))
        run(programs[-1], 0.7, 10)
        assert given == []
        programs[-1].ways.native.promote()
    options = ("-disable-lsr", "-disable-post-ra")
    assert given == [f"{option}={value}" for value in ("true", "false") for option in options]
    assert run(programs[0], 0.7, 1000) == run(programs[1], 0.7, 1000)


@needs_llvm
def test_code_runs_on_where_it_cannot_be_improved(monkeypatch):
    from tapeengine.chad.backends.llvm import calling

    def broken(text, level):
        if level:
            raise RuntimeError("LLVM says no")
        return compiled(text, level)

    compiled = calling.compiled
    monkeypatch.setattr(calling, "EACH_STATEMENT", 1000)
    monkeypatch.setattr(calling, "compiled", broken)
    program = te.program(oscillator, backend="native")
    wanted = run(program, 0.7, 50_000)
    assert program.ways.native.better is None
    assert run(program, 0.7, 50_000) == wanted


@dataclass
class Link:
    value: float
    rest: "Link | None"


def weighed(links: Link | None) -> float:
    if links is None:
        return 0.0
    return links.value * links.value + 0.7 * weighed(links.rest)


def folded(links: Link | None) -> float:
    if links is None:
        return 0.3
    x = links.value
    total = folded(links.rest)
    total = 0.5 * total + x if x > 0.0 else total - math.sin(x)
    return 0.25 + math.cos(total) * 0.5


@needs_llvm
@pytest.mark.parametrize("each", [0.001, 0.02])
@pytest.mark.parametrize("imported", [True, False])
def test_a_program_on_references_is_compiled_after_as_many_seconds_as_that_takes(monkeypatch, each, imported):
    """Each run on dual numbers takes `each` seconds of a clock of ours, and its backpropagator counts as much."""
    run(te.program(oscillator, backend="native"), 0.7, 10)
    ticks = itertools.count()
    for module in (tiers, execute):
        monkeypatch.setattr(module, "perf_counter", lambda: next(ticks) * each)
    waited = []
    for f in (weighed, folded):
        if not imported:
            monkeypatch.delitem(sys.modules, "llvmlite.binding", raising=False)
        program, args = te.program(f), (Link(0.5, Link(-1.0, Link(2.0, None))),)
        made, runs = program.executable, 0
        wanted = run(te.program(f, backend="machine"), *args)
        while made.others.native is None:
            assert run(program, *args) == wanted
            runs += 1
        waited.append(runs)
        passes = made.lower_rows()
        cost = tiers.cost(passes.program)
        seconds = tiers.LOWERING + tiers.INSTRUCTION * cost + (0.0 if imported else tiers.IMPORTING)
        assert 0 <= 2 * each * (runs - 1) - seconds <= 4 * each
        assert run(program, *args) == wanted
    assert waited[0] <= waited[1]


@needs_llvm
def test_tangents_are_compiled_and_have_the_same_bits():
    slow, fast = te.program(oscillator, backend="machine"), te.program(oscillator, backend="native")
    assert te.jvp(fast, (0.7, 5000), (0.3, None)) == te.jvp(slow, (0.7, 5000), (0.3, None))
    assert fast.executable.along((0,)).entry.better is None


@needs_llvm
def test_a_backpropagator_outlives_the_change_of_its_program():
    program = te.program(oscillator)
    _, before = te.vjp(program, 0.7, 5000)
    wanted = before(1.0)
    while program.ways.native is None or program.ways.native.better is None:
        te.vjp(program, 0.7, 5000)[1](1.0)
    assert before(1.0) == wanted


def dot(x: te.Vec, y: te.Vec) -> float:
    return sum(x[i] * y[i] for i in range(len(x)))


@needs_llvm
def test_sums_may_be_taken_in_any_order_by_name():
    """Numbers of which most cancel: both orders are near the sum, and they round otherwise."""
    x, y = (np.random.default_rng(k).standard_normal(10_001) for k in (1, 2))
    fast, plain = te.program(dot, backend="fastmath"), te.program(dot, backend="native")
    value, (dx, dy) = run(fast, x, y)
    assert value == pytest.approx(run(plain, x, y)[0], rel=1e-9)
    assert value != run(plain, x, y)[0]
    np.testing.assert_array_equal((dx, dy), (y, x))
    assert fast.ways.native.better is None
    with pytest.raises(ZeroDivisionError):
        te.vjp(te.program(decay, backend="fastmath"), [1.0, 0.0], 2)


def test_another_back_end_is_refused():
    with pytest.raises(ValueError, match="choose 'machine', 'native', 'fastmath' or None"):
        te.program(oscillator, backend="jit")


@needs_llvm
def test_an_error_of_llvm_is_a_warning_with_a_reason(monkeypatch):
    from tapeengine.chad.backends.llvm import calling

    def broken(text, level):
        raise RuntimeError("LLVM says no\nand much more")

    monkeypatch.setattr(calling, "compiled", broken)
    with pytest.warns(RuntimeWarning, match="oscillator runs without native code: RuntimeError: LLVM says no$"):
        found = run(te.program(oscillator, backend="native"), 0.7, 50)
    value, (by_x, nothing) = run(te.program(oscillator, backend="machine"), 0.7, 50)
    assert found == (pytest.approx(value), (pytest.approx(by_x), nothing))


@needs_llvm
def test_a_failed_improvement_is_a_warning_with_a_reason(monkeypatch):
    from tapeengine.chad.backends.llvm import calling

    made = calling.compiled

    def broken(text, level):
        if level:
            raise RuntimeError("LLVM says no")
        return made(text, level)

    monkeypatch.setattr(calling, "compiled", broken)
    program = te.program(oscillator, backend="native")
    wanted = run(program, 0.7, 50)
    with pytest.warns(RuntimeWarning, match="runs without improved native code: RuntimeError: LLVM says no$"):
        program.ways.native.promote()
    assert program.ways.native.better is None
    assert run(program, 0.7, 50) == wanted


def test_without_llvmlite_the_machine_runs(monkeypatch):
    monkeypatch.setattr(tiers, "is_installed", lambda: False)
    program = te.program(oscillator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(30):
            run(program, 0.7, 20_000)
    assert program.ways.native.better is None


def test_llvm_is_imported_when_a_program_is_compiled():
    code = (
        "import sys, tapeengine as te\n"
        "@te.program\n"
        "def f(x: float) -> float: return x * x\n"
        "assert 'llvmlite' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code.replace("@te.program\ndef", "def")], check=True)


@needs_llvm
def test_inspect_shows_each_step():
    shown = te.program(oscillator).inspect()
    for title in ("terms", "intermediate form", "LLVM"):
        assert f"oscillator: {title}\n" in shown
    assert "define" in shown and "def forward" in shown


@needs_llvm
@pytest.mark.skipif(os.name == "nt", reason="signals are sent to this process")
@pytest.mark.usefixtures("no_callbacks_of_collections")
def test_interrupts_come_through_in_long_loops():
    program = te.program(oscillator, backend="native")
    run(program, 0.7, 10)
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        te.vjp(program, 0.7, 3_000_000_000)
    timer.join()
    assert run(program, 0.7, 10) == run(te.program(oscillator, backend="machine"), 0.7, 10)


@needs_llvm
def test_other_threads_run_meanwhile():
    program = te.program(oscillator, backend="native")
    run(program, 0.7, 10)
    seen = []
    worker = threading.Thread(target=lambda: seen.append(run(program, 0.7, 3_000_000)))
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 3
    assert seen == [run(program, 0.7, 3_000_000)]


@needs_llvm
def test_tasks_of_a_fork_run_at_the_same_time():
    program, events = te.program(oscillator, backend="native"), []
    run(program, 0.7, 10)

    def task(x):
        events.append("begins")
        found = program(x, 3_000_000)
        events.append("ends")
        return found

    def both(xs, executor):
        return sum(te.fork_map(task, xs, executor=executor))

    with ThreadPoolExecutor(2) as pool:
        value, back = te.vjp(lambda xs: both(xs, pool), [0.5, 0.7])
        (cotangents,) = back(1.0)
    assert events == ["begins", "begins", "ends", "ends"]
    alone = [run(program, x, 3_000_000) for x in (0.5, 0.7)]
    assert [value, *cotangents] == [sum(v for v, _ in alone), *(g for _, (g, _) in alone)]


def sines(rows: int, x: te.Vec) -> float:
    total = 0.0
    for k in range(rows):
        for v in x:
            total = total + math.sin(v + k)
    return total


def squares(rows: int, x: te.Vec) -> float:
    total = 0.0
    for k in range(rows):
        for v in x:
            total = total + (v + k) * (v + k)
    return total


@needs_llvm
@pytest.mark.parametrize("count", [0, 1, STRIP, STRIP + 1, 2 * STRIP + 3])
def test_strips_change_no_bit(count):
    xs = np.linspace(-1.0, 1.0, count)
    native, machine = (te.vjp(te.program(sines, backend=b), 3, xs) for b in ("native", "machine"))
    assert native[0] == machine[0] == sines(3, xs)
    np.testing.assert_array_equal(native[1](1.0)[1], machine[1](1.0)[1])


def decay(xs: te.Vec, k: int) -> float:
    total = 0.0
    for i in range(k):
        total = total + 1.0 / xs[i]
    return total


@needs_llvm
@pytest.mark.parametrize(("xs", "k"), [([1.0, 0.0], 2), ([1.0, 2.0], 3)])
def test_poles_and_indices_raise_what_python_raises(xs, k):
    program = te.program(decay, backend="native")
    with pytest.raises((ZeroDivisionError, IndexError)) as wanted:
        decay(xs, k)
    with pytest.raises(wanted.type):
        te.vjp(program, xs, k)


def power(n: int, x: float) -> float:
    m = 3
    for _ in range(n):
        m = m * m
    return x * (m % 7)


@needs_llvm
def test_whole_numbers_of_more_than_64_bits_are_pythons():
    program = te.program(power, backend="native")
    assert run(program, 9, 2.0) == (power(9, 2.0), (None, float(3 ** (2**9) % 7)))


@needs_llvm
def test_a_program_for_which_native_code_is_named_and_cannot_run_says_so_once():
    def remainder(x: float, n: int) -> float:
        return x * float((n * 1180591620717411303424) % 7)

    with pytest.warns(RuntimeWarning, match="remainder runs without native code: the literal 1180591620") as found:
        program = te.program(remainder, backend="native")
        for _ in range(3):
            assert te.grad(program)(2.0, 3) == float((3 * 1180591620717411303424) % 7)
    assert len(found) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        te.grad(te.program(remainder))(2.0, 3)


def by_elements(x):
    return np.sum(x * x)


def by_vectors(x):
    return np.sum(x @ x[0])


def by_rows(x):
    return np.sum(x @ x)


@needs_llvm
def test_native_code_runs_arrays_of_any_size_without_products():
    assert type(te.vjp(te.program(by_elements), np.ones(10**5))[1]) is not WholeBackpropagator


@needs_llvm
@pytest.mark.parametrize(
    ("function", "few", "many"),
    [
        (by_vectors, (45, 45), (46, 46)),
        (by_rows, (11, 11), (12, 12)),
    ],
)
def test_numpy_runs_arrays_for_which_native_code_is_not_faster(function, few, many):
    """Products of matrices go to BLAS from fewer numbers on."""
    program = te.program(function)
    for shape in (few, many):
        te.vjp(program, np.ones(shape))
        assert (type(te.vjp(program, np.ones(shape))[1]) is WholeBackpropagator) == (shape is many)
