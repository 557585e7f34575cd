import contextlib
import copy

import numpy as np
import pytest
import scipy.special
from differences import assert_gradient, assert_second_order, gradient

import tapeengine as te
from tapeengine.errors import TapeEngineError, UnsupportedError
from tapeengine_scipy import special
from tapeengine_scipy.special.errorfunctions import erfcx_integral


def test_scipys_own_ufuncs_take_traced_values():
    assert te.grad(lambda x: scipy.special.gammaln(x))(2.5) == pytest.approx(scipy.special.psi(2.5))
    np.testing.assert_allclose(
        gradient(lambda x: np.sum(scipy.special.erf(x)), [0.3, -1.0]), 2 / np.sqrt(np.pi) * np.exp([-0.09, -1.0])
    )


@pytest.mark.parametrize("name", special.__all__)
def test_plain_values_are_scipys(name):
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    x = np.array([0.2, 0.5, 0.9])
    arguments = {
        "multigammaln": (x + 3, 3), "polygamma": (2, x), "yn": (2, x), "expn": (2, x), "zeta": (x + 1.5, x),
        "hyp2f1": (0.5, 1.5, 2.5, x), "betainc": (1.5, 0.7, x), "eval_gegenbauer": (2, 0.5, x),
        "eval_genlaguerre": (2, 0.5, x), "eval_jacobi": (2, 0.5, 0.3, x),
        "eval_hermite": (2, x), "eval_hermitenorm": (2, x), "diric": (x, 3), "ivp": (2, x), "jvp": (2, x),
        "kvp": (2, x), "yvp": (2, x), "kn": (2, x), "h1vp": (2, x), "h2vp": (2, x), "assoc_laguerre": (x, 3, 1.5),
        "comb": (5 + x, 3 * x), "perm": (5 + x, 3 * x), **{f"spherical_{kind}n": (2, x) for kind in "ijky"},
    }.get(name)  # fmt: skip
    if arguments is None:
        count = theirs.nin if isinstance(theirs, np.ufunc) else 1
        arguments = (x,) * count
    np.testing.assert_array_equal(ours(*arguments), theirs(*arguments))


