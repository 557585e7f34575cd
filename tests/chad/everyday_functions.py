"""Programs with what is known when they are read: functions as values, enumerations, classes, texts, keys of dicts."""

import enum
import functools
import math
from collections import namedtuple
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from chad.everyday import V, case

import tapeengine as te


class Kind(enum.Enum):
    CALL = 1
    PUT = 2


Point = namedtuple("Point", "x y")


class Reading(NamedTuple):
    sensor: str
    value: float


@dataclass(frozen=True)
class Particle:
    x: float
    v: float
    m: float = 1.0

    @classmethod
    def at_rest(cls, x):
        return cls(x, 0.0)

    @staticmethod
    def unit():
        return Particle(1.0, 1.0)

    def kinetic(self):
        return 0.5 * self.m * self.v**2

    def step(self, a, dt):
        return replace(self, x=self.x + dt * self.v, v=self.v + dt * a)

    def __add__(self, other):
        return Particle(self.x + other.x, self.v * other.v, self.m + other.m)

    def __radd__(self, zero):
        return self


@dataclass(frozen=True)
class Option:
    name: str
    strike: float
    kind: str = "call"

    def payoff(self, s):
        if self.kind == "call":
            return max(s - self.strike, 0.0)
        return max(self.strike - s, 0.0)


@dataclass(frozen=True)
class Settings:
    rate: float = 0.1
    steps: int = 3
    method: str = "euler"
    activation: object = te.math.tanh


BASE = Particle(1.0, 2)


def relu(x):
    return x if x > 0 else 0.0 * x


def integral(f, a, b, n=10):
    h = (b - a) / n
    return h * (0.5 * f(a) + sum(f(a + i * h) for i in range(1, n)) + 0.5 * f(b))


def runge_kutta(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, [a + h / 2 * b for a, b in zip(y, k1, strict=True)])
    return [a + h * b for a, b in zip(y, k2, strict=True)]


# ---------------- functions as values
@case(1.2)
def composition(x):
    def compose(f, g):
        return lambda y: f(g(y))

    return compose(math.sin, lambda t: t * x)(x) + compose(relu, math.cos)(x)


@case(1.7)
def newton_with_lambdas(x):
    def solve(f, df, y, tolerance=1e-12):
        for _ in range(50):
            step = f(y) / df(y)
            y = y - step
            if abs(step) < tolerance:
                break
        return y

    return solve(lambda y: y**3 - x, lambda y: 3 * y * y, 1.0)


@case(1.2, 2.0)
def quadrature(a, b):
    return integral(lambda t: math.exp(-a * t * t), 0.0, b) + integral(math.sin, a, b, n=4)


@case([1.0, 0.0], 0.5)
def oscillator(y, k):
    def field(t, y):
        return [y[1] + t, -k * y[0]]

    for i in range(5):
        y = runge_kutta(field, y, 0.1 * i, 0.1)
    return y


@case(1.2, "square")
def table_of_functions(x, name):
    table = {"sin": math.sin, "square": lambda t: t * t * x}
    return table[name](x)


@case(0.8)
def pipeline(x):
    for step in [math.sin, lambda t: t * t, math.exp]:
        x = step(x)
    return x


@case(2.0, True)
@case(2.0, False)
def chosen_by_a_run(x, flag):
    f = math.sin if flag else lambda y: y * x
    g = relu
    if x > 3:
        g = abs
    return f(x) * g(x)


@case(2.0)
def curried(x):
    def f(a):
        def g(b):
            def h(c):
                return a * b + c

            return h

        return g

    return f(x)(2.0)(x)


@case(2.0)
def sees_the_variable(x):
    k = x

    def f(y):
        return k * y

    k = 3 * x

    def apply(g, y):
        return g(y)

    return apply(f, x)


@case(1.3)
def default_functions(x):
    def apply(y, g=math.sin, *, scale=x):
        return g(y) * scale

    def wrapped(f):
        return f(x) + f(x, math.cos) + f(x, lambda t: t, scale=2.0)

    return apply(x, math.exp) + wrapped(apply)


@case([1.0, 2.0, 3.0])
def partials(xs):
    def f(a, b, c=1.0):
        return a * b + c

    g, h = functools.partial(f, xs[0], c=xs[1]), functools.partial(f, b=xs[2])
    return g(xs[2]) + h(2.0)


@case([3.0, -1.0, 2.0])
def folds(xs):
    def fold(f, state, xs):
        for x in xs:
            state = f(state, x)
        return state

    return fold(max, 0.0, xs) + fold(lambda a, b: a * b, 1.0, xs) * sum(map(abs, xs)) + len(list(map(Particle, xs, xs)))


@case(V, np.tanh)
def given_function(v, f):
    return f(v).sum()


