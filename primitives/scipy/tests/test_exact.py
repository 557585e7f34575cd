"""First and second derivatives of special functions and distributions in every mode, against mpmath.

The comparison is shared with the engine's tests, which are beside this distribution in its repository.
"""

import sys
from functools import partial
from pathlib import Path

import pytest

import tapeengine as te
from tapeengine_scipy import special, stats

mp = pytest.importorskip("mpmath", reason="mpmath is not installed: derivatives are not compared with exact ones")
sys.path.append(str(Path(__file__).resolve().parents[3] / "tests"))
failures = pytest.importorskip("exact_derivatives", reason="the engine's repository is not there").failures


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_t(x, df):
    norm = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(mp.pi * df) / 2
    return norm - (df + 1) / 2 * mp.log1p(x * x / df)


def slope_of_t(df, x, order):
    """The first or second derivative of the distribution function in df: an integral of the density's."""

    def density_slope(s):
        q, below, gap = s * s, df * (df + s * s), [mp.psi(k, (df + 1) / 2) - mp.psi(k, df / 2) for k in (0, 1)]
        first = (gap[0] - 1 / df - mp.log1p(q / df) + (df + 1) * q / below) / 2
        second = gap[1] / 2 + 1 / df**2 + q / below + q * (below - (df + 1) * (2 * df + q)) / below**2
        return mp.exp(log_t(s, df)) * (first if order == 1 else first**2 + second / 2)

    if abs(x) < 1:
        return mp.quad(density_slope, [0, x])
    width = (df + x * x) / (df + 1) / x
    return -mp.quad(density_slope, [x + width * reach for reach in (0, 5, 30, 100)] + [mp.sign(x) * mp.inf])


def log_upper_lognorm(x, s):
    """The logarithm of the probability above x, which is nearly 1 for a small x."""
    return mp.log1p(-normal(mp.log(x) / s)) if x < 1 else mp.log(normal(-mp.log(x) / s))


