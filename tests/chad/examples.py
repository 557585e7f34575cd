"""Example programs of the CHAD frontend, with arguments to run them on."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy

import tapeengine.math as math
import tapeengine.numpy as np
from tapeengine import chad as te

RNG = numpy.random.default_rng(2022)
EXAMPLES = {}


def example(*args):
    """Register a program with arguments."""

    def register(program):
        EXAMPLES[program.__name__] = (program, args)
        return program

    return register


def normal(*shape):
    return RNG.normal(size=shape)


@example(0.7)
@te.program
def polynomial(x: float) -> float:
    return 3 * x**3 - 2 * x**2 + x / 4 - 7


@example(1.2)
@te.program
def figure_1a(x: float) -> tuple[float, float, float]:
    y = 2 * x
    z = x * y
    w = math.cos(z)
    v = (y, z, w)
    return v


@example(1.1, -0.3, 0.8, 2.0)
@te.program
def figure_1b(x1: float, x2: float, x3: float, x4: float) -> float:
    y = x1 * x4 + 2 * x2
    z = y * x3
    w = z + x4
    v = math.sin(w)
    return v


@example(0.4, 3)
@te.program
def figure_2a(x: float, n: int) -> te.Vec:
    def f(z: float) -> float:
        return x * z + 1

    zs = te.replicate(n, x)
    return list(map(f, zs))


@example(0.4, normal(4))
@te.program
def figure_2b(x1: float, x2: te.Vec) -> float:
    def f(x2i: float) -> float:
        return x1 * x2i

    return sum(map(f, x2))


@example(normal(3), normal(5, 3), normal(5))
@te.program
def loss(w: te.Vec, xs: te.Array[te.Vec], ys: te.Vec) -> float:
    def predict(x: te.Vec) -> float:
        return sum(w[j] * x[j] for j in range(len(w)))

    return sum((predict(xs[i]) - ys[i]) ** 2 for i in range(len(xs)))


@example(normal(3), 0.1, normal(6, 3), numpy.array([1, 0, 1, 1, 0, 0]))
@te.program
def logistic_regression(w: te.Vec, b: float, xs: te.Array[te.Vec], labels: te.Array[int]) -> float:
    total = 0.0
    for x, label in zip(xs, labels):
        z = np.dot(w, x) + b
        total += math.log1p(math.exp(-z)) if label == 1 else math.log1p(math.exp(z))
    return total / len(xs)


@example(2.0, 1.0)
@te.program
def newton(a: float, start: float) -> float:
    x = start
    while abs(x * x - a) > 1e-14:
        x = x - (x * x - a) / (2 * x)
    return x


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Node:
    left: "Tree"
    right: "Tree"
    weight: float


Tree = Leaf | Node


@example(Node(Leaf(1.5), Node(Leaf(-0.5), Leaf(2.0), 0.3), 1.2))
@te.program
def binary_tree(tree: Tree) -> float:
    match tree:
        case Leaf(value):
            return value * value
        case Node(left, right, weight):
            return weight * binary_tree(left) + math.sin(binary_tree(right))


@example(normal(5), 0.9)
@te.program
def horner(coefficients: te.Vec, x: float) -> float:
    return functools.reduce(lambda acc, c: acc * x + c, coefficients, 0.0)


@example(normal(4), 1.3)
@te.program
def horner_by_fold(coefficients: te.Vec, x: float) -> float:
    value, _ = te.fold(lambda a, b: (a[0] * b[1] + b[0], a[1] * b[1]), [(c, x) for c in coefficients])
    return value


@example(normal(5))
@te.program
def prefix_sums(xs: te.Vec) -> te.Vec:
    return te.scan(lambda s, x: s + x, xs, 0.0)


@example(normal(6), numpy.array([0, 2, 1, 2, 2, 0]), 3)
@te.program
def histogram(weights: te.Vec, bins: te.Array[int], n: int) -> te.Vec:
    return te.scatter(np.zeros(n), bins, [w * w for w in weights])


@example(normal(7), normal(3))
@te.program
def convolution(signal: te.Vec, kernel: te.Vec) -> te.Vec:
    n = len(kernel)
    return [sum(signal[i + j] * kernel[j] for j in range(n)) for i in range(len(signal) - n + 1)]


@example(normal(3, 4), normal(4, 2))
@te.program
def matrix_product(a: te.Array[te.Vec], b: te.Array[te.Vec]) -> te.Array[te.Vec]:
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


@example(normal(5))
@te.program
def log_sum_exp(xs: te.Vec) -> float:
    m = max(xs)
    return m + math.log(sum(math.exp(x - m) for x in xs))


@example(normal(2), normal(6, 2), 1.5)
@te.program
def nearest(point: te.Vec, others: te.Array[te.Vec], radius: float) -> float:
    distances = [np.sum((other - point) ** 2) for other in others]
    near = [d for d in distances if d < radius * radius]
    return sum(near) / max(len(near), 1)


@example(0.6, 5)
@te.program
def functions_in_a_list(x: float, n: int) -> float:
    def scaled(y: float) -> float:
        return x * y

    def shifted(y: float) -> float:
        return math.sin(y) + x

    def twice(f: Callable[[float], float]) -> Callable[[float], float]:
        return lambda y: f(f(y))

    steps = [scaled, shifted, twice(scaled), twice(twice(shifted))]
    y = 0.5
    for i in range(n):
        y = steps[i % len(steps)](y)
    return y


class Quaternion(NamedTuple):
    w: float
    x: float
    y: float
    z: float


@example(Quaternion(0.7, 0.1, -0.3, 0.5), (0.2, -1.0, 0.4))
@te.program
def rotation(q: Quaternion, v: tuple[float, float, float]) -> tuple[float, float, float]:
    n = math.sqrt(q.w**2 + q.x**2 + q.y**2 + q.z**2)
    w, x, y, z = q.w / n, q.x / n, q.y / n, q.z / n
    a, b, c = v
    tx = 2 * (y * c - z * b)
    ty = 2 * (z * a - x * c)
    tz = 2 * (x * b - y * a)
    return (a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx)


@example(normal(4), normal(4), 5, 0.01)
@te.program
def particles(positions: te.Vec, velocities: te.Vec, steps: int, dt: float) -> float:
    n = len(positions)
    xs, vs = positions, velocities
    for _ in range(steps):
        forces = [sum((xs[j] - xs[i]) / ((xs[j] - xs[i]) ** 2 + 0.1) for j in range(n) if j != i) for i in range(n)]
        vs = vs + dt * np.array(forces)
        xs = xs + dt * vs
    return sum(x * x for x in xs) + sum(v * v for v in vs)


@example(normal(4, 3), normal(4), normal(2, 4), normal(2), normal(3), 1)
@te.program
def network(w1: te.Array[te.Vec], b1: te.Vec, w2: te.Array[te.Vec], b2: te.Vec, x: te.Vec, label: int) -> float:
    hidden = [h if h > 0 else 0.0 for h in w1 @ x + b1]
    scores = w2 @ np.array(hidden) + b2
    m = max(scores)
    return m + math.log(sum(math.exp(s - m) for s in scores)) - scores[label]


@example(0.3, 4)
@te.program
def even_or_odd(x: float, n: int) -> float:
    return even(x, n)


@te.program
def even(x: float, n: int) -> float:
    return x if n == 0 else math.sin(odd(x, n - 1)) * x


@te.program
def odd(x: float, n: int) -> float:
    return 1.0 if n == 0 else even(x * x + 1, n - 1) + x


@dataclass(frozen=True)
class Link:
    value: float
    rest: "Link | None"


@example(Link(0.5, Link(-1.0, Link(2.0, None))), 1.1)
@te.program
def linked_list(link: Link | None, x: float) -> float:
    if link is None:
        return 0.0
    return link.value + x * linked_list(link.rest, x)


@example(normal(3), 2.0)
@te.program
def partial_application(xs: te.Vec, a: float) -> float:
    def power(base: float, x: float) -> float:
        return base * x * x

    f = functools.partial(power, a)
    return sum(f(x) for i, x in enumerate(xs) if i != 1)


@example(normal(3, 2), normal(3))
@te.program
def whole_arrays(a: te.Array[te.Vec], b: te.Vec) -> te.Vec:
    c = np.exp(-a) * 2 + np.transpose(np.array([b, b]))
    d = np.concatenate((np.sum(c, axis=0), b[1:], -b[:-1]))
    return np.where(d > 0.5, d * d, np.cos(d))


@example(0.5, True, 3)
@te.program
def branches(x: float, flag: bool, n: int) -> tuple[float, int, bool]:
    y = x
    if (flag and x > 0) or n < 0:
        y = y * x
        z = 1
    elif n == 2:
        z = 2
    else:
        y += 1
        z = 3
    return y * z, n + z, not flag
