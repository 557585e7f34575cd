"""Functions that make functions, applied to one another's results; and variables with a declared type."""

import functools
import random
from dataclasses import dataclass

import numpy as np
import pytest
from chad.written_functions import agrees_with_differences, defined, refused

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


#: Functions of the module that give functions, as `made`, from two numbers.
GIVERS = (
    "def made(a, b):\n    def inner(y, c=b):\n        return a * y + c\n    return inner",
    "def made(a, b):\n    return lambda y: a * y + b",
    "def made(a: float, b: float):\n    def inner(y: float) -> float:\n        return a * y + b\n    return inner",
    "def made(a, b):\n    def inner(y):\n        return a * y\n    a = a * b\n    return inner",
    "def made(a, b):\n    if a > 0.5:\n        return lambda y: a * y\n    return math.cos",
    "def inside(a):\n    return lambda y: y * y * a\ndef made(a, b):\n    return lambda y: inside(b)(y) * a",
    "def inside(f):\n    return lambda y: f(f(y))\ndef made(a, b):\n    return inside(inside(lambda y: a * y - b))",
    "def pair(a):\n    return (lambda y: a + y), a\ndef made(a, b):\n    f, k = pair(a)\n    return lambda y: k * f(y)",
    "def made(a, b):\n    g = {'p': lambda y: a - y, 'q': math.exp}\n    return g['p'] if b > 0.5 else g['q']",
    "def made(a, b):\n    return [lambda y, k=k: y * k * a - b for k in range(3)][2]",
    "def inside(a, y, b):\n    return a * y - b\ndef made(a, b):\n    return functools.partial(inside, a, b=b)",
)
#: What a program does with `made`.
USES = (
    "return made(x, w)(w)",
    "g = made(x, w)\nreturn g(g(x)) - g(2.0)",
    "g = made(x, w)\nif w > x:\n    g = made(w, x)\nreturn g(0.75)",
    "return sum(made(k, w)(x) for k in [x, w])",
    "fs = [made(x, w), made(w, 0.25)]\nreturn fs[0](x) * fs[1](w)",
    "y = x\nfor _ in range(3):\n    y = made(y, w)(x)\nreturn y",
    "compose = lambda f, g: lambda z: f(g(z))\nreturn compose(made(x, w), made(w, x))(0.5)",
)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("giver", GIVERS)
def test_functions_of_the_module_may_give_functions(giver, use):
    text = f"{giver}\ndef f(x, w):\n" + "".join(f"    {line}\n" for line in use.split("\n"))
    function = defined(text, math=math, functools=functools)
    program = te.program(function)
    for x, w in ((0.7, 0.3), (0.25, 0.875)):
        refused(program, x, w)
        agrees_with_differences(program, function, x, w, rtol=1e-7)


@pytest.mark.parametrize("head", ["x, w", "x: float, w: float"])
def test_a_program_does_not_give_a_function_to_its_caller(head):
    program = te.program(defined(f"{GIVERS[1]}\ndef f({head}):\n    return made(x, w)\n"))
    with pytest.raises(ProgramError, match="the function lambda as a result"):
        refused(program, 0.7, 0.3)
    assert program(0.7, 0.3)(2.0) == 0.7 * 2.0 + 0.3


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
