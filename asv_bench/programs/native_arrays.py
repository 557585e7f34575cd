"""Realistic programs for native code: models on arrays of data."""

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from asv_bench.programs import draws
from asv_bench.programs.native import PROGRAMS as FIRST
from asv_bench.programs.native import inputs as first_inputs
from tapeengine import chad

Matrix = chad.Array[chad.Vec]
Wholes = chad.Array[int]
Inputs = Callable[[], tuple[Any, ...]]
Case = tuple[Callable[..., Any], Inputs]


def regression(w: chad.Vec, xs: Matrix, ys: chad.Vec) -> float:
    """Return the loss of a logistic regression."""
    return sum(math.log(1.0 + math.exp(-ys[i] * sum(w[j] * xs[i][j] for j in range(len(w))))) for i in range(len(xs)))


def regression_inputs() -> tuple[Any, ...]:
    """Return weights, a thousand rows and labels."""
    return draws.array(51, 20), draws.array(52, 1000, 20), np.sign(draws.array(53, 1000))


def rays(directions: Matrix, centres: Matrix, radii: chad.Vec) -> float:
    """Return the sum of the distances at which rays from the origin hit the first of some spheres."""
    total = 0.0
    for d in directions:
        nearest = 100.0
        for k in range(len(radii)):
            b = d[0] * centres[k][0] + d[1] * centres[k][1] + d[2] * centres[k][2]
            c = centres[k][0] ** 2 + centres[k][1] ** 2 + centres[k][2] ** 2 - radii[k] ** 2
            inside = b * b - c
            if inside > 0.0:
                t = b - math.sqrt(inside)
                if t > 0.0 and t < nearest:
                    nearest = t
        total = total + nearest
    return total


def rays_inputs() -> tuple[Any, ...]:
    """Return a thousand unit vectors and ten spheres."""
    directions = draws.array(81, 1000, 3)
    centres = 5.0 * draws.array(82, 10, 3)
    return directions / np.linalg.norm(directions, axis=1)[:, None], centres, 0.5 + 0.1 * abs(draws.array(83, 10))


def spline(at: chad.Vec, knots: chad.Vec) -> float:
    """Return the sum of squares of a uniform cubic B-spline at some points."""
    total = 0.0
    for x in at:
        i = int(x)
        t = x - i
        s = 1.0 - t
        value = (
            s * s * s * knots[i]
            + (3.0 * t * t * t - 6.0 * t * t + 4.0) * knots[i + 1]
            + (3.0 * s * s * s - 6.0 * s * s + 4.0) * knots[i + 2]
            + t * t * t * knots[i + 3]
        ) / 6.0
        total = total + value * value
    return total


def spline_inputs() -> tuple[Any, ...]:
    """Return five thousand places and the coefficients."""
    return 97.0 * draws.generator(84).random(5000), draws.array(85, 100)


def bundle(cameras: Matrix, points: Matrix, seen: Matrix, camera: Wholes, point: Wholes) -> float:
    """Return the squared reprojection error of a bundle: rotation vector, centre, focal length, two distortions."""
    total = 0.0
    for o in range(len(seen)):
        c = cameras[camera[o]]
        p = points[point[o]]
        x = p[0] - c[3]
        y = p[1] - c[4]
        z = p[2] - c[5]
        angle = math.sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
        cosine = math.cos(angle)
        sine = math.sin(angle) / angle
        along = (c[0] * x + c[1] * y + c[2] * z) * (1.0 - cosine) / (angle * angle)
        u = x * cosine + (c[1] * z - c[2] * y) * sine + c[0] * along
        v = y * cosine + (c[2] * x - c[0] * z) * sine + c[1] * along
        w = z * cosine + (c[0] * y - c[1] * x) * sine + c[2] * along
        a = u / w
        b = v / w
        r = a * a + b * b
        scale = c[6] * (1.0 + c[7] * r + c[8] * r * r)
        total = total + (a * scale - seen[o][0]) ** 2 + (b * scale - seen[o][1]) ** 2
    return total


def bundle_inputs() -> tuple[Any, ...]:
    """Return twenty cameras, five hundred points, and two thousand observations."""
    cameras = 0.1 * draws.array(86, 20, 9) + np.array([0.2, 0.1, 0.1, 0, 0, -5.0, 2.0, 0, 0])
    which = draws.generator(89)
    return (
        cameras,
        draws.array(87, 500, 3),
        draws.array(88, 2000, 2),
        which.integers(0, 20, 2000),
        which.integers(0, 500, 2000),
    )


def decisions(features: Matrix, feature: Wholes, threshold: chad.Vec, leaves: chad.Vec, ys: chad.Vec) -> float:
    """Return the squared error of a decision tree whose inner nodes are stored in an array like a heap."""
    total = 0.0
    for i in range(len(ys)):
        at = 0
        while at < len(threshold):
            at = 2 * at + 1 if features[i][feature[at]] < threshold[at] else 2 * at + 2
        total = total + (leaves[at - len(threshold)] - ys[i]) ** 2
    return total


