"""Programs that use Python's syntax around arrays and calls."""

# ruff: noqa: RUF005, RUF007

import functools

import numpy
from chad.examples import example, normal

import tapeengine.math as math
import tapeengine.numpy as np
from tapeengine import chad as te


@example(normal(9), normal(4, 5), 2)
@te.program
def steps(xs: te.Vec, m: te.Array[te.Vec], k: int) -> float:
    a = xs[::2]
    b = xs[::-1]
    c = xs[7:1:-3]
    d = xs[-2:k:-2]
    e = xs[k:-1:3]
    f = xs[:-20:-1]
    g = xs[20:k:-1]
    weights = sum((i + 1) * v for part in [1.0, 2.0] for i, v in enumerate(f))
    inside = m[1:, 2] * m[:3, k][::-1]
    corner = m[::2, ::-2]
    total = sum(a[i] * b[i] for i in range(len(a))) + c[0] * c[-1] + sum(d) * sum(e) + weights + sum(g)
    return total + sum(inside) + corner[0, 1] * corner[1][-1] + sum(m[:, 0]) + np.sum(m[k:, :])


@example(normal(4, 5), numpy.array([0, 3, 1]), numpy.array([4, 4, 0]))
@te.program
def arrays_of_indices(m: te.Array[te.Vec], rows: te.Array[int], columns: te.Array[int]) -> te.Vec:
    chosen = m[rows, columns]
    return chosen * chosen + m[rows, 1] + m[rows][0, columns]


@example(normal(3), normal(4))
@te.program
def several_for(xs: te.Vec, ys: te.Vec) -> te.Vec:
    products = [x * y for x in xs for y in ys]
    chosen = [x * i - y for i, x in enumerate(xs, start=1) for y in ys if x < y if i != 2]
    below = [xs[i] * xs[j] for i in range(len(xs)) for j in range(i)]
    triples = [x * y * z for x in xs for y in ys for z in xs]
    odd = sum(x * y * (i + j) for i, x in enumerate(xs) if i != 1 for j, y in enumerate(ys) if j % 2 == 1)
    first = sum(chosen) + triples[5] + triples[-1] + odd
    return [first, products[3], products[-2] * len(products), below[0] + below[2] * len(below)]


@te.program
def scaled(x: float, by: float = 2.0, shift: float = 0.0) -> float:
    return x * by + shift


@example(0.7, 1.3)
@te.program
def names_and_defaults(x: float, y: float) -> float:
    def line(a: float, b: float = x * y, n: int = 2) -> float:
        return a * n + b

    def power(base: float, n: int, start: float = 1.0) -> float:
        return start if n == 0 else base * power(base, n - 1, start=start)

    a = line(x) + line(b=x, a=y) * line(x, n=3)
    b = scaled(x) * scaled(y, shift=x) + scaled(by=y, x=x)
    return a + b + power(x, 3) + power(n=2, base=y, start=x)


@example(normal(3, 4), normal(5))
@te.program
def axes(m: te.Array[te.Vec], xs: te.Vec) -> te.Vec:
    a = np.sum(m, axis=0) * np.mean(m, axis=0) + np.max(m, axis=0) - np.min(m, 0)
    b = np.mean(m) * np.sum(np.prod(m, axis=1)) + np.max(m) * m.min() + m.max(axis=1)[0] + m.mean(axis=-1)[1]
    c = np.clip(xs, -0.5, 0.5)
    return a * b + c[:4] + max([x for x in xs if x > 100], default=xs[0]) + sum(xs, start=1.0)


@example(1.7, -0.4, 17, 5)
@te.program
def discrete(x: float, y: float, n: int, k: int) -> tuple[float, int, bool]:
    q, r = divmod(n, k)
    u, v = divmod(x, 0.5)
    xs = [x, y, x * y]
    good = all(t > -1 for t in xs) and any(t < 0 for t in xs) and not math.isinf(x)
    z = xs[q - 4] * r + u * v if good else 0.0
    zeros = [0.0] * n
    both = [x, y] + [y]
    lo, hi = min(n, k, 7), max(x, y, 0.5)
    return z + len(zeros) + both[2] * hi + abs(y) * abs(-k), lo + q * r, -1 < y < 0 < x


@example([((0.5, 1.0), 2), ((1.5, -1.0), 1)], normal(2))
@te.program
def patterns(items: te.Array[tuple[tuple[float, float], int]], xs: te.Vec) -> float:
    total = 0.0
    for i, ((a, b), k) in enumerate(items):
        (c, (d, e)), f = (a, (b, a * b)), xs[i]
        total += c * d - e * f * k
    for i, (x, ((a, b), _)) in enumerate(zip(xs, items), 2):
        total += i * x * a * b
    return total + sum(a * x for ((a, _), _), x in zip(items, xs))


@example(normal(6))
@te.program
def neighbours(xs: te.Vec) -> float:
    pairs = list(zip(xs[:-1], xs[1:]))
    wrapped = [xs[(i - 1) % len(xs)] - xs[i] for i in range(len(xs))]
    rows = [xs[i : i + 3] for i in range(len(xs) - 2)]
    return sum(a * b for a, b in pairs) + sum(w * w for w in wrapped) + sum(r[0] * r[-1] * sum(r) for r in rows)


@example(normal(4), numpy.array([2, 0, 3]))
@te.program
def empty_whole_numbers(xs: te.Vec, at: te.Array[int]) -> float:
    none: te.Array[int] = []
    chosen = [i for i in at if i > 100]
    counted = functools.reduce(lambda n, i: n + i, chosen, 0)
    return sum(xs[i] for i in none) + sum(xs[i] for i in chosen) + xs[at[0]] * (1 + counted + sum(none))


@example(normal(5), normal(5), normal(3, 3))
@te.program
def composed(xs: te.Vec, ys: te.Vec, m: te.Array[te.Vec]) -> te.Vec:
    a = math.dist(xs, ys) * math.degrees(xs[0]) + math.radians(ys[1]) * np.vdot(xs, ys)
    b = np.diff(xs) * np.sort(ys)[1:] + np.linspace(xs[0], ys[0], 4) + np.cumprod(xs)[:4]
    c = np.trace(m) * np.diag(xs)[2, 2] + sum(np.diag(m)) * np.vstack((xs, ys))[1, 3]
    return a * b + c * np.hstack((xs[:2], ys[:2]))
