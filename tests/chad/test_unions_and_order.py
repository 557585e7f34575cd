"""Unions with methods and fields, optional fields, methods of base classes; bits of integers; tuples in order."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from chad.source_programs import Source, function_of
from leaves import numbers

import tapeengine as te
from tapeengine import math


@dataclass(frozen=True)
class Disc:
    r: float
    weight: float | None = None

    def area(self) -> float:
        return math.pi * self.r**2

    def scaled(self, k: float) -> Disc:
        return Disc(self.r * k)

    @property
    def width(self) -> float:
        return 2.0 * self.r


@dataclass(frozen=True)
class Box:
    a: float
    b: float
    weight: float | None = 2.5

    def area(self) -> float:
        return self.a * self.b

    def scaled(self, k: float) -> Box:
        return Box(self.a * k, self.b * k, self.weight)

    @property
    def width(self) -> float:
        return self.a


@dataclass(frozen=True)
class Leaf:
    x: float

    def total(self, k: float) -> float:
        return self.x * k


@dataclass(frozen=True)
class Fork:
    left: Leaf | Fork
    right: Leaf | Fork

    def total(self, k: float) -> float:
        return self.left.total(k * 2.0) + self.right.total(k) ** 2


class Step(NamedTuple):
    x: float
    dx: float = 0.5
    note: float | None = None


@dataclass(frozen=True)
class Base:
    k: float

    def f(self, x: float) -> float:
        return self.k * x


@dataclass(frozen=True)
class Derived(Base):
    b: float

    def f(self, x: float) -> float:
        return super().f(x) ** 2 + self.b


def areas(shapes: list[Disc | Box]) -> float:
    return sum(s.area() * s.width for s in shapes)


def areas_of_any(shapes):
    total = 0.0
    for s in shapes:
        total += s.area() * s.weight if s.weight is not None else s.width
    return total


def scaled_union(s: Disc | Box, k: float) -> float:
    return s.area() + k


def weighted(s: Disc) -> float:
    if s.weight is not None and s.weight > 1.0:
        return s.r * s.weight
    return s.r**2


def weighted_or(s: Disc) -> float:
    return s.r if s.weight is None or s.weight < 1.0 else s.r * s.weight


def weighted_again(s: Disc) -> float:
    if s.weight is None:
        s = Disc(s.r, 3.0)
    w = s.weight
    return s.r * w if w is not None else 0.0


def rebound(s: Disc, other: Disc) -> float:
    if s.weight is not None:
        s = other
        return 0.0 if s.weight is None else s.weight * s.r
    return s.r


def maybe(x: float) -> float | None:
    return x * x if x > 1.0 else None


def uses_maybe(x: float) -> float:
    found = maybe(x)
    return -x if found is None else found * 3.0


def filled(x: float) -> Step:
    return Step(x, note=x * x)


def default_step(x: float) -> float:
    s = Step(x)
    return s.x * s.dx if s.note is None else s.note


def by_super(d: Derived, x: float) -> float:
    return d.f(x)


def dict_of_none(d):
    if d["b"] is None:
        return d["a"]
    return d["a"] * d["b"]


def kinds(x, n, flag):
    a = x if isinstance(x, float) else 0.0
    b = 2.0 if isinstance(n, int) and not isinstance(n, bool) else 1.0
    return a * b + (x if isinstance(flag, int) else 0.0)


PROGRAMS = [
    (areas, ([Disc(1.5), Box(2.0, 3.0), Disc(0.5, 1.0)],)),
    (areas_of_any, ([Disc(1.5), Box(2.0, 3.0), Disc(0.5, 1.0)],)),
    (scaled_union, (Box(2.0, 3.0), 2.0)),
    *((f, (Disc(1.5, w),)) for f in (weighted, weighted_or, weighted_again) for w in (None, 0.5, 2.0)),
    *((rebound, (Disc(1.5, w), Disc(0.5, v))) for w in (None, 2.0) for v in (None, 3.0)),
    *((f, (x,)) for f in (maybe, uses_maybe, filled, default_step) for x in (0.5, 2.0)),
    (by_super, (Derived(2.0, 3.0), 1.5)),
    *((dict_of_none, ({"a": 2.0, "b": b},)) for b in (None, 3.0)),
    (Fork.total, (Fork(Leaf(1.0), Fork(Leaf(2.0), Leaf(0.5))), 1.5)),
]


@pytest.mark.parametrize(("plain", "args"), PROGRAMS)
def test_unions_and_records(plain, args):
    program, wanted = te.program(plain), plain(*args)
    value, back = te.vjp(program, *args)
    assert value == wanted
    if wanted is None or isinstance(wanted, Step):
        return
    assert numbers(back(1.0)) == pytest.approx(numbers(te.vjp(program.python, *args)[1](1.0)), rel=1e-13)


def test_kinds_of_numbers_are_known_when_a_program_is_read():
    assert te.value_and_grad(te.program(kinds))(2.0, 3, True) == (kinds(2.0, 3, True), 3.0)


BITS = ["n & k", "n | k", "n ^ k", "n >> k", "n << k", "n & 1", "~n", "(n >> 1) & 3", "n & k & 6"]


@pytest.mark.parametrize("text", BITS)
def test_bits_of_integers(text):
    plain = function_of(
        Source(hash(text), f"def program(x: float, n: int, k: int) -> float:\n    return x * ({text})\n", ())
    )
    program = te.program(plain)
    for n, k in itertools.product((-9, -4, -1, 0, 1, 2, 7, 12), (-5, -1, 0, 1, 3, 6)):
        try:
            wanted = plain(2.0, n, k)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)):
                te.vjp(program, 2.0, n, k)
            continue
        value, back = te.vjp(program, 2.0, n, k)
        assert (value, back(1.0)[0]) == (wanted, wanted / 2.0)


ORDERED = [
    "max((x, y) for x, y in zip(xs, ys))", "min((y, x) for x, y in zip(xs, ys))", "max(zip(xs, ys))",
    "max([(x, i) for i, x in enumerate(xs)])", "min((x * y, i, y) for i, (x, y) in enumerate(zip(xs, ys)))",
    "sorted((x, y) for x, y in zip(xs, ys))[1]", "sorted(((y, i) for i, y in enumerate(ys)), reverse=True)[0]",
    "sorted(xs, key=lambda x: (x > 1.0, -x))", "max(xs, key=lambda x: (x < 1.0, x))", "max((xs[0], 1.0), (xs[1], 2.0))",
    "xs[0] * 2.0 if (xs[0], ys[0]) < (xs[1], ys[1]) else ys[0]", "xs[0] if (xs[0], 1) == (xs[1], 1) else ys[1]",
    "xs[0] if (xs[0], ys[0], 2) >= (xs[1], ys[1]) else ys[1]", "xs[0] if (xs[0], 2.0) != (xs[1], 2.0) else ys[1]",
]  # fmt: skip


@pytest.mark.parametrize("text", ORDERED)
def test_tuples_are_ordered_by_the_first_items_that_differ(text):
    plain = function_of(Source(hash(text), f"def program(xs, ys):\n    return {text}\n", ()))
    program, drawn = te.program(plain), random.Random(7)
    for _ in range(12):
        xs, ys = ([drawn.choice((0.5, 1.0, 1.5, 2.0)) for _ in range(4)] for _ in range(2))
        wanted = plain(xs, ys)
        value, back = te.vjp(program, xs, ys)
        assert value == wanted
        ct = (
            1.0
            if isinstance(wanted, float)
            else type(wanted)(None if isinstance(part, int) else 0.5 + k for k, part in enumerate(wanted))
        )
        assert back(ct) == te.vjp(program.python, xs, ys)[1](ct)


METHODS = ["xs.std()", "xs.var() * xs[0]", "xs[xs.argmax()] * 2.0", "xs[xs.argsort()]", "xs.cumprod()",
           "xs.clip(0.2, 1.0)", "m.std(axis=0)", "m.trace()", "xs.tolist()", "m.tolist()",
           "xs * xs.argmin()"]  # fmt: skip


@pytest.mark.parametrize("text", METHODS)
def test_methods_of_arrays(text):
    plain = function_of(Source(hash(text), f"def program(xs, m):\n    return {text}\n", ()))
    program, args = te.program(plain), (np.array([0.5, 1.5, -0.25]), np.array([[1.0, 2.0], [3.0, 5.0]]))
    value, wanted = te.vjp(program, *args)[0], plain(*args)
    assert isinstance(value, list) == isinstance(wanted, list) and np.allclose(value, wanted, rtol=1e-14)
    ct = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    ct = ct.tolist() if isinstance(wanted, list) else ct
    for mine, theirs in zip(te.vjp(program, *args)[1](ct), te.vjp(program.python, *args)[1](ct), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-14)


def test_an_item_of_a_variable_is_no_variable_of_another_scope():
    def program(x: list[float], b: list[float]) -> float:
        return sum([p[0] * p[1] for p in sorted(zip(b, x), key=lambda p: p[1])])

    assert te.value_and_grad(te.program(program))([1.0, 2.0], [3.0, 1.0]) == (5.0, [3.0, 1.0])
