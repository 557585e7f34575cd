"""Realistic programs for native code: clustering, mixtures, factors, recurrences, a stencil."""

import math
from types import MappingProxyType
from typing import Any

from asv_bench.programs import draws
from tapeengine import chad

Matrix = chad.Array[chad.Vec]


def k_means(points: Matrix, centres: Matrix) -> float:
    """Return the sum of squared distances to the nearest centres."""
    return sum(min(sum((p[j] - c[j]) ** 2 for j in range(len(p))) for c in centres) for p in points)


def mixture(points: Matrix, means: Matrix, weights: chad.Vec) -> float:
    """Return the log-likelihood of a mixture of unit Gaussians, up to a constant."""

    def log_sum_exp(x: chad.Vec) -> float:
        largest = max(x)
        return largest + math.log(sum(math.exp(a - largest) for a in x))

    return sum(
        log_sum_exp(
            [weights[k] - 0.5 * sum((p[j] - means[k][j]) ** 2 for j in range(len(p))) for k in range(len(means))]
        )
        for p in points
    )


def factors(u: Matrix, v: Matrix, rows: chad.Array[int], columns: chad.Array[int], ratings: chad.Vec) -> float:
    """Return the squared error of a matrix factorisation at some entries."""
    return sum(
        (ratings[i] - sum(u[rows[i]][k] * v[columns[i]][k] for k in range(len(u[0])))) ** 2 for i in range(len(ratings))
    )


def recurrent(w: Matrix, u: Matrix, xs: Matrix, h0: chad.Vec) -> float:
    """Return the squared last state of a recurrent network."""
    h = h0
    for x in xs:
        h = [
            math.tanh(sum(w[i][j] * h[j] for j in range(len(h0))) + sum(u[i][j] * x[j] for j in range(len(x))))
            for i in range(len(h0))
        ]
    return sum(a * a for a in h)


def scalars(x: float, n: int) -> float:
    """Return a recurrence with a branch."""
    acc = 0.0
    for _ in range(n):
        acc = acc * math.sin(x) + x if acc < 1.0 else acc * 0.5
    return acc


def heat(u0: chad.Vec, steps: int, k: float) -> float:
    """Return the squared temperature of a rod after some steps."""
    u = u0
    n = len(u0)
    for _ in range(steps):
        u = [
            u[i] + k * ((u[i + 1] if i + 1 < n else 0.0) - 2.0 * u[i] + (u[i - 1] if i > 0 else 0.0)) for i in range(n)
        ]
    return sum(a * a for a in u)


PROGRAMS = MappingProxyType({f.__name__: f for f in (k_means, mixture, factors, recurrent, scalars, heat)})


def inputs(name: str) -> tuple[Any, ...]:
    """Return the arguments of a program."""
    if name == "k_means":
        return draws.array(61, 2000, 3), draws.array(62, 10, 3)
    if name == "mixture":
        return draws.array(63, 1000, 5), draws.array(64, 8, 5), draws.array(65, 8)
    if name == "factors":
        u, v, ratings = draws.array(66, 300, 10), draws.array(67, 200, 10), draws.array(68, 5000)
        rows, columns = ((abs(draws.array(seed, 5000)) * 1e6).astype(int) % n for seed, n in ((69, 300), (70, 200)))
        return u, v, rows, columns, ratings
    if name == "recurrent":
        return 0.3 * draws.array(71, 16, 16), 0.3 * draws.array(72, 16, 8), draws.array(73, 100, 8), draws.array(74, 16)
    return (0.7, 100_000) if name == "scalars" else (draws.array(75, 200), 500, 0.1)