def test_reductions_have_scipys_signatures():
    a, b = np.array([[0.5, -1.0], [2.0, 0.1]]), np.array([[1.0, -2.0], [0.5, 1.0]])
    for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": (0, 1)}):
        np.testing.assert_allclose(special.logsumexp(a, **options), scipy.special.logsumexp(a, **options))
        ours, theirs = (f(a, b=b, return_sign=True, **options) for f in (special.logsumexp, scipy.special.logsumexp))
        np.testing.assert_allclose(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
    assert np.isnan(special.logsumexp(np.array([0.0, 1.0]), b=np.array([1.0, -1.0])))


def test_logsumexp_of_nothing_but_minus_infinity_has_a_zero_derivative():
    np.testing.assert_array_equal(gradient(lambda a: special.logsumexp(a), [-np.inf, -np.inf]), [0.0, 0.0])


@pytest.mark.parametrize("large", [2.0, 1000.0, np.inf])
def test_logsumexp_leaves_out_what_has_no_weight(large):
    x, b = np.array([large, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    value, ct = te.value_and_grad(lambda x: special.logsumexp(x, b=b))(x)
    assert value == scipy.special.logsumexp(x, b=b)
    np.testing.assert_allclose(ct, [0.0, *scipy.special.softmax(x[1:])])
    assert te.jvp(lambda x: special.logsumexp(x, b=b), (x,), (np.ones(3),))[1] == pytest.approx(1.0)


def test_logsumexp_with_weights():
    b = np.array([1.0, -0.3, 2.0])
    assert_gradient(lambda a: special.logsumexp(a, b=b), [0.1, 0.5, -0.2])
    assert_second_order(lambda b: special.logsumexp(np.array([0.1, 0.5, -0.2]), b=b), b)


@pytest.mark.parametrize("a", [0.05, 0.7, 3.0, 40.0, 900.0])
@pytest.mark.parametrize("ratio", [0.3, 0.95, 1.0, 1.2, 3.0])
def test_gammainc_in_its_parameter(a, ratio):
    x = a * ratio
    h = 2e-2 * a / (1 + np.sqrt(a))
    assert_gradient(lambda p: special.gammainc(p[0], x), [a], rtol=2e-8, h=h)


@pytest.mark.parametrize("a", [0.3, 2.0, 50.0])
@pytest.mark.parametrize("b", [0.3, 2.0, 50.0])
def test_betainc_in_its_parameters(a, b):
    for x in (0.02, a / (a + b), 0.6, 0.97):
        assert_gradient(lambda p, x=x: special.betainc(p[0], p[1], x), [a, b], rtol=2e-8, h=2e-3)


@pytest.mark.parametrize("name", [name for name in special.__all__ if name.startswith("eval_")])
def test_polynomials_of_degree_0_are_constant(name):
    parameters = (0.5,) * (getattr(scipy.special, name).nin - 2)
    np.testing.assert_array_equal(
        gradient(lambda x: np.sum(getattr(special, name)(0, *parameters, x)), [-1.0, 0.0, 1.0]), np.zeros(3)
    )


def series_of_gammainc(mpmath, a, x):
    return x**a / mpmath.gamma(a) * mpmath.fsum((-x) ** n / mpmath.factorial(n) / (a + n) for n in range(60))


def series_of_betainc(mpmath, a, b, x):
    if x > 0.5:
        return 1 - series_of_betainc(mpmath, b, a, 1 - x)
    factor, total = mpmath.mpf(1), 1 / a
    for n in range(1, 120):
        factor *= (n - b) / n * x
        total += factor / (a + n)
    return x**a / mpmath.beta(a, b) * total


def slopes(mpmath, function, numbers, count):
    """First and second derivatives, each in one parameter, relative to which the steps are small."""
    for place in range(count):
        h = numbers[place] * mpmath.mpf(10) ** -15
        low, middle, high = (function(*(v + k * h * (i == place) for i, v in enumerate(numbers))) for k in (-1, 0, 1))
        yield (high - low) / (2 * h), (high + low - 2 * middle) / h**2


TINY_PARAMETERS = (1e-100, 1e-8, 1e-5, 1e-3, 0.1, 0.7)


@pytest.mark.parametrize("a", TINY_PARAMETERS)
@pytest.mark.parametrize("x", [1e-100, 1e-8, 1e-3, 0.3, 0.8, 1.5])
def test_incomplete_functions_of_small_parameters(a, x):
    """The moments, which give the slopes elsewhere, cancel there."""
    mpmath = pytest.importorskip("mpmath")
    slope, digits = te.grad(special.gammainc), 340 if a < 1e-50 else 80
    with mpmath.workdps(digits):
        ((first, second),) = slopes(
            mpmath, lambda a, x: series_of_gammainc(mpmath, a, x), (mpmath.mpf(a), mpmath.mpf(x)), 1
        )
    np.testing.assert_allclose([slope(a, x), te.grad(slope)(a, x)], [float(first), float(second)], rtol=1e-11)
    assert te.grad(special.gammaincc)(a, x) == -slope(a, x)
    for b in TINY_PARAMETERS[1:] if x < 1 else ():
        with mpmath.workdps(digits):
            found = list(
                slopes(
                    mpmath, lambda *v: series_of_betainc(mpmath, *v), (mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)), 2
                )
            )
        gradient = te.grad(special.betainc, argnums=(0, 1))(a, b, x)
        np.testing.assert_allclose(gradient, [float(first) for first, _ in found], rtol=1e-10)
        if min(a, b) >= 1e-3:
            bends = [te.grad(te.grad(special.betainc, argnums=k), argnums=k)(a, b, x) for k in (0, 1)]
            np.testing.assert_allclose(bends, [float(second) for _, second in found], rtol=1e-8)


@pytest.mark.parametrize("v", [0.5, 1.5, 7.0])
def test_hyp0f1_is_a_bessel_function(v):
    for z in (0.3, 2.0, 30.0):
        bessel = lambda z: scipy.special.gamma(v) * np.sqrt(z) ** (1 - v) * special.iv(v - 1, 2 * np.sqrt(z))  # noqa: E731
        assert te.grad(lambda z: special.hyp0f1(v, z))(z) == pytest.approx(te.grad(bessel)(z), rel=1e-12)


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 2])
def test_lambertw_on_all_branches(k):
    for z in (0.5, -0.2, -1.0, 2.0):
        assert_gradient(lambda z: np.sum(special.lambertw(z, k).real + 2 * special.lambertw(z, k).imag), [z], h=1e-3)
    for z in (1 + 2j, -0.1 - 0.3j):
        value, backpropagator = te.vjp(lambda z: special.lambertw(z, k), z)
        assert value == scipy.special.lambertw(z, k)
        assert value * np.exp(value) == pytest.approx(z)
        assert backpropagator(1 + 0j)[0] == pytest.approx(1 / (np.exp(value) * (1 + value)))


