"""Native code looks for interrupts in every loop that may be long."""

import os
import re
import signal
import threading

import numpy as np
import pytest
from chad.backends.runs import improved, run, texts

import tapeengine as te
from asv_bench.programs.native_arrays import ARRAYS
from asv_bench.programs.native_loops import LOOPS
from tapeengine.chad.backends import tiers

pytestmark = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")

CASES = {**ARRAYS, **LOOPS}
#: The most steps without a check.
STRIP = 1 << 14


def squares(rows: int, x: te.Vec) -> float:
    total = 0.0
    for k in range(rows):
        for v in x:
            total = total + (v + k) * (v + k)
    return total


def quotients(rows: int, x: te.Vec) -> float:
    total = 0.0
    for k in range(rows):
        for v in x:
            total = total + v / (v * v + k + 2.0)
    return total


def scaled(rows: int, x: te.Vec) -> float:
    total = 0.0
    for k in range(rows):
        y = [v * v + k for v in x]
        total = total + y[k] * sum(y)
    return total


def ragged(rows: list[te.Vec]) -> float:
    total = 0.0
    for k in range(2):
        for row in rows:
            total = total + sum(v * v * k for v in row)
    return total


# ------------------------------------------------------------ the text


def blocks(function):
    """Return the instructions of a function's blocks."""
    found, label = {}, "entry"
    for line in function.splitlines()[1:]:
        if match := re.fullmatch(r"([\w.]+):", line):
            label = match[1]
            found[label] = []
        elif line.startswith("  "):
            found.setdefault(label, []).append(line.strip())
    return found


def after(instructions):
    """Return the labels of the next blocks."""
    return re.findall(r"label %([\w.]+)", instructions[-1])


def unchecked(function):
    """Iterate over the loops without a check: the instructions of the blocks of each cycle."""
    of = {label: x for label, x in blocks(function).items() if not any(a.startswith("look") for a in after(x))}

    def reached(start):
        found, left = set(), [start]
        while left:
            for label in after(of[left.pop()]):
                if label in of and label not in found:
                    found.add(label)
                    left.append(label)
        return found

    reach = {label: reached(label) for label in of}
    for cycle in {frozenset(x for x in reach[a] if a in reach[x]) for a in of if a in reach[a]}:
        yield [line for label in cycle for line in of[label]], of


def assigned(of):
    """Return the instructions that assign values, by the values' names."""
    return dict(line.split(" = ", 1) for x in of.values() for line in x if " = " in line)


def is_accounted(count, made):
    """Tell whether a number, or the time of as many steps, is compared with the most that a run may take."""
    at_least_none = r"call i64 @llvm.smax.i64\(i64 (.*), i64 0\)"

    def source(x):
        match = re.fullmatch(at_least_none, made.get(x, ""))
        return match[1] if match else x

    reals = {x: re.fullmatch(r"sitofp i64 (\S+) to double", text) for x, text in made.items()}
    sums = {x for x, match in reals.items() if match and source(match[1]) == count}
    for x, text in made.items():
        if re.match("fmul|fadd", text) and sums & set(re.findall(r"%[\w.]+", text)):
            sums.add(x)
    totals = {m[1] for m in (re.match(r"fcmp ogt double (\S+), ", text) for text in made.values()) if m}
    numbers = {source(m[1]) for m in (re.match(r"icmp sgt i64 (\S+), [1-9]", text) for text in made.values()) if m}
    return bool(sums & totals) or count in numbers


def is_bounded(loop, of, is_long):
    """Tell whether a loop ends after a strip, or was entered only with few steps."""
    made = assigned(of)
    for line in loop:
        match = re.search(r"= icmp slt i64 %[\w.]+, (%?[\w.]+)$", line)
        if match is None:
            continue
        if match[1].isdigit() and int(match[1]) <= STRIP:
            return True
        text = made.get(match[1], "")
        steps = text.rsplit(" ", 1)[-1] if text.startswith("add") else ""
        least = re.fullmatch(r"call i64 @llvm.smin.i64\(i64 .*, i64 (\d+)\)", made.get(steps, ""))
        if least and int(least[1]) <= STRIP:
            return True
        place = re.fullmatch(r"load i64, ptr (\S+)", made.get(steps, ""))
        if place and is_of_parts(place[1], of, made):
            return True
        natural = re.fullmatch(r"call i64 @llvm.smax.i64\(i64 (.*), i64 0\)", text)
        if not is_long and is_accounted(natural[1] if natural else match[1], made):
            return True
    return False


def is_of_parts(place, of, made):
    """Tell whether a place holds the size of a part of a sum, of at most 128 numbers, as far as there are several."""
    lines = "\n".join(line for block in of.values() for line in block)
    stores = re.findall(rf"store i64 (\S+), ptr {re.escape(place)}$", lines, re.MULTILINE)
    return any(made.get(x, "").startswith("call i64 @te_part(") for x in stores)


