"""Programs in the typed language of the CHAD frontend, with the same programs written by hand in numpy.

They use comprehensions over indices; the gradients by hand use numpy's whole-array operations.
"""

import math
from typing import Any

import numpy as np

from asv_bench.programs import adbench_data, draws
from asv_bench.programs.gmm import factor_positions, gmm, wishart_constant
from tapeengine import chad

Matrix = chad.Array[chad.Vec]


@chad.program
def log_sum_exp(x: chad.Vec) -> float:
    """Return the logarithm of the sum of exponentials, shifted by the largest."""
    largest = max(x)
    return largest + math.log(sum(math.exp(a - largest) for a in x))


@chad.program
def mixture(
    alphas: chad.Vec, means: Matrix, icf: Matrix, x: Matrix, places: chad.Array[chad.Array[int]], constant: float
) -> float:
    """Return the log-posterior of a Gaussian mixture, with the prior's gamma = 1 and m = 0."""
    n = len(x)
    d = len(means[0])
    k = len(alphas)
    sums = [sum(icf[c][j] for j in range(d)) for c in range(k)]
    inner = [
        [
            alphas[c]
            + sums[c]
            - 0.5
            * sum(
                (
                    math.exp(icf[c][i]) * (x[p][i] - means[c][i])
                    + sum(icf[c][places[i][j]] * (x[p][j] - means[c][j]) for j in range(i))
                )
                ** 2
                for i in range(d)
            )
            for c in range(k)
        ]
        for p in range(n)
    ]
    likelihood = sum(log_sum_exp(inner[p]) for p in range(n))
    prior = 0.5 * sum(
        sum(math.exp(icf[c][j]) ** 2 for j in range(d)) + sum(icf[c][j] ** 2 for j in range(d, len(icf[c])))
        for c in range(k)
    )
    return constant + likelihood - n * log_sum_exp(alphas) + prior


def gmm_inputs(n: int = 1000) -> tuple[Any, ...]:
    """Return the arguments of `mixture`: ten components in ten dimensions, `n` points."""
    data = adbench_data.gmm(n=n)
    k, d = data["means"].shape
    places, _ = factor_positions(d)
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - wishart_constant(d, k, 1.0, 0)
    return data["alphas"], data["means"], data["icf"], data["x"], places, constant


def gmm_by_numpy(alphas: Any, means: Any, icf: Any, x: Any, places: Any, constant: float) -> Any:
    """Return the objective, vectorised by hand."""
    return gmm(np, alphas, means, icf, x, 1.0, 0)


@chad.program
def logistic(w: chad.Vec, xs: Matrix, ys: chad.Vec) -> float:
    """Return the mean loss of a logistic regression."""
    return sum(math.log(1.0 + math.exp(-ys[i] * sum(w[j] * xs[i][j] for j in range(len(w))))) for i in range(len(xs)))


def logistic_by_hand(w: Any, xs: Any, ys: Any) -> Any:
    """Return value and gradients in numpy."""
    scores = xs @ w
    exponential = np.exp(-ys * scores)
    slope = -exponential / (1.0 + exponential)
    by_score = slope * ys
    return np.sum(np.log(1.0 + exponential)), (xs.T @ by_score, np.outer(by_score, w), slope * scores)


def logistic_inputs() -> tuple[Any, ...]:
    """Return weights, a thousand rows and labels."""
    return draws.array(51, 20), draws.array(52, 1000, 20), np.sign(draws.array(53, 1000))


@chad.program
def product(a: Matrix, b: Matrix) -> Matrix:
    """Return the product of two matrices."""
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def product_by_hand(a: Any, b: Any) -> Any:
    """Return value and gradients of the sum of the product in numpy."""
    value = a @ b
    ones = np.ones_like(value)
    return value, (ones @ b.T, a.T @ ones)


def product_inputs() -> tuple[Any, ...]:
    """Return two matrices."""
    return draws.array(54, 200, 200), draws.array(55, 200, 200)


@chad.program
def convolution(signal: chad.Vec, kernel: chad.Vec) -> chad.Vec:
    """Return the valid part of a convolution."""
    return [sum(signal[i + j] * kernel[j] for j in range(len(kernel))) for i in range(len(signal) - len(kernel) + 1)]