def omega(x):
    return mp.lambertw(mp.exp(x)).real if x < 700 else mp.findroot(lambda w: w + mp.log(w) - x, x - mp.log(x))


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
    "exp2": (lambda x: mp.mpf(2) ** x, (-1000.0, 0.0, 0.3, 1000.0)),
    "exp10": (lambda x: mp.mpf(10) ** x, (-300.0, 0.0, 0.3, 300.0)),
    "expm1": (lambda x: mp.expm1(x), (-40.0, -1e-20, 0.0, 1.0, 700.0)),
    "log1p": (lambda x: mp.log1p(x), (-0.999, 0.0, 1e-20, 1e300)),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), (-1e100, -2.0, 1e-100, 1.0, 1e100)),
    "cosm1": (lambda x: -2 * mp.sin(x / 2) ** 2, (-3.0, 0.0, 1e-20, 1.0)),
    "erfi": (lambda x: mp.erfi(x), (-5.0, 0.0, 1e-20, 1.0, 26.0)),
    "exprel": (lambda x: mp.expm1(x) / x if x else mp.mpf(1), (-1e20, -700.0, -1.0, -1e-10, 1e-10, 1.0, 700.0)),
    "wrightomega": (omega, (-600.0, -1.0, 0.0, 1.0, 2.0, 600.0, 1e8, 1e100)),
    "boxcox": (
        lambda x, p: mp.expm1(p * mp.log(x)) / p if p else mp.log(x),
        pairs((1e-100, 0.3, 7.0, 1e50), (-1.5, -1e-10, 1e-10, 0.5, 2.0)),
    ),
    "boxcox1p": (
        lambda x, p: mp.expm1(p * mp.log1p(x)) / p if p else mp.log1p(x),
        pairs((-0.9, 1e-20, 0.3, 1e50), (-1.5, -1e-10, 1e-10, 0.5, 2.0)),
    ),
    "inv_boxcox": (
        lambda y, p: mp.exp(mp.log1p(p * y) / p),
        pairs((-0.4, 1e-20, 0.3), (-1.5, -1e-10, 1e-10, 0.5, 2.0)),
    ),
    "inv_boxcox1p": (
        lambda y, p: mp.expm1(mp.log1p(p * y) / p),
        pairs((-0.4, 1e-20, 0.3), (-1.5, -1e-10, 1e-10, 0.5, 2.0)),
    ),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, [(1e-300, 1.0), (1.0, 2.0), (1.0, 1e200), (1e200, 1.0)]),
    "pseudo_huber": (
        lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1),
        pairs((1e-10, 0.3, 1e6), (-1e10, 0.0, 1e-10, 2.0)),
    ),
    "huber": (
        lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2),
        pairs((0.3, 2.0), (-1e10, -1.0, 0.0, 1e-10, 7.0)),
    ),
    "betaln": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), pairs((0.3, 1e8), (0.3, 1.0, 40.0))),
}
POLYNOMIALS = {
    "eval_legendre": (lambda n, x: mp.legendre(n, x), ()),
    "eval_jacobi": (lambda n, a, b, x: mp.jacobi(n, a, b, x), (0.3, -0.5)),
    "eval_gegenbauer": (lambda n, a, x: mp.gegenbauer(n, a, x), (0.7,)),
    "eval_chebyt": (lambda n, x: mp.chebyt(n, x), ()),
    "eval_chebyu": (lambda n, x: mp.chebyu(n, x), ()),
    "eval_hermite": (lambda n, x: mp.hermite(n, x), ()),
    "eval_hermitenorm": (lambda n, x: mp.hermite(n, x / mp.sqrt(2)) / mp.mpf(2) ** (mp.mpf(n) / 2), ()),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), ()),
    "eval_genlaguerre": (lambda n, a, x: mp.laguerre(n, a, x), (0.3,)),
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
    ("gamma", "logcdf"): (lambda x, a: mp.log1p(-mp.gammainc(a, x, regularized=True)), [(60.0, 3.0), (300.0, 0.5)]),
    ("gamma", "logsf"): (lambda x, a: mp.log1p(-mp.gammainc(a, 0, x, regularized=True)), [(1e-3, 3.0), (1e-9, 0.7)]),
    ("beta", "logsf"): (
        lambda x, a, b: mp.log1p(-mp.betainc(a, b, 0, x, regularized=True)),
        [(2e-9, 1.5, 2.5), (0.1, 7.0, 3.0)],
    ),
    ("cauchy", "logcdf"): (lambda x: mp.log1p(-mp.atan2(1, x) / mp.pi), [(-3.0,), (0.3,), (1e8,), (1e100,)]),
    ("uniform", "logsf"): (lambda x: mp.log1p(-x), [(1e-20,), (0.3,), (0.999,)]),
    ("halfnorm", "logcdf"): (lambda x: mp.log1p(-mp.erfc(x / mp.sqrt(2))), [(1e-20,), (0.3,), (9.0,)]),
    ("pareto", "logcdf"): (lambda x, b: mp.log1p(-(x**-b)), pairs((1.3, 1e9), (0.5, 2.5))),
    ("expon", "logcdf"): (lambda x: mp.log(-mp.expm1(-x)), [(1e-300,), (0.3,), (40.0,), (300.0,)]),
    ("lognorm", "logcdf"): (lambda x, s: mp.log(normal(mp.log(x) / s)), pairs((1e-100, 0.3, 5.0), (0.5, 3.0))),
    ("norm", "logsf"): (lambda x: mp.log(normal(-x)), [(-3.0,), (0.0,), (40.0,), (1e5,)]),
    ("lognorm", "logsf"): (log_upper_lognorm, pairs((1e-100, 0.3, 5.0, 1e50), (0.5, 3.0))),
    ("weibull_min", "logsf"): (lambda x, c: -(x**c), pairs((1e-100, 0.3, 5.0, 1e20), (0.5, 1.0, 1.5))),
    ("gamma", "sf"): (lambda x, a: mp.gammainc(a, x, mp.inf, regularized=True), pairs((0.3, 30.0), (0.5, 7.0))),
    ("beta", "sf"): (lambda x, a, b: mp.betainc(a, b, x, 1, regularized=True), [(0.3, 0.5, 0.3), (0.99, 0.5, 20.0)]),
    ("logistic", "logsf"): (lambda x: -mp.log1p(mp.exp(x)), [(-700.0,), (0.0,), (3.0,), (700.0,)]),
    ("logistic", "logpdf"): (lambda x: -x - 2 * mp.log1p(mp.exp(-x)), [(-700.0,), (0.0,), (3.0,), (700.0,)]),
    ("gumbel_r", "logsf"): (lambda x: mp.log(-mp.expm1(-mp.exp(-x))), [(-3.0,), (0.0,), (40.0,), (700.0,)]),
    ("gumbel_l", "logcdf"): (lambda x: mp.log(-mp.expm1(-mp.exp(x))), [(-700.0,), (-40.0,), (0.0,), (3.0,)]),
    ("pareto", "cdf"): (lambda x, b: 1 - x**-b, pairs((1.0 + 1e-9, 2.0, 1e100), (0.5, 3.0))),
    ("pareto", "logsf"): (lambda x, b: -b * mp.log(x), pairs((1.0 + 1e-9, 2.0, 1e100), (0.5, 3.0))),
    ("halfnorm", "logsf"): (lambda x: mp.log(2 * normal(-x)), [(1e-20,), (0.3,), (0.6,), (40.0,), (1e5,)]),
    ("norm", "ppf"): (lambda q: mp.sqrt(2) * mp.erfinv(2 * q - 1), [(1e-9,), (0.3,), (0.5,), (0.999,)]),
    ("weibull_min", "ppf"): (lambda q, c: (-mp.log1p(-q)) ** (1 / c), pairs((1e-9, 0.3, 0.999), (0.5, 1.5))),
    ("gumbel_r", "ppf"): (lambda q: -mp.log(-mp.log(q)), [(1e-9,), (0.3,), (0.999,)]),
    ("gumbel_r", "isf"): (lambda q: -mp.log(-mp.log1p(-q)), [(1e-300,), (1e-9,), (0.3,), (0.999,)]),
    ("pareto", "isf"): (lambda q, b: q ** (-1 / b), pairs((1e-20, 0.3, 0.999), (0.5, 1.5))),
    ("cauchy", "ppf"): (lambda q: -1 / mp.tan(mp.pi * q), [(1e-300,), (1e-9,), (0.3,), (0.7,), (0.999,)]),
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


