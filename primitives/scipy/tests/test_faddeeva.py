"""The Faddeeva function, Dawson's integral and the Voigt profile, with two derivatives, against mpmath in 60 digits."""

import itertools

import numpy as np
import pytest

import tapeengine as te
from tapeengine_scipy import special

mpmath = pytest.importorskip("mpmath")

#: Moduli on both sides of where the series begins, and tails; small and large distances from the real axis.
REAL = (0.0, 0.01, 0.9, 3.0, 5.7, 5.99, 6.01, 6.4, 9.0, 30.0, 1e3, 1e6)
IMAGINARY = (0.0, 1e-9, 1e-3, 0.2, 1.0, 4.0, 1e4, -0.1, -1.0, -5.0)


def exact(z, order):
    """The derivative of w, by its differential equation."""
    with mpmath.workdps(160):
        z = mpmath.mpmathify(z)
        before, value = 1j / mpmath.sqrt(mpmath.pi), mpmath.exp(-z * z) * mpmath.erfc(-1j * z)
        for n in range(order):
            before, value = value, -2 * (z * value - before if n == 0 else z * value + n * before)
        return value


def derivatives(f, x):
    """The value and two derivatives along each of the arguments, forward over forward."""
    one = [type(v)(1.0) for v in x]
    for k in range(len(x)):
        ways = tuple(one[i] if i == k else 0 * one[i] for i in range(len(x)))
        slope = lambda *x, ways=ways: te.jvp(f, x, ways)[1]  # noqa: E731
        yield f(*x), slope(*x), te.jvp(slope, x, ways)[1]


@pytest.mark.parametrize("x", REAL)
def test_wofz(x):
    for y, sign in itertools.product(IMAGINARY, (1, -1)):
        z = complex(sign * x, y)
        if y < 0 and abs(z) > 20:
            continue
        (found,) = derivatives(special.wofz, (z,))
        np.testing.assert_allclose(found, [complex(exact(z, n)) for n in range(3)], rtol=1e-10)
        back = te.vjp(special.wofz, z)[1](1.0 + 0.0j)[0]
        np.testing.assert_allclose(back, found[1], rtol=1e-13)


@pytest.mark.parametrize("x", [*REAL, -0.7, -6.2, 2.1, 1e8, 1e30])
def test_dawsn(x):
    (found,) = derivatives(special.dawsn, (x,))
    expected = [float(mpmath.im(exact(x, n)) * mpmath.sqrt(mpmath.pi) / 2) for n in range(3)] if x < 1e8 else None
    np.testing.assert_allclose(found, expected or [0.5 / x, -0.5 / x**2, 1 / x**3], rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(te.grad(special.dawsn)(x), found[1], rtol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("sigma", [1e-6, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("gamma", [0.0, 1e-10, 1e-3, 0.5, 30.0])
def test_voigt_profile(sigma, gamma):
    for x in (0.0, 0.3, -2.0, 5.0, 8.6, -9.0, 12.0, 100.0, 1e5):
        with mpmath.workdps(60):
            unit = mpmath.mpf(sigma) * mpmath.sqrt(2)
            z = (mpmath.mpf(x) + 1j * mpmath.mpf(gamma)) / unit
            along = [exact(z, n) / unit ** (n + 1) / mpmath.sqrt(mpmath.pi) for n in range(5)]
            value, first, second = (mpmath.re(w) for w in along[:3])
            in_sigma = sigma * second, second + mpmath.mpf(sigma) ** 2 * mpmath.re(along[4])
            expected = [(first, second), in_sigma, (mpmath.re(1j * along[1]), -second)]
        found = list(derivatives(special.voigt_profile, (x, sigma, gamma)))
        for (at, slope, curve), wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(at, float(value), rtol=1e-10, atol=1e-290)
            np.testing.assert_allclose(slope, float(wanted[0]), rtol=1e-10, atol=1e-290)
            # the fourth derivative in x loses two more digits; curvature in sigma changes its sign
            size = abs(float(second)) + sigma**2 * abs(float(mpmath.re(along[4])))
            np.testing.assert_allclose(curve, float(wanted[1]), rtol=1e-10, atol=1e-8 * size + 1e-290)
        back = te.grad(special.voigt_profile, argnums=(0, 1, 2))(x, sigma, gamma)
        np.testing.assert_allclose(back, [slope for _, slope, _ in found], rtol=1e-13)


def test_a_cauchy_density_is_a_voigt_profile():
    x, gamma = 0.7, 1.3
    slopes = te.grad(special.voigt_profile, argnums=(0, 1, 2))(x, 0.0, gamma)
    square = x * x + gamma * gamma
    expected = [-2 * x * gamma, 0.0, x * x - gamma * gamma]
    np.testing.assert_allclose(slopes, np.array(expected) / (np.pi * square**2), rtol=1e-14)