def test_values_that_mpmath_computed():
    # d^n/da^n of the regularised lower incomplete gamma function, to 17 digits
    first = te.grad(lambda a: special.gammainc(a, 0.05))
    assert first(0.05) == pytest.approx(-2.2433301202331046, rel=1e-12)
    assert te.grad(first)(0.05) == pytest.approx(4.4264343244484898, rel=1e-11)


def test_second_derivatives_of_the_incomplete_functions():
    assert_second_order(lambda p: special.gammainc(p[0], p[1]), [1.7, 1.2])
    assert_second_order(lambda p: special.betainc(p[0], p[1], p[2]), [1.7, 0.8, 0.4])
    assert_second_order(lambda p: special.kv(p[0], p[1]), [1.7, 1.2])
    assert_second_order(lambda p: special.zeta(p[0], p[1]), [2.7, 1.2])


def test_removable_singularities():
    assert te.grad(special.ellipk)(0.0) == pytest.approx(np.pi / 8)
    assert te.grad(special.ellipe)(0.0) == pytest.approx(-np.pi / 8)
    assert te.grad(special.spence)(1.0) == pytest.approx(-1.0)
    assert te.grad(te.grad(special.spence))(1.0) == pytest.approx(0.5)
    assert te.grad(special.j1)(0.0) == pytest.approx(0.5)
    assert te.grad(special.sinc)(0.0) == 0.0
    assert te.grad(special.rgamma)(-2.0) == pytest.approx(2.0)
    assert te.grad(special.rgamma)(-3.0) == pytest.approx(-6.0)


def test_factors_that_are_zero_leave_no_infinite_slope():
    """Beside a factor 0, the density or the next series is infinite."""
    assert te.grad(special.gdtr, (0, 1, 2))(1.3, 0.5, 0.0) == (0.0, 0.0, np.inf)
    assert te.grad(special.gdtrc, (0, 2))(0.0, 0.5, 1.3) == (-np.inf, 0.0)
    assert te.grad(lambda z: special.hyp2f1(0.0, 1.0, 2.0, z))(1.5) == 0.0
    assert te.grad(lambda z: special.hyp1f1(0.0, 1.0, z))(800.0) == 0.0


@pytest.mark.parametrize("x", [0.3, 1.0, 1.9])
def test_gammainc_at_the_parameter_0(x):
    first = te.grad(special.gammainc)
    assert first(0.0, x) == pytest.approx(-scipy.special.exp1(x), rel=1e-13)
    assert te.grad(first)(0.0, x) == pytest.approx((first(1e-5, x) - first(0.0, x)) / 1e-5, rel=1e-4)


@pytest.mark.parametrize("kind", ["jn", "in"])
def test_spherical_functions_at_0(kind):
    """From j_n = x^n/(2n+1)!! (1 - x^2/(2 (2n+3)) + ...), and i_n with the other signs."""
    f, sign = getattr(special, f"spherical_{kind}"), {"jn": -1.0, "in": 1.0}[kind]
    assert [te.grad(lambda x, n=n: f(n, x))(0.0) for n in (0, 1, 2)] == pytest.approx([0.0, 1 / 3, 0.0])
    assert [te.grad(te.grad(lambda x, n=n: f(n, x)))(0.0) for n in (0, 1, 2)] == pytest.approx([sign / 3, 0, 2 / 15])


def test_zero_cotangents_stay_zero_where_partials_are_infinite():
    for function in (special.entr, special.logit, special.digamma):
        _value, backpropagator = te.vjp(lambda x, f=function: f(x), np.array([0.0, 0.5]))
        assert backpropagator(np.array([0.0, 1.0]))[0][0] == 0.0


