import copy
import itertools
import pickle
import re

import numpy as np
import pytest
import scipy.stats
from differences import assert_gradient, assert_second_order, gradient

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import stats

RNG = np.random.default_rng(11)
CONTINUOUS = {
    "norm": (), "t": (2.5,), "gamma": (1.7,), "beta": (1.3, 2.4), "chi2": (3.0,), "expon": (), "lognorm": (0.7,),
    "laplace": (), "cauchy": (), "uniform": (), "weibull_min": (1.4,), "logistic": (), "gumbel_r": (), "gumbel_l": (),
    "pareto": (1.6,), "halfnorm": (), "invgamma": (1.8,), "genextreme": (-0.3,), "rayleigh": (), "weibull_max": (1.4,),
    "skewnorm": (1.2,), "vonmises": (1.3,), "f": (3.5, 5.0),
}  # fmt: skip
#: Those whose distribution function is not differentiated.
DENSITIES = ("vonmises",)
DISCRETE = {"poisson": (2.3,), "binom": (5, 0.3), "nbinom": (3, 0.4), "geom": (0.3,), "bernoulli": (0.3,)}
METHODS = ("logpdf", "pdf", "logcdf", "cdf", "sf", "logsf")
QUANTILES = [name for name in CONTINUOUS if name not in ("skewnorm", *DENSITIES)]


def methods_of(name):
    return METHODS[:2] if name in DENSITIES else METHODS


def traced(f, *args, **keywords):
    """The value of a call whose arguments are traced: plain ones call SciPy."""
    return te.vjp(lambda *args: f(*args, **keywords), *args)[0]


POINTS = np.array([-np.inf, -3.0, -0.5, 0.0, 0.3, 0.7, 1.0, 1.5, 4.0, 30.0, np.inf, np.nan])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "method"), [(name, method) for name in CONTINUOUS for method in methods_of(name)])
def test_continuous_distributions(name, method):
    ours, theirs = getattr(getattr(stats, name), method), getattr(getattr(scipy.stats, name), method)
    shapes = CONTINUOUS[name]
    for loc, scale in ((0.0, 1.0), (0.2, 1.7)):
        found = traced(ours, POINTS, *shapes, loc=loc, scale=scale)
        np.testing.assert_allclose(found, theirs(POINTS, *shapes, loc, scale), rtol=1e-12, atol=1e-15)
    point = np.array([{"pareto": 2.7, "weibull_max": -0.63}.get(name, 0.63), *shapes, 0.1, 1.3])
    assert_gradient(lambda p: ours(p[0], *p[1:]), point)
    assert_second_order(lambda p: ours(p[0], *p[1:]), point)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CONTINUOUS)
def test_no_derivative_outside_of_the_support_is_nan(name):
    distribution, shapes = getattr(stats, name), CONTINUOUS[name]
    for method in ("pdf", "cdf")[: 1 + (name not in DENSITIES)]:
        slope = gradient(lambda x, m=method: np.sum(getattr(distribution, m)(x, *shapes)), [-3.0, 0.3, 30.0])
        assert np.all(np.isfinite(slope))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CONTINUOUS)
def test_derivatives_outside_of_the_support_are_zero(name):
    distribution, theirs, shapes = getattr(stats, name), getattr(scipy.stats, name), CONTINUOUS[name]
    for x in (-7.0, 70.0):
        if theirs.support(*shapes)[0] <= (x - 0.2) / 1.7 <= theirs.support(*shapes)[1]:
            continue
        for method in methods_of(name):
            args = (x, *shapes, 0.2, 1.7)
            slopes = te.grad(getattr(distribution, method), tuple(range(len(args))))(*args)
            assert not np.any(slopes), (method, slopes)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", {**CONTINUOUS, **DISCRETE})
