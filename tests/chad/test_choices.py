"""Reductions that choose an element: values and derivatives are those of Python, and one element is differentiated."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
import tapeengine.math as tm
from tapeengine import chad
from tapeengine.chad.language import terms
from tapeengine.chad.language.traverse import children

ELEMENTS = (
    "c * c - x[0] * c",
    "tm.sin(c) + x[1]",
    "sum((x[j] - c) ** 2 for j in range(len(x)))",
    "c * min(x)",
    "max(c * a for a in x)",
    "(c if c > 0.0 else x[0] * c)",
)
ARRAYS = ("[{e} for c in cs]", "({e} for c in cs)", "[{e} for c in cs if c > -5.0]", "cs", "[x[0], x[1] * x[2], 2.0]")
CHOICES = (
    "min({a})",
    "max({a})",
    "max({a}, default=1.0)",
    "te.fold(lambda a, b: a if a <= b else b, {a})",
    "te.fold(lambda a, b: b if a * a < b * b else a, {a})",
    "te.fold(lambda a, b: b if a < x[0] else a, {a})",
)
OUTER = ("{r}", "{r} * x[1] + {r}", "sum(x[i] * {r} for i in range(len(x)))", "sum({r} * c for c in x)")


def body(draw: random.Random) -> str:
    """Draw a program of vectors ``x`` and ``cs``."""
    array = draw.choice(ARRAYS).format(e=draw.choice(ELEMENTS))
    choice = draw.choice(CHOICES)
    if "fold" in choice and array.startswith("("):
        array = f"[{array[1:-1]}]"
    return draw.choice(OUTER).format(r=choice.format(a=array))


#: Steps of a loop that keep a number or replace it, and steps that do more.
STEPS = (
    "if {e} {test} best: best = {e}",
    "best = {e} if {e} {test} best else best",
    "best = min(best, {e})",
    "d = {e}\n    if c > 0.0:\n      t = d * c\n      if t {test} best and t > -9.0: best = t",
    "if best {test} {e}: pass\n    else: best = {e}",
    "if {e} {test} best: best = {e} + 0.5 * best",
    "if {e} {test} best: best = {e}\n    elif c > 1.0: best = x[1]",
    "if c > x[0]: best = c * x[2]",
)


def loop(draw: random.Random) -> str:
    """Draw a program with a loop that chooses."""
    step = draw.choice(STEPS).format(e=draw.choice(ELEMENTS), test=draw.choice(("<", ">", "<=")))
    start = draw.choice(("x[0]", "100.0", "-50.0", "cs[0] * x[1]"))
    inner = f"for c in cs:\n    {step}\n"
    return f"total = 0.0\n  best = {start}\n  {inner}  total = total + best * x[1]\n  return total + best"


def written(text: str) -> Callable[..., Any]:
    body = text if "return" in text else f"return {text}"
    source = f"def f(x: te.Vec, cs: te.Vec) -> float:\n  {body}\n"
    return defined(source, te=te, tm=tm)  # type: ignore[no-any-return]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("form", [body, loop])
def test_derivatives_are_those_of_dual_numbers(form: Callable[[random.Random], str], seed: int) -> None:
    draw = random.Random(seed)
    text = form(draw)
    function = written(text)
    programs = [chad.Program(function, backend=name) for name in (None, "machine", "native")]
    for n in (1, 2, 5):
        x, cs = ([float(draw.choice((-2, -1, 1, 2))) + 0.25 * k % 0.5 for k in range(size)] for size in (3, n))
        args = np.array(x), np.array(cs)
        value, back = te.vjp(function, *args)
        tangents = tuple(np.arange(1.0, 1.0 + len(a)) for a in args)
        along = te.jvp(function, args, tangents)[1]
        for program in programs:
            found, found_back = te.vjp(program, *args)
            assert np.allclose(found, value, rtol=1e-12, atol=1e-12), text
            for a, b in zip(found_back(1.5), back(1.5), strict=True):
                assert np.allclose(a, b, rtol=1e-12, atol=1e-12), (text, args)
            assert np.allclose(te.jvp(program, args, tangents)[1], along, rtol=1e-12, atol=1e-12), (text, args)


@pytest.mark.parametrize("text", ["min([x[0] * c for c in cs])", "max([c for c in cs if c > 10.0])"])
def test_no_elements_are_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        te.vjp(te.program(written(text)), np.ones(3), np.ones(0))


def nearest(points: te.Vec, centres: te.Vec) -> float:
    return sum(min((p - c) ** 2 for c in centres) for p in points)


def nearest_by_a_loop(points: te.Vec, centres: te.Vec) -> float:
    total = 0.0
    for p in points:
        best = 1e9
        for c in centres:
            d = (p - c) ** 2
            if d < best:
                best = d
        total = total + best
    return total


@pytest.mark.parametrize("function", [nearest, nearest_by_a_loop])
def test_the_reverse_pass_runs_through_one_element(function: Callable[..., float]) -> None:
    program = chad.Program(function, backend="machine")

    def steps(centres: int) -> int:
        _, back = te.vjp(program, np.ones(7), np.arange(0.0, centres))
        return back.passed(1.0)  # type: ignore[attr-defined,no-any-return]

    assert steps(3) == steps(30)


def least(n: int, x: float) -> float:
    return x if n == 0 else min(least(n - 1, x * k) for k in range(1, 3))


def least_by_a_loop(n: int, x: float) -> float:
    best = x
    for k in range(n):
        v = least_by_a_loop(n - 1, x * k)
        if v < best:
            best = v
    return best


@pytest.mark.parametrize("function", [least, least_by_a_loop])
def test_a_function_calls_itself_as_often_as_it_is_written(function: Callable[..., float]) -> None:
    program = te.program(function)
    assert te.grad(program, argnums=1)(3, 1.5) == te.grad(function, argnums=1)(3, 1.5)
    pending = [d.body for d in program.executable.closed.definitions.values()]
    calls = 0
    while pending:
        term = pending.pop()
        calls += isinstance(term, terms.Call)
        pending += [child for child, _ in children(term)]
    assert calls == 1
