"""Classes whose methods use `math`, in programs that dual numbers run: values, classes and derivatives are Python's."""

import copy
import functools
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from chad.test_outsiders import drawn, moved
from leaves import bits, direction, leaves, numbers
from outcomes import outcome

import tapeengine as te


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float

    def length(self):
        return math.hypot(self.x, self.y)


@dataclass(slots=True)
class Changing:
    x: float
    kept: list = field(default_factory=list)

    def grow(self, k):
        self.x *= math.exp(k)
        self.kept.append(Point(math.sin(self.x), k))
        return self


class Pair(NamedTuple):
    a: float
    b: float

    def normal(self):
        return Pair(*(v / math.sqrt(self.a**2 + self.b**2) for v in self))


class Base:
    def __init__(self, k):
        self.k = k

    def wave(self, x):
        return math.sin(self.k * x)

    @classmethod
    def of(cls, k):
        return cls(math.pow(k, 2))

    @staticmethod
    def square(x):
        return math.pow(x, 2)

    @property
    def half(self):
        return math.sqrt(self.k) / 2


class Derived(Base):
    def __init__(self, k, b):
        super().__init__(k)
        self.b = b

    def wave(self, x):
        return super().wave(x) + self.b * math.cos(x)

    def __call__(self, x):
        return self.wave(x) * self.half

    def __eq__(self, other):
        return isinstance(other, Base) and self.k == other.k

    def __hash__(self):
        return hash(self.k)


@dataclass
class Computed:
    s: float
    var: float = field(init=False)

    def __post_init__(self):
        if self.s <= 0:
            raise ValueError(f"s is {math.floor(self.s)}")
        self.var = math.pow(self.s, 2)


def lacking():
    """What the language lacks."""
    return len({1, 2})


def made(x, y):
    p = Point(x, y)
    return p, p.length() * lacking(), [Point(p.length(), x)], {"q": (Changing(x).grow(y), Pair(x, y).normal())}


def derived(x, y):
    d, b = Derived(x, y), Base.of(y)
    known = {Base: 1.0, Derived: 2.0}
    total = sum(q.wave(x) for q in (d, b, Derived(1.0, x))) + d(y) + Base.square(x) * lacking()
    return total + (d == b) + isinstance(d, Base) * known[type(d)] + (type(d) is Derived)


def arguments(p, q, n, points):
    q.grow(p.x)
    longest = max(points, key=lambda one: one.length())
    return longest.x * q.kept[-1].x * lacking(), longest == points[1], n.normal(), type(p) is Point, q


def nested(x, y):
    inner = te.program(lambda p: p.length() * lacking())
    p = Point(x, y)
    return inner(p) + te.grad(inner)(p).x * p.length()


def raising(x, y):
    return Computed(y).var + Computed(x - y).var * lacking()


@functools.singledispatch
def measured(x):
    return math.exp(x)


@measured.register
def _(x: Point):
    return x.length()


def dispatched(x, y):
    return measured(Point(x, y)) * lacking() + measured(x)


CASES = {
    "dispatched": (dispatched, (0.5, 1.5)),
    "made": (made, (0.5, 1.5)),
    "derived": (derived, (0.5, 1.5)),
    "arguments": (arguments, (Point(0.5, 1.5), Changing(0.3), Pair(0.2, 0.9), [Point(0.1, 0.2), Point(1.0, 2.0)])),
    "nested": (nested, (0.5, 1.5)),
    "raising": (raising, (0.5, 1.5)),
    "computed": (raising, (1.5, 0.5)),
}


@pytest.mark.parametrize("name", CASES)
def test_methods_that_use_math(name):
    function, args = CASES[name]
    program = te.program(function)
    plain = outcome(lambda: function(*copy.deepcopy(args)))
    found = outcome(lambda: te.vjp(program, *args))
    if isinstance(plain, Exception):
        assert (type(found), str(found)) == (type(plain), str(plain))
        return
    value, back = found
    assert bits(value) == bits(plain)
    assert bits(program(*copy.deepcopy(args))) == bits(plain)
    tangents, cotangent = direction(args, drawn()), direction(plain, drawn())
    forward = te.jvp(program, args, tangents)
    assert bits(forward[0]) == bits(plain)
    after, before = (numbers(function(*moved(copy.deepcopy(args), tangents, h))) for h in (1e-6, -1e-6))
    quotients = (np.array(after) - before) / 2e-6
    tangent = [0.0 if t is None else t for t in leaves(forward[1])]
    np.testing.assert_allclose(tangent, quotients, rtol=1e-6, atol=1e-7)
    weights = [0.0 if c is None else c for c in leaves(cotangent)]
    both = zip(leaves(back(cotangent)), leaves(tangents), strict=True)
    assert sum(d * t for d, t in both if t is not None) == pytest.approx(np.dot(weights, quotients), rel=1e-6)


SHARED = {"models": [Derived(2.0, 0.5)]}


def test_threads_share_an_object():
    def outside(x):
        model = SHARED["models"][0]
        total = 0.0
        for _ in range(50):
            total += model.wave(x) * lacking() + model(x)
        return total

    program = te.program(outside)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(te.grad(program), [0.5] * 40))
    assert found == [pytest.approx((outside(0.5 + 1e-6) - outside(0.5 - 1e-6)) / 2e-6, rel=1e-6)] * 40
    assert type(SHARED["models"][0]) is Derived


def test_runs_inside_others_leave_objects_as_they_are():
    program = te.program(lambda x, m: m.wave(x) * lacking())

    def around(x, m):
        return m.wave(x) + program(x, m) * m.half + te.grad(lambda y: program(y, m))(x) * m.wave(x)

    model = Derived(2.0, 0.5)
    value, slope = te.value_and_grad(te.program(lambda x: around(x, model) * lacking()))(0.5)
    assert value == around(0.5, model) * 2
    assert slope == pytest.approx((around(0.5 + 1e-6, model) - around(0.5 - 1e-6, model)) / 1e-6, rel=1e-6)


KEYS = {Pair: 2.0}


def test_classes_that_are_keys_of_a_table_are_the_same():
    program = te.program(lambda x: KEYS[type(Pair(x, x))] * x * lacking())
    assert te.value_and_grad(program)(1.5) == (6.0, 4.0)


def test_arguments_have_their_own_classes_after_an_error():
    def failing(points):
        points[0].length()
        points.append(points[0].length())
        return points[lacking() + 7]

    points = [Point(1.0, 2.0)]
    with pytest.raises(IndexError):
        te.grad(te.program(failing))(points)
    assert type(points[0]) is Point
