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


@dataclass
class Body:
    p: Point
    v: Point
    m: float


def kick(b, d):
    b.p.x += d


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
EXPRESSIONS = ["s", "t", "b.p.x", "b.v.y", "b.p.area()", "2.0 * s"]
BODY = Body(Point(0.3, 0.6), Point(1.1, 0.4), 2.0)
#: What the language is to have, and programs in which two names mean one record, which run on dual numbers.
WRITTEN = [
    (True, ["b.p.x += 2.0 * b.v.y", "b.v.y = b.p.area()"]),
    (True, ["for k in range(3):", "    b.p.x += b.v.x * t", "    b.v.x -= b.p.x"]),
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
