"""Exponential integrals and Spence's function."""

from math import comb, factorial
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, of_orders, ufunc
from tapeengine_scipy._values import real
from tapeengine_scipy.special.elliptic import hyp2f1
from tapeengine_scipy.special.hurwitz import BERNOULLI


def _bernoulli(n: int) -> float:
    return (1.0, -0.5)[n] if n < 2 else 0.0 if n % 2 else BERNOULLI[n // 2 - 1]


@of_orders("scipy.special.bernoulli_ratio", (0.0, 4.0), "x/(exp(x) - 1), and its derivatives")
def bernoulli_ratio(x: Any, *, order: int = 0) -> Any:
    """The series for small x; for others, Leibniz' rule for (1 - exp(-x)) f(x) = x exp(-x)."""
    y = real(x)
    near, far = numpy.where(numpy.abs(y) < 1, y, 0.0), numpy.where(numpy.abs(y) < 1, 1.0, y)
    far = numpy.minimum(far, 1e3)  # from there on all are 0
    series = numpy.zeros_like(y)
    for n in range(30, order - 1, -1):
        series = series * near + _bernoulli(n) / factorial(n - order)
    fall = numpy.exp(-far)
    values = [far * fall / -numpy.expm1(-far)]
    for n in range(1, order + 1):
        lower = sum(comb(n, k) * values[k] for k in range(n))
        values.append(((fall if n == 1 else 0.0) - lower) / -numpy.expm1(-far))
    return numpy.where(numpy.abs(y) < 1, series, values[order])[()]


def _log_one_less_exp(w: Any) -> Any:
    with numpy.errstate(all="ignore"):
        y = numpy.exp(w)
        tail = numpy.log1p(-numpy.exp(-numpy.maximum(y, 0.5)))
        return numpy.where(y > 0.7, tail, numpy.where(y > 0, numpy.log(-numpy.expm1(-numpy.minimum(y, 1.0))), w))[()]


log_one_less_exp: Primitive = elementwise(
    "scipy.special.log_one_less_exp",
    _log_one_less_exp,
    {"w": lambda w: bernoulli_ratio(np.exp(w))},
    {"w": (-3.0, 2.0)},
    "log(1 - exp(-exp(w))); d/dw = y/(exp(y) - 1) at y = exp(w)",
)
exp1: Primitive = ufunc(
    "exp1", {"z": lambda z: -np.divide(np.exp(-z), z)}, {"z": (0.2, 4.0)}, "E1(z); d/dz = -exp(-z)/z"
)
expi: Primitive = ufunc("expi", {"x": lambda x: np.divide(np.exp(x), x)}, {"x": (0.2, 4.0)}, "Ei(x); d/dx = exp(x)/x")


def _expn_slope(n: Any, x: Any) -> Any:
    """-E_{n-1}(x), with E_{-1}(x) = exp(-x) (1/x + 1/x^2), which SciPy lacks; n is truncated to an integer there."""
    n = np.trunc(n)
    lowest = np.asarray(n) == 0
    inverse = 1 / np.where(lowest, x, 1.0)
    return -np.where(lowest, np.exp(-x) * inverse * (1 + inverse), expn(np.where(lowest, 0, n - 1), x))


def _spence_slope(z: Any) -> Any:
    """-log(z)/(z - 1), by Gauss's series around 1."""
    near = np.abs(z - 1) < 0.5
    away = np.where(near, 3.0, z)
    return -np.where(near, hyp2f1(1.0, 1.0, 2.0, 1 - np.where(near, z, 1.0)), np.log(away) / (away - 1))


expn: Primitive = ufunc(
    "expn", {"x": _expn_slope}, {"n": (0, 1, 2, 3), "x": (0.2, 4.0)}, "E_n(x), n an integer; d/dx = -E_{n-1}(x)"
)
spence: Primitive = ufunc(
    "spence",
    {"z": _spence_slope},
    {"z": (0.2, 3.0)},
    "dilogarithm of 1 - z; d/dz = -log(z)/(z-1), written as a hypergeometric function to hold at z = 1",
)
