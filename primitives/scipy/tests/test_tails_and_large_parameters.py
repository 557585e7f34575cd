"""Distributions where differences cancel: logarithms of probabilities near 1, and masses with large parameters."""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.stats

import tapeengine as te
from tapeengine_scipy import stats

SHAPES = {
    **dict.fromkeys(
        "norm expon laplace cauchy uniform logistic gumbel_r gumbel_l halfnorm".split(), ((),)
    ),
    **dict.fromkeys(("t", "gamma", "chi2", "lognorm", "weibull_min", "pareto"), ((0.7,), (4.5,), (30.0,))),
    "beta": ((0.7, 1.5), (2.5, 0.9), (3.0, 1e9)),
}  # fmt: skip
PROBABILITIES = np.array([0.5, 0.49, 0.1, 1e-3, 1e-8, 1e-12, 1e-17, 1e-40, 1e-150, 1e-280])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ["logcdf", "logsf"])
@pytest.mark.parametrize("name", SHAPES)
def test_logarithms_of_probabilities_in_both_tails(name, method):
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    for shapes in SHAPES[name]:
        x = np.concatenate([theirs.ppf(PROBABILITIES, *shapes), theirs.isf(PROBABILITIES, *shapes)])
        wanted = getattr(theirs, method)(x, *shapes)
        kept = np.isfinite(wanted) & (wanted != 0.0) & np.isfinite(theirs.logpdf(x, *shapes))
        assert np.sum(kept) > 10
        x, wanted = x[kept], wanted[kept]
        value, pull = te.vjp(lambda x, shapes=shapes: getattr(ours, method)(x, *shapes), x)
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        sign = 1.0 if method == "logcdf" else -1.0
        slope = sign * np.exp(theirs.logpdf(x, *shapes) - wanted)
        known = slope != 0.0
        np.testing.assert_allclose(pull(np.ones(x.shape))[0][known], slope[known], rtol=1e-9)


#: Numbers of trials from few to the last integers that floats hold; the mean number of events is 0.5 or 3, or n/3.
TRIALS = (7.0, 1e3, 1e6, 1e9, 1e12, 1e15)
EVENTS = (0.0, 1.0, 2.0, 5.0)
CASES = {
    "binom": [
        *((k, n, m / n) for n, m, k in itertools.product(TRIALS, (0.5, 3.0), EVENTS)),
        *((np.floor(n / 3) + 1.0, n, 0.3) for n in TRIALS[:3]),
    ],
    "nbinom": [
        *((k, n, n / (n + m)) for n, m, k in itertools.product((0.3, *TRIALS), (0.5, 3.0), EVENTS)),
        *((np.floor(n / 3) + 1.0, n, 0.7) for n in TRIALS[:3]),
    ],
    "geom": [(k, p) for k, p in itertools.product((1.0, 2.0, 7.0), (0.3, 1e-9))] + [(1e6, 1e-6), (1e9, 1e-9)],
    "bernoulli": [(k, p) for k, p in itertools.product((0.0, 1.0), (1e-300, 1e-9, 0.3, 1 - 1e-9))],
    "poisson": [(k, m) for k, m in itertools.product((0.0, 1.0, 7.0, 1e3), (1e-9, 0.3, 20.0, 1e3))],
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ["pmf", "logpmf"])
@pytest.mark.parametrize("name", CASES)
def test_masses_have_scipys_bits(name, method):
    ours, theirs = getattr(getattr(stats, name), method), getattr(getattr(scipy.stats, name), method)
    args = [np.array(column) for column in zip(*CASES[name], strict=True)]
    found = te.vjp(lambda p: ours(*args[:-1], p), args[-1])[0]
    np.testing.assert_array_equal(found, theirs(*args))


def exact_mass(name):
    """The logarithm of the mass, its slope and its second derivative in the last parameter, from mpmath's numbers."""
    mp = pytest.importorskip("mpmath")

    def subsets(n, k):
        return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)

    def powers(successes, failures, p):
        q = 1 - p
        logarithm = sum(count * mp.log(base) for count, base in ((successes, p), (failures, q)) if count)
        return logarithm, successes / p - failures / q, -successes / p**2 - failures / q**2

    def poisson(k, m):
        return k * mp.log(m) - m - mp.loggamma(k + 1), k / m - 1, -k / m**2

    def binom(k, n, p):
        logarithm, first, second = powers(k, n - k, p)
        return logarithm + subsets(n, k), first, second

    def nbinom(k, n, p):
        logarithm, first, second = powers(n, k, p)
        return logarithm + subsets(n + k - 1, k), first, second

    geom, bernoulli = (lambda k, p: powers(mp.mpf(1), k - 1, p)), (lambda k, p: powers(k, 1 - k, p))
    function = {"poisson": poisson, "binom": binom, "nbinom": nbinom, "geom": geom, "bernoulli": bernoulli}[name]

    def derivatives(*args):
        with mp.workdps(60):
            logarithm, first, second = function(*(mp.mpf(float(x)) for x in args))
            mass = mp.exp(logarithm)
            return [float(x) for x in (first, second, mass * first, mass * (first**2 + second))], float(mass)

    return derivatives


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives_of_masses(name):
    exact = exact_mass(name)
    for *fixed, p in CASES[name]:
        (first, second, slope, bend), mass = exact(*fixed, p)
        terms = abs(first) + 1.0 / p + fixed[0] / p  # of which the slope is the sum
        for method, wanted, scale in (("logpmf", (first, second), 1.0), ("pmf", (slope, bend), mass)):
            function = getattr(getattr(stats, name), method)
            gradient = te.grad(partial(function, *fixed))
            rounding = 1e-15 * scale * terms
            assert gradient(p) == pytest.approx(wanted[0], rel=1e-10, abs=rounding), (fixed, p, method)
            bound = max(rounding * terms, np.finfo(float).tiny)
            if np.isfinite(wanted[1]):
                assert te.grad(gradient)(p) == pytest.approx(wanted[1], rel=1e-10, abs=bound), (fixed, p, method)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", [3.0, 2000.0, 1e15])
def test_masses_at_the_ends_of_a_probability_with_many_trials(n):
    for at, flip in ((0.0, lambda k: k), (1.0, lambda k: n - k)):
        sign = 1.0 - 2.0 * at
        for k, wanted in ((0.0, -n), (1.0, n), (2.0, 0.0), (np.floor(n / 2) + 1, 0.0)):
            value, slope = te.value_and_grad(partial(stats.binom.pmf, flip(k), n))(at)
            assert value == (k == 0.0)
            assert slope == pytest.approx(sign * wanted, rel=1e-10)
