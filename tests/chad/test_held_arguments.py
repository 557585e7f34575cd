"""Methods of records, callable records and partials outside a program: values, derivatives, and changes afterwards."""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te


@dataclass
class Box:
    x: float

    def twice(self):
        return self.x * 2.0

    def by(self, k, q=1.0):
        return self.x * k + q

    def both(self, v):
        return self.by(v) + self.pair(v)[1]

    def pair(self, v):
        return [self.x, v]

    def array(self, v):
        return np.array([self.x, v])

    def other(self, v):
        return Box(self.x * v)

    def __add__(self, v):
        return self.x + v

    def __call__(self, v):
        return [v, self.x * v]


class Named(NamedTuple):
    a: float

    def up(self, k):
        return self.a * k


@dataclass
class Outer:
    box: Box


def product(a, b):
    return a * b


def listed(a, b):
    return [a, b]


def kept():
    box, half = Box(5.0), functools.partial(product, 0.5)

    def f(x):
        return box.by(half(x))

    return f


BOX, NAMED, OUTER, BOXES, BY_NAME = Box(1.5), Named(2.0), Outer(Box(4.0)), [Box(1.0), Box(2.0)], {"a": Box(3.0)}
TRIPLED, BY_KEY, POWER = (
    functools.partial(product, 3.0),
    functools.partial(product, b=3.0),
    functools.partial(math.pow, 2),
)
NESTED, LISTED, BOUND = functools.partial(TRIPLED, 2.0), functools.partial(listed, 2.0), BOX.by
EXPRESSIONS = (
    """
BOX.twice() * x|BOX.by(x)|BOX.by(x, q=2.0)|BOX.by(q=x, k=2.0)|BOX.both(x)|BOX + x|BOX(x)|BOX.pair(x)|BOX.pair(x) + [x]
BOX.array(x)|BOX.array(x) * 2|BOX.other(x)|BOX.other(x).by(x)|NAMED.up(x)|OUTER.box.twice() * x|BOXES[1].by(x)
BY_NAME["a"].by(x)|sum(b.twice() for b in BOXES) * x|BOUND(x)|TRIPLED(x)|TRIPLED(b=x)|TRIPLED(TRIPLED(x))|BY_KEY(x)
BY_KEY(x, b=x)|POWER(x)|NESTED() * x|LISTED(x)|[LISTED(b=v) for v in (x, x)]|list(map(TRIPLED, [x, x]))
list(map(BOX.by, [x, x]))|TRIPLED(BOX.by(x))
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def function_of(expression):
    return defined(f"def f(x):\n    return {expression}\n")


def defined(text):
    run_in(globals(), text)
    return globals()["f"]


def difference(f, x):
    """The derivative of all numbers of a value, as a central difference of their sum."""

    def total(v):
        return float(np.sum(np.ravel(getattr(v, "x", v))))

    return (total(f(x + 1e-6)) - total(f(x - 1e-6))) / 2e-6


def ones(value):
    if isinstance(value, Box):
        return Box(1.0)
    if isinstance(value, list):
        return list(map(ones, value))
    return np.ones_like(value) if isinstance(value, np.ndarray) else 1.0


def compare(program, f, x):
    value, back = te.vjp(program, x)
    assert repr(value) == repr(f(x)) or (type(value), value) == (float, float(f(x)))
    assert back(ones(value))[0] == pytest.approx(difference(f, x), rel=1e-6)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_call(expression):
    f = function_of(expression)
    compare(te.program(f), f, 0.7)


def test_a_closure():
    f = kept()
    compare(te.program(f), f, 0.7)


@pytest.mark.parametrize("name", ["BOX.twice() * x", "BOX.by(x)", "BOX(x)", "BOUND(x)", "list(map(BOX.by, [x, x]))"])
def test_a_field_that_changes(name, monkeypatch):
    f = function_of(name)
    program = te.program(f)
    for x in (BOX.x, 9.0, -2.0):
        monkeypatch.setattr(BOX, "x", x)
        compare(program, f, 0.7)


@pytest.mark.parametrize("name", ["TRIPLED", "BY_KEY"])
def test_another_partial(name, monkeypatch):
    f = function_of(f"{name}(x)")
    program = te.program(f)
    compare(program, f, 0.7)
    monkeypatch.setitem(globals(), name, functools.partial(product, b=7.0))
    compare(program, f, 0.7)


def test_a_list_that_a_partial_holds():
    f = defined("def f(x):\n    return HELD(x)\n")
    numbers = [1.0, 2.0]
    globals()["HELD"] = functools.partial(weighted, numbers)
    program = te.program(f)
    compare(program, f, 0.7)
    numbers.append(4.0)
    compare(program, f, 0.7)


def weighted(numbers, x):
    return sum(n * x for n in numbers)
