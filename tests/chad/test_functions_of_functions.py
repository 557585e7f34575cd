"""Functions that make functions, applied to one another's results; and variables with a declared type."""

import random
from dataclasses import dataclass

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
import tapeengine.math as math
from tapeengine.chad.language.errors import ProgramError

DEFINITIONS = """
    twice = lambda f: lambda y: f(f(y))
    def scaled(f, k):
        def g(y):
            return k * f(y) + w
        return g
    compose = lambda f, g: lambda y: f(g(y))
    def shifted(f):
        return lambda y: f(y + x) - w
"""
MAKERS = ["twice({f})", "scaled({f}, x)", "scaled({f}, 0.5)", "compose({f}, {g})", "shifted({f})"]


def program(seed):
    draw = random.Random(seed)
    names, lines = ["math.sin", "math.cos", "(lambda y: y * w)"], []
    for k in range(draw.randint(2, 4)):
        made = draw.choice(MAKERS).format(f=draw.choice(names[-2:]), g=draw.choice(names))
        lines.append(f"    h{k} = {made}")
        names.append(f"h{k}")
    text = f"def f(x: float, w: float) -> float:{DEFINITIONS}" + "\n".join([*lines, f"    return {names[-1]}(x)", ""])
    return defined(text, math=math)


@pytest.mark.parametrize("seed", range(40))
def test_chains(seed):
    function = program(seed)
    value, back = te.vjp(te.program(function), 0.7, 0.3)
    expected, on_duals = te.vjp(function, 0.7, 0.3)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(back(1.0), on_duals(1.0), rtol=1e-12)


def endless(x: float) -> float:
    grow = lambda f: more(lambda y: f(y))  # noqa: E731
    more = lambda f: grow(f)  # noqa: E731
    return grow(lambda y: y)(x)


def itself(x: float) -> float:
    call = lambda f: f(f)  # noqa: E731
    return call(call) * x


@pytest.mark.parametrize("function", [endless, itself])
def test_functions_without_an_end_are_refused(function):
    with pytest.raises(ProgramError, match="calls itself through another local function"):
        te.program(function)


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Box:
    width: float
    height: float


Shape = Circle | Box


def in_branches(x: float, k: int) -> float:
    s: Shape
    if k == 0:
        s = Circle(x)
    elif k == 1:
        s = Box(x, x * x)
    else:
        s = Circle(2.0 * x)
    match s:
        case Circle(radius=r):
            return 3.0 * r * r
        case Box(width=a, height=b):
            return a * b


def narrowed(x: float, k: int) -> float:
    s: Shape
    s = Circle(x)
    area = s.radius * s.radius
    if k > 0:
        s = Box(x, area)
    return area + (s.width * s.height if isinstance(s, Box) else s.radius)


def number_or_none(x: float, k: int) -> float:
    q: float | None
    if k > 0:
        q = x * x
    else:
        q = None
    return x if q is None else q * k


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("function", [in_branches, narrowed, number_or_none])
def test_declared_variables(function, k):
    value, back = te.vjp(te.program(function), 0.7, k)
    expected, on_duals = te.vjp(function, 0.7, k)
    assert value == pytest.approx(expected, rel=1e-14)
    assert back(1.0)[0] == pytest.approx(on_duals(1.0)[0], rel=1e-14)