def test_pythons_numbers_are_numpys_if_all_of_them_are_traced(name):
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    discrete = name in DISCRETE
    methods = ("logpmf", "pmf", *["cdf"] * (name == "poisson")) if discrete else methods_of(name)
    shapes = [float(shape) for shape in {**CONTINUOUS, **DISCRETE}[name]]
    places = ([0.0],) if discrete else ([0.1, 1.3], [0.1, 0.0])
    for method, first, place in itertools.product(methods, (3.0, 0.63), places):
        at = first, *shapes, *place
        expected, last = getattr(theirs, method)(*at), getattr(theirs(*at[1:]), method)(first)
        for f in (getattr(ours, method), lambda x, *p, m=method: getattr(ours(*p), m)(x)):
            found = te.vjp(f, *at)[0]
            assert type(found) is type(expected) is type(last)
            np.testing.assert_allclose(found, expected, rtol=1e-11)
            reverse = te.grad(f, argnums=tuple(range(len(at))))(*at)
            forward = [te.jvp(f, at, tuple(np.eye(len(at))[k].tolist()))[1] for k in range(len(at))]
            np.testing.assert_allclose(reverse, forward, rtol=1e-11)
            together = gradient(lambda p, f=f: f(*p), at)  # elements of an array are numpy's numbers
            np.testing.assert_allclose(reverse, together, rtol=1e-11)


