"""Realistic programs for native code: recurrences, filters, solvers, dynamic programs, records."""

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

import tapeengine.math as tm
from asv_bench.programs import draws
from asv_bench.programs.native_arrays import Case, first
from tapeengine import chad

Matrix = chad.Array[chad.Vec]
Wholes = chad.Array[int]


def rk4(x: float, y: float, a: float, b: float, steps: int) -> float:
    """Solve the predator-prey equations by a Runge-Kutta method."""
    h = 0.01
    for _ in range(steps):
        k1 = x * (a - y)
        l1 = y * (x - b)
        u = x + 0.5 * h * k1
        v = y + 0.5 * h * l1
        k2 = u * (a - v)
        l2 = v * (u - b)
        u = x + 0.5 * h * k2
        v = y + 0.5 * h * l2
        k3 = u * (a - v)
        l3 = v * (u - b)
        u = x + h * k3
        v = y + h * l3
        k4 = u * (a - v)
        l4 = v * (u - b)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        y = y + h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)
    return x * y


def kalman(f: Matrix, q: chad.Vec, r: float, observed: chad.Vec) -> float:
    """Return the log-likelihood of a Kalman filter that observes the first component of its state."""
    n = len(q)
    x = [0.0 for _ in range(n)]
    p = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    total = 0.0
    for y in observed:
        x = [sum(f[i][j] * x[j] for j in range(n)) for i in range(n)]
        fp = [[sum(f[i][k] * p[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        p = [
            [sum(fp[i][k] * f[j][k] for k in range(n)) + (q[i] if i == j else 0.0) for j in range(n)] for i in range(n)
        ]
        s = p[0][0] + r
        e = y - x[0]
        total = total - 0.5 * (math.log(s) + e * e / s)
        gain = [p[i][0] / s for i in range(n)]
        x = [x[i] + gain[i] * e for i in range(n)]
        p = [[p[i][j] - gain[i] * p[0][j] for j in range(n)] for i in range(n)]
    return total


def kalman_inputs() -> tuple[Any, ...]:
    """Return a filter of four components and a hundred observations."""
    f = 0.9 * np.eye(4) + 0.1 * draws.array(111, 4, 4)
    return f, np.full(4, 0.1), 0.5, draws.array(112, 100)


def edit(a: Matrix, b: Matrix, gap: float) -> float:
    """Return the smooth edit distance of two sequences of vectors, row by row."""
    n = len(b)
    row = [gap * j for j in range(n + 1)]
    for i in range(len(a)):
        left = gap * (i + 1)
        made = [left]
        for j in range(n):
            cost = sum((a[i][k] - b[j][k]) ** 2 for k in range(len(b[j])))
            left = min(row[j] + cost, row[j + 1] + gap, left + gap)
            made.append(left)
        row = list(made)
    return row[n]


def edit_inputs() -> tuple[Any, ...]:
    """Return two sequences of eighty vectors of three numbers."""
    return draws.array(113, 80, 3), draws.array(114, 80, 3), 1.5


def newton(targets: chad.Vec) -> float:
    """Return the sum of the solutions of x^3 + x = a, each by Newton's method."""
    total = 0.0
    for a in targets:
        x = a
        for _ in range(50):
            if abs(x * x * x + x - a) < 1e-12:
                break
            x = x - (x * x * x + x - a) / (3.0 * x * x + 1.0)
        total = total + x
    return total


def prefix(xs: chad.Vec, w: chad.Vec) -> float:
    """Return a weighted sum of the squares of prefix sums."""
    total = 0.0
    running = 0.0
    for i in range(len(xs)):
        running = running + xs[i]
        total = total + w[i] * running * running
    return total


def asian(start: float, rate: float, volatility: float, strike: float, normals: Matrix) -> float:
    """Return the value of an Asian option, by simulation."""
    steps = len(normals[0])
    dt = 1.0 / steps
    drift = (rate - 0.5 * volatility * volatility) * dt
    size = volatility * math.sqrt(dt)
    total = 0.0
    for path in normals:
        price = start
        mean = 0.0
        for z in path:
            price = price * math.exp(drift + size * z)
            mean = mean + price
        mean = mean / steps
        if mean > strike:
            total = total + mean - strike
    return math.exp(-rate) * total / len(normals)


def asian_inputs() -> tuple[Any, ...]:
    """Return a thousand paths of fifty steps."""
    return 100.0, 0.05, 0.2, 100.0, draws.array(115, 1000, 50)


def lstm(w: Matrix, u: Matrix, b: chad.Vec, xs: Matrix) -> float:
    """Return the squared last state of an LSTM network."""
    n = len(b) // 4
    d = len(xs[0])
    h = [0.0 for _ in range(n)]
    c = [0.0 for _ in range(n)]
    for x in xs:
        z = [b[i] + sum(w[i][j] * x[j] for j in range(d)) + sum(u[i][j] * h[j] for j in range(n)) for i in range(4 * n)]
        forget = [1.0 / (1.0 + math.exp(-z[i])) for i in range(n)]
        take = [1.0 / (1.0 + math.exp(-z[n + i])) for i in range(n)]
        give = [1.0 / (1.0 + math.exp(-z[2 * n + i])) for i in range(n)]
        c = [forget[i] * c[i] + take[i] * math.tanh(z[3 * n + i]) for i in range(n)]
        h = [give[i] * math.tanh(c[i]) for i in range(n)]
    return sum(a * a for a in h)


def lstm_inputs() -> tuple[Any, ...]:
    """Return a network of sixteen units for eight inputs, and fifty steps."""
    return 0.3 * draws.array(116, 64, 8), 0.3 * draws.array(117, 64, 16), draws.array(118, 64), draws.array(119, 50, 8)


def hidden(first: chad.Vec, moves: Matrix, emits: Matrix, seen: Wholes) -> float:
    """Return the log-likelihood of a hidden Markov model by the forward algorithm."""
    n = len(first)
    alpha = [first[s] * emits[s][seen[0]] for s in range(n)]
    total = 0.0
    for t in range(1, len(seen)):
        norm = sum(alpha)
        total = total + math.log(norm)
        before = [a / norm for a in alpha]
        alpha = [sum(before[r] * moves[r][s] for r in range(n)) * emits[s][seen[t]] for s in range(n)]
    return total + math.log(sum(alpha))


def hidden_inputs() -> tuple[Any, ...]:
    """Return eight states, ten symbols and two hundred observations."""
    generator = draws.generator(120)
    first, moves, emits = generator.random(8), generator.random((8, 8)), generator.random((8, 10))
    moves, emits = moves / moves.sum(axis=1)[:, None], emits / emits.sum(axis=1)[:, None]
    return first / first.sum(), moves, emits, generator.integers(0, 10, 200)


@dataclass(frozen=True)
class Number:
    """A number of an expression."""

    value: float


@dataclass(frozen=True)
class Sum:
    """A sum of two expressions."""

    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Product:
    """A product of two expressions."""

    left: "Expression"
    right: "Expression"


Expression = Number | Sum | Product


def expression(at: Expression) -> float:
    """Return the value of an expression."""
    match at:
        case Number(value):
            return value
        case Sum(left, right):
            return expression(left) + expression(right)
        case Product(left, right):
            return expression(left) * tm.sin(expression(right))  # dual numbers run this as Python


def expression_inputs(depth: int = 6) -> tuple[Any, ...]:
    """Return an expression in which all numbers are at the given depth."""
    numbers = iter(draws.scalars(2**depth, 121, 0.5, 1.5))

    def drawn(depth: int) -> Any:
        if depth == 0:
            return Number(next(numbers))
        return (Sum if depth % 2 else Product)(drawn(depth - 1), drawn(depth - 1))

    return (drawn(depth),)


@dataclass(frozen=True)
class End:
    """The end of a chain."""


@dataclass(frozen=True)
class Link:
    """One joint of a chain: its angle, its length, and the rest of the chain."""

    angle: float
    length: float
    rest: "Chain"


Chain = End | Link


@chad.program
def reach(at: Chain, turned: float, x: float, y: float) -> float:
    """Return the squared distance to the end of a chain from the origin."""
    match at:
        case End():
            return x * x + y * y
        case Link(angle, length, rest):
            sum_ = turned + angle
            return reach(rest, sum_, x + length * math.cos(sum_), y + length * math.sin(sum_))


def chain(links: Chain) -> float:
    """Return the squared distance from the beginning of a chain to its end."""
    return reach(links, 0.0, 0.0, 0.0)


def chain_inputs(length: int = 300) -> tuple[Any, ...]:
    """Return a chain."""
    made: Chain = End()
    for angle in draws.scalars(length, 122):
        made = Link(angle, 1.0 + 0.1 * angle, made)
    return (made,)


def horner(x: float, coefficients: chad.Vec) -> float:
    """Return a polynomial by Horner's rule."""
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


def linear(x: float, a: chad.Vec, b: chad.Vec) -> float:
    """Return the last number of a linear recurrence."""
    for i in range(len(a)):
        x = a[i] * x + b[i]
    return x


LOOPS: MappingProxyType[str, Case] = MappingProxyType(
    {
        "recurrent": first("recurrent"),
        "rk4": (rk4, lambda: (1.1, 0.9, 1.0, 1.2, 2000)),
        "kalman": (kalman, kalman_inputs),
        "edit": (edit, edit_inputs),
        "newton": (newton, lambda: (draws.array(123, 500),)),
        "prefix": (prefix, lambda: (draws.array(124, 10_000), draws.array(125, 10_000))),
        "asian": (asian, asian_inputs),
        "lstm": (lstm, lstm_inputs),
        "heat": first("heat"),
        "hidden": (hidden, hidden_inputs),
        "expression": (expression, expression_inputs),
        "chain": (chain, chain_inputs),
        "scalars": first("scalars"),
        "horner": (horner, lambda: (0.999, draws.array(126, 10_000))),
        "linear": (linear, lambda: (0.5, 1.0 - 0.001 * np.tanh(draws.array(127, 10_000)), draws.array(128, 10_000))),
    }
)
