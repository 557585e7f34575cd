"""Numerical programs on lists: networks, linear algebra, special functions, solvers."""

import math
from typing import Any

from programs.program import Program

Vector = list[Any]
Matrix = list[list[Any]]


def dot(m: Any, xs: Vector, ys: Vector) -> Any:
    total = 0.0
    for x, y in zip(xs, ys, strict=True):
        total = total + x * y
    return total


def layer(m: Any, weights: Matrix, bias: Vector, xs: Vector) -> Vector:
    return [dot(m, row, xs) + b for row, b in zip(weights, bias, strict=True)]


def network(m: Any, layers: Any, xs: Vector) -> Any:
    for weights, bias in layers[:-1]:
        xs = [m.relu(x) for x in layer(m, weights, bias, xs)]
    scores = layer(m, *layers[-1], xs)
    top = max(scores)
    return top + m.log(m.fsum(m.exp(s - top) for s in scores)) - scores[0]


def determinant(m: Any, rows: Matrix) -> Any:
    """By elimination with pivoting."""
    rows, sign = [list(row) for row in rows], 1.0
    n, result = len(rows), 1.0
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        result = result * rows[k][k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return result * sign


def determinant_by_hand(rows: list[list[float]]) -> list[list[float]]:
    """The cofactors."""

    def minor(i: int, j: int) -> float:
        (a, b), (c, d) = [[x for k, x in enumerate(row) if k != j] for r, row in enumerate(rows) if r != i]
        return a * d - b * c

    return [[(-1) ** (i + j) * minor(i, j) for i in range(3) for j in range(3)]]


def cholesky_solve(m: Any, a: Matrix, b: Vector) -> Vector:
    n = len(b)
    low: Matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = a[i][j] - m.fsum(low[i][k] * low[j][k] for k in range(j))
            low[i][j] = m.sqrt(s) if i == j else s / low[j][j]
    ys: Vector = []
    for i in range(n):
        ys.append((b[i] - m.sumprod(low[i][:i], ys)) / low[i][i])
    xs: Vector = [0.0] * n
    for i in reversed(range(n)):
        xs[i] = (ys[i] - m.fsum(low[k][i] * xs[k] for k in range(i + 1, n))) / low[i][i]
    return xs


def mixture(m: Any, means: Vector, widths: Vector, x: Any) -> Any:
    terms = [-((x - mu) ** 2) / (2.0 * s * s) - m.log(s) for mu, s in zip(means, widths, strict=True)]
    result = terms[0]
    for term in terms[1:]:
        result = m.logaddexp(result, term)
    return result


def pendulum(m: Any, angle: Any, speed: Any, length: Any) -> Any:
    """A Runge-Kutta integration."""

    def slope(a: Any, s: Any) -> Any:
        return s, -9.81 / length * m.sin(a)

    h = 0.05
    for _ in range(8):
        k1 = slope(angle, speed)
        k2 = slope(angle + h / 2 * k1[0], speed + h / 2 * k1[1])
        k3 = slope(angle + h / 2 * k2[0], speed + h / 2 * k2[1])
        k4 = slope(angle + h * k3[0], speed + h * k3[1])
        angle = angle + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        speed = speed + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    return angle, speed


def black_scholes(m: Any, spot: Any, strike: Any, rate: Any, volatility: Any, years: Any) -> Any:
    spread = volatility * m.sqrt(years)
    d1 = (m.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    d2 = d1 - spread

    def normal(x: Any) -> Any:
        return 0.5 * m.erfc(-x / math.sqrt(2))

    return spot * normal(d1) - strike * m.exp(-rate * years) * normal(d2)


def gamma_density(m: Any, x: Any, shape: Any, scale: Any) -> Any:
    return (shape - 1.0) * m.log(x) - x / scale - m.lgamma(shape) - shape * m.log(scale)


def all_functions(m: Any, x: Any, y: Any) -> Any:
    """Every function of `tapeengine.math` that takes reals, for 0 < x < 1 < y."""
    small = [m.asin, m.acos, m.atanh, m.erf, m.erfc, m.log1p, m.tan, m.expit, m.softplus, m.relu, m.fabs]
    any_real = [m.sin, m.cos, m.sinh, m.cosh, m.tanh, m.asinh, m.atan, m.exp, m.exp2, m.expm1, m.cbrt, m.sqrt]
    large = [m.acosh, m.log, m.log2, m.log10, m.gamma, m.lgamma, m.degrees, m.radians]
    two = [m.atan2, m.hypot, m.fmod, m.remainder, m.copysign, m.pow, m.xlogy, m.logaddexp, m.maximum, m.minimum]
    return {
        "small": [f(x) for f in small],
        "any": [f(x) for f in any_real] + [f(y) for f in any_real],
        "large": [f(y) for f in large],
        "two": [f(x, y) for f in two] + [f(y, x) for f in two],
        "log": [m.log(y, 3.0), m.log(3.0, y), m.log(x, y)],
        "many": [m.hypot(x, y, 2.0), m.dist((x, 1.0), (y, x)), m.prod([x, y, x]), m.sumprod([x, y], [y, 2.0])],
        "parts": [m.modf(y)[0], m.frexp(y)[0], m.ldexp(x, 3), m.fma(x, y, 2.0), m.fsum([x, 1e-9, y, x])],
    }


MATRIX = [[2.0, -1.0, 0.5], [4.0, 3.0, -2.0], [0.3, 1.0, 1.5]]
POSITIVE = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]]
LAYERS = [
    ([[0.3 * math.sin(7 * i + j) for j in range(3)] for i in range(4)], [0.1, -0.2, 0.3, 0.0]),
    ([[0.5 * math.cos(3 * i + j) for j in range(4)] for i in range(3)], [0.0, 0.1, -0.1]),
]

PROGRAMS = (
    Program("dot product", dot, ([1.0, -2.0, 3.0], [0.5, 0.25, 4.0]), lambda xs, ys: [[*ys, *xs]]),
    Program("network", network, (LAYERS, [0.5, -1.0, 2.0])),
    Program("determinant", determinant, (MATRIX,), determinant_by_hand),
    Program("Cholesky solve", cholesky_solve, (POSITIVE, [1.0, -2.0, 0.5])),
    Program("mixture", mixture, ([0.0, 1.0, -2.0], [1.0, 0.5, 2.0], 0.3)),
    Program("pendulum", pendulum, (0.5, -0.2, 1.3)),
    Program("Black-Scholes", black_scholes, (100.0, 95.0, 0.02, 0.3, 1.5)),
    Program("gamma density", gamma_density, (2.0, 3.5, 0.8)),
    Program("all functions", all_functions, (0.36, 2.83), step=2.0**-10),
)
