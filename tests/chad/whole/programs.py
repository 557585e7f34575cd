"""Programs whose generated form is of interest, each with arguments."""

from typing import NamedTuple

import numpy

import tapeengine.math as math
import tapeengine.numpy as np
from tapeengine import chad as te

RNG = numpy.random.default_rng(7)
PROGRAMS = {}


def on(*args):
    """Register a program with arguments."""

    def register(program):
        PROGRAMS[program.__name__] = (program, args)
        return program

    return register


def normal(*shape):
    return RNG.normal(size=shape)


@on(1.5, 0.7)
@te.program
def branches_of_scalars(x: float, y: float) -> float:
    a = x * y + math.sin(x)
    if a > 0.5:
        a = a * a
    else:
        a = math.exp(a) / y
    return a + x**3


@on(2.0)
@te.program
def newton(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@on(normal(4, 3), normal(3, 5))
@te.program
def matrix_product(a: te.Array[te.Vec], b: te.Array[te.Vec]) -> te.Array[te.Vec]:
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


@on(normal(4, 3), normal(5, 3))
@te.program
def distances(a: te.Array[te.Vec], b: te.Array[te.Vec]) -> te.Array[te.Vec]:
    return [[sum((x[k] - y[k]) ** 2 for k in range(len(x))) for y in b] for x in a]


@on(normal(20), normal(4))
@te.program
def convolution(x: te.Vec, w: te.Vec) -> te.Vec:
    return [sum(x[i + j] * w[j] for j in range(len(w))) for i in range(len(x) - len(w) + 1)]


@on(normal(9))
@te.program
def windows(x: te.Vec) -> te.Vec:
    return [sum(math.sin(x[i + j]) * x[i] for j in range(3)) for i in range(len(x) - 2)]


@on(normal(7), normal(4))
@te.program
def sliding_distance(x: te.Vec, w: te.Vec) -> te.Vec:
    return [sum((x[i + j] - w[j]) ** 2 for j in range(len(w))) for i in range(len(x) - len(w) + 1)]


@on(normal(7))
@te.program
def differences(x: te.Vec) -> te.Vec:
    return [x[i + 1] - 2 * x[i] + x[i - 1] for i in range(1, len(x) - 1)]


@on(normal(7))
@te.program
def reversed_sum(x: te.Vec) -> float:
    return sum(x[len(x) - 1 - i] * x[i] for i in range(len(x)))


@on(normal(7))
@te.program
def log_sum_exp(x: te.Vec) -> float:
    m = max(x)
    return m + math.log(sum(math.exp(v - m) for v in x))


@on(normal(6), 1.3)
@te.program
def horner(c: te.Vec, x: float) -> float:
    acc = 0.0
    for v in c:
        acc = acc * x + v
    return acc


@on(numpy.array([0.0, 4.0, -1.0, 2.0]))
@te.program
def roots_of_the_positive(x: te.Vec) -> float:
    return sum(math.sqrt(v) if v > 0 else 0.0 for v in x)


@on(normal(5), normal(4, 5), normal(4))
@te.program
def layer(x: te.Vec, w: te.Array[te.Vec], b: te.Vec) -> te.Vec:
    h = [max(0.0, sum(w[i][j] * x[j] for j in range(len(x))) + b[i]) for i in range(len(w))]
    z = sum(math.exp(v) for v in h)
    return [math.exp(v) / z for v in h]


@on(normal(6), numpy.array([0, 2, 2, 5]))
@te.program
def gathered(x: te.Vec, indices: te.Array[int]) -> float:
    return sum(x[i] * x[i] for i in indices)


@on(normal(4, 6), numpy.array([0, 2, 2, 3]), numpy.array([5, 1, 1, 0]))
@te.program
def gathered_pairs(x: te.Array[te.Vec], rows: te.Array[int], columns: te.Array[int]) -> float:
    return sum(math.sin(x[rows[k]][columns[k]]) for k in range(len(rows)))


@on(normal(5, 6), numpy.array([0, 2, 5, 5, 1]))
@te.program
def one_of_each_row(x: te.Array[te.Vec], columns: te.Array[int]) -> te.Vec:
    return [x[i][columns[i]] ** 2 for i in range(len(x))]


@on(normal(6))
@te.program
def triangle(x: te.Vec) -> float:
    return sum(sum(x[i] * x[j] * x[j] for j in range(i)) for i in range(len(x)))


@on(normal(8))
@te.program
def filtered(x: te.Vec) -> float:
    return sum([v * v for v in x if v > 0])


@on(normal(5), 0.1)
@te.program
def stepped(x: te.Vec, dt: float) -> te.Vec:
    v = x
    for _ in range(7):
        v = [v[i] + dt * math.sin(v[i]) * v[0] for i in range(len(v))]
    return v


@on(normal(3), 4)
@te.program
def growing(x: te.Vec, n: int) -> te.Vec:
    v = x
    for _ in range(n):
        v = [math.sin(v[i // 2]) for i in range(2 * len(v))]
    return v


@on(normal(6))
@te.program
def one_by_one(x: te.Vec) -> te.Vec:
    def solved(a: float) -> float:
        y = 1.0
        while abs(y * y - a * a - 1) > 1e-13:
            y = 0.5 * (y + (a * a + 1) / y)
        return y

    return [solved(a) for a in x]


@on(normal(6))
@te.program
def product_and_prefix(x: te.Vec) -> tuple[float, te.Vec]:
    p = 1.0
    sums = [0.0 * x[0]]
    for v in x:
        p = p * v
        sums = np.concatenate([np.array(sums), np.array([sums[-1] + v])])
    return p, sums


class Point(NamedTuple):
    x: float
    y: float


@on([Point(0.1, 0.2), Point(-0.4, 1.0), Point(2.0, -1.0)])
@te.program
def area(points: te.Array[Point]) -> float:
    n = len(points)
    return 0.5 * sum(points[i].x * points[(i + 1) % n].y - points[(i + 1) % n].x * points[i].y for i in range(n))


@on(Point(0.3, -0.8), (2, 1.5))
@te.program
def moved(p: Point, by: tuple[int, float]) -> Point:
    return Point(p.x * by[0] + by[1], p.y * p.x)


@on(normal(3, 4))
@te.program
def norms(a: te.Array[te.Vec]) -> te.Array[tuple[float, float]]:
    return [(math.sqrt(sum(x * x for x in row)), max(row)) for row in a]
