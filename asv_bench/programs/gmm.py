"""ADBench's Gaussian mixture: the log-posterior of a mixture with inverse covariance factors, on arrays."""

import math
from typing import Any

import numpy as np

from asv_bench.programs import adbench_data
from asv_bench.programs.program import Program


def factor_positions(d: int) -> tuple[Any, Any]:
    """Return the column of the factors for each position in a lower triangle, and a mask of that triangle.

    The triangle is filled column by column: column i holds rows i + 1 .. d - 1.
    """
    positions, mask = np.zeros((d, d), dtype=int), np.zeros((d, d))
    following = d
    for column in range(d):
        for row in range(column + 1, d):
            positions[row, column], mask[row, column] = following, 1.0
            following += 1
    return positions, mask


def wishart_constant(d: int, k: int, gamma: float, m: int) -> float:
    """Return K times the normalising constant of the Wishart prior."""
    n = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * (n - j)) for j in range(d))
    return k * (n * d * (math.log(gamma) - 0.5 * math.log(2.0)) - log_gamma)


def log_wishart(xp: Any, sums: Any, diagonal: Any, lower: Any, gamma: float, m: int) -> Any:
    """Return the part of the prior that depends on the factors."""
    return 0.5 * gamma**2 * (xp.sum(diagonal**2) + xp.sum(lower**2)) - m * xp.sum(sums)


def log_sum_exp(xp: Any, x: Any) -> Any:
    """Return the logarithm of the sum of exponentials over the first axis."""
    largest = xp.max(x, axis=0)
    return largest + xp.log(xp.sum(xp.exp(x - largest), axis=0))


def gmm(xp: Any, alphas: Any, means: Any, icf: Any, x: Any, gamma: float, m: int) -> Any:
    """Return the log-posterior; alphas (K,), means (K, d), icf (K, d(d+1)/2), x (n, d)."""
    n, d = x.shape
    k = len(alphas)
    positions, mask = factor_positions(d)
    log_diagonal = icf[:, :d]
    diagonal, sums = xp.exp(log_diagonal), xp.sum(log_diagonal, axis=1)
    factors = icf[:, positions] * xp.asarray(mask) + diagonal[:, :, None] * xp.asarray(np.eye(d))
    difference = x[None, :, :] - means[:, None, :]
    scaled = difference @ xp.swapaxes(factors, 1, 2)
    inner = (alphas + sums)[:, None] - 0.5 * xp.sum(scaled * scaled, axis=2)
    prior = log_wishart(xp, sums, diagonal, icf[:, d:], gamma, m)
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - wishart_constant(d, k, gamma, m)
    return constant + xp.sum(log_sum_exp(xp, inner)) - n * log_sum_exp(xp, alphas) + prior


def inputs(size: int, components: int = 10) -> tuple[Any, ...]:
    """Return a mixture in ten dimensions with `size` points."""
    data = adbench_data.gmm(k=components, n=size)
    return tuple(data[name] for name in ("alphas", "means", "icf", "x", "gamma", "m"))


PROGRAM = Program("gmm", gmm, inputs, (1000,), "arrays", active=3)
