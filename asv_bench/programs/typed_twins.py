"""The benchmark programs in the typed language of the CHAD frontend, in its own idiom.

Loops with carried state stay loops; sums and lists become comprehensions; arrays replace lists of floats. Programs
without a twin write into a list in place, which the language does not support.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import tapeengine.math as math
import tapeengine.numpy as np
from asv_bench.peers.leaves import stacked
from asv_bench.programs import gmm, tree
from asv_bench.programs.typed import log_sum_exp, mixture, particles_typed, rotate_typed
from tapeengine import chad

Matrix = chad.Array[chad.Vec]
Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Layer = tuple[Matrix, chad.Vec]
Point = tuple[float, float]


@dataclass(frozen=True)
class Twin:
    """A typed program, and the function that converts the arguments of the untyped one."""

    program: Any
    arguments: Callable[[tuple[Any, ...]], tuple[Any, ...]] = lambda arguments: tuple(map(stacked, arguments))


@chad.program
def scalar_loop(xs: chad.Vec) -> float:
    """Compute `scalar_loop.scalar_loop`."""
    acc = 1.0
    for x in xs:
        acc = acc * math.sin(x) + x if acc > 0.0 else acc * x - math.sin(x)
    return acc


@chad.program
def multiply(x: float, y: float) -> float:
    """Multiply two scalars."""
    return x * y


@chad.program
def dot(xs: chad.Vec, ys: chad.Vec) -> float:
    """Sum the products of two arrays."""
    return sum(xs[i] * ys[i] for i in range(len(xs)))


@chad.program
def sum_matvec(matrix: Matrix, vector: chad.Vec) -> float:
    """Sum the elements of a matrix times a vector."""
    return sum(sum(matrix[i][j] * vector[j] for j in range(len(vector))) for i in range(len(matrix)))


@chad.program
def rotations(vector: Vector3, quaternion: Quaternion, times: int) -> float:
    """Rotate `times` times and sum the coordinates."""
    x, y, z = vector
    for _ in range(times):
        x, y, z = rotate_typed((x, y, z), quaternion)
    return x + y + z


@chad.program
def dense(layer: Layer, x: chad.Vec) -> chad.Vec:
    """Return weights times inputs plus bias."""
    weights, bias = layer
    return [bias[i] + sum(weights[i][j] * x[j] for j in range(len(x))) for i in range(len(bias))]


@chad.program
def relu(x: chad.Vec) -> chad.Vec:
    """Clamp from below at zero."""
    return [a if a > 0.0 else 0.0 for a in x]


@chad.program
def network(layers: tuple[Layer, Layer, Layer], x: chad.Vec) -> float:
    """Sum the outputs of a network of three layers."""
    first, second, third = layers
    return sum(dense(third, relu(dense(second, relu(dense(first, x))))))


@chad.program
def network_softmax(layers: tuple[Layer, Layer], x: chad.Vec) -> float:
    """Sum the softmax of the outputs of a network of two layers."""
    first, second = layers
    hidden = relu(dense(second, relu(dense(first, x))))
    largest = max(hidden)
    exponentials = [math.exp(a - largest) for a in hidden]
    scale = sum(exponentials)
    return sum(a / scale for a in exponentials)


@chad.program
def friction_path(position: Point, velocity: Point, steps: int) -> float:
    """Move one particle and return the product of its coordinates."""
    x, y = position
    u, v = velocity
    for _ in range(steps):
        ax = -0.5 * x - 0.2 * u
        ay = -0.5 * y - 0.2 * v
        x = x + 0.05 * u
        y = y + 0.05 * v
        u = u + 0.05 * ax
        v = v + 0.05 * ay
    return x * y


@chad.program
def particles_friction(start: chad.Array[tuple[Point, Point]], steps: int) -> float:
    """Sum x y over the last positions of independent particles."""
    return sum(friction_path(start[i][0], start[i][1], steps) for i in range(len(start)))


@dataclass(frozen=True)
class Leaf:
    """A number at the end of a branch."""

    value: float


@dataclass(frozen=True)
class Node:
    """A fork of two trees."""

    left: "Tree"
    right: "Tree"
    weight: float


Tree = Leaf | Node


@chad.program
def evaluate(at: Tree) -> float:
    """Compute `tree.evaluate`."""
    match at:
        case Leaf(value):
            return value
        case Node(left, right, weight):
            a = evaluate(left)
            b = evaluate(right)
            value = weight * a + b * b
            return math.tanh(value) if value > 1.0 else value


def typed_tree(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copy an expression tree."""

    def copied(at: Any) -> Any:
        return Leaf(at.value) if isinstance(at, tree.Leaf) else Node(copied(at.left), copied(at.right), at.weight)

    return (copied(arguments[0]),)


@chad.program
def det(rows: Matrix) -> float:
    """Expand the determinant by minors along the first row."""
    if len(rows) == 1:
        return rows[0][0]
    return sum(
        (1.0 if j % 2 == 0 else -1.0)
        * rows[0][j]
        * det([[row[c] for c in range(len(rows)) if c != j] for row in rows[1:]])
        for j in range(len(rows))
    )


@chad.program
def slope(x: chad.Vec, y: chad.Vec) -> chad.Vec:
    """Return y' of `gradbench.ode`."""
    return [x[0] if i == 0 else x[i] * y[i - 1] for i in range(len(x))]


@chad.program
def ode(x: chad.Vec, steps: int) -> float:
    """Solve y' = slope(x, y) from 0 to 2 and return the last component."""
    n = len(x)
    h = 2.0 / steps
    y = [0.0 for _ in range(n)]
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, [y[i] + 0.5 * h * k1[i] for i in range(n)])
        k3 = slope(x, [y[i] + 0.5 * h * k2[i] for i in range(n)])
        k4 = slope(x, [y[i] + h * k3[i] for i in range(n)])
        y = [y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) for i in range(n)]
    return y[n - 1]


