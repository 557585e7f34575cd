"""The Faddeeva function w(z) = exp(-z^2) erfc(-iz), Dawson's integral and the Voigt profile, which are parts of it.

The closed form w' = -2 z w + 2i/sqrt(pi) cancels for large z. So derivatives of all orders come from one function: the
recurrence w_{n+1} = -2 (z w_n + n w_{n-1}) near the origin, and the derivatives of the asymptotic series far from it.
"""

import functools
import math
from typing import Any

import numpy
import scipy

from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise, of_orders, ufunc
from tapeengine_scipy._values import is_complex, real

#: From this square of the modulus on, the series has all digits for the first derivatives.
_FAR, _TERMS = 36.0, 33
_ROOT_PI = math.sqrt(math.pi)


def _near(z: Any, order: int) -> Any:
    before, value = 1j / _ROOT_PI, scipy.special.wofz(z)
    for n in range(order):
        before, value = value, -2 * (z * value - before if n == 0 else z * value + n * before)
    return value


@functools.cache
def _coefficients(order: int) -> list[float]:
    """Those of the order-th derivative of z^-1 sum_k (2k-1)!!/2^k z^-2k, from the last to the first."""
    found = [
        math.prod(2.0 * k + j for j in range(1, order + 1)) * math.prod(j - 0.5 for j in range(1, k + 1))
        for k in range(_TERMS)
    ]
    return found[::-1]


def _far(z: Any, unit: Any, order: int) -> Any:
    inverse = 1 / z
    square, value = (unit * inverse) ** 2, numpy.zeros_like(z)
    for coefficient in _coefficients(order):
        value = value * square + coefficient
    return (-1) ** order * 1j / _ROOT_PI * value * inverse ** (order + 1)


def _gaussian(z: Any, order: int) -> Any:
    """The order-th derivative of exp(-z^2)."""
    before, value = 0.0, numpy.exp(-z * z)
    for n in range(order):
        before, value = value, -2 * (z * value + n * before)
    return value


def _upper(z: Any, unit: Any, order: int) -> Any:
    """The derivative of w at z/unit, divided by unit^(order + 1), for z in the closed upper half-plane.

    Beside the real axis, a Gaussian adds to the series what is smaller than all its terms, but not than the real part
    (M. V. Berry, Uniform asymptotic smoothing of Stokes's discontinuities, 1989).
    """
    far = numpy.abs(z) ** 2 >= _FAR * unit**2
    near = _near(numpy.where(far, 0.0, z) / numpy.where(far, 1.0, unit), order) / unit ** (order + 1)
    value = numpy.where(far, _far(numpy.where(far, z, 1.0), numpy.where(far, unit, 0.0), order), near)
    within = far & (z.imag <= unit) & (numpy.abs(z) < 40 * unit)
    inner = numpy.where(within, z, 0.0) / numpy.where(within, unit, 1.0)
    smaller = scipy.special.erfc(inner.imag) * _gaussian(inner, order) / unit ** (order + 1)
    return value + numpy.where(within, smaller, 0.0)


def _derivative(z: Any, unit: Any, order: int) -> Any:
    """The derivative of w at z/unit, divided by unit^(order + 1)."""
    with numpy.errstate(all="ignore"):
        below = z.imag < 0
        value = numpy.where(below, -((-1) ** order), 1) * _upper(numpy.where(below, -z, z), unit, order)
        rest = 2 * _gaussian(numpy.where(below, z / unit, 0.0), order) / unit ** (order + 1)
        return numpy.where(below, value + rest, value)[()]


@of_orders("scipy.special.dawsn_slope", (-8.0, 8.0), "the derivatives of Dawson's integral", 1)
def dawsn_slope(x: Any, *, order: int) -> Any:
    """A multiple of the imaginary part of w."""
    x = real(x)
    return _ROOT_PI / 2 * numpy.imag(_derivative(x + 0j, numpy.ones_like(x), order))


@of_orders("scipy.special.wofz_slope", (-8.0, 8.0), "the derivatives of the Faddeeva function", 1)
def wofz_slope(x: Any, *, order: int) -> Any:
    """The derivative of w at a complex number."""
    z = numpy.asarray(x, dtype=complex)
    return _derivative(z, numpy.ones_like(z.real), order)


def _of_voigt(x: Any, sigma: Any, gamma: Any, *, order: int, turns: int) -> Any:
    x, sigma, gamma = numpy.broadcast_arrays(*map(real, (x, sigma, gamma)))
    value = _derivative(x + 1j * gamma, math.sqrt(2) * sigma, order) / _ROOT_PI
    return numpy.real(value * 1j**turns)


dawsn: Primitive = ufunc(
    "dawsn",
    {"x": lambda x, out: 1 - 2 * x * out if is_complex(x) else dawsn_slope(x, order=1)},
    {"x": (-8.0, 8.0)},
    "Dawson's integral; d/dx = 1 - 2 x dawsn(x)",
)
wofz: Primitive = ufunc(
    "wofz",
    {"z": lambda z: wofz_slope(z, order=1)},
    {"z": (-8.0, 8.0)},
    "the Faddeeva function; w' = 2i/sqrt(pi) - 2 z w",
)
voigt_slope: Primitive = elementwise(
    "scipy.special.voigt_slope",
    _of_voigt,
    {
        "x": lambda x, sigma, gamma, order, turns: voigt_slope(x, sigma, gamma, order=order + 1, turns=turns),
        "sigma": lambda x, sigma, gamma, order, turns: (
            sigma * voigt_slope(x, sigma, gamma, order=order + 2, turns=turns)
        ),
        "gamma": lambda x, sigma, gamma, order, turns: voigt_slope(x, sigma, gamma, order=order + 1, turns=turns + 1),
    },
    {"x": (-4.0, 4.0), "sigma": (0.3, 2.0), "gamma": (0.1, 2.0)},
    "derivatives in x of the profile as the real part of a holomorphic function of x + i gamma, times a power of i",
    static={"order": 1, "turns": 0},
)
voigt_profile: Primitive = ufunc(
    "voigt_profile",
    {
        "x": lambda x, sigma, gamma: voigt_slope(x, sigma, gamma, order=1, turns=0),
        "sigma": lambda x, sigma, gamma: sigma * voigt_slope(x, sigma, gamma, order=2, turns=0),
        "gamma": lambda x, sigma, gamma: voigt_slope(x, sigma, gamma, order=1, turns=1),
    },
    {"x": (-4.0, 4.0), "sigma": (0.3, 2.0), "gamma": (0.1, 2.0)},
    "a normal density convolved with a Cauchy density; d/dsigma = sigma d^2/dx^2 (the heat equation)",
)
