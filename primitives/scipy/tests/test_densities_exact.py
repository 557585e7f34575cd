"""Logarithms of densities and probabilities against mpmath: the value, and first and second derivatives, to 1e-10.

Arguments are near the centre and far in both tails, shapes from small to large.
"""

import itertools

import numpy as np
import pytest
import scipy.stats

import tapeengine as te
from tapeengine_scipy import stats

mpmath = pytest.importorskip("mpmath")
mp = mpmath.mp


def gumbel(z, c):
    return z if c == 0 else -mp.log1p(-c * z) / c


def log_ncdf(x):
    return mp.log(mp.re(mp.erfc(-x / mp.sqrt(2))) / 2)


#: The logarithm of the standard density, of the lower and of the upper tail; shapes, and arguments.
EXACT = {
    "invgamma": (
        lambda z, a: -(a + 1) * mp.log(z) - mp.loggamma(a) - 1 / z,
        lambda z, a: mp.log(mp.gammainc(a, 1 / z, mp.inf, regularized=True)),
        lambda z, a: mp.log(mp.gammainc(a, 0, 1 / z, regularized=True)),
        (0.3, 2.5, 80.0),
        (0.004, 0.3, 1.0, 40.0, 1e6),
    ),
    "genextreme": (
        lambda z, c: -mp.exp(-gumbel(z, c)) - gumbel(z, c) - mp.log1p(-c * z),
        lambda z, c: -mp.exp(-gumbel(z, c)),
        lambda z, c: mp.log(-mp.expm1(-mp.exp(-gumbel(z, c)))),
        (0.0, 1e-9, -1e-9, -1e-3, 0.2, -0.7, -3.0),
        (-0.3, 0.001, 0.9, 4.0, 30.0, 1e5),
    ),
    "gumbel_r": (
        lambda z: -z - mp.exp(-z), lambda z: -mp.exp(-z), lambda z: mp.log(-mp.expm1(-mp.exp(-z))),
        (), (-5.0, -0.3, 0.7, 30.0, 600.0),
    ),
    "gumbel_l": (
        lambda z: z - mp.exp(z), lambda z: mp.log(-mp.expm1(-mp.exp(z))), lambda z: -mp.exp(z),
        (), (-600.0, -30.0, -0.3, 0.7, 5.0),
    ),
    "laplace": (
        lambda z: -abs(z) - mp.log(2),
        lambda z: mp.log(mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2),
        lambda z: mp.log(mp.exp(-z) / 2 if z > 0 else 1 - mp.exp(z) / 2),
        (), (-600.0, -0.3, 0.7, 600.0),
    ),
    "logistic": (
        lambda z: -z - 2 * mp.log1p(mp.exp(-z)),
        lambda z: -mp.log1p(mp.exp(-z)),
        lambda z: -mp.log1p(mp.exp(z)),
        (), (-600.0, -30.0, -0.3, 0.7, 30.0, 600.0),
    ),
    "lognorm": (
        lambda z, s: -((mp.log(z) / s) ** 2) / 2 - mp.log(s * z) - mp.log(2 * mp.pi) / 2,
        lambda z, s: log_ncdf(mp.log(z) / s),
        lambda z, s: log_ncdf(-mp.log(z) / s),
        (0.1, 1.3, 20.0),
        (1e-30, 0.4, 1.7, 1e30),
    ),
    "pareto": (
        lambda z, b: mp.log(b) - (b + 1) * mp.log(z),
        lambda z, b: mp.log(-mp.expm1(-b * mp.log(z))),
        lambda z, b: -b * mp.log(z),
        (0.1, 2.5, 90.0),
        (1.25, 3.0, 1e30),
    ),
    "rayleigh": (
        lambda z: mp.log(z) - z * z / 2,
        lambda z: mp.log(-mp.expm1(-z * z / 2)),
        lambda z: -z * z / 2,
        (), (1e-6, 0.4, 2.0, 30.0),
    ),
    "weibull_max": (
        lambda z, c: mp.log(c) + (c - 1) * mp.log(-z) - (-z) ** c,
        lambda z, c: -((-z) ** c),
        lambda z, c: mp.log(-mp.expm1(-((-z) ** c))),
        (0.3, 1.4, 30.0),
        (-1.3, -0.9, -1e-4),
    ),
    "skewnorm": (
        lambda z, a: mp.log(2 / mp.pi) / 2 - z * z / 2 + log_ncdf(a * z),
        None,
        None,
        (0.0, 0.7, -3.0, 40.0, -1e4),
        (-9.0, -0.4, 0.0, 1.3, 30.0),
    ),
    "norm": (
        lambda z: -z * z / 2 - mp.log(2 * mp.pi) / 2, log_ncdf, lambda z: log_ncdf(-z),
        (), (-30.0, -0.4, 0.3, 5.0, 30.0),
    ),
    "halfnorm": (
        lambda z: mp.log(2 / mp.pi) / 2 - z * z / 2,
        lambda z: mp.log(mp.erf(z / mp.sqrt(2))),
        lambda z: mp.log(mp.erfc(z / mp.sqrt(2))),
        (), (1e-6, 0.4, 2.0, 30.0),
    ),
    "expon": (lambda z: -z, lambda z: mp.log(-mp.expm1(-z)), lambda z: -z, (), (1e-9, 0.4, 30.0, 600.0)),
    "cauchy": (
        lambda z: -mp.log(mp.pi * (1 + z * z)),
        lambda z: mp.log(mp.atan2(1, -z) / mp.pi),
        lambda z: mp.log(mp.atan2(1, z) / mp.pi),
        (), (-1e30, -40.0, -0.3, 0.7, 5.0, 1e30),
    ),
    "weibull_min": (
        lambda z, c: mp.log(c) + (c - 1) * mp.log(z) - z**c,
        lambda z, c: mp.log(-mp.expm1(-(z**c))),
        lambda z, c: -(z**c),
        (0.3, 1.4, 30.0),
        (1e-4, 0.9, 1.3),
    ),
    "gamma": (
        lambda z, a: (a - 1) * mp.log(z) - z - mp.loggamma(a),
        None,
        None,
        (1e-3, 0.7, 30.0, 1e5),
        (1e-9, 0.3, 40.0, 1e4),
    ),
    "chi2": (
        lambda z, df: (df / 2 - 1) * mp.log(z) - z / 2 - mp.loggamma(df / 2) - df / 2 * mp.log(2),
        None,
        None,
        (1e-3, 0.7, 30.0, 1e5),
        (1e-9, 0.3, 40.0, 1e4),
    ),
    "t": (
        lambda z, df: (
            mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2)
            - mp.log(df * mp.pi) / 2 - (df + 1) / 2 * mp.log1p(z * z / df)
        ),
        None,
        None,
        (1e-3, 0.7, 30.0, 1e6, 1e12),
        (-1e9, -3.0, 1e-5, 0.4, 40.0),
    ),
    "vonmises": (
        lambda z, kappa: kappa * mp.cos(z) - mp.log(2 * mp.pi * mp.besseli(0, kappa)),
        None,
        None,
        (1e-6, 0.8, 20.0, 5000.0),
        (0.01, 1.3, -2.8),
    ),
}  # fmt: skip
METHODS = ("logpdf", "logcdf", "logsf")
STEP = mp.mpf(10) ** -60
CASES = [(name, method) for name in EXACT for method, exact in zip(METHODS, EXACT[name], strict=False) if exact]


