"""Distributions of vectors.

The distribution function of the multivariate normal is omitted: SciPy computes it by randomised integration, to about
five digits.
"""

import math
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample
from tapeengine.primitive.builders import decides
from tapeengine_scipy._values import floating, floating_real, is_traced
from tapeengine_scipy.linalg._transpose import diagonal, on_diagonal
from tapeengine_scipy.linalg.decompositions import cholesky
from tapeengine_scipy.linalg.solve import solve_triangular
from tapeengine_scipy.special.entropy import xlogy
from tapeengine_scipy.special.gamma import gammaln
from tapeengine_scipy.special.student import half_step, log1p_ratio
from tapeengine_scipy.stats._support import Distribution, OwnDensity, where_valid


class _MultivariateNormal(Distribution):
    name = "multivariate_normal"

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        """Return the logarithm of the density; with `allow_singular` the density on the range of a singular `cov`."""
        mean, cov = _mean_and_cov(mean, floating(cov))
        singular = allow_singular and _is_singular_constant(cov)
        size = cov.shape[0]
        x = floating_real(x)
        x = x[..., None] if x.ndim == 0 or (x.ndim == 1 and size == 1) else x
        deviation = x - mean
        if singular:
            return np.squeeze(_log_density_on_range(deviation, cov))[()]
        distance, log_det = _mahalanobis(deviation, cov)
        return np.squeeze(-0.5 * (size * math.log(2 * math.pi) + log_det + distance))[()]

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        """Return the density."""
        return np.exp(self.logpdf(x, mean, cov, allow_singular))

    def entropy(self, mean: Any = None, cov: Any = 1) -> Any:
        """Return the differential entropy, which does not depend on the mean."""
        mean, cov = _mean_and_cov(mean, floating(cov))
        if _is_singular_constant(cov):
            return scipy.stats.multivariate_normal.entropy(cov=cov)
        log_det = 2 * np.sum(np.log(diagonal(cholesky(cov, lower=True))))
        return 0.5 * (cov.shape[0] * (math.log(2 * math.pi) + 1) + log_det)


def _mahalanobis(deviation: Any, cov: Any) -> tuple[Any, Any]:
    """The squared lengths of vectors in units of a covariance, and the logarithm of its determinant."""
    factor = cholesky(cov, lower=True)
    rows = np.reshape(deviation, (-1, cov.shape[0]))
    white = solve_triangular(factor, rows.T, lower=True)
    distance = np.reshape(np.sum(white * white, axis=0), deviation.shape[:-1])
    return distance, 2 * np.sum(np.log(diagonal(factor)))


def _is_singular_constant(cov: Any) -> bool:
    """Whether a covariance is singular; a differentiated one must not be."""
    singular = bool(_is_singular(cov))
    if singular and is_traced(cov):
        raise UnsupportedError(
            "multivariate_normal: results on the range of a singular covariance are not smooth functions of the "
            "covariance; allow_singular=True is for a constant one, or for one of full rank"
        )
    return singular


def _spectrum(cov: Any) -> tuple[Any, Any, Any]:
    """Eigenvalues and vectors, and the bound below which SciPy treats an eigenvalue as zero."""
    values, vectors = scipy.linalg.eigh(cov)
    bound = 1e6 * numpy.finfo(float).eps * numpy.abs(values).max()
    if values.min() < -bound:
        raise ValueError("multivariate_normal: the covariance must be symmetric positive semidefinite")
    return values, vectors, bound


@decides("scipy.stats.is_singular", Sample((numpy.diag([1.0, 0.0]),)), Sample((numpy.eye(2),)))
def _is_singular(cov: Any) -> bool:
    """Whether a covariance has an eigenvalue that counts as zero."""
    values, _, bound = _spectrum(cov)
    return bool(numpy.any(values <= bound))


