"""Distribution functions of chi-square, gamma, F, Student's t and of counts, and inverses; and owens_t.

They are incomplete gamma and beta functions of other arguments; those of upper tails have the opposite slopes. An
inverse moves by 1 over the slope of its function.
"""

import math
from collections.abc import Callable
from typing import Any

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc
from tapeengine_scipy.special.entropy import quotient, xlogy
from tapeengine_scipy.special.errorfunctions import erf
from tapeengine_scipy.special.gamma import betaln
from tapeengine_scipy.special.incomplete import beta_slope, gamma_density, gammainc_slope
from tapeengine_scipy.special.student import slope_in_df, t_density

Slopes = dict[str, Callable[..., Any]]


def _chi(sign: float) -> Slopes:
    return {
        "v": lambda v, x: sign * 0.5 * gammainc_slope(v / 2, x / 2),
        "x": lambda v, x: sign * 0.5 * gamma_density(v / 2, x / 2),
    }


def _gamma(sign: float) -> Slopes:
    def scaled(factor: Any, b: Any, place: Any) -> Any:
        """The slope in the other factor of `place`: 0 for a factor 0, also where the density is infinite."""
        return sign * np.where(np.equal(factor, 0), 0.0, factor * gamma_density(b, place))

    return {
        "a": lambda a, b, x: scaled(x, b, a * x),
        "b": lambda a, b, x: sign * gammainc_slope(b, a * x),
        "x": lambda a, b, x: scaled(a, b, a * x),
    }


def f_log_density(dfn: Any, dfd: Any, x: Any, power: float = 0.0) -> Any:
    """The logarithm of the density of the F distribution times a power of `x`."""
    a, b = dfn / 2, dfd / 2
    return xlogy(a - 1 + power, x) + a * np.log(dfn / dfd) - (a + b) * np.log1p(dfn / dfd * x) - betaln(a, b)


def _f_density(dfn: Any, dfd: Any, x: Any, power: float = 0.0) -> Any:
    return np.exp(f_log_density(dfn, dfd, _within(x), power))


def _within(x: Any) -> Any:
    """A number with finite products, beyond which the density has vanished."""
    return np.minimum(x, 1e150)


def _beta_slope(dfn: Any, dfd: Any, x: Any, in_first: int) -> Any:
    """Half the slope of betainc(dfn/2, dfd/2, w) in a parameter; for w > 1/2 that of 1 - betainc(dfd/2, dfn/2, 1-w)."""
    part = dfn * _within(x) / dfd
    far = part > 1
    near, rest = np.where(far, 1.0, part), 1 / (1 + np.where(far, part, 1.0))
    below = beta_slope(dfn / 2, dfd / 2, near / (1 + near), in_first, 1 - in_first)
    return 0.5 * np.where(far, -beta_slope(dfd / 2, dfn / 2, rest, 1 - in_first, in_first), below)


def _f_in_dfn(dfn: Any, dfd: Any, x: Any) -> Any:
    return _beta_slope(dfn, dfd, x, 1) + _f_density(dfn, dfd, x, 1.0) / dfn


def _f_in_dfd(dfn: Any, dfd: Any, x: Any) -> Any:
    return _beta_slope(dfn, dfd, x, 0) - _f_density(dfn, dfd, x, 1.0) / dfd


def _f(sign: float) -> Slopes:
    return {
        "dfn": lambda dfn, dfd, x: sign * _f_in_dfn(dfn, dfd, x),
        "dfd": lambda dfn, dfd, x: sign * _f_in_dfd(dfn, dfd, x),
        "x": lambda dfn, dfd, x: sign * _f_density(dfn, dfd, x),
    }


def _owens_in_h(h: Any, a: Any) -> Any:
    return -np.exp(-0.5 * h * h) * erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi)


def _owens_in_a(h: Any, a: Any) -> Any:
    return np.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a))


_CHI, _GAMMA = {"v": (0.8, 6.0), "x": (0.2, 8.0)}, {"a": (0.5, 3.0), "b": (0.5, 4.0), "x": (0.2, 3.0)}
_F, _COUNTS = {"dfn": (1.0, 6.0), "dfd": (1.0, 6.0), "x": (0.2, 3.0)}, (0.0, 1.0, 3.0, 4.0)
chdtr: Primitive = ufunc("chdtr", _chi(1.0), _CHI, "gammainc(v/2, x/2)")
chdtrc: Primitive = ufunc("chdtrc", _chi(-1.0), _CHI, "gammaincc(v/2, x/2)")
chdtri: Primitive = ufunc(
    "chdtri",
    {
        "v": lambda v, out: quotient(-gammainc_slope(v / 2, out / 2), gamma_density(v / 2, out / 2)),
        "p": lambda v, out: -2.0 / gamma_density(v / 2, out / 2),
    },
    {"v": (0.8, 6.0), "p": (0.1, 0.9)},
    "x with chdtrc(v, x) = p",
)
gdtr: Primitive = ufunc("gdtr", _gamma(1.0), _GAMMA, "gammainc(b, a x)")
gdtrc: Primitive = ufunc("gdtrc", _gamma(-1.0), _GAMMA, "gammaincc(b, a x)")
fdtr: Primitive = ufunc("fdtr", _f(1.0), _F, "betainc(dfn/2, dfd/2, w) with w = dfn x/(dfd + dfn x)")
fdtrc: Primitive = ufunc("fdtrc", _f(-1.0), _F, "1 - fdtr(dfn, dfd, x)")
fdtri: Primitive = ufunc(
    "fdtri",
    {
        "dfn": lambda dfn, dfd, out: quotient(-_f_in_dfn(dfn, dfd, out), _f_density(dfn, dfd, out)),
        "dfd": lambda dfn, dfd, out: quotient(-_f_in_dfd(dfn, dfd, out), _f_density(dfn, dfd, out)),
        "p": lambda dfn, dfd, out: 1.0 / _f_density(dfn, dfd, out),
    },
    {"dfn": (1.0, 6.0), "dfd": (2.0, 6.0), "p": (0.1, 0.9)},
    "x with fdtr(dfn, dfd, x) = p",
)
stdtrit: Primitive = ufunc(
    "stdtrit",
    {
        "df": lambda df, out: quotient(-slope_in_df(df, out), t_density(df, out)),
        "p": lambda df, out: 1.0 / t_density(df, out),
    },
    {"df": (0.8, 6.0), "p": (0.1, 0.9)},
    "t with stdtr(df, t) = p",
)
pdtr: Primitive = ufunc(
    "pdtr",
    {"m": lambda k, m: -gamma_density(np.floor(k) + 1.0, m)},
    {"k": _COUNTS, "m": (0.2, 6.0)},
    "the probability of at most k events, of which m are expected",
)
pdtrc: Primitive = ufunc(
    "pdtrc",
    {"m": lambda k, m: gamma_density(np.floor(k) + 1.0, m)},
    {"k": _COUNTS, "m": (0.2, 6.0)},
    "the probability of more than k events, of which m are expected",
)
owens_t: Primitive = ufunc(
    "owens_t", {"h": _owens_in_h, "a": _owens_in_a}, {"h": (-2.0, 2.0), "a": (-2.0, 2.0)}, "Owen's function"
)
