"""Entropies, logistic functions, and products with a logarithm."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, ufunc


def quotient(x: Any, y: Any) -> Any:
    """Divide, with 0 where both are 0."""
    both = (x == 0) & (y == 0)
    return np.where(both, 0.0, np.divide(x, np.where(both, 1.0, y))) if np.any(both) else np.divide(x, y)


def _log_ratio(x: Any, y: Any) -> Any:
    with numpy.errstate(all="ignore"):
        ratio = x / y
        apart = (numpy.equal(ratio, 0) | numpy.isinf(ratio)) & (numpy.asarray(x) > 0)
        return numpy.where(apart, numpy.log(x) - numpy.log(y), numpy.log(ratio))[()]


log_ratio: Primitive = elementwise(
    "scipy.special.log_ratio",
    _log_ratio,
    {"x": lambda x: np.divide(1.0, x), "y": lambda y: -np.divide(1.0, y)},
    {"x": (0.1, 3.0), "y": (0.1, 3.0)},
    "log(x/y), also where the ratio leaves the range",
)
entr: Primitive = ufunc("entr", {"x": lambda x: -np.log(x) - 1}, {"x": (0.1, 3.0)}, "-x log x; d/dx = -log x - 1")
rel_entr: Primitive = ufunc(
    "rel_entr",
    {"x": lambda x, y: log_ratio(x, y) + 1, "y": lambda x, y: -quotient(x, y)},
    {"x": (0.1, 3.0), "y": (0.1, 3.0)},
    "x log(x/y); d/dx = log(x/y) + 1, d/dy = -x/y",
)
xlogy: Primitive = ufunc(
    "xlogy",
    {"x": lambda y: np.log(y), "y": quotient},
    {"x": (-2.0, 3.0), "y": (0.1, 3.0)},
    "x log y; d/dx = log y, d/dy = x/y",
)
xlog1py: Primitive = ufunc(
    "xlog1py",
    {"x": lambda y: np.log1p(y), "y": lambda x, y: quotient(x, 1 + y)},
    {"x": (-2.0, 3.0), "y": (-0.8, 3.0)},
    "x log(1 + y); d/dx = log(1 + y), d/dy = x/(1 + y)",
)
expit_slope: Primitive = elementwise(
    "scipy.special.expit_slope",
    lambda x: scipy.special.expit(x) * scipy.special.expit(-x),
    {"x": lambda x, out: -out * np.tanh(x / 2)},
    {"x": (-6.0, 6.0)},
    "expit(x) expit(-x); d/dx = -tanh(x/2) times itself, where the product rule cancels",
)
expit: Primitive = ufunc(
    "expit", {"x": lambda x: expit_slope(x)}, {"x": (-6.0, 6.0)}, "1/(1 + exp(-x)); d/dx = expit(x) expit(-x)"
)
logit: Primitive = ufunc(
    "logit", {"x": lambda x: np.divide(1.0, x * (1 - x))}, {"x": (0.1, 0.9)}, "log(x/(1-x)); d/dx = 1/(x (1-x))"
)
log_expit: Primitive = ufunc(
    "log_expit", {"x": lambda x: expit(-x)}, {"x": (-6.0, 6.0)}, "log(expit(x)); d/dx = expit(-x)"
)


def sinc(x: Any) -> Any:
    """Return sin(pi x)/(pi x); the same function as `numpy.sinc`.

    Examples
    --------
    >>> float(sinc(0.0))
    1.0
    """
    return np.sinc(x)