def decisions_inputs() -> tuple[Any, ...]:
    """Return two thousand rows of eight features and a tree of depth six."""
    feature = draws.generator(90).integers(0, 8, 63)
    return draws.array(91, 2000, 8), feature, 0.5 * draws.array(92, 63), draws.array(93, 64), draws.array(94, 2000)


def csr(values: chad.Vec, columns: Wholes, starts: Wholes, x: chad.Vec) -> float:
    """Return the squared length of the product of a matrix in compressed row storage and a vector."""
    return sum(
        sum(values[k] * x[columns[k]] for k in range(starts[i], starts[i + 1])) ** 2 for i in range(len(starts) - 1)
    )


def csr_inputs() -> tuple[Any, ...]:
    """Return a matrix of two thousand rows with about ten numbers in each."""
    generator = draws.generator(95)
    starts = np.concatenate([[0], np.cumsum(generator.integers(5, 16, 2000))])
    return draws.array(96, starts[-1]), generator.integers(0, 1000, starts[-1]), starts, draws.array(97, 1000)


def convolution(signal: chad.Vec, kernel: chad.Vec) -> float:
    """Return the squared length of the valid part of a convolution."""
    return sum(
        sum(signal[i + j] * kernel[j] for j in range(len(kernel))) ** 2 for i in range(len(signal) - len(kernel) + 1)
    )


def convolution_inputs() -> tuple[Any, ...]:
    """Return a long signal and a short kernel."""
    return draws.array(56, 10_000), draws.array(57, 30)


def attention(q: Matrix, k: Matrix, v: Matrix) -> float:
    """Return the squared size of softmax(q k^T / sqrt(d)) v."""
    scale = 1.0 / math.sqrt(float(len(q[0])))
    total = 0.0
    for row in q:
        scores = [scale * sum(row[c] * k[j][c] for c in range(len(row))) for j in range(len(k))]
        largest = max(scores)
        weights = [math.exp(s - largest) for s in scores]
        norm = sum(weights)
        out = [sum(weights[j] * v[j][c] for j in range(len(v))) / norm for c in range(len(v[0]))]
        total = total + sum(x * x for x in out)
    return total


def attention_inputs() -> tuple[Any, ...]:
    """Return queries, keys and values of sixty-four places in sixteen dimensions."""
    return draws.array(98, 64, 16), draws.array(99, 64, 16), draws.array(100, 64, 16)


def messages(nodes: Matrix, source: Wholes, target: Wholes, w: Matrix) -> float:
    """Return the squared size of one round of message passing: each node sums tanh(w x) over its edges."""
    n = len(nodes)
    d = len(nodes[0])
    edges = len(source)
    sent = [math.tanh(sum(w[i][j] * nodes[source[e]][j] for j in range(d))) for e in range(edges) for i in range(d)]
    places = [target[e] * d + i for e in range(edges) for i in range(d)]
    received = chad.scatter([0.0 for _ in range(n * d)], places, sent)
    return sum(sum((nodes[a][i] + received[a * d + i]) ** 2 for i in range(d)) for a in range(n))


def messages_inputs() -> tuple[Any, ...]:
    """Return two hundred nodes with eight features, a thousand edges, and the weights."""
    which = draws.generator(101)
    return draws.array(102, 200, 8), which.integers(0, 200, 1000), which.integers(0, 200, 1000), draws.array(103, 8, 8)


def mixed(beta: chad.Vec, effects: chad.Vec, spread: float, xs: Matrix, group: Wholes, ys: chad.Vec) -> float:
    """Return the log-density of a linear model with an effect for each group."""
    misfit = sum(
        (ys[i] - effects[group[i]] - sum(xs[i][j] * beta[j] for j in range(len(beta)))) ** 2 for i in range(len(ys))
    )
    prior = sum(e * e for e in effects) / (spread * spread)
    return -0.5 * (misfit + prior) - len(effects) * math.log(spread)


def mixed_inputs() -> tuple[Any, ...]:
    """Return five coefficients, fifty groups, and two thousand observations."""
    group = draws.generator(104).integers(0, 50, 2000)
    return draws.array(105, 5), draws.array(106, 50), 0.8, draws.array(107, 2000, 5), group, draws.array(108, 2000)


def first(name: str) -> Case:
    """Return a program of another module, with its inputs."""
    return FIRST[name], lambda: first_inputs(name)


ARRAYS: MappingProxyType[str, Case] = MappingProxyType(
    {
        "regression": (regression, regression_inputs),
        "k_means": first("k_means"),
        "mixture": first("mixture"),
        "factors": first("factors"),
        "rays": (rays, rays_inputs),
        "spline": (spline, spline_inputs),
        "bundle": (bundle, bundle_inputs),
        "decisions": (decisions, decisions_inputs),
        "csr": (csr, csr_inputs),
        "convolution": (convolution, convolution_inputs),
        "attention": (attention, attention_inputs),
        "messages": (messages, messages_inputs),
        "mixed": (mixed, mixed_inputs),
    }
)