def exact_derivatives(function, at):
    """The value, and two derivatives in each argument."""
    count = len(at)

    def shifted(steps):
        return function(*(x + k * abs(x or 1) * STEP for x, k in zip(at, steps, strict=True)))

    def unit(place):
        return [int(place == i) for i in range(count)]

    size = [abs(x or 1) * STEP for x in at]
    middle = shifted([0] * count)
    first = [(shifted(unit(i)) - shifted([-k for k in unit(i)])) / (2 * size[i]) for i in range(count)]
    second = [(shifted(unit(i)) + shifted([-k for k in unit(i)]) - 2 * middle) / size[i] ** 2 for i in range(count)]
    return middle, first, second


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "method"), CASES)
def test_logarithms(name, method):
    *formulas, shapes, arguments = EXACT[name]
    standard, ours = formulas[METHODS.index(method)], getattr(getattr(stats, name), method)

    def exact(x, *rest):
        *shape, loc, scale = rest
        return standard((x - loc) / scale, *shape) - (mp.log(scale) if method == "logpdf" else 0)

    for z, shape, (loc, scale) in itertools.product(arguments, shapes or (None,), ((0.0, 1.0), (0.25, 2.0))):
        at = (z * scale + loc, *([] if shape is None else [shape]), loc, scale)
        if z and at[0] == loc:
            continue
        with mp.workdps(200):
            value, first, second = exact_derivatives(exact, [mp.mpf(x) for x in at])
        if mp.im(value) or not np.isfinite(getattr(getattr(scipy.stats, name), method)(*at)):
            continue
        found = te.vjp(ours, *at)[0]
        assert found == pytest.approx(float(value), rel=1e-10, abs=1e-14), at
        for k in range(len(at)):  # what cancels is of the size of the value, or of the squared slope
            slope, nearest = te.grad(ours, k), max(abs(at[k]), 1e-3)
            rounding = 1e-14 * max(1.0, abs(float(value)) / nearest)
            assert slope(*at) == pytest.approx(float(first[k]), rel=1e-10, abs=rounding), (at, k)
            rounding = max(rounding / nearest, 3e-14 * float(first[k]) ** 2)
            assert te.grad(slope, k)(*at) == pytest.approx(float(second[k]), rel=1e-10, abs=rounding), (at, k)