def _log_density_on_range(deviation: Any, cov: Any) -> Any:
    """SciPy's density with the pseudo-inverse; minus infinity for points outside the range."""
    values, vectors, bound = _spectrum(cov)
    range_, rest = values > bound, vectors[:, values <= bound]
    white = deviation @ (vectors[:, range_] / numpy.sqrt(values[range_]))
    value = -0.5 * (
        range_.sum() * math.log(2 * math.pi) + numpy.log(values[range_]).sum() + np.sum(white * white, axis=-1)
    )
    outside = np.sum((deviation @ rest) ** 2, axis=-1) >= (1e3 * bound) ** 2
    return np.where(outside, -math.inf, value)


def _mean_and_cov(mean: Any, cov: Any) -> tuple[Any, Any]:
    """A vector and a matrix from SciPy's forms: a scalar or a diagonal may represent the covariance."""
    size = cov.shape[0] if cov.ndim > 1 else 1
    if mean is not None:
        mean = np.atleast_1d(floating(mean))
        size = mean.shape[0]
    if size == 1:
        cov = np.reshape(cov, (1, 1))
    elif cov.ndim == 0:
        cov = cov * numpy.eye(size)
    elif cov.ndim == 1:
        cov = on_diagonal(cov)
    if cov.shape != (size, size):
        raise ValueError(f"multivariate_normal: a covariance of shape {cov.shape} for vectors of {size}")
    return (numpy.zeros(size) if mean is None else mean), cov


class _MultivariateT(Distribution):
    """The logarithm of its density is a sum of terms that do not cancel for many degrees of freedom."""

    name = "multivariate_t"

    def logpdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """Return the logarithm of the density."""
        df = floating(1.0 if df is None else df)
        if df.ndim or not df > 0:
            raise ValueError("multivariate_t: df must be a number greater than 0")
        loc, shape = _mean_and_cov(loc, floating(1.0 if shape is None and loc is None else shape))
        size, x = shape.shape[0], floating_real(x)
        deviation = (x[..., None] if x.ndim == 0 or (x.ndim == 1 and size == 1) else x) - loc
        distance, log_det = _mahalanobis(deviation, shape)
        u, steps = distance / df, numpy.arange(float(size))
        norm = np.sum(half_step((df + steps) / 2) + 0.5 * np.log1p(steps / df)) - size / 2 * math.log(2 * math.pi)
        tail = distance * log1p_ratio(u) + size * np.log1p(u)
        return np.squeeze(norm - 0.5 * (log_det + tail))[()]

    def pdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: bool = False) -> Any:
        """Return the density."""
        if allow_singular and _is_singular_constant(floating(shape)):
            raise UnsupportedError("multivariate_t: the density on the range of a singular shape is not differentiated")
        return np.exp(self.logpdf(x, loc, shape, df))


class _Multinomial(Distribution):
    name = "multinomial"

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """Return the logarithm of the probability; the last entry of `p` is computed from the others, as in SciPy."""
        x, n, p = floating(x), floating(n), floating(p)
        p = np.concatenate([p[..., :-1], 1 - np.sum(p[..., :-1], axis=-1, keepdims=True)], axis=-1)
        possible = np.all((x >= 0) & (x == np.floor(x)), axis=-1) & (np.sum(x, axis=-1) == n)
        counts = np.where(x >= 0, x, 0.0)
        value = gammaln(n + 1) + np.sum(xlogy(counts, p) - gammaln(counts + 1), axis=-1)
        value = value if np.all(possible) else np.where(possible, value, -math.inf)
        valid = np.all((p >= 0) & (p <= 1), axis=-1) & (n >= 0)
        return np.asarray(where_valid(valid, value))  # also without dimensions

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """Return the probability."""
        return np.exp(self.logpmf(x, n, p))


multivariate_normal = _MultivariateNormal()
multivariate_t = _MultivariateT()
wishart, dirichlet = OwnDensity("wishart"), OwnDensity("dirichlet")
multinomial = _Multinomial()