@chad.program
def llsq(x: chad.Vec, n: int) -> float:
    """Return half the squared distance between a polynomial and the sign of t at `n` points."""
    total = 0.0
    for i in range(n):
        t = -1.0 + i * 2.0 / (n - 1)
        residual = 1.0 if t > 0.0 else -1.0 if t < 0.0 else 0.0
        power = 1.0
        for coefficient in x:
            residual = residual - coefficient * power
            power = power * t
        total = total + residual * residual
    return 0.5 * total


@chad.program
def kmeans(points: Matrix, centroids: Matrix) -> float:
    """Sum over the points the squared distance to the nearest centroid."""
    return sum(
        min([sum((point[j] - centre[j]) ** 2 for j in range(len(point))) for centre in centroids]) for point in points
    )


@chad.program
def index_reads(a: chad.Vec) -> float:
    """Sum the squares of the elements."""
    return sum(a[i] * a[i] for i in range(len(a)))


@chad.program
def recurrence(start: chad.Vec, n: int) -> float:
    """Carry the two last elements."""
    before = start[0]
    last = start[1]
    for _ in range(2, n):
        before, last = last, 0.6 * math.sin(last) + 0.4 * before
    return last


@chad.program
def unrolled(x: chad.Vec, n: int) -> float:
    """Apply the same array step `n` times."""
    for _ in range(n):
        x = np.sin(x) * 1.1 + 0.1 * x
    return sum(x)


@chad.program
def network_arrays(w1: Matrix, b1: chad.Vec, w2: Matrix, b2: chad.Vec, w3: Matrix, b3: chad.Vec, x: chad.Vec) -> float:
    """Sum the outputs of the network."""
    hidden = np.maximum(w1 @ x + b1, 0.0)
    hidden = np.maximum(w2 @ hidden + b2, 0.0)
    return np.sum(w3 @ hidden + b3)


@chad.program
def matvec_arrays(matrix: Matrix, vector: chad.Vec) -> float:
    """Sum the elements of a matrix times a vector."""
    return np.sum(matrix @ vector)


@chad.program
def matmul(a: Matrix, b: Matrix) -> float:
    """Sum the elements of a product of two matrices."""
    return np.sum(a @ b)


@chad.program
def sigmoid(x: float) -> float:
    """Return the logistic function."""
    return 1.0 / (1.0 + math.exp(-x))


@chad.program
def lstm(main: Matrix, extra: Matrix, initial: Matrix, sequence: Matrix) -> float:
    """Compute `lstm.lstm` element by element."""
    layers = len(main) // 2
    b = len(extra[0])
    total = 0.0
    state = [initial[k] for k in range(2 * layers)]
    for t in range(len(sequence) - 1):
        x = [sequence[t][j] * extra[0][j] for j in range(b)]
        for i in range(layers):
            weight = main[2 * i]
            bias = main[2 * i + 1]
            hidden = state[2 * i]
            cell = state[2 * i + 1]
            forget = [sigmoid(x[j] * weight[j] + bias[j]) for j in range(b)]
            ingate = [sigmoid(hidden[j] * weight[b + j] + bias[b + j]) for j in range(b)]
            outgate = [sigmoid(x[j] * weight[2 * b + j] + bias[2 * b + j]) for j in range(b)]
            change = [math.tanh(hidden[j] * weight[3 * b + j] + bias[3 * b + j]) for j in range(b)]
            cell = [cell[j] * forget[j] + ingate[j] * change[j] for j in range(b)]
            x = [outgate[j] * math.tanh(cell[j]) for j in range(b)]
            state = [x if k == 2 * i else cell if k == 2 * i + 1 else state[k] for k in range(2 * layers)]
        y = [x[j] * extra[1][j] + extra[2][j] for j in range(b)]
        norm = math.log(2.0 + sum(math.exp(v) for v in y))
        total = total + sum(sequence[t + 1][j] * (y[j] - norm) for j in range(b))
    return -total / ((len(sequence) - 1) * b)


def mixture_arguments(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace the prior's parameters by the positions of the factors and the constant."""
    alphas, means, icf, x, gamma, m = arguments
    (k, d), n = means.shape, len(x)
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - gmm.wishart_constant(d, k, gamma, m)
    return alphas, means, icf, x, gmm.factor_positions(d)[0], constant


def as_they_are(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments."""
    return arguments


TWINS = MappingProxyType(
    {
        "scalar_loop": Twin(scalar_loop),
        "multiply": Twin(multiply),
        "dot": Twin(dot),
        "sum_matvec": Twin(sum_matvec),
        "quaternion": Twin(rotate_typed, as_they_are),
        "rotations": Twin(rotations, as_they_are),
        "network": Twin(network),
        "network_softmax": Twin(network_softmax),
        "particles": Twin(particles_typed),
        "particles_friction": Twin(particles_friction, as_they_are),
        "tree": Twin(evaluate, typed_tree),
        "det": Twin(det),
        "ode": Twin(ode),
        "llsq": Twin(llsq),
        "lse": Twin(log_sum_exp),
        "kmeans": Twin(kmeans),
        "index_reads": Twin(index_reads),
        "recurrence": Twin(recurrence),
        "unrolled": Twin(unrolled),
        "network_arrays": Twin(network_arrays),
        "matvec_arrays": Twin(matvec_arrays),
        "matmul": Twin(matmul),
        "gmm": Twin(mixture, mixture_arguments),
        "lstm": Twin(lstm),
    }
)
