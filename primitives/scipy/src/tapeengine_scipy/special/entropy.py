"""Entropies, logistic functions and the products with a logarithm."""

from typing import Any

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc


def _ratio(x: Any, y: Any) -> Any:
    """Divide, with 0 wherever x is 0."""
    return np.where(x == 0, 0.0, x / np.where(x == 0, 1.0, y))


entr: Primitive = ufunc("entr", {"x": lambda x: -np.log(x) - 1}, {"x": (0.1, 3.0)}, "-x log x; d/dx = -log x - 1")
rel_entr: Primitive = ufunc(
    "rel_entr",
    {"x": lambda x, y: np.log(x / y) + 1, "y": lambda x, y: -_ratio(x, y)},
    {"x": (0.1, 3.0), "y": (0.1, 3.0)},
    "x log(x/y); d/dx = log(x/y) + 1, d/dy = -x/y",
)
xlogy: Primitive = ufunc(
    "xlogy",
    {"x": lambda y: np.log(y), "y": _ratio},
    {"x": (-2.0, 3.0), "y": (0.1, 3.0)},
    "x log y; d/dx = log y, d/dy = x/y",
)
xlog1py: Primitive = ufunc(
    "xlog1py",
    {"x": lambda y: np.log1p(y), "y": lambda x, y: _ratio(x, 1 + y)},
    {"x": (-2.0, 3.0), "y": (-0.8, 3.0)},
    "x log(1 + y); d/dx = log(1 + y), d/dy = x/(1 + y)",
)
expit: Primitive = ufunc(
    "expit", {"x": lambda x: expit(x) * expit(-x)}, {"x": (-6.0, 6.0)}, "1/(1 + exp(-x)); d/dx = expit(x) expit(-x)"
)
logit: Primitive = ufunc(
    "logit", {"x": lambda x: 1 / (x * (1 - x))}, {"x": (0.1, 0.9)}, "log(x/(1-x)); d/dx = 1/(x (1-x))"
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
