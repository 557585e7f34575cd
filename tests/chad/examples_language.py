"""Programs that use the syntax of the language, piece by piece."""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy
from chad.examples import example, normal

import tapeengine.math as math
import tapeengine.numpy as np
from tapeengine import chad as te


@example(0.8, 1.7)
@te.program
def assignments(x: float, y: float) -> tuple[float, float]:
    a = b = x * y
    a += 1
    b *= a
    (c, d), e = (a, b), x
    c, d = d, c
    f: float = 2
    return c * f - e, -d / 3


@example(0.8, -1.7, 3)
@te.program
def comparisons(x: float, y: float, n: int) -> float:
    inside = 0 < x < 1 <= n
    z = x if inside and not y > 0 else y
    if y != y or n == 3:
        z = z * 2
    if n:
        z = z + 1
    return z if (x > y) == (n > 2) else -z


@example(normal(6), 2)
@te.program
def slices(xs: te.Vec, k: int) -> te.Vec:
    a = xs[1:4]
    b = xs[:-3]
    c = xs[k:]
    d = xs[-2:]
    return [a[0] * b[-1], c[k - 1] * d[-k], xs[-1] * xs[0], xs[k : k + 2][1]]


@example(normal(4), normal(4, 2))
@te.program
def iterations(xs: te.Vec, m: te.Array[te.Vec]) -> float:
    total = 0.0
    for i, x in enumerate(xs):
        total += i * x * x
    for x, row in zip(xs, m):
        total = total * x + row[1]
    for i in range(1, len(xs)):
        total += xs[i] * xs[i - 1]
    for i in range(3, -1, -2):
        total -= math.sin(xs[i])
    for i, (x, row) in enumerate(zip(reversed(xs), m)):
        total += x * row[0] * (i + 1)
    return total


@example(normal(4), normal(3))
@te.program
def sums(xs: te.Vec, ys: te.Vec) -> float:
    a = sum(x * y for x in xs for y in ys)
    b = sum((x for x in xs), 1.0)
    c = math.prod([x for x in xs if x > 0])
    d = functools.reduce(lambda u, v: u * v + 1, xs)
    e = max(xs) * min(ys) + max(xs[0], ys[0], 0.0)
    return a + b * c - d / e


@example(normal(4), 7, 2)
@te.program
def integers(xs: te.Vec, n: int, k: int) -> tuple[float, int]:
    i = n // k % len(xs)
    j = (n - k) ** 2 % 4
    m = min(max(i, j), abs(-1), round(2.6), int(3.7))
    counted = sum(1 for x in xs if x > 0)
    return xs[i] * xs[j] ** 2 + n * xs[m] / k + xs[0] ** n + float(counted), i + j


@example(0.7, 4)
@te.program
def early_returns(x: float, n: int) -> float:
    if n == 0:
        return x
    y = x * x
    if y > 2:
        return y
    elif n > 3:
        z = y * 3
        if z > 100:
            return z * 2
    else:
        z = 1.0
    return z + x


@example(0.9, 3)
@te.program
def loops_in_loops(x: float, n: int) -> float:
    total = 0
    for i in range(n):
        row = 1.0
        j = 0
        while j < i:
            row = row * x
            j += 1
        if row > 0.5:
            total = total + row
    return total * x


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Box:
    width: float
    height: float


@dataclass(frozen=True)
class Empty:
    pass


Shape = Circle | Box | Empty


@te.program
def area(shape: Shape) -> float:
    match shape:
        case Circle(radius=r):
            return math.pi * r * r
        case Box(w, h):
            result = w * h
        case _:
            result = 0.0
    return result


@example([Circle(1.5), Empty(), Box(2.0, 0.5), Circle(0.3)], Box(1.0, 2.0))
@te.program
def shapes(items: te.Array[Shape], one: Shape) -> float:
    extra = one.width if isinstance(one, Box) else 1.0
    if isinstance(one, Circle):
        extra = extra + one.radius
    elif isinstance(one, Box):
        extra = extra * one.height
    return sum(area(item) for item in items) * extra


@example(2.0)
@te.program
def makes_shapes(x: float) -> float:
    def make(k: int) -> Shape:
        if k == 0:
            return Circle(x)
        if k == 1:
            return Box(x, height=k * x)
        return Empty()

    return sum(area(make(k)) for k in range(3))


class State(NamedTuple):
    position: float
    steps: int
    velocity: float


@example(State(1.0, 0, 0.0), 6)
@te.program
def state_machine(start: State, n: int) -> State:
    s = start
    for _ in range(n):
        v = s.velocity - 0.1 * math.sin(s.position)
        s = State(s.position + 0.1 * v, s.steps + 1, velocity=v)
    return s


@dataclass(frozen=True)
class Body:
    mass: float
    place: tuple[float, float]


@example([Body(1.0, (0.0, 0.5)), Body(2.0, (1.0, -1.0)), Body(0.5, (2.0, 0.3))])
@te.program
def bodies(items: te.Array[Body]) -> tuple[float, float]:
    total = sum(b.mass for b in items)
    x = sum(b.mass * b.place[0] for b in items) / total
    y = sum(b.mass * b.place[1] for b in items) / total
    return x, y


@example(0.5)
@te.program
def local_recursion(x: float) -> float:
    scale = x * 2

    def power(y: float, n: int) -> float:
        return scale if n == 0 else y * power(y, n - 1)

    return power(x + 1, 4) + power(scale, 2)


@example(0.5, 1.2)
@te.program
def captures(a: float, b: float) -> float:
    def outer(x: float) -> float:
        c = x * a

        def inner(y: float) -> float:
            return c * y + b

        return inner(x) * inner(a)

    return outer(b) + outer(a)


@example(normal(3), normal(3, 3))
@te.program
def numpy_on_arrays(v: te.Vec, m: te.Array[te.Vec]) -> te.Vec:
    a = m @ v + np.dot(v, v) - m.T @ (2 * v)
    b = np.sum(m, axis=1) * np.mean(v) + np.sqrt(np.abs(v) + 1)
    c = np.cumsum(a) / (1 + np.exp(-b))
    return np.where(c > 0, np.maximum(a, b), np.tanh(c)) + np.square(v).sum() + m[1]


@example(normal(5), numpy.array([4, 0, 2]))
@te.program
def gathers(xs: te.Vec, at: te.Array[int]) -> te.Vec:
    picked = te.gather(xs, at)
    more = xs[at] * xs[at[0]]
    return picked * more


@example(normal(2, 3))
@te.program
def ragged(m: te.Array[te.Vec]) -> float:
    rows = [[m[i][j] * j for j in range(i + 1)] for i in range(len(m))]
    return sum(sum(row) * len(row) for row in rows)


@example(0.3, 4)
@te.program
def carries_arrays(x: float, n: int) -> te.Vec:
    xs = [x * i for i in range(n)]
    for k in range(n):
        xs = [xs[i] + math.sin(xs[(i + k) % n]) for i in range(n)]
    return xs