def convolution_by_hand(signal: Any, kernel: Any) -> Any:
    """Return value and gradients of its sum in numpy."""
    value = np.correlate(signal, kernel, mode="valid")
    ones = np.ones_like(value)
    return value, (np.convolve(ones, kernel, mode="full"), np.correlate(signal, ones, mode="valid"))


def convolution_inputs() -> tuple[Any, ...]:
    """Return a long signal and a short kernel."""
    return draws.array(56, 10_000), draws.array(57, 30)


@chad.program
def pair(ax: float, ay: float, bx: float, by: float) -> tuple[float, float]:
    """Return the force between two particles."""
    dx = ax - bx
    dy = ay - by
    w = 1.0 / (dx * dx + dy * dy + 0.1)
    return dx * w, dy * w


@chad.program
def particles_typed(px: chad.Vec, py: chad.Vec, vx: chad.Vec, vy: chad.Vec, steps: int) -> float:
    """Compute `particles.particles` for four named particles."""
    xa, xb, xc, xd = px[0], px[1], px[2], px[3]
    ya, yb, yc, yd = py[0], py[1], py[2], py[3]
    ua, ub, uc, ud = vx[0], vx[1], vx[2], vx[3]
    va, vb, vc, vd = vy[0], vy[1], vy[2], vy[3]
    for _ in range(steps):
        fx_ab, fy_ab = pair(xa, ya, xb, yb)
        fx_ac, fy_ac = pair(xa, ya, xc, yc)
        fx_ad, fy_ad = pair(xa, ya, xd, yd)
        fx_bc, fy_bc = pair(xb, yb, xc, yc)
        fx_bd, fy_bd = pair(xb, yb, xd, yd)
        fx_cd, fy_cd = pair(xc, yc, xd, yd)
        ua = ua + 0.01 * (fx_ab + fx_ac + fx_ad - xa)
        va = va + 0.01 * (fy_ab + fy_ac + fy_ad - ya)
        ub = ub + 0.01 * (-xb - fx_ab + fx_bc + fx_bd)
        vb = vb + 0.01 * (-yb - fy_ab + fy_bc + fy_bd)
        uc = uc + 0.01 * (-xc - fx_ac - fx_bc + fx_cd)
        vc = vc + 0.01 * (-yc - fy_ac - fy_bc + fy_cd)
        ud = ud + 0.01 * (-xd - fx_ad - fx_bd - fx_cd)
        vd = vd + 0.01 * (-yd - fy_ad - fy_bd - fy_cd)
        xa = xa + 0.01 * ua
        ya = ya + 0.01 * va
        xb = xb + 0.01 * ub
        yb = yb + 0.01 * vb
        xc = xc + 0.01 * uc
        yc = yc + 0.01 * vc
        xd = xd + 0.01 * ud
        yd = yd + 0.01 * vd
    return xa * ya + xb * yb + xc * yc + xd * yd


@chad.program
def rotate_typed(v: tuple[float, float, float], q: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """Compute `quaternion.rotate`."""
    vx, vy, vz = v
    ux, uy, uz, w = q
    cx = uy * vz - uz * vy
    cy = uz * vx - ux * vz
    cz = ux * vy - uy * vx
    dx = cx + cx
    dy = cy + cy
    dz = cz + cz
    return (
        vx + w * dx + (uy * dz - uz * dy),
        vy + w * dy + (uz * dx - ux * dz),
        vz + w * dz + (ux * dy - uy * dx),
    )


@chad.program
def polynomial(x: float) -> float:
    """Return a polynomial of degree five by Horner's rule."""
    return ((((x * 0.3 - 1.2) * x + 0.7) * x + 2.0) * x - 0.4) * x + 0.1


@chad.program
def hinge(w: float, x: float, y: float) -> float:
    """Return the squared hinge loss of one example."""
    margin = 1.0 - y * (w * x)
    return margin * margin if margin > 0.0 else 0.0


@chad.program
def newton(a: float, x: float) -> float:
    """Solve x^3 + x = a by Newton's method."""
    while abs(x * x * x + x - a) > 1e-12:
        x = x - (x * x * x + x - a) / (3.0 * x * x + 1.0)
    return x
