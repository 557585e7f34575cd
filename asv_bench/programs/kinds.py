"""Twenty kinds of programs as users write them in the typed language, each with its arguments."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

import tapeengine as te
from asv_bench.programs import draws
from asv_bench.programs.typed import convolution, convolution_inputs, logistic, logistic_inputs, newton
from asv_bench.programs.typed_twins import kmeans
from tapeengine import chad

__all__ = ["BY_HAND", "KINDS", "Kind"]

Vec = chad.Vec
Matrix = chad.Array[chad.Vec]
Ints = chad.Array[int]


@dataclass(frozen=True)
class Kind:
    """A typed program and a function that gives its arguments."""

    program: chad.Program
    inputs: Callable[[], tuple[Any, ...]]


@chad.program
def log_sum_exp(x: Vec) -> float:
    """Return the logarithm of the sum of exponentials."""
    largest = max(x)
    return largest + math.log(sum(math.exp(a - largest) for a in x))


@chad.program
def mixture(points: Matrix, means: Matrix, weights: Vec) -> float:
    """Return the log-likelihood of a mixture of unit Gaussians."""
    return sum(
        log_sum_exp(
            [
                weights[k] - 0.5 * sum((point[j] - means[k][j]) ** 2 for j in range(len(point)))
                for k in range(len(means))
            ]
        )
        for point in points
    )


@chad.program
def factorisation(u: Matrix, v: Matrix, r: Matrix) -> float:
    """Return the squared residual of a product of two factors."""
    return sum(
        sum((sum(u[i][k] * v[j][k] for k in range(len(u[0]))) - r[i][j]) ** 2 for j in range(len(v)))
        for i in range(len(u))
    )


@chad.program
def sparse_factorisation(u: Matrix, v: Matrix, rows: Ints, columns: Ints, values: Vec) -> float:
    """Return the squared residual at some places of a product of two factors."""
    return sum(
        (sum(u[rows[n]][k] * v[columns[n]][k] for k in range(len(u[0]))) - values[n]) ** 2 for n in range(len(values))
    )


@chad.program
def rnn(w: Matrix, u: Matrix, xs: Matrix, start: Vec) -> float:
    """Run a recurrent network and sum its last state."""
    h = start
    for x in xs:
        h = [
            math.tanh(sum(w[i][j] * h[j] for j in range(len(h))) + sum(u[i][j] * x[j] for j in range(len(x))))
            for i in range(len(h))
        ]
    return sum(h)


@chad.program
def lorenz(y: Vec, sigma: float, rho: float, beta: float) -> Vec:
    """Return the slope of the Lorenz system."""
    return [sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]]


@chad.program
def rk4(y: Vec, sigma: float, rho: float, beta: float, steps: int) -> float:
    """Take steps of the classical Runge-Kutta method."""
    h = 0.01
    for _ in range(steps):
        k1 = lorenz(y, sigma, rho, beta)
        k2 = lorenz([a + 0.5 * h * k for a, k in zip(y, k1)], sigma, rho, beta)
        k3 = lorenz([a + 0.5 * h * k for a, k in zip(y, k2)], sigma, rho, beta)
        k4 = lorenz([a + h * k for a, k in zip(y, k3)], sigma, rho, beta)
        y = [y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) for i in range(len(y))]
    return y[0] * y[0] + y[2]


@dataclass(frozen=True)
class Sphere:
    """A ball in space."""

    x: float
    y: float
    z: float
    radius: float


@chad.program
def hit(ball: Sphere, dx: float, dy: float) -> float:
    """Return how far a ray through (dx, dy, 1) goes before it meets a ball, or a large number."""
    norm = math.sqrt(dx * dx + dy * dy + 1.0)
    along = (dx * ball.x + dy * ball.y + ball.z) / norm
    inside = along * along - (ball.x**2 + ball.y**2 + ball.z**2 - ball.radius**2)
    if inside < 0.0:
        return 50.0
    distance = along - math.sqrt(inside)
    return distance if distance > 0.0 else 50.0


@chad.program
def rays(balls: chad.Array[Sphere], xs: Vec, ys: Vec) -> float:
    """Sum the depths of a picture."""
    return sum(min([hit(ball, xs[i], ys[i]) for ball in balls]) for i in range(len(xs)))


@chad.program
def spline(knots: Vec, values: Vec, at: Vec, places: Ints) -> float:
    """Sum a cubic Hermite spline at some points."""
    slopes = []
    for i in range(len(knots)):
        if i == 0:
            slopes.append((values[1] - values[0]) / (knots[1] - knots[0]))
        elif i == len(knots) - 1:
            slopes.append((values[i] - values[i - 1]) / (knots[i] - knots[i - 1]))
        else:
            slopes.append((values[i + 1] - values[i - 1]) / (knots[i + 1] - knots[i - 1]))
    total = 0.0
    for x, k in zip(at, places):
        h = knots[k + 1] - knots[k]
        t = (x - knots[k]) / h
        total += (1.0 + 2.0 * t) * (1.0 - t) ** 2 * values[k] + t * (1.0 - t) ** 2 * h * slopes[k]
        total += t * t * (3.0 - 2.0 * t) * values[k + 1] + t * t * (t - 1.0) * h * slopes[k + 1]
    return total


@chad.program
def bundle(cameras: Matrix, points: Matrix, which: Ints, seen: Ints, marks: Matrix) -> float:
    """Sum the squared errors of projections: a rotation vector, a centre, a focal length and two distortions each."""
    total = 0.0
    for n in range(len(which)):
        c = cameras[which[n]]
        p = points[seen[n]]
        x, y, z = p[0] - c[3], p[1] - c[4], p[2] - c[5]
        angle = math.sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + 1e-12)
        a, b, d = c[0] / angle, c[1] / angle, c[2] / angle
        cos, sin = math.cos(angle), math.sin(angle)
        dot = (a * x + b * y + d * z) * (1.0 - cos)
        u = x * cos + (b * z - d * y) * sin + a * dot
        v = y * cos + (d * x - a * z) * sin + b * dot
        w = z * cos + (a * y - b * x) * sin + d * dot
        u, v = u / w, v / w
        r = u * u + v * v
        scale = c[6] * (1.0 + r * (c[7] + r * c[8]))
        total += (scale * u - marks[n][0]) ** 2 + (scale * v - marks[n][1]) ** 2
    return total


@chad.program
def kalman(x: Vec, p: Matrix, f: Matrix, zs: Vec) -> float:
    """Return the log-likelihood of a Kalman filter that sees the first coordinate."""
    total = 0.0
    n = len(x)
    for z in zs:
        x = f @ x
        p = f @ p @ f.T
        s = p[0][0] + 0.5
        y = z - x[0]
        gain = [p[i][0] / s for i in range(n)]
        x = [x[i] + gain[i] * y for i in range(n)]
        p = [[p[i][j] - gain[i] * p[0][j] for j in range(n)] for i in range(n)]
        total -= 0.5 * (math.log(s) + y * y / s)
    return total


@dataclass(frozen=True)
class Answer:
    """What a decision tree answers."""

    value: float


@dataclass(frozen=True)
class Question:
    """A soft question about one feature."""

    feature: int
    threshold: float
    yes: "Decision"
    no: "Decision"


Decision = Answer | Question


@chad.program
def decide(tree: Decision, x: Vec) -> float:
    """Answer softly."""
    match tree:
        case Answer(value):
            return value
        case Question(feature, threshold, yes, no):
            p = 1.0 / (1.0 + math.exp(threshold - x[feature]))
            return p * decide(yes, x) + (1.0 - p) * decide(no, x)


@chad.program
def decision_tree(tree: Decision, xs: Matrix, ys: Vec) -> float:
    """Return the squared error of a soft decision tree."""
    return sum((decide(tree, xs[i]) - ys[i]) ** 2 for i in range(len(xs)))


@dataclass(frozen=True)
class Number:
    """A number in an expression."""

    value: float


@dataclass(frozen=True)
class Plus:
    """A sum."""

    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Times:
    """A product."""

    left: "Expression"
    right: "Expression"


@dataclass(frozen=True)
class Sine:
    """The sine of an expression."""

    of: "Expression"


Expression = Number | Plus | Times | Sine


@chad.program
def evaluate(e: Expression) -> float:
    """Evaluate an expression."""
    match e:
        case Number(value):
            return value
        case Plus(left, right):
            return evaluate(left) + evaluate(right)
        case Times(left, right):
            return evaluate(left) * evaluate(right)
        case Sine(of):
            return math.sin(evaluate(of))


@chad.program
def csr_product(values: Vec, columns: Ints, starts: Ints, x: Vec) -> float:
    """Sum the squares of the product of a sparse matrix and a vector."""
    return sum(
        sum(values[e] * x[columns[e]] for e in range(starts[i], starts[i + 1])) ** 2 for i in range(len(starts) - 1)
    )


@chad.program
def edit_distance(a: Vec, b: Vec, gap: float) -> float:
    """Return the soft cost of turning one sequence into another."""
    row = [gap * j for j in range(len(b) + 1)]
    for i in range(len(a)):
        following = [gap * (i + 1)]
        for j in range(len(b)):
            change = row[j] + (a[i] - b[j]) ** 2
            following.append(min(change, row[j + 1] + gap, following[j] + gap))
        row = list(following)
    return row[len(b)]


@chad.program
def prefix_sums(x: Vec) -> float:
    """Sum the squares of running sums."""
    ys = []
    total = 0.0
    for a in x:
        total += a
        ys.append(total)
    return sum(y * y for y in ys)


@chad.program
def asian(start: float, volatility: float, draws: Matrix) -> float:
    """Return the mean payoff of an Asian option."""
    total = 0.0
    for path in draws:
        s = start
        mean = 0.0
        for z in path:
            s = s * math.exp(-0.005 * volatility * volatility + 0.1 * volatility * z)
            mean += s / len(path)
        total += max(mean - 100.0, 0.0)
    return total / len(draws)


@chad.program
def attention(q: Matrix, k: Matrix, v: Matrix) -> float:
    """Sum the outputs of one head of attention."""
    d = len(q[0])
    scores = [[sum(row[c] * other[c] for c in range(d)) / math.sqrt(d) for other in k] for row in q]
    weights = [[math.exp(s - max(row)) for s in row] for row in scores]
    return sum(sum(sum(w[j] * v[j][c] for j in range(len(v))) / sum(w) for c in range(len(v[0]))) for w in weights)


@chad.program
def messages(features: Matrix, weights: Matrix, sources: Ints, targets: Ints, rounds: int) -> float:
    """Pass messages along the edges of a graph."""
    n, d = len(features), len(features[0])
    h = features
    for _ in range(rounds):
        sent = te.scatter([[0.0] * d for _ in range(n)], targets, [h[e] for e in sources])
        h = [
            [math.tanh(sum(weights[c][b] * sent[i][b] for b in range(d)) + h[i][c]) for c in range(d)] for i in range(n)
        ]
    return sum(sum(a * a for a in row) for row in h)


@chad.program
def hidden_markov(start: Vec, move: Matrix, emit: Matrix, seen: Ints) -> float:
    """Return the log-likelihood of a hidden Markov model."""
    a = [start[s] * emit[s][seen[0]] for s in range(len(start))]
    total = 0.0
    for t in range(1, len(seen)):
        scale = sum(a)
        total += math.log(scale)
        a = [sum(a[r] / scale * move[r][s] for r in range(len(a))) * emit[s][seen[t]] for s in range(len(a))]
    return total + math.log(sum(a))


def kmeans_by_hand(points: Any, centres: Any) -> Any:
    """Return value and gradients of `kmeans` in numpy."""
    apart = points[:, None, :] - centres[None, :, :]
    squares = np.einsum("ikj,ikj->ik", apart, apart)
    nearest = squares.argmin(1)
    rows = np.arange(len(points))
    d_points = 2.0 * apart[rows, nearest]
    d_centres = np.zeros_like(centres)
    np.add.at(d_centres, nearest, -d_points)
    return squares[rows, nearest].sum(), (d_points, d_centres)


def mixture_by_hand(points: Any, means: Any, weights: Any) -> Any:
    """Return value and gradients of `mixture` in numpy."""
    apart = points[:, None, :] - means[None, :, :]
    terms = weights - 0.5 * np.einsum("ikj,ikj->ik", apart, apart)
    largest = terms.max(1, keepdims=True)
    exponentials = np.exp(terms - largest)
    totals = exponentials.sum(1, keepdims=True)
    share = exponentials / totals
    d_apart = share[:, :, None] * apart
    return (np.log(totals) + largest).sum(), (-d_apart.sum(1), d_apart.sum(0), share.sum(0))


def factorisation_by_hand(u: Any, v: Any, r: Any) -> Any:
    """Return value and gradients of `factorisation` in numpy."""
    residual = u @ v.T - r
    return (residual**2).sum(), (2.0 * residual @ v, 2.0 * residual.T @ u, -2.0 * residual)


def whole_numbers(seed: int, limit: int, *shape: int) -> Any:
    """Draw whole numbers below a limit."""
    return np.random.default_rng(seed).integers(0, limit, shape)


def stochastic(seed: int, *shape: int) -> Any:
    """Draw rows of probabilities."""
    drawn = np.abs(draws.array(seed, *shape)) + 0.1
    return drawn / drawn.sum(-1, keepdims=True)


def spline_inputs() -> tuple[Any, ...]:
    """Return knots, their values, and points between them."""
    knots = np.cumsum(np.abs(draws.array(80, 100)) + 0.1)
    places = whole_numbers(81, 99, 400)
    return knots, draws.array(82, 100), knots[places] + 0.05, places


def bundle_inputs() -> tuple[Any, ...]:
    """Return cameras, points in front of them, and what was seen."""
    cameras = 0.1 * draws.array(83, 5, 9) + np.array([0.0] * 6 + [1.0, 0.0, 0.0])
    points = draws.array(84, 50, 3) + np.array([0.0, 0.0, 5.0])
    return cameras, points, whole_numbers(85, 5, 200), whole_numbers(86, 50, 200), draws.array(87, 200, 2)


def csr_inputs() -> tuple[Any, ...]:
    """Return a sparse matrix by rows and a vector."""
    starts = np.concatenate([[0], np.sort(whole_numbers(88, 3000, 499)), [3000]])
    return draws.array(89, 3000), whole_numbers(90, 300, 3000), starts, draws.array(91, 300)


def decision(depth: int, seed: int = 0) -> Decision:
    """Return a full tree of questions."""
    if not depth:
        return Answer(math.sin(seed))
    return Question(seed % 4, math.cos(seed), decision(depth - 1, 2 * seed + 1), decision(depth - 1, 2 * seed + 2))


def expression(depth: int, seed: int = 0) -> Expression:
    """Return an expression with sums, products and sines."""
    if not depth:
        return Number(math.sin(seed))
    left = expression(depth - 1, 2 * seed + 1)
    if seed % 3 == 0:
        return Sine(left)
    right = expression(depth - 1, 2 * seed + 2)
    return Plus(left, right) if seed % 3 == 1 else Times(left, right)


def balls() -> list[Sphere]:
    """Return some balls."""
    return [Sphere(math.sin(k), math.cos(2.0 * k), 4.0 + k % 3, 0.5 + 0.1 * k) for k in range(6)]


KINDS: MappingProxyType[str, Kind] = MappingProxyType(
    {
        "regression": Kind(logistic, logistic_inputs),
        "kmeans": Kind(kmeans, lambda: (draws.array(60, 2000, 3), draws.array(61, 10, 3))),
        "mixture": Kind(mixture, lambda: (draws.array(62, 1000, 5), draws.array(63, 8, 5), draws.array(64, 8))),
        "factorisation": Kind(
            factorisation, lambda: (draws.array(65, 100, 8), draws.array(66, 80, 8), draws.array(67, 100, 80))
        ),
        "sparse_factorisation": Kind(
            sparse_factorisation,
            lambda: (
                draws.array(65, 100, 8),
                draws.array(66, 80, 8),
                whole_numbers(68, 100, 2000),
                whole_numbers(69, 80, 2000),
                draws.array(70, 2000),
            ),
        ),
        "rnn": Kind(
            rnn,
            lambda: (
                0.3 * draws.array(71, 16, 16),
                draws.array(72, 16, 4),
                draws.array(73, 50, 4),
                draws.array(74, 16),
            ),
        ),
        "rk4": Kind(rk4, lambda: (np.array([1.0, 0.5, 20.0]), 10.0, 28.0, 8.0 / 3.0, 100)),
        "rays": Kind(rays, lambda: (balls(), 0.3 * draws.array(75, 200), 0.3 * draws.array(76, 200))),
        "spline": Kind(spline, spline_inputs),
        "bundle": Kind(bundle, bundle_inputs),
        "kalman": Kind(
            kalman,
            lambda: (draws.array(77, 3), np.eye(3), np.eye(3) + 0.1 * draws.array(78, 3, 3), draws.array(79, 50)),
        ),
        "decision_tree": Kind(decision_tree, lambda: (decision(5), draws.array(92, 40, 4), draws.array(93, 40))),
        "expression": Kind(evaluate, lambda: (expression(11),)),
        "csr_product": Kind(csr_product, csr_inputs),
        "convolution": Kind(convolution, lambda: (convolution_inputs()[0][:1000], convolution_inputs()[1])),
        "edit_distance": Kind(edit_distance, lambda: (draws.array(94, 40), draws.array(95, 40), 0.7)),
        "newton": Kind(newton, lambda: (10.0, 1.0)),
        "prefix_sums": Kind(prefix_sums, lambda: (draws.array(96, 5000),)),
        "asian": Kind(asian, lambda: (100.0, 0.2, draws.array(97, 200, 20))),
        "attention": Kind(
            attention, lambda: (draws.array(98, 60, 16), draws.array(99, 60, 16), draws.array(100, 60, 16))
        ),
        "messages": Kind(
            messages,
            lambda: (
                draws.array(101, 50, 8),
                0.3 * draws.array(102, 8, 8),
                whole_numbers(103, 50, 300),
                whole_numbers(104, 50, 300),
                4,
            ),
        ),
        "hidden_markov": Kind(
            hidden_markov,
            lambda: (stochastic(105, 8), stochastic(106, 8, 8), stochastic(107, 8, 5), whole_numbers(108, 5, 200)),
        ),
    }
)

#: Gradients of kinds by hand in numpy.
BY_HAND: MappingProxyType[str, Callable[..., Any]] = MappingProxyType(
    {"kmeans": kmeans_by_hand, "mixture": mixture_by_hand, "factorisation": factorisation_by_hand}
)