@pytest.mark.parametrize("name", POLYNOMIALS)
@pytest.mark.parametrize("degree", [1, 2, 7])
def test_polynomials(name, degree):
    reference, parameters = POLYNOMIALS[name]
    ours = partial(getattr(special, name), degree, *parameters)
    points = [(x,) for x in (-1.0, -0.3, 0.1, 1.0)]
    assert failures(ours, partial(reference, degree, *parameters), points) == []


@pytest.mark.parametrize(("name", "method"), DISTRIBUTIONS)
def test_distributions(name, method):
    reference, points = DISTRIBUTIONS[name, method]
    assert failures(getattr(getattr(stats, name), method), reference, points) == []


@pytest.mark.parametrize("df", [5.0, 1e3, 1e5, 1e8, 1e12])
def test_slopes_of_t_in_many_degrees_of_freedom(df):
    slope = te.grad(special.stdtr)
    for x in (1e-3, 1.5, -8.0):
        with mp.workdps(24 + int(3 * mp.log10(df))):
            exact = [slope_of_t(mp.mpf(df), mp.mpf(x), order) for order in (1, 2)]
        for value, other in zip((slope(df, x), te.grad(slope)(df, x)), exact, strict=True):
            assert abs(value / other - 1) < 1e-12
        crossed = te.grad(te.grad(special.stdtr, argnums=1))(df, x)
        assert abs(te.grad(slope, argnums=1)(df, x) / crossed - 1) < 1e-12
