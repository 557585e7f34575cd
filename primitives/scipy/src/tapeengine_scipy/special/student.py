"""Student's t distribution: the logarithm of its density, and its distribution function.

With many degrees of freedom, the terms of the textbook formula nearly cancel in its derivatives. The two parts below do
not: log(gamma(x + 1/2)/gamma(x)) - log(x)/2, and log1p(u)/u with u = t^2/df.
"""

import math
from math import factorial
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import of_orders, ufunc
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._values import floating, real
from tapeengine_scipy.special.gamma import betaln
from tapeengine_scipy.special.incomplete import beta_slope

#: The coefficients of x^-1, x^-3, ... in the asymptotic series of the first part (DLMF 5.11.8).
_HALF_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224, -5461 / 425984, 929569 / 15728640)


#: Gauss and Legendre's rule for (0, 1), and where exp(-x) has vanished.
_NODES, _WEIGHTS = (0.5 * (numpy.polynomial.legendre.leggauss(64)[k] + (k == 0)) for k in (0, 1))
_DECAY = 42.0


@of_orders("scipy.special.log_gamma_half_step", (0.4, 40.0), "log(gamma(x + 1/2)/gamma(x)) - log(x)/2, and derivatives")
def half_step(x: Any, *, order: int = 0) -> Any:
    """The difference of values of log gamma for small x; otherwise the asymptotic series."""
    x = real(x)
    with numpy.errstate(all="ignore"):
        far, near = numpy.maximum(x, 20.0), numpy.minimum(x, 20.0)
        tail = sum(
            c * math.prod(-(2 * k + 1 + j) for j in range(order)) * far ** -(2 * k + 1 + order)
            for k, c in enumerate(_HALF_STEP)
        )
        if order == 0:
            head = scipy.special.gammaln(near + 0.5) - scipy.special.gammaln(near) - 0.5 * numpy.log(near)
        else:
            slope = (-1.0) ** (order - 1) * factorial(order - 1) * near**-order
            head = scipy.special.polygamma(order - 1, near + 0.5) - scipy.special.polygamma(order - 1, near)
            head = head - 0.5 * slope
    return numpy.where(x < 20, head, tail)[()]


@of_orders("scipy.special.log1p_ratio", (0.0, 3.0), "log1p(x)/x, and its derivatives")
def log1p_ratio(x: Any, *, order: int = 0) -> Any:
    """The series for small x; otherwise the recurrence x g_k + k g_(k-1) = log1p_k."""
    u = real(x)
    near, far = numpy.where(numpy.abs(u) < 0.5, u, 0.0), numpy.where(numpy.abs(u) < 0.5, 1.0, u)
    series = numpy.zeros_like(u)
    for j in range(order + 70, order - 1, -1):
        series = series * near + (-1.0) ** j / (j + 1) * math.prod(range(j - order + 1, j + 1))
    with numpy.errstate(all="ignore"):
        value = numpy.log1p(far) / far
        for k in range(1, order + 1):
            value = ((-1.0) ** (k - 1) * factorial(k - 1) * (1 + far) ** -float(k) - k * value) / far
    return numpy.where(numpy.abs(u) < 0.5, series, value)[()]


def t_log_density(df: Any, t: Any) -> Any:
    """The logarithm of the density of Student's t."""
    infinite = np.isinf(t * t)
    if not np.any(infinite):
        return _log_density(df, t * t)
    return np.where(infinite, -math.inf, _log_density(df, np.where(infinite, 1.0, t) ** 2))


def _log_density(df: Any, square: Any) -> Any:
    u = square / df
    return half_step(df / 2) - 0.5 * (square * log1p_ratio(u) + np.log1p(u)) - 0.5 * math.log(2 * math.pi)


def t_density(df: Any, t: Any) -> Any:
    """The density of Student's t."""
    return np.exp(t_log_density(df, t))


def slope_in_df(df: Any, t: Any) -> Any:
    """The slope in df, by the incomplete beta function or, where that cancels, by an integral."""
    cancels = (df >= 4) | (np.abs(t) < 1.5)
    if np.all(cancels):
        return _in_df_integrated(df, t)
    usual = ~(cancels | np.isinf(t * t))  # the slope is 0 where t^2 overflows
    slope = _in_df_away(np.where(usual, df, 1.0), np.where(usual, t, 2.0))
    integral = _in_df_integrated(np.where(cancels, df, 4.0), np.where(cancels, t, 0.0))
    return np.where(usual, slope, integral)


def _in_df_integrated(df: Any, t: Any) -> Any:
    """The integral of the density's slope from 0 to t, or from t to infinity: the slope has one sign in each.

    The variable is arcsinh(s/sqrt(df)), in which the density is cosh^-(df + 1) and decays exponentially.
    """
    df, t = floating(df), np.clip(floating(t), -1e100, 1e100)
    still = numpy.minimum(plain_value(df), 1e200)
    y, central = np.arcsinh(t / numpy.sqrt(still)), np.abs(t) < 1.5
    start = np.where(central, 0.0, y)
    length = np.where(central, y, _DECAY / (still * np.tanh(np.where(central, 1.0, y))))[..., None]
    place, df, root = start[..., None] + length * _NODES, df[..., None], numpy.sqrt(still)[..., None]
    square = (root * np.sinh(place)) ** 2
    u = square / df
    relative = half_step(df / 2, order=1) + u * (u * log1p_ratio(u, order=1)) + u / (df * (1 + u))
    density = np.exp(_log_density(df, square))
    total = np.sum(0.5 * relative * density * root * np.cosh(place) * length * _WEIGHTS, axis=-1)
    return np.where(central, total, -total)


def _in_df_away(df: Any, t: Any) -> Any:
    """For t > 0, 1 - I_w(df/2, 1/2)/2 with w = df/(df + t^2); values for t < 0 follow by symmetry around 1/2."""
    w, half = df / (df + t * t), df / 2
    by_parameter = 0.25 * beta_slope(half, 0.5, w, 1, 0)
    by_argument = 0.5 * t * np.exp((half - 1) * np.log(w) - 1.5 * np.log(df + t * t) - betaln(half, 0.5))
    return -np.where(t < 0, -by_parameter, by_parameter) - by_argument


stdtr: Primitive = ufunc(
    "stdtr",
    {"df": slope_in_df, "t": t_density},
    {"df": (0.8, 6.0), "t": (-3.0, 3.0)},
    "Student's t distribution function; d/dt is its density, d/ddf by the differentiated incomplete beta function",
)