def functions_of(text):
    """Give the functions of a module."""
    return re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)


PROGRAMS = {
    **CASES,
    "squares": (squares, lambda: (2, np.ones(5))),
    "scaled": (scaled, lambda: (2, np.ones(5))),
    "ragged": (ragged, lambda: ([np.ones(5), np.ones(6)],)),
}


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_loop_looks_for_interrupts_or_ends_after_few_steps(name, is_long):
    function, inputs = PROGRAMS[name]
    made = texts(function, inputs(), is_long)
    assert made
    for text in made:
        for part in functions_of(text):
            for loop, of in unchecked(part):
                assert is_bounded(loop, of, is_long), "\n".join(loop)


def test_only_code_for_long_loops_has_strips_inside_other_loops():
    few, many = (texts(squares, (2, np.ones(5)), is_long)[0].count("\nstrip") for is_long in (False, True))
    assert many == few + 2  # one for each pass


# ------------------------------------------------------------ runs


@pytest.fixture
def unhurried(monkeypatch):
    """Let steps of some nanoseconds run without a check for as long as a strip."""
    from tapeengine.chad.backends.llvm import costs

    monkeypatch.setattr(costs, "UNCHECKED", 20 * STRIP)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("function", [squares, scaled])
def test_code_with_strips_replaces_the_other_where_a_loop_is_long(function):
    xs = np.linspace(-1.0, 1.0, 4 * STRIP + 3)
    wanted = run(te.program(function, backend="native"), 2, xs)
    assert wanted[0] == function(2, xs)
    program = improved(function, 2, xs[:9])
    best = program.ways.native.better
    run(program, 2, xs[:STRIP])
    assert best.better is None
    value, (_, gradient) = run(program, 2, xs)
    assert best.better is not None
    assert value == wanted[0]
    np.testing.assert_array_equal(gradient, wanted[1][1])
    assert run(program, 1, xs[:9])[0] == function(1, xs[:9])


@pytest.mark.usefixtures("unhurried")
def test_code_for_long_loops_that_cannot_be_made_is_one_warning_with_a_reason(monkeypatch):
    from tapeengine.chad.backends.llvm import calling

    calls = []

    def broken(text, level):
        calls.append(text)
        raise RuntimeError("LLVM says no")

    xs = np.linspace(-1.0, 1.0, 4 * STRIP + 3)
    program = improved(squares, 2, xs[:9])
    monkeypatch.setattr(calling, "compiled", broken)
    with pytest.warns(RuntimeWarning, match="runs without improved native code: RuntimeError: LLVM says no$") as said:
        for _ in range(3):
            assert run(program, 2, xs)[0] == pytest.approx(squares(2, xs), rel=1e-12)  # by the fallback
    assert len(said) == len(calls) == 1
    assert program.ways.native.better.better is None


def test_a_loop_that_is_long_only_in_the_reverse_pass(monkeypatch):
    from tapeengine.chad.backends.llvm import costs

    xs = np.linspace(-1.0, 1.0, 4 * STRIP + 3)
    wanted = run(te.program(quotients, backend="machine"), 2, xs)
    text = texts(quotients, (2, xs), False)[0]
    fewest, most = sorted(float(n) for n in re.findall(r"fmul double %[\w.]+, ([\d.]+)$", text, re.MULTILINE))
    assert fewest < most
    monkeypatch.setattr(costs, "UNCHECKED", int(len(xs) * (fewest + most) / 2))
    program = improved(quotients, 2, xs[:9])
    value, back = te.vjp(program, 2, xs)
    assert value == wanted[0]
    assert program.ways.native.better.better is None
    np.testing.assert_array_equal(back(1.0)[1], wanted[1][1])
    assert program.ways.native.better.better is not None


@pytest.mark.usefixtures("unhurried")
def test_code_that_cannot_be_compiled_again_leaves_the_run_to_python(monkeypatch):
    from tapeengine.chad.backends.llvm import calling

    program = improved(squares, 2, np.ones(9))

    def failing(*args, **options):
        raise RuntimeError

    monkeypatch.setattr(calling, "module", failing)
    xs = np.linspace(-1.0, 1.0, 4 * STRIP + 1)
    assert run(program, 1, xs)[0] == squares(1, xs)
    assert program.ways.native.better.better is None


@pytest.mark.skipif(os.name == "nt", reason="signals are sent to this process")
@pytest.mark.parametrize("function", [squares, scaled])
@pytest.mark.usefixtures("no_callbacks_of_collections")
def test_interrupts_come_through_in_long_loops_along_arrays(function):
    xs = np.ones(3_000_000)
    program = improved(function, 2, xs[:9])
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100_000):
            te.vjp(program, 5, xs)
    timer.join()
    assert run(program, 1, xs[:9])[0] == function(1, xs[:9])