SINGLE = np.float32
#: Arguments before location and scale, and these; shapes are multiplied by the numbers in between.
FORMS = {
    "axes that broadcast": (np.array([[0.3], [0.7], [1.2]]), [1.0, 1.1], 0.1, np.array([1.0, 2.0])),
    "single precision": (np.array([0.3, 0.7], SINGLE), SINGLE(1.0), SINGLE(0.1), SINGLE(1.2)),
    "an argument of single precision": (np.array([0.3, 0.7], SINGLE), 1.0, 0.0, 1.0),
    "nothing": (np.zeros((0, 3)), 1.0, 0.0, 1.0),
    "a list": ([0.3, 0.7], 1.0, 0.0, 1.0),
    "integers": (np.array([1, 2]), 1.0, 0.0, 1.0),
    "no axes": (np.array(0.4), 1.0, 0.0, 1.0),
    "parameters that are not valid": (np.array([0.3, 0.7, 0.7]), [1.0, -1.0, np.nan], 0.0, np.array([1.0, -1.0, 1.0])),
    "shapes that do not fit": (np.zeros(3), [1.0, 1.1], 0.0, np.zeros(2)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_shapes_and_dtypes_are_scipys(name, form):
    x, factor, loc, scale = FORMS[form]
    shapes = [np.multiply(shape, factor, dtype=getattr(factor, "dtype", float))[()] for shape in CONTINUOUS[name]]
    for method in [*methods_of(name), *(("ppf", "isf") if name in QUANTILES else ())]:
        ours, theirs = (getattr(getattr(package, name), method) for package in (stats, scipy.stats))
        try:
            wanted = theirs(x, *shapes, loc, scale)
        except ValueError:
            with pytest.raises(ValueError):
                te.vjp(lambda loc, f=ours: f(x, *shapes, loc, scale), loc)
            continue
        for traced in ("loc", "all"):
            if traced == "loc":
                found = te.vjp(lambda loc, f=ours: f(x, *shapes, loc, scale), loc)[0]
            else:
                found = te.vjp(ours, x, *shapes, loc, scale)[0]
            assert np.shape(found) == np.shape(wanted)
            assert found.dtype == wanted.dtype
            rtol = 2e-6 if "single" in form else 1e-10
            np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-13, err_msg=method)


def test_bad_parameters_give_nan():
    assert np.isnan(traced(stats.gamma.pdf, 1.0, -1.0))
    assert np.isnan(traced(stats.norm.pdf, 1.0, scale=-1.0))
    assert np.isnan(traced(stats.binom.pmf, 1, 3, 1.5))
    with pytest.raises(TypeError, match="missing"):
        traced(stats.gamma.pdf, 1.0)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    counts, shapes = np.array([-1, 0, 1, 2.5, 3, 7]), DISCRETE[name]
    for method in ("logpmf", "pmf"):
        ours, theirs = getattr(getattr(stats, name), method), getattr(getattr(scipy.stats, name), method)
        np.testing.assert_allclose(traced(ours, counts, *shapes), theirs(counts, *shapes), rtol=1e-12)
        np.testing.assert_allclose(traced(ours, counts + 2, *shapes, loc=2), theirs(counts + 2, *shapes, 2), rtol=1e-12)
        assert_gradient(lambda p, f=ours: f(1, *shapes[:-1], p[0]), [shapes[-1]])


def test_frozen_parameters():
    assert traced(lambda m: stats.norm(m, 2.0).pdf(0.3), 1.0) == traced(stats.norm.pdf, 0.3, 1.0, 2.0)
    with pytest.raises(TypeError, match="one argument"):
        traced(lambda m: stats.norm(m).pdf(0.3, 2.0), 1.0)
    assert_gradient(lambda p: stats.gamma(p[0], scale=p[1]).logpdf(0.7), [1.3, 2.0])


def test_entropy_of_a_multivariate_normal():
    a = np.array([[1.3, 0.0], [0.4, 0.7]])
    theirs = scipy.stats.multivariate_normal.entropy
    ours, expected = stats.multivariate_normal, theirs(np.zeros(2), a @ a.T)
    assert traced(ours.entropy, np.zeros(2), a @ a.T) == pytest.approx(expected, rel=1e-14)
    assert traced(lambda c: ours(cov=c).entropy(), 2.0) == pytest.approx(theirs(cov=2.0), rel=1e-14)
    singular = np.ones((2, 2))
    assert traced(lambda m: ours.entropy(m, singular), np.zeros(2)) == theirs(cov=singular)
    assert_gradient(lambda a: stats.multivariate_normal.entropy(None, a @ a.T), a)
    with pytest.raises(UnsupportedError, match="singular covariance"):
        te.grad(lambda s: stats.multivariate_normal.entropy(cov=s))(singular)


def test_multivariate_normal():
    a, x, mean = RNG.standard_normal((3, 3)), RNG.standard_normal((4, 3)), RNG.standard_normal(3)
    cov = a @ a.T + np.eye(3)
    theirs = scipy.stats.multivariate_normal
    ours, scales = stats.multivariate_normal, np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(traced(ours.logpdf, x, mean, cov), theirs.logpdf(x, mean, cov))
    np.testing.assert_allclose(traced(lambda m: ours(m, cov).pdf(x[0]), mean), theirs(mean, cov).pdf(x[0]))
    np.testing.assert_allclose(traced(ours.pdf, x[0], mean, scales), theirs.pdf(x[0], mean, scales))
    np.testing.assert_allclose(traced(ours.pdf, 0.3, 1.0, 2.0), theirs.pdf(0.3, 1.0, 2.0))
    log_likelihood = lambda a: np.sum(stats.multivariate_normal.logpdf(x, mean, a @ a.T + np.eye(3)))  # noqa: E731
    assert_gradient(log_likelihood, a)
    assert_second_order(log_likelihood, a)
    assert_gradient(lambda m: np.sum(stats.multivariate_normal.logpdf(x, m, cov)), mean)


def test_dirichlet_and_multinomial():
    alpha, p = np.array([1.2, 2.0, 0.7]), np.array([0.2, 0.5, 0.3])
    for point in (p, p[:2]):
        np.testing.assert_allclose(
            traced(stats.dirichlet.logpdf, point, alpha), scipy.stats.dirichlet.logpdf(point, alpha)
        )
    np.testing.assert_allclose(traced(stats.dirichlet.pdf, p, alpha), scipy.stats.dirichlet.pdf(p, alpha))
    assert_gradient(lambda alpha: stats.dirichlet.logpdf(p, alpha), alpha)
    assert_gradient(lambda x: stats.dirichlet.logpdf(x, alpha), p[:2])
    for counts in ([1, 2, 3], [1, 2, 2], [[1, 2, 3], [6, 0, 0]]):
        theirs = scipy.stats.multinomial.pmf(counts, 6, p)
        np.testing.assert_allclose(traced(lambda p, n=counts: stats.multinomial.pmf(n, 6, p), p), theirs)
    assert_gradient(lambda p: stats.multinomial.logpmf([1, 2, 3], 6, p), p)


SPREAD = np.array([[1.3, 0.3, 0.1], [0.3, 0.9, -0.2], [0.1, -0.2, 0.7]])


@pytest.mark.parametrize("df", [0.4, 3.0, 500.0, 1e7, np.inf])
def test_multivariate_t(df):
    """A t density is a normal one of which the covariance has a chi-squared factor; both forms of x and shape."""
    theirs, ours = scipy.stats.multivariate_t, stats.multivariate_t
    loc, x = np.array([0.2, -0.1, 0.5]), RNG.standard_normal((4, 3))
    for args in ((x, loc, SPREAD), (x[0], loc, np.array([1.0, 2.0, 0.5])), (x[0], loc, 2.0), (x[:, 0], 0.3, 2.0)):
        wanted = theirs.logpdf(*args, df)
        tolerance = 1e-12 if df < 1e4 or df == np.inf else 1e-8  # SciPy subtracts large numbers for many degrees
        np.testing.assert_allclose(
            traced(lambda x, a=args: ours.logpdf(x, *a[1:], df), args[0]), wanted, rtol=tolerance
        )
        np.testing.assert_allclose(
            traced(lambda x, a=args: ours(*a[1:], df).pdf(x), args[0]), np.exp(wanted), rtol=1e-7
        )
    if df > 1e4:  # SciPy's values are too coarse for differences
        return
    total = lambda a: np.sum(ours.logpdf(x, loc, a @ a.T + SPREAD, df))  # noqa: E731
    assert_gradient(total, 0.3 * SPREAD)
    assert_second_order(total, 0.3 * SPREAD)
    assert_gradient(lambda m: np.sum(ours.pdf(x, m, SPREAD, df)), loc)
    with pytest.raises(ValueError, match="greater than zero"):
        traced(lambda d: ours.logpdf(x, loc, SPREAD, d), -df)


@pytest.mark.parametrize("df", [0.05, 2.0, 1e4, 1e8, 1e12])
def test_degrees_of_freedom_of_a_multivariate_t(df):
    mpmath = pytest.importorskip("mpmath")
    x, count = np.array([0.7, -0.4, 1.5]), 3

    def exact(df):
        distance, norm = mpmath.mpf(float(x @ np.linalg.solve(SPREAD, x))), mpmath.mpf(float(np.linalg.det(SPREAD)))
        power = (df + count) / 2
        norm = mpmath.loggamma(power) - mpmath.loggamma(df / 2) - mpmath.log((df * mpmath.pi) ** count * norm) / 2
        return norm - power * mpmath.log1p(distance / df)

    with mpmath.workdps(120):
        h = df * mpmath.mpf(10) ** -40
        low, middle, high = (exact(df + k * h) for k in (-1, 0, 1))
        wanted = [float(w) for w in (middle, (high - low) / (2 * h), (high + low - 2 * middle) / h**2)]
    value = lambda df: stats.multivariate_t.logpdf(x, np.zeros(3), SPREAD, df)  # noqa: E731
    found = [te.vjp(value, df)[0], te.grad(value)(df), te.grad(te.grad(value))(df)]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_wishart():
    theirs, ours = scipy.stats.wishart, stats.wishart
    x = np.stack([SPREAD, SPREAD + np.eye(3), 2 * SPREAD], axis=-1)
    forms = [
        (x, 4.5, SPREAD), (SPREAD, 4.5, np.array([1.0, 2.0, 0.5])), (np.array([1.0, 2.0, 0.5]), 2.7, SPREAD),
        (1.3, 2.7, SPREAD), (np.array([1.0, 2.0, 0.5]), 0.7, 2.0), (1.3, 0.7, 2.0), (x[:1, :1], 3.0, [[2.0]]),
    ]  # fmt: skip
    for x, df, scale in forms:
        wanted = theirs.logpdf(x, df, scale)
        found = traced(lambda x, d=df, s=scale: ours.logpdf(x, d, s), x)
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        np.testing.assert_allclose(traced(lambda d, x=x, s=scale: ours(d, s).pdf(x), df), np.exp(wanted), rtol=1e-12)
    x = forms[0][0]
    for f, at in (
        (lambda p: np.sum(ours.logpdf(x, p[0], SPREAD)), [4.5]),
        (lambda a: np.sum(ours.logpdf(x, 4.5, a @ a.T + SPREAD)), 0.3 * SPREAD),
        (lambda a: ours.logpdf(a @ a.T + SPREAD, 4.5, SPREAD), 0.3 * SPREAD),
        (lambda a: np.sum(ours.logpdf(np.stack([a @ a.T, SPREAD], axis=-1), 4.5, SPREAD)), SPREAD),
    ):
        assert_gradient(f, at)
        assert_second_order(f, at)
    for bad in ((SPREAD, 1.5, SPREAD), (SPREAD[:2, :2], 4.5, SPREAD), (SPREAD[:2], 4.5, SPREAD)):
        with pytest.raises(ValueError) as wanted:
            theirs.logpdf(*bad)
        with pytest.raises(ValueError) as found:
            traced(lambda x, b=bad: ours.logpdf(x, *b[1:]), bad[0])
        assert str(found.value) == str(wanted.value)


PROPORTIONS = [
    np.ones((3, 3, 3)) / 3,
    [0.2, 0.3, 0.6],
    [0.2, 0.8, 0.0],
    [0.8, 0.3],
    [[0.2, 0.3], [0.3, 0.3], [0.5, 0.5]],
    [-0.1, 0.6, 0.5],
]


@pytest.mark.parametrize("x", PROPORTIONS)
def test_proportions_that_scipy_refuses(x):
    alpha = np.array([1.0, 2.0, 0.5])
    with pytest.raises(ValueError) as wanted:
        scipy.stats.dirichlet.pdf(x, alpha)
    with pytest.raises(ValueError) as found:
        te.grad(lambda alpha: stats.dirichlet.pdf(x, alpha))(alpha)
    assert str(found.value) == str(wanted.value)


def test_a_singular_covariance():
    cov, x = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[0.5, 0.5], [0.5, 0.6]])
    theirs = scipy.stats.multivariate_normal.logpdf(x, [0.1, 0.1], cov, allow_singular=True)
    ours = traced(lambda x: stats.multivariate_normal.logpdf(x, [0.1, 0.1], cov, allow_singular=True), x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    slope = gradient(lambda m: stats.multivariate_normal.logpdf(x[0], m, cov, allow_singular=True), [0.1, 0.1])
    np.testing.assert_allclose(slope, [0.2, 0.2], rtol=1e-13)
    with pytest.raises(UnsupportedError, match="singular"):
        gradient(lambda c: stats.multivariate_normal.logpdf(x[0], None, c, allow_singular=True), cov)
    full = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert_gradient(lambda c: stats.multivariate_normal.logpdf(x[0], None, (c + c.T) / 2, allow_singular=True), full)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_every_parameter_is_honoured_or_refused(name):
    distribution, shapes = getattr(stats, name), (CONTINUOUS | DISCRETE)[name]
    method = "logpdf" if name in CONTINUOUS else "logpmf"
    for extra, keywords in (((0.0, 1.0, 2.0), {}), ((), {"unknown": 1.0}), ((0.0,), {"loc": 1.0})):
        ours, theirs = getattr(distribution, method), getattr(getattr(scipy.stats, name), method)
        with pytest.raises(TypeError) as error:
            theirs(1.0, *shapes, *extra, **keywords)
        with pytest.raises(TypeError, match=re.escape(str(error.value))):
            traced(ours, 1.0, *shapes, *extra, **keywords)


@pytest.mark.parametrize("method", ["ppf", "isf"])
@pytest.mark.parametrize("name", QUANTILES)
def test_quantiles(name, method):
    ours, theirs, shapes = (
        getattr(getattr(stats, name), method),
        getattr(getattr(scipy.stats, name), method),
        CONTINUOUS[name],
    )
    q = np.array([-0.1, 0.0, 1e-300, 1e-9, 0.2, 0.5, 0.7, 0.9, 1 - 1e-9, 1.0, 1.1, np.nan])
    np.testing.assert_allclose(traced(ours, q, *shapes, 0.2, 1.7), theirs(q, *shapes, 0.2, 1.7), rtol=1e-14)
    assert np.isnan(traced(ours, 0.3, *shapes, 0.2, -1.0))
    point = np.array([0.63, *shapes, 0.1, 1.3])
    assert_gradient(lambda p: ours(p[0], *p[1:]), point)
    assert_second_order(lambda p: ours(p[0], *p[1:]), point)
    probability = {"ppf": "cdf", "isf": "sf"}[method]
    inverse = lambda q: getattr(getattr(stats, name), probability)(ours(q, *shapes), *shapes)  # noqa: E731
    for at in (1e-9, 0.2, 0.5, 0.8):
        np.testing.assert_allclose(te.grad(inverse)(at), 1.0, rtol=1e-12 if at > 1e-3 else 1e-6)


#: Shapes of distributions with a mean and a variance, for which SciPy's code for entropies has no special form.
MOMENTS = CONTINUOUS | {"t": (4.5,), "pareto": (3.2,), "invgamma": (3.3,), "f": (3.5, 6.0)}


WITHOUT = {("skewnorm", "entropy"), ("skewnorm", "median")}


@pytest.mark.parametrize("method", ["mean", "var", "std", "entropy", "median"])
@pytest.mark.parametrize("name", MOMENTS)
def test_functions_of_the_parameters(name, method):
    shapes, ours, theirs = MOMENTS[name], getattr(stats, name), getattr(scipy.stats, name)
    if (name, method) in WITHOUT or (name == "vonmises" and method != "entropy"):
        with pytest.raises(UnsupportedError):
            te.grad(getattr(ours, method))(*shapes)
        return
    for args in ((*shapes, 0.2, 1.7), (*[np.array([shape, 1.01 * shape]) for shape in shapes], 0.2, 1.7)):
        wanted = getattr(theirs, method)(*args)
        found = traced(getattr(ours, method), *args)
        assert (type(found), np.shape(found)) == (type(wanted), np.shape(wanted))
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        np.testing.assert_array_equal(traced(lambda *args: getattr(ours(*args), method)(), *args), found)
    assert np.isnan(traced(getattr(ours, method), *shapes, 0.2, -1.7))
    if np.isfinite(getattr(theirs, method)(*shapes)):
        point = np.array([*shapes, 0.1, 1.3])
        assert_gradient(lambda p: getattr(ours, method)(*p), point)
        assert_second_order(lambda p: getattr(ours, method)(*p), point)


@pytest.mark.parametrize("name", QUANTILES)
def test_intervals(name):
    args = (0.8, *CONTINUOUS[name], 0.2, 1.7)
    found = traced(getattr(stats, name).interval, *args)
    np.testing.assert_allclose(found, getattr(scipy.stats, name).interval(*args), rtol=1e-12)
    assert_gradient(lambda p: getattr(stats, name).interval(*p)[1], np.array(args))


@pytest.mark.parametrize(
    ("name", "method", "at", "first", "second"),
    [
        ("gamma", "logsf", (700.0, 1.0), -1.0, 0.0),
        ("gamma", "logsf", (370.0, 1.0), -1.0, 0.0),
        ("chi2", "logsf", (1400.0, 2.0), -0.5, 0.0),
        ("t", "logcdf", (-1e10, 30.0), 3e-9, 3e-19),
        ("t", "logsf", (1e10, 30.0), -3e-9, 3e-19),
        ("beta", "logsf", (1 - 2.0**-40, 1.0, 20.0), -20 * 2.0**40, -20 * 2.0**80),
        ("gamma", "logcdf", (1e-9, 20.0), 2e10, -2e19),
    ],
)
def test_logarithms_of_probabilities_whose_squares_are_not_representable(name, method, at, first, second):
    """The tails of these are exponentials and powers."""
    function = lambda x: getattr(getattr(stats, name), method)(x, *at[1:])  # noqa: E731
    for x in (at[0], np.array([at[0]])):
        slope = lambda x: np.sum(te.vjp(function, x)[1](np.ones(np.shape(x))[()])[0])  # noqa: E731
        np.testing.assert_allclose(gradient(lambda x: np.sum(function(x)), x), np.full(np.shape(x), first), rtol=1e-8)
        found = gradient(slope, x)
        np.testing.assert_allclose(found, np.full(np.shape(x), second), rtol=1e-6, atol=1e-10 * (second == 0.0))
        np.testing.assert_allclose(
            te.jvp(slope, (x,), (np.ones(np.shape(x))[()],))[1], np.sum(found), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_standard_functions_of_scipy(name):
    """Methods with an underscore, without location and scale, have SciPy's bits on plain values."""
    ours, theirs, shapes = getattr(stats, name), getattr(scipy.stats, name), (CONTINUOUS | DISCRETE)[name]
    methods = ("_logpmf", "_pmf") if name in DISCRETE else ("_logpdf", "_pdf", "_cdf", "_sf", "_logsf")
    methods = methods[:2] if name in (*DENSITIES, "skewnorm") else methods  # SciPy's others are for arrays of it only
    at = 1.0 if name in DISCRETE else {"beta": 0.6, "uniform": 0.6, "weibull_max": -0.6}.get(name, 1.7)
    for method in methods:
        wanted = getattr(theirs, method)(at, *shapes)
        assert getattr(ours, method)(at, *shapes) == wanted
        assert traced(getattr(ours, method), at, *map(float, shapes)) == pytest.approx(wanted, rel=1e-12)
    if shapes:
        assert_gradient(lambda p: getattr(ours, methods[1])(at, *shapes[:-1], p[0]), [shapes[-1]])


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_what_is_not_differentiated_is_scipys(name):
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    shapes = (CONTINUOUS | DISCRETE)[name]
    for method in ("ppf", "sf", "isf", "logsf"):
        assert getattr(ours, method)(0.3, *shapes) == getattr(theirs, method)(0.3, *shapes)
        assert getattr(ours(*shapes), method)(0.3) == getattr(theirs(*shapes), method)(0.3)
        differentiated = name in QUANTILES if method in ("ppf", "isf") else name in {*CONTINUOUS} - {*DENSITIES}
        if differentiated:
            continue
        with pytest.raises(UnsupportedError, match="not differentiated"):
            te.grad(lambda x, m=method: getattr(ours, m)(x, *shapes))(0.3)
    assert ours.rvs(*shapes, random_state=3) == theirs.rvs(*shapes, random_state=3)


@pytest.mark.parametrize("name", stats.__all__)
def test_a_distribution_is_pickled_and_copied_by_its_name(name):
    distribution = getattr(stats, name)
    assert pickle.loads(pickle.dumps(distribution)) is copy.deepcopy(distribution) is distribution


SHAPES = {
    **{name: ((),) for name, shapes in CONTINUOUS.items() if not shapes},
    **dict.fromkeys(("t", "gamma", "chi2", "lognorm", "weibull_min", "pareto"), ((0.9,), (2.5,), (12.0,))),
    **dict.fromkeys(("invgamma", "weibull_max"), ((0.9,), (2.5,), (12.0,))),
    "genextreme": ((0.0,), (0.4,), (-0.9,), (5.0,), (-12.0,)),
    "skewnorm": ((0.0,), (0.4,), (-0.9,), (5.0,)),
    "vonmises": ((0.0,), (0.9,), (12.0,), (700.0,)),
    **dict.fromkeys(("beta", "f"), ((0.7, 1.5), (2.5, 0.9), (12.0, 3.0))),
}
#: Ties with the location, values around it, and tails.
SPECIAL = (0.0, -0.0, 0.3, 1e-9, -1e-9, 1.0, -1.0, 5.0, -5.0, 1e5, -1e5, 1e200, -1e200, 1e300, -1e300, np.inf, -np.inf)


@pytest.mark.parametrize(("name", "method"), [(name, method) for name in SHAPES for method in methods_of(name)])
def test_derivatives_at_ties_and_in_tails(name, method):
    ours, theirs = getattr(getattr(stats, name), method), getattr(getattr(scipy.stats, name), method)
    for shapes, (loc, scale), x in itertools.product(SHAPES[name], ((0.0, 1.0), (0.3, 2.0)), SPECIAL):
        args = (x, *shapes, loc, scale)
        with np.errstate(all="ignore"):
            value = theirs(*args)
        if not np.isfinite(value):
            continue
        for k in range(len(args)):
            try:
                found = te.grad(ours, k)(*args)
            except te.errors.UnsupportedError:
                continue
            at_the_end = x == loc and shapes and name not in ("t", "lognorm")  # where densities may be infinite
            assert at_the_end or not np.isnan(found), (args, k)
            if abs(x) > 10.0 or np.isnan(found):
                continue
            around = [[*args[:k], args[k] + h, *args[k + 1 :]] for h in (1e-6, -1e-6)]
            with np.errstate(all="ignore"):
                right, left = (theirs(*around[0]) - value) / 1e-6, (value - theirs(*around[1])) / 1e-6
            if abs(right - left) < 1e-4 * max(abs(right), 1e-3):
                assert found == pytest.approx((right + left) / 2, rel=1e-3, abs=1e-6 + 4e-10 * abs(value)), (args, k)


#: A density at an end of its range, its first derivative there, and its second.
ENDS = {
    "binom 1 of 5 at 0": (lambda p: stats.binom.pmf(1, 5, p), 0.0, 5.0, -40.0),
    "binom 4 of 5 at 1": (lambda p: stats.binom.pmf(4, 5, p), 1.0, -5.0, -40.0),
    "binom 0 of 5 at 0": (lambda p: stats.binom.pmf(0, 5, p), 0.0, -5.0, 20.0),
    "binom 2 of 5 at 0": (lambda p: stats.binom.pmf(2, 5, p), 0.0, 0.0, 20.0),
    "all of binom": (lambda p: np.sum(stats.binom.pmf([0, 1, 2, 3, 4, 5], 5, p)), 0.0, 0.0, 0.0),
    "poisson": (lambda m: stats.poisson.pmf(1, m), 0.0, 1.0, -2.0),
    "poisson 2": (lambda m: stats.poisson.pmf(2, m), 0.0, 0.0, 1.0),
    "geom": (lambda p: stats.geom.pmf(2, p), 1.0, -1.0, -2.0),
    "nbinom": (lambda p: stats.nbinom.pmf(1, 3, p), 1.0, -3.0, -18.0),
    "gamma 2": (lambda x: stats.gamma.pdf(x, 2.0), 0.0, 1.0, -2.0),
    "gamma 3": (lambda x: stats.gamma.pdf(x, 3.0), 0.0, 0.0, 1.0),
    "beta at 0": (lambda x: stats.beta.pdf(x, 2.0, 3.0), 0.0, 12.0, -48.0),
    "beta at 1": (lambda x: stats.beta.pdf(x, 3.0, 2.0), 1.0, -12.0, -48.0),
    "chi2": (lambda x: stats.chi2.pdf(x, 4.0), 0.0, 0.25, -0.25),
    "weibull_min": (lambda x: stats.weibull_min.pdf(x, 2.0), 0.0, 2.0, 0.0),
}


@pytest.mark.parametrize("name", ENDS)
def test_derivatives_of_densities_at_the_ends_of_their_ranges(name):
    function, x, first, second = ENDS[name]
    assert te.value_and_grad(function)(x)[0] == function(x)
    assert te.grad(function)(x) == pytest.approx(first, abs=1e-13)
    assert te.jvp(function, (x,), (1.0,))[1] == pytest.approx(first, abs=1e-13)
    assert te.hvp(function, (x,), (1.0,)) == pytest.approx(second, abs=1e-12)


INFINITE = {
    "weibull_min": (0.5,),
    "weibull_max": (0.5,),
    "gamma": (0.5,),
    "chi2": (1.0,),
    "beta": (0.5, 0.7),
    "f": (1, 2),
}


@pytest.mark.parametrize("name", INFINITE)
@pytest.mark.parametrize("method", ["cdf", "sf"])
def test_the_scale_has_no_influence_at_an_end_with_an_infinite_density(name, method):
    def probability(scale, loc):
        return getattr(getattr(stats, name), method)(loc, *map(float, INFINITE[name]), loc=loc, scale=scale)

    for loc in (0.0, 1.5):
        assert te.grad(probability)(1.3, loc) == 0.0 == te.jvp(probability, (1.3, loc), (1.0, 0.0))[1]
