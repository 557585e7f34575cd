"""Inverses of incomplete gamma and beta functions, whose slope in a probability is 1 over the density.

The ends of their range do not move with a parameter: slope and density may be 0 there.
"""

from typing import Any

from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc
from tapeengine_scipy.special.entropy import quotient
from tapeengine_scipy.special.incomplete import beta_density, beta_slope, gamma_density, gammainc_slope

_GAMMA = {"a": (0.5, 5.0), "y": (0.1, 0.9)}
_BETA = {"a": (0.5, 4.0), "b": (0.5, 4.0), "y": (0.1, 0.9)}


def _gamma_in_a(a: Any, out: Any) -> Any:
    return quotient(-gammainc_slope(a, out), gamma_density(a, out))


def _beta_in_a(a: Any, b: Any, out: Any) -> Any:
    return quotient(-beta_slope(a, b, out, 1, 0), beta_density(a, b, out))


def _beta_in_b(a: Any, b: Any, out: Any) -> Any:
    return quotient(-beta_slope(a, b, out, 0, 1), beta_density(a, b, out))


gammaincinv: Primitive = ufunc(
    "gammaincinv",
    {"a": _gamma_in_a, "y": lambda a, out: 1.0 / gamma_density(a, out)},
    _GAMMA,
    "x with gammainc(a, x) = y",
)
gammainccinv: Primitive = ufunc(
    "gammainccinv",
    {"a": _gamma_in_a, "y": lambda a, out: -1.0 / gamma_density(a, out)},
    _GAMMA,
    "x with gammaincc(a, x) = y",
)
betaincinv: Primitive = ufunc(
    "betaincinv",
    {"a": _beta_in_a, "b": _beta_in_b, "y": lambda a, b, out: 1.0 / beta_density(a, b, out)},
    _BETA,
    "x with betainc(a, b, x) = y",
)
betainccinv: Primitive = ufunc(
    "betainccinv",
    {"a": _beta_in_a, "b": _beta_in_b, "y": lambda a, b, out: -1.0 / beta_density(a, b, out)},
    _BETA,
    "x with betaincc(a, b, x) = y",
)
