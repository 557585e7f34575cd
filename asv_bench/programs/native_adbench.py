"""ADBench's mixture, hand and bundle adjustment as typed programs: loops over numbers, rows and small matrices."""

from typing import Any

import tapeengine.math as math
from asv_bench.programs import adbench_data, ba, gmm
from tapeengine.chad import Array, Vec

__all__ = ["ADBENCH", "bundle", "hand", "mixture"]

Matrix = Array[Vec]


def log_sum_exp(x: Vec) -> float:
    """Return the logarithm of a sum of exponentials."""
    largest = max(x)
    return largest + math.log(sum(math.exp(a - largest) for a in x))


def factor(icf: Vec, d: int) -> Matrix:
    """Return the triangular factor of a component's inverse covariance."""
    return [
        [
            math.exp(icf[i]) if j == i else icf[d + j * d - j * (j + 1) // 2 + i - j - 1] if j < i else 0.0
            for j in range(d)
        ]
        for i in range(d)
    ]


def mixture(alphas: Vec, means: Matrix, icf: Matrix, x: Matrix, constant: float) -> float:
    """Return the log-posterior of a Gaussian mixture, with the prior's gamma = 1 and m = 0."""
    n, d, k = len(x), len(means[0]), len(alphas)
    factors = [factor(icf[c], d) for c in range(k)]
    sums = [sum(icf[c][j] for j in range(d)) for c in range(k)]
    likelihood = 0.0
    for p in range(n):
        inner = [0.0] * k
        for c in range(k):
            centred = [x[p][j] - means[c][j] for j in range(d)]
            square = 0.0
            for i in range(d):
                y = 0.0
                for j in range(i + 1):
                    y = y + factors[c][i][j] * centred[j]
                square = square + y * y
            inner[c] = alphas[c] + sums[c] - 0.5 * square
        likelihood = likelihood + log_sum_exp(inner)
    prior = 0.5 * sum(
        sum(math.exp(icf[c][j]) ** 2 for j in range(d)) + sum(icf[c][j] ** 2 for j in range(d, len(icf[c])))
        for c in range(k)
    )
    return constant + likelihood - n * log_sum_exp(alphas) + prior


def mixture_inputs(size: int = 1000) -> tuple[Any, ...]:
    """Return a mixture of 25 components in ten dimensions."""
    alphas, means, icf, x, gamma, m = gmm.inputs(size, 25)
    k, d = means.shape
    constant = -0.5 * size * d * math.log(2.0 * math.pi) - gmm.wishart_constant(d, k, gamma, m)
    return alphas, means, icf, x, constant


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return the product of two small matrices."""
    return [[sum(row[k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for row in a]


def rotation(x: float, z: float, y: float) -> Matrix:
    """Return Rz Ry Rx of a bone as a 4 x 4 matrix."""
    sx, cx, sy, cy, sz, cz = math.sin(x), math.cos(x), math.sin(y), math.cos(y), math.sin(z), math.cos(z)
    return [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx, 0.0],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx, 0.0],
        [-sy, cy * sx, cy * cx, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]


def angle(theta: Vec, bone: int, which: int) -> float:
    """Return one of the three angles of a bone; the wrist, the palm and the tips of fingers do not move."""
    finger, joint = (bone - 2) // 4, (bone - 2) % 4
    first = 6 + 4 * finger
    if bone < 2 or joint == 3:
        return 0.0
    if joint == 0:
        return theta[first + which] if which < 2 else 0.0
    return theta[first + 1 + joint] if which == 0 else 0.0


def turned(r: Vec) -> Matrix:
    """Return the matrix of an angle-axis vector, the identity where its norm is below 1e-4."""
    squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if squared < 1e-8:
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    norm = math.sqrt(squared)
    x, y, z = r[0] / norm, r[1] / norm, r[2] / norm
    s, c = math.sin(norm), math.cos(norm)
    t = 1.0 - c
    return [
        [x * x * t + c, x * y * t - z * s, x * z * t + y * s],
        [x * y * t + z * s, y * y * t + c, y * z * t - x * s],
        [x * z * t - y * s, y * z * t + x * s, z * z * t + c],
    ]


def hand(
    theta: Vec,
    parents: Array[int],
    relatives: Array[Matrix],
    inverses: Array[Matrix],
    skin: Matrix,
    weights: Matrix,
    corr: Array[int],
    points: Matrix,
) -> float:
    """Return the sum of the errors (3N) for the 26 angles."""
    absolutes: list[Matrix] = []
    for i in range(len(parents)):
        own = product(relatives[i], rotation(angle(theta, i, 0), angle(theta, i, 1), angle(theta, i, 2)))
        absolutes.append(own if parents[i] < 0 else product(absolutes[parents[i]], own))
    transforms = [product(absolutes[i], inverses[i]) for i in range(len(parents))]
    turn = turned(theta[0:3])
    total = 0.0
    for n in range(len(corr)):
        vertex, shares = skin[corr[n]], weights[corr[n]]
        moved = [
            sum(shares[b] * sum(transforms[b][k][j] * vertex[j] for j in range(4)) for b in range(len(parents)))
            for k in range(3)
        ]
        for k in range(3):
            total = total + points[n][k] - (sum(turn[k][j] * moved[j] for j in range(3)) + theta[3 + k])
    return total


def cross(a: Vec, b: Vec) -> Vec:
    """Return the cross product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def rotated(r: Vec, x: Vec) -> Vec:
    """Rotate a vector by an angle-axis vector, to first order where the angle is zero."""
    squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if squared == 0.0:
        first = cross(r, x)
        return [x[0] + first[0], x[1] + first[1], x[2] + first[2]]
    norm = math.sqrt(squared)
    axis = [r[0] / norm, r[1] / norm, r[2] / norm]
    s, c = math.sin(norm), math.cos(norm)
    along = (axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2]) * (1.0 - c)
    turned = cross(axis, x)
    return [x[j] * c + turned[j] * s + axis[j] * along for j in range(3)]


def bundle(cams: Matrix, points: Matrix, w: Vec, obs: Array[Array[int]], feats: Matrix) -> float:
    """Return half the sum of the squares of all errors."""
    total = 0.0
    for i in range(len(obs)):
        cam, point = cams[obs[i][0]], points[obs[i][1]]
        y = rotated(cam[0:3], [point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]])
        u, v = y[0] / y[2], y[1] / y[2]
        s = u * u + v * v
        stretch = 1.0 + cam[9] * s + cam[10] * s * s
        first = w[i] * (cam[6] * u * stretch + cam[7] - feats[i][0])
        second = w[i] * (cam[6] * v * stretch + cam[8] - feats[i][1])
        weight = 1.0 - w[i] * w[i]
        total = total + 0.5 * (first * first + second * second + weight * weight)
    return total


def hand_inputs(size: int = 100) -> tuple[Any, ...]:
    """Return angles and the data of a hand."""
    data = adbench_data.hand(size)
    names = ("parents", "base_relatives", "inverse_base_absolutes", "base_positions", "weights", "corr", "points")
    return data["theta"], *(data[name] for name in names)


#: Programs, their arguments, how many of these are differentiated, and the same programs of arrays, with their sizes.
ADBENCH = {
    "gmm": (mixture, mixture_inputs, 3, "gmm", 1000),
    "hand": (hand, hand_inputs, 1, "hand", 100),
    "ba": (bundle, lambda: ba.inputs(31843), 3, "ba_sum", 31843),
}
