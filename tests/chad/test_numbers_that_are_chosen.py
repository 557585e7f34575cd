"""A float that Python may have as an integer on some path, or in some field, is an integer in the value."""

import dataclasses
import functools
import math
import operator
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import outcome

import tapeengine as te


@dataclasses.dataclass
class Pair:
    """Two numbers, which may be integers."""

    a: float
    b: float = 0


class Named(NamedTuple):
    """The same as a tuple."""

    a: float
    b: float


NAMES = dict(
    zip(
        ("np", "math", "operator", "functools", "dataclasses", "Pair", "Named"),
        (np, math, operator, functools, dataclasses, Pair, Named),
        strict=True,
    )
)
#: Bodies of functions of a float x and an integer n; lines are separated by semicolons.
BODIES = (
    "return 0 if x < 0 else x",
    "if x < 0: return 0;return x * x",
    "return max(0, x), min(x, n), max(x - 1, 0)",
    "s = 0;for v in [x] * n: s += v;return s",
    "s = 0;for i in range(n):;    if i > 1: s = x;return s",
    "return sum([x] * n), sum(x for i in range(n)), sum([x] * n, 1)",
    "return max([x] * n, default=0), next((x for i in range(n) if x > 0), 0)",
    "return x or n, n and x",
    "return (x, 0) if x < 0 else (n, x)",
    "return Pair(n, x), Pair(x), Named(n, x)",
    "return [Pair(n, x)], [(Pair(x, x), 1)]",
    "q = Pair(x, x);q.a = n;return [q]",
    "return dataclasses.replace(Pair(x, x), a=n)",
    "return {'a': n if x < 0 else x, 'b': x}",
    "r = 1;for _ in range(n): r *= x;return r",
    "r = 1;while n > 0:;    r = r * x;    n -= 1;return r",
    "return functools.reduce(lambda a, b: a + b, [x] * n, 0), functools.reduce(operator.mul, [n, n + 1], 1)",
    "return operator.add(n, 2), operator.mul(n, x), operator.neg(n), operator.sub(n, 1), operator.mod(n + 5, 3)",
    "return operator.floordiv(7, n + 1), operator.truediv(n, 2), operator.pow(n, 2), operator.and_(n, 3)",
    "a, b = (n, x) if x > 0 else (x, n);return a, b",
    "best = None;for v in [x, n]:;    if best is None or v < best: best = v;return best",
    "return [n, x][n % 2], sorted([n, x, 2])[0]",
    "return math.fsum([x] * n), math.prod([x] * n), math.prod([n] * 2)",
    "return x**0, n**2, n / 1 if x > 0 else n // 1",
    "return float(n) if x > 0 else n, (x if x > 0 else 0) * n, -(x if x > 0 else 0)",
    "y = 0;if x > 0: y = x;return y - 1",
    "def power(m):;    return 1 if m <= 0 else x * power(m - 1);return power(n)",
    "return abs(n), abs(x), round(x), round(n, 1)",
)
HEADS = ("x, n", "x: float, n: int")
ARGUMENTS = ((0.5, 0), (0.5, 2), (-1.5, 1), (2.0, 3), (-2.0, 0), (3, 2), (-1, 1))


def described(value):
    """A value with the classes of its numbers."""
    if isinstance(value, Exception):
        return type(value)
    if isinstance(value, dict | list | tuple):
        return type(value), [described(part) for part in (value.values() if isinstance(value, dict) else value)]
    if isinstance(value, Pair):
        return described((value.a, value.b))
    return type(value), value


def written(body, head):
    lines = "\n    ".join(body.split(";"))
    return defined(f"def f({head}):\n    {lines}\n", **NAMES)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("body", BODIES)
def test_classes_of_numbers(body, head):
    f = written(body, head)
    program = te.program(f)
    for x, n in ARGUMENTS * 2:  # the second time the core runs what it knows
        wanted = described(outcome(lambda x=x, n=n: f(x, n)))
        tangents = (1.0 if isinstance(x, float) else None, None)
        assert described(outcome(lambda x=x, n=n: program.value(x, n))) == wanted, (x, n)
        assert described(outcome(lambda x=x, n=n: te.vjp(program, x, n)[0])) == wanted, (x, n)
        assert described(outcome(lambda x=x, n=n, t=tangents: te.jvp(program, (x, n), t)[0])) == wanted, (x, n)


def test_a_declared_result_may_be_an_integer():
    f = defined("def f(x: float) -> float:\n    return 0 if x < 0 else x * x\n")
    program = te.program(f)
    for x in (-1.0, 2.0, 1.5, -1.0):
        assert described(program.value(x)) == described(f(x))


def test_a_chosen_integer_has_a_gradient():
    program = te.program(defined("def f(x):\n    return 0 if x < 0 else x * x\n"))
    for _ in range(2):
        assert te.grad(program)(-1.0) == 0.0
        assert te.value_and_grad(program)(-1.0) == (0, 0.0)
        assert te.value_and_grad(program)(1.5) == (2.25, 3.0)
        assert te.value_and_grad(program)(2.0) == (4.0, 4.0)
        assert te.hessian(program)(2.0) == 2.0
        value, back = te.vjp(program, -1.0)
        assert (value, back(1.0), back(None)) == (0, (0.0,), (0.0,))


def test_a_program_that_chooses_inside_another_trace():
    program = te.program(defined("def f(x):\n    return 0 if x < 0 else x * x\n"))
    for x, wanted in ((2.0, 12.0), (-2.0, 0.0), (1.5, 6.75)):
        assert te.grad(lambda y: program(y) * y)(x) == wanted


def several(x, y):
    return max(x - 1.0, 0), min(y, 2), x * y


def chosen(x):
    return (x, 0) if x < 0 else (1, x)


def clipped(x):
    return 0 if x < 0 else x * x


def total(xs):
    s = 0
    for x in xs:
        s += x * x
    return s


CALLS = {
    several: ((0.5, 3.0), (2.0, 1.0), (1.7, 0.2)),
    chosen: ((-1.0,), (2.0,)),
    clipped: ((-1.0,), (2.0,), (1.5,)),
    total: (([],), ([1.0, 2.0],)),
}
TRANSFORMS = {
    "forward": lambda f, args: te.jacfwd(f)(*args),
    "reverse": lambda f, args: te.jacrev(f)(*args),
    "second": lambda f, args: te.hessian(f)(*args),
    "linear": lambda f, args: te.linearize(f, *args)[1](*args),
    "tangents": lambda f, args: te.jvp(f, args, args),
    "staged": lambda f, args: te.vjp(te.stage(f), *args)[0],
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", CALLS)
def test_derivatives_of_integers_are_those_of_dual_numbers(function, transform):
    of, program = TRANSFORMS[transform], te.program(function)
    for args in CALLS[function] * 2:
        assert repr(of(program, args)) == repr(of(function, args)), args
