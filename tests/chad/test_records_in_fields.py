"""Programs that change records in fields of records: what Python gives, whether or not the language has them."""

import copy
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te


@dataclass
class Point:
    x: float
    y: float

    def area(self):
        return self.x * self.y

    def scaled(self, k):
        return Point(self.x * k, self.y + k)

    def me(self):
        return self


@dataclass
class Body:
    p: Point
    v: Point
    m: float

    def energy(self, k):
        return self.m * self.v.area() * k + self.p.x * self.p.y

    @property
    def far(self):
        return self.p.x - self.v.y * self.m

    def shifted(self, d):
        self.p.x += d
        return d

    def same(self):
        return self


def kick(b, d):
    b.p.x += d


def middle(a, b):
    return Point(0.5 * (a.x + b.x), 0.5 * (a.y + b.y))


def other(a, b):
    return b if a.x > 0.0 else a


STARTS = [
    ["b = Body(Point(s, t), Point(t, 2.0), s)"],
    ["b = Body(v=Point(s, s), m=t, p=Point(t, s))"],
    ["u = Point(s, t)", "b = Body(u, u, s)"],
    ["u = Point(s, t)", "b = Body(Point(t, t), u, s)", "u.x = s * t"],
    [],
]
STEPS = [
    ["b.{f}.{c} += {e}"],
    ["b.{f}.{c} = {e}"],
    ["for k in range(2):", "    b.{f}.{c} += {e} * k"],
    ["if {e} > 1.0:", "    b.{f}.{c} = {e}"],
    ["b.{f} = Point({e}, {e})"],
    ["b.p, b.v = b.v, b.p"],
    ["b.{f} = b.p"],
    ["q = b.{f}", "q.{c} += {e}"],
    ["q = b", "q.{f}.{c} *= {e}"],
    ["s += b.{f}.area()"],
    ["b.{f} = replace(b.{f}, x={e})"],
    ["kick(b, {e})"],
]
STEPS += [["s += b.energy({e})"], ["b.{f}.{c} = b.far"], ["s += b.shifted({e})"]]
EXPRESSIONS = ["s", "t", "b.p.x", "b.v.y", "b.p.area()", "2.0 * s"]
BODY = Body(Point(0.3, 0.6), Point(1.1, 0.4), 2.0)
#: What the language is to have, and programs in which two names mean one record, which run on dual numbers.
WRITTEN = [
    (True, ["b.p.x += 2.0 * b.v.y", "b.v.y = b.p.area()"]),
    (True, ["for k in range(3):", "    b.p.x += b.v.x * t", "    b.v.x -= b.p.x"]),
    (True, ["b.p.x += b.energy(t)", "s += b.far * b.energy(s)"]),
    (True, ["for k in range(3):", "    b.v.y = b.far * 0.5", "    s += b.energy(b.far)"]),
    (False, ["s += b.shifted(t)", "b.p.x += t"]),
    (False, ["c = b.same()", "b.p.x += t", "s += c.p.x"]),
    (False, ["b.v = b.p", "b.p.x += t"]),
    (False, ["q = b.p", "b.p.x += t", "s += q.x"]),
]


def drawn(seed):
    draw = random.Random(seed)
    steps = [line for _ in range(draw.randint(1, 3)) for line in draw.choice(STEPS)]
    return draw.choice(STARTS), [
        line.format(f=draw.choice("pv"), c=draw.choice("xy"), e=draw.choice(EXPRESSIONS)) for line in steps
    ]


def check(lines, args):
    names = {"Point": Point, "Body": Body, "replace": replace, "kick": kick}
    names |= {"middle": middle, "other": other}
    last = "return s + b.p.x * b.v.y + b.p.y * b.v.x * b.m"
    function = function_of("b, s, t" if len(args) == 3 else "s, t", [*lines, last], **names)
    program, given = te.program(function), copy.deepcopy(args)
    value, back = te.vjp(program, *given)
    assert given == args
    assert value == pytest.approx(function(*copy.deepcopy(args)), rel=1e-14)
    for k, found in enumerate(back(1.0)[-2:], len(args) - 2):
        ends = [function(*[x + d if i == k else copy.deepcopy(x) for i, x in enumerate(args)]) for d in (-1e-6, 1e-6)]
        slope = (ends[1] - ends[0]) / 2e-6
        np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-6, err_msg="; ".join(lines))
    return program.for_values(args).is_read


def given_to(start):
    return (0.7, 1.3) if start else (BODY, 0.7, 1.3)


@pytest.mark.parametrize("seed", range(16))
def test_drawn_programs(seed):
    start, lines = drawn(seed)
    check(start + lines, given_to(start))


@pytest.mark.parametrize(("is_read", "lines"), WRITTEN)
@pytest.mark.parametrize("start", [STARTS[0], []])
def test_written_programs(start, is_read, lines):
    assert check(start + lines, given_to(start)) == is_read


IN_BLOCKS = [
    ["if s > 0.1:", "    c = Body(Point(s, t), Point(t, 2.0), s)", "    c.p.x += t", "    s += c.energy(c.p.x)"],
    ["for k in range(3):", "    c = Body(Point(s, t), Point(t, 2.0), s)", "    c.v.y *= t", "    s += c.far"],
    [
        "while s < 3.0:",
        "    c = Body(b.p, Point(t, s), s)",
        "    for i in range(2):",
        "        c.v.y += c.far",
        "    s += 1.0",
    ],
]


@pytest.mark.parametrize("lines", IN_BLOCKS)
def test_records_that_are_made_in_blocks(lines):
    assert check([*STARTS[0], *lines], given_to(True))


MADE_BY_CALLS = [
    (True, ["q = u.scaled(t)", "u.x += 1.0", "q.y *= u.x", "s += q.area() + u.x"]),
    (True, ["q = middle(u, u.scaled(s))", "u.y = q.x", "q.x += u.area()", "s += q.area()"]),
    (True, ["for k in range(3):", "    q = u.scaled(t)", "    q.x += u.x", "    u.x = q.area() * 0.1", "    s += q.y"]),
    (False, ["q = u.me()", "u.x += 1.0", "s += q.x"]),
    (False, ["q = other(u, u.scaled(t))", "q.x += 1.0", "s += u.x * q.x"]),
]


@pytest.mark.parametrize(("is_read", "lines"), MADE_BY_CALLS)
def test_records_that_calls_make(is_read, lines):
    assert check([*STARTS[0], "u = Point(s, t)", *lines], given_to(True)) == is_read
