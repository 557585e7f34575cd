"""First and second derivatives of special functions and distributions in every mode, against mpmath.

The comparison is shared with the engine's tests, which are beside this distribution in its repository.
"""

import sys
from pathlib import Path

import pytest

from tapeengine_scipy import special, stats

mp = pytest.importorskip("mpmath", reason="mpmath is not installed: derivatives are not compared with exact ones")
sys.path.append(str(Path(__file__).resolve().parents[3] / "tests"))
failures = pytest.importorskip("exact_derivatives", reason="the engine's repository is not there").failures


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_t(x, df):
    norm = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(mp.pi * df) / 2
    return norm - (df + 1) / 2 * mp.log1p(x * x / df)


def pairs(first, second):
    return [(x, y) for x in first for y in second]


SPECIAL = {
    "erf": (lambda x: mp.erf(x), (-1e300, -20.0, -1e-20, 0.0, 1.0, 5.0)),
    "erfc": (lambda x: mp.erfc(x), (-20.0, -1e-20, 0.0, 1.0, 26.0)),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), (-20.0, -3.3, 0.0, 0.3, 5.1, 26.5, 1e6, 1e20, 1e150)),
    "ndtr": (normal, (-37.0, -1.0, 0.0, 3.0)),
    "log_ndtr": (lambda x: mp.log(normal(x)), (-1e20, -1e5, -1e4, -38.0, -5.1, 0.0, 1.0, 20.0, 37.0)),
    "rgamma": (lambda x: mp.rgamma(x), (-10.0, -3.0, -2.0, -2 + 1e-9, -1.0, -0.5, -1e-9, 0.0, 1.0, 20.0)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), (-700.0, -40.0, -1e-20, 0.0, 1.0, 700.0)),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), (-1e8, -40.0, 0.0, 1e-20, 30.0, 700.0)),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), (-1e6, -2.0, 1e-8, 49.0, 51.0, 1e4, 1e8)),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), (-1e6, -2.0, 1e-8, 49.0, 51.0, 1e4, 1e8)),
    "ellipk": (lambda m: mp.ellipk(m), (-1e20, -1e4, -1.5, 0.0, 0.3, 0.99)),
    "spence": (lambda z: mp.polylog(2, 1 - z), (1e-20, 0.3, 0.7, 1.2, 2.0, 1e8)),
    "xlogy": (lambda x, y: x * mp.log(y), pairs((-1e10, 0.0, 1e-300, 2.0), (1e-300, 1.0, 1e100))),
    "rel_entr": (lambda x, y: x * mp.log(x / y), pairs((1e-300, 1.0, 1e200), (1e-300, 1.0, 1e200))),
    "betaln": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), pairs((0.3, 1e8), (0.3, 1.0, 40.0))),
}
DISTRIBUTIONS = {
    ("norm", "logcdf"): (lambda x: mp.log(normal(x)), [(-1e10,), (-1e4,), (-3.0,), (0.0,), (30.0,)]),
    ("t", "logpdf"): (log_t, pairs((-3.0, 0.2, 50.0), (0.5, 39.0, 41.0, 1e3, 1e6))),
    ("beta", "logpdf"): (
        lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - mp.log(mp.beta(a, b)),
        [(0.3, 1e6, 0.3), (0.999, 7.0, 20.0), (1e-20, 1e-3, 20.0)],
    ),
    ("gamma", "cdf"): (lambda x, a: mp.gammainc(a, 0, x, regularized=True), pairs((0.3, 30.0), (0.5, 7.0))),
    ("beta", "cdf"): (
        lambda x, a, b: mp.betainc(a, b, 0, x, regularized=True),
        [(0.3, 0.5, 0.3), (0.99, 0.5, 20.0), (0.3, 7.0, 20.0)],
    ),
    ("expon", "logcdf"): (lambda x: mp.log(-mp.expm1(-x)), [(1e-300,), (0.3,), (40.0,), (300.0,)]),
    ("lognorm", "logcdf"): (lambda x, s: mp.log(normal(mp.log(x) / s)), pairs((1e-100, 0.3, 5.0), (0.5, 3.0))),
    ("cauchy", "logpdf"): (lambda x: -mp.log(mp.pi) - mp.log1p(x * x), [(-1e10,), (-1e-10,), (3.0,), (1e100,)]),
    ("weibull_min", "logcdf"): (
        lambda x, c: mp.log(-mp.expm1(-(x**c))),
        pairs((1e-100, 0.3, 5.0, 30.0), (0.5, 1.0, 1.5)),
    ),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name):
    reference, points = SPECIAL[name]
    points = [point if isinstance(point, tuple) else (point,) for point in points]
    assert failures(getattr(special, name), reference, points) == []


@pytest.mark.parametrize(("name", "method"), DISTRIBUTIONS)
def test_distributions(name, method):
    reference, points = DISTRIBUTIONS[name, method]
    assert failures(getattr(getattr(stats, name), method), reference, points) == []
