"""Transformation, lowering and printing take time and room in proportion to the program."""

import cProfile
import functools
import os
import sys

import pytest
from chad.written_functions import defined

import tapeengine as te
import tapeengine.math as math

NIGHTLY = bool(os.environ.get("TAPEENGINE_NIGHTLY"))


def program(text):
    return te.Program(defined(text, te=te, math=math))


def nested(depth):
    lines = ["def f(x: float) -> float:", "    def g0(y: float) -> float:", "        return math.cos(y) * y"]
    for i in range(depth):
        lines += [f"    def g{i + 1}(y: float) -> float:", f"        return g{i}(g{i}(y))"]
    return program("\n".join([*lines, f"    return g{depth}(x)\n"]))


def loops(depth):
    lines = ["def f(x: float, n: int) -> float:", "    a = x"]
    for i in range(depth):
        lines += ["    " * (i + 1) + f"for i{i} in range(n):", "    " * (i + 2) + f"a = a + 0.1 * x * i{i}"]
    return program("\n".join([*lines, "    return a\n"]))


def straight(count):
    lines = ["def f(x: float) -> float:", "    a = x", *["    a = a * 0.5 + math.sin(a) * x"] * count]
    return program("\n".join([*lines, "    return a\n"]))


@functools.cache
def read_names(count):
    return straight_names(count)


def straight_names(count):
    lines = ["def f(x0: float) -> float:", *(f"    x{k + 1} = x{k} * 0.999 + 0.001" for k in range(count))]
    return program("\n".join([*lines, f"    return x{count}\n"]))


def lowering_calls(of):
    """How many functions are called from the source to the intermediate form."""
    return calls(lambda: of.executable.reverse_form)


def calls(run):
    """How many functions something calls."""
    profile = cProfile.Profile(builtins=False)
    assert profile.runcall(run)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("form", ["reverse", "forward"])
def test_functions_that_call_each_other_twice_are_shared(form):
    lengths = [len(nested(depth).derivative(form)) for depth in range(1, 13)]
    assert all(n < 1_000 + 1_200 * depth for depth, n in enumerate(lengths, start=1))
    text = nested(12).derivative(form)
    names = {}
    exec(text, names)
    ten, names_of_ten = nested(10).derivative(form), {}
    exec(ten, names_of_ten)
    assert len(text) - len(ten) < 2_000

    def plain(y, depth):
        return math.cos(y) * y if depth == 0 else plain(plain(y, depth - 1), depth - 1)

    _, slope = te.jvp(lambda x: plain(x, 10), (0.7,), (1.0,))
    if form == "reverse":
        value, kept = names_of_ten["forward"](0.7)
        (found,) = names_of_ten["reverse"](kept, 1.0)
    else:
        value, found = names_of_ten["tangent_f"](0.7, 1.0)
    assert value == plain(0.7, 10)
    assert found == pytest.approx(slope, rel=1e-13)


def test_nested_loops():
    few, many = (lowering_calls(loops(k)) for k in (8, 16))
    assert many < 6 * few  # a statement is looked at from each loop around it
    value, back = te.vjp(loops(16), 1.5, 1)
    assert (value, back(1.0)) == (1.5, (1.0, None))


def test_straight_lines():
    few, many = (lowering_calls(straight(k)) for k in (100, 400))
    assert many < 4.3 * few
    long = straight(5000 if NIGHTLY else 1200)
    value, back = te.vjp(long, 0.5)
    assert "whole" not in vars(long.executable)  # a text that does not run takes gigabytes here
    expected, on_duals = te.vjp(long.python, 0.5)
    assert value == expected
    assert back(1.0)[0] == pytest.approx(on_duals(1.0)[0], rel=1e-12)


def test_straight_lines_of_different_names_are_read_in_linear_time():
    few, many = (calls(lambda k=k: straight_names(k)) for k in (100, 400))
    assert many < 4.3 * few


@pytest.mark.parametrize("form", ["reverse", "forward", "accumulate"])
def test_straight_lines_of_different_names_are_printed(form):
    count = 5000 if NIGHTLY else 2500
    short, long = (len(read_names(k).derivative(form)) for k in (count // 10, count))
    assert long < 11 * short


def arguments(count):
    names = [f"x{i}" for i in range(count)]
    return program(
        f"def f({': float, '.join(names)}: float) -> float:\n    return {' + '.join(f'{n} * {n}' for n in names)}\n"
    )


def results(count):
    of, items = ", ".join(["float"] * count), ", ".join(f"math.sin(x) * {i}.5" for i in range(count))
    return program(f"def f(x: float) -> tuple[{of}]:\n    return ({items})\n")


def branches(count):
    lines = ["def f(x: float) -> float:", "    a = x"]
    for i in range(count):
        lines += [f"    if a < {i}.5:", "        a = a * x"]
    return program("\n".join([*lines, "    return a\n"]))


def arrays(count):
    lines = ["def f(x: te.Vec) -> float:", "    a = x", *["    a = [0.5 * v + 0.1 for v in a]"] * count]
    return program("\n".join([*lines, "    return sum(a)\n"]))


LONG = {
    "lines": (straight, (0.5,), 150),
    "arguments": (arguments, tuple(0.5 + 0.01 * i for i in range(120)), 120),
    "results": (results, (0.5,), 120),
    "branches": (branches, (0.5,), 50),
    "arrays": (arrays, ([0.5, 0.25],), 40),
}
#: What is done with a program, as functions of the program, its arguments and a cotangent of its value.
USES = {
    "vjp": lambda f, xs, ct: te.vjp(f, *xs)[1](ct),
    "jvp": lambda f, xs, ct: te.jvp(f, xs, xs),
    "second": lambda f, xs, ct: te.jvp(lambda *ys: te.vjp(f, *ys)[1](ct), xs, xs),
    "reverse": lambda f, xs, ct: f.derivative("reverse"),
    "forward": lambda f, xs, ct: f.derivative("forward"),
    "loops": lambda f, xs, ct: f.derivative("loops"),
    "accumulate": lambda f, xs, ct: f.derivative("accumulate"),
    "inspect": lambda f, xs, ct: f.inspect(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", LONG)
def test_long_programs_need_no_deep_stack(name, use):
    write, xs, count = LONG[name]
    before = sys.getrecursionlimit()
    cotangent = (1.0,) * count if name == "results" else 1.0
    sys.setrecursionlimit(300)
    try:
        assert USES[use](write(count), xs, cotangent)
    finally:
        sys.setrecursionlimit(before)
