"""The evaluation ``gmm``: the log-posterior of a Gaussian mixture with a Wishart prior on its precisions.

The precision of component k is Q_k^T Q_k. Q_k is lower triangular, with exp(q_k) on its diagonal and l_k, column by
column, below it.
"""

import math
from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function

NAMES = ("alpha", "mu", "q", "l")


def log_sum_exp(x: Any) -> Any:
    """Return log(sum(exp(x))) over the last axis."""
    largest = np.max(x, axis=-1)
    return largest + np.log(np.sum(np.exp(x - largest[..., None]), axis=-1))


def below_diagonal(d: int) -> tuple[Any, Any]:
    """Return rows and columns of the places below the diagonal, column by column."""
    columns, rows = onp.triu_indices(d, 1)
    return rows, columns


def factors(q: Any, lower: Any) -> Any:
    """Return Q (K, d, d)."""
    k, d = q.shape
    found = np.zeros((k, d, d))
    found[:, range(d), range(d)] = np.exp(q)
    found[:, *below_diagonal(d)] = lower
    return found


def wishart_constant(d: int, k: int, gamma: float, m: int) -> float:
    """Return the part of the log-prior that depends on no parameter."""
    n = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * (n - j)) for j in range(d))
    return k * (n * d * math.log(gamma / math.sqrt(2.0)) - log_gamma)


def log_posterior(parameters: tuple[Any, ...], x: Any, gamma: float, m: int) -> Any:
    """Return the log-posterior; alpha (K,), mu (K, d), q (K, d), l (K, d (d - 1) / 2), x (n, d)."""
    alpha, mu, q, lower = parameters
    n, d = x.shape
    factor = factors(q, lower)
    # Q (x - mu) as Q x - Q mu: a single matrix product for all components, without an array of all differences
    scaled = x @ np.swapaxes(factor, 1, 2) - (factor @ mu[:, :, None])[:, None, :, 0]
    beta = (alpha + np.sum(q, axis=1))[:, None] - 0.5 * np.sum(scaled * scaled, axis=2)
    likelihood = np.sum(log_sum_exp(beta.T)) - n * (0.5 * d * math.log(2.0 * math.pi) + log_sum_exp(alpha))
    prior = m * np.sum(q) - 0.5 * gamma**2 * np.sum(factor * factor)
    return likelihood + prior + wishart_constant(d, len(alpha), gamma, m)


def prepare(given: dict[str, Any]) -> tuple[Any, ...]:
    """The parameters as arrays, and the data."""
    parameters = tuple(onp.array(given[name], dtype=float) for name in NAMES)
    return parameters, onp.array(given["x"], dtype=float), given["gamma"], given["m"]


def named(cotangents: Any) -> dict[str, Any]:
    """The gradient, keyed by the parameters' names."""
    return {name: cotangent.tolist() for name, cotangent in zip(NAMES, cotangents, strict=True)}


FUNCTIONS = {
    "objective": Function(prepare, log_posterior),
    "jacobian": Function(prepare, te.grad(log_posterior), named),
}