@case(Settings(), 0.3)
@case(Settings(method="heavy", steps=2), 0.3)
def by_settings(settings, x):
    for _ in range(settings.steps):
        if settings.method == "euler":
            x = x - settings.rate * settings.activation(x)
        elif settings.method == "heavy":
            x = x - 0.5 * settings.rate * x
    return x


# ---------------- classes, texts in records, enumerations
@case(2.0, 3.0)
def made_by_classes(x, v):
    p = Particle.at_rest(x).step(v, 0.1)
    q = p.at_rest(x * v) + Particle.unit()
    return p.kinetic() + q.x + sum(r.x for r in map(Particle.at_rest, [x, v])) + BASE.v * x


@case([Particle(1.0, 2.0), Particle(2.0, 1.0, 3.0)])
def sum_of_records(ps: list[Particle]):
    total = sum(ps, Particle(0.0, 1.0, 0.0))
    return total.x * total.v * total.m + (sum(ps).x if len(ps) > 0 else 0.0)


@case(np.ones((3, 2)))
def sum_of_rows(m):
    return sum(m) * sum(2 * row for row in m)


@case(Option("a", 1.0), 1.5)
@case(Option("b", 2.0, "put"), 1.5)
def text_in_a_record(option, s):
    other = Option("c", strike=option.strike * 2.0, kind="put")
    return option.payoff(s) + other.payoff(s) + replace(option, kind="put").payoff(0.5 * s)


@case(Reading("outside", 2.0), Point(1.0, np.ones(2)))
def records_without_types(reading, point):
    return (reading.value if reading.sensor in ("outside", "inside") else 0.0) * point.x * point.y


@case(2.0, Kind.PUT)
@case(2.0, Kind.CALL)
def enumeration(x, kind):
    values = {Kind.CALL: x, Kind.PUT: 3.0 * x}
    match kind:
        case Kind.CALL:
            sign = 1.0
        case Kind.PUT:
            sign = -1.0
    if kind is Kind.PUT and kind != Kind.CALL:
        sign = sign * len(kind.name)
    return sign * values[kind] * sum(v * k.value for k, v in values.items())


@case(0.5)
@case(-0.5)
def text_of_a_run(x):
    kind = "up" if x > 0 else "down"
    return x * 2.0 if kind == "up" else x * len(["down", "up"])


# ---------------- keys of dicts
@case(1.3, 2.0)
def whole_numbers_as_keys(x, y):
    d = {1: x, 2: y, 5: 2.0}
    d[3] = x * y
    return d[3] * sum(d[i] * i for i in range(1, 4)) + (1.0 if 4 in d else 2.0)


@case([1.0, 2.0])
def key_that_is_missing(xs):
    d = {1: xs[0], 2: xs[1]}
    return sum(d[i] for i in range(1, 4))


@case({(0, 1): 2.0, (1, 1): 3.0}, {2: 4.0})
def tuples_as_keys(d, e):
    return d[0, 1] * d[(1, 1)] * e[2] + sum(v * (a + b) for (a, b), v in d.items())


@case([1.0, 2.0, 3.0])
def made_dicts(xs):
    d = dict(zip(["a", "b", "c"], xs, strict=True))
    e = {f"w{i}": xs[i] * i for i in range(3)} | {"w0": xs[2]}
    e.update(d, b=xs[0] * xs[1])
    last = e.pop("c")
    return e["w0"] * e["w2"] + e["b"] * last * len(e)


# ---------------- names bound in comprehensions, recursion without annotations, joined tuples and lists
@case(V)
def bound_in_comprehensions(xs):
    large = [y * x for i, x in enumerate(xs) if x > -1.0 and (y := x * i) > 0.1 if (z := y + 1.0) > 1.2 and z < 90.0]
    return large + [(s := x * x) + s for x in xs] + [t for a in xs for b in xs[:2] if (t := a * b) > 0.5]


@case(1.5, 6)
def recursion(x, n):
    def fibonacci(k):
        if k < 2:
            return x
        return fibonacci(k - 1) + fibonacci(k - 2)

    def power(y, k):
        return 1 if k == 0 else y * power(y, k - 1)

    return fibonacci(n) + power(x, 3) + power(2, 3)


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    total = 0.0
    for j in range(len(m)):
        total += (-1) ** j * m[0][j] * determinant([row[:j] + row[j + 1 :] for row in m[1:]])
    return total


case([[1.0, 2.0, 0.5], [3.0, 4.0, 1.0], [5.0, 6.0, 7.0]])(determinant)


@case((1.0, 2.0))
def joined_tuples(t):
    u = t + (3.0,) * 2
    return u[3] * math.prod(u) * sum(u * 2) + u.index(2.0)


@case(V)
def new_axes(v):
    return (v[:, np.newaxis] * v[np.newaxis, :]).sum(axis=0)