def test_orders_without_a_rule_are_refused():
    for function in (special.jv, special.yv, special.iv, special.ive):
        with pytest.raises(UnsupportedError, match="its argument 'v': the parameter v"):
            te.grad(lambda v, f=function: f(v, 1.0))(0.5)


def test_complex_arguments():
    z, step = np.array([0.7 + 0.4j]), 1e-6
    for function in (special.gamma, special.loggamma, special.rgamma, special.erf, special.exp1, special.spence):
        ct = te.vjp(function, z)[1](np.array([1.0 + 0j]))[0]
        np.testing.assert_allclose(ct, (function(z + step) - function(z - step)) / (2 * step), rtol=1e-8)


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match="non-negative integer"):
        special.polygamma(0.5, 1.0)
    with pytest.raises(ValueError, match="not met"):
        special.multigammaln(0.2, 3)


def test_lists_of_traced_numbers():
    assert te.grad(lambda a: special.logsumexp([a, 2 * a, 1.0]))(0.3) == pytest.approx(
        np.dot([1, 2, 0], scipy.special.softmax([0.3, 0.6, 1.0]))
    )
    assert te.grad(lambda a: special.softmax([a, 0.0])[0])(0.0) == pytest.approx(0.25)


@pytest.mark.parametrize("a", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_incomplete_functions_at_the_ends_of_their_range(a):
    """The slope of a density x^(a-1) ... at an end is infinite, a number or zero."""
    bend = -1.0 if a == 1.0 else {0.5: -np.inf, 1.5: np.inf, 2.0: 1.0, 3.0: 0.0}[a]
    assert te.grad(te.grad(lambda x: special.gammainc(a, x)))(0.0) == bend
    assert te.grad(te.grad(lambda x: special.gammaincc(a, x)))(0.0) == -bend
    norm = scipy.special.beta(a, 1.5)
    bend = -0.5 / norm if a == 1.0 else bend if a != 2.0 else 1.0 / norm
    np.testing.assert_allclose(te.grad(te.grad(lambda x: special.betainc(a, 1.5, x)))(0.0), bend, rtol=1e-14)
    np.testing.assert_allclose(te.grad(te.grad(lambda x: special.betainc(1.5, a, x)))(1.0), -bend, rtol=1e-14)
    assert np.all(np.asarray(te.hessian(lambda x: special.gammainc(x[0], x[1]))(np.array([a, np.inf]))) == 0.0)


SMALL = [1e-300, 1e-160, 1e-8, 0.1, 0.6, 1.0, 30.0]


@pytest.mark.parametrize("a", SMALL)
@pytest.mark.parametrize("b", [1e-300, 1e-20, 1e-5, 0.3, 1.0, 40.0])
def test_mixed_derivatives_of_beta_at_extreme_parameters(a, b):
    """Compared with up to 1300 digits: the terms of the textbook formula cancel completely there."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(int(100 - 2 * np.log10(min(a, 1.0) * min(b, 1.0) + 1e-300) - 2 * np.log10(min(a, b, 1.0)))):
        x, y = mpmath.mpf(a), mpmath.mpf(b)
        psi = [mpmath.psi(0, z) for z in (x, y, x + y)]
        wanted = float(mpmath.beta(x, y) * ((psi[0] - psi[2]) * (psi[1] - psi[2]) - mpmath.psi(1, x + y)))
    found = te.grad(lambda b: te.grad(lambda a: special.beta(a, b))(a))(b)
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


EXTREMES = [0.0, 1e-300, 1.0, 1e300, np.inf, -1.0, np.nan]


@pytest.mark.parametrize("name", [n for n in special.__all__ if isinstance(getattr(scipy.special, n), np.ufunc)])
def test_no_raw_errors_at_extreme_arguments(name):
    """Numbers for which Python's division raises give a derivative, an infinity, NaN, or an error of the engine."""
    function, count = getattr(special, name), getattr(scipy.special, name).nin
    whole = name in ("jn", "yn", "expn", "eval_hermite", "eval_hermitenorm")
    for place in range(whole, count):
        for x in EXTREMES:
            args = [2 if whole and k == 0 else 0.7 for k in range(count)]
            args[place] = x

            def at(v, args=args, place=place):
                return function(*args[:place], v, *args[place + 1 :])

            with contextlib.suppress(TapeEngineError), np.errstate(all="ignore"):
                te.jvp(te.grad(at), (x,), (1.0,))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("v", [-30.0, 0.0, 1e-6, 3.2, 60.0])
def test_kv_in_its_order_by_mpmath(v, order):
    mpmath = pytest.importorskip("mpmath")
    z = np.array([1e-3, 0.5, 30.0, 600.0])
    slope = te.grad(lambda v: np.sum(special.kv(v, z) * weights))
    with mpmath.workdps(40):
        wanted = [float(mpmath.diff(lambda w, x=x: mpmath.besselk(w, x), v, order)) for x in z]
    for k in range(len(z)):
        weights = np.arange(len(z)) == k
        found = slope(v) if order == 1 else te.grad(slope)(v)
        assert found == pytest.approx(wanted[k], rel=1e-10, abs=1e-300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", [0, 0.4, 0.99, 1.5, 2.7])
def test_orders_that_are_cut_to_integers(n):
    for function in (special.expn, special.yn):
        found = te.grad(lambda x, f=function: f(n, x))(1.3)
        assert found == pytest.approx(te.grad(lambda x, f=function: f(int(n), x))(1.3), rel=1e-14)


def scaled_integral(mpmath, x, n):
    """exp(x^2) times the n-th repeated integral of erfc, by quadrature (DLMF 7.18.2)."""
    x = mpmath.mpf(x)
    value = mpmath.quad(lambda s: s**n / mpmath.factorial(n) * mpmath.exp(-s * (s + 2 * x)), [0, 1, 4, 30])
    return 2 / mpmath.sqrt(mpmath.pi) * value


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("edge", [1.5, 3.0])
def test_repeated_integrals_of_erfc_keep_their_digits_where_the_method_changes(edge, order):
    mpmath = pytest.importorskip("mpmath")
    points = np.array([edge - 0.1, np.nextafter(edge, 0), edge, np.nextafter(edge, 4), edge + 0.1])
    with mpmath.workdps(40):
        expected = [float(scaled_integral(mpmath, x, order)) for x in points]
    np.testing.assert_allclose(erfcx_integral(points, order=order), expected, rtol=2e-12)


NUMBERS = [(1.3, 0.4, 0.6, 0.2), (1, 0.4, 0.6, 0.2), (2, 1, 0.5, 0.2), (0.4, 0.3, 0.7, 0.2)]


def known_of_one_argument_or_more():
    """Yield functions of ours with SciPy's of the same name, and arguments that SciPy takes."""
    for name in sorted(set(dir(special)) & set(dir(scipy.special))):
        ours, theirs = getattr(special, name), getattr(scipy.special, name)
        if ours is theirs or not callable(theirs) or isinstance(ours, type):
            continue
        for numbers in NUMBERS:
            count = getattr(theirs, "nin", None) or 2
            yield name, ours, theirs, numbers[:count]


@pytest.mark.parametrize("kind", [float, np.float64, np.array, lambda x: np.array([x])])
@pytest.mark.filterwarnings("ignore")
def test_values_have_the_classes_of_scipy(kind):
    tried = set()
    for name, ours, theirs, numbers in known_of_one_argument_or_more():
        given = (*numbers[:-1], kind(numbers[-1]))
        try:
            expected = theirs(*given)
            found = te.vjp(lambda x: ours(*given[:-1], x), given[-1])[0]  # noqa: B023
        except Exception:  # SciPy's errors, and functions without a rule
            continue
        tried.add(name)
        assert type(found) is type(expected), (name, given)
        for ours, theirs in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
            assert np.shape(ours) == np.shape(theirs), (name, given)
    assert len(tried) > 60


def test_records_have_the_attributes_of_ufuncs():
    """Decorators and wrappers read names; lists of functions are sorted by their numbers of arguments."""
    for name in dir(special):
        ours, theirs = getattr(special, name), getattr(scipy.special, name, None)
        if isinstance(theirs, np.ufunc):
            assert ours.__name__ == theirs.__name__
            assert (ours.nin, ours.nout, ours.types) == (theirs.nin, theirs.nout, theirs.types)
            assert copy.deepcopy(ours).nin == theirs.nin
    with pytest.raises(AttributeError):
        special.erf.nonsense  # noqa: B018
