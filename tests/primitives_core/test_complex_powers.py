"""Powers of large and small complex numbers: first and second derivatives, against logarithms in extended precision."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te

EXPONENTS = [-1, -2, -3, 0, 1, 2, 3, 4, -1.0, -2.0, 0.5, -0.5, 1.5, -1.5, 0.3, 1 + 1j, -0.7j]
SIZES = [1e-300, 1e-200, 1e-150, 1e-100, 1e-10, 1.0, 1e10, 1e100, 1e150, 1e200, 1e300]
ANGLES = [0.0, 0.3, 2.0, -2.5, numpy.pi / 2, numpy.pi]
KINDS: dict[str, Callable[[complex], Any]] = {
    "array": lambda z: numpy.array([z]),
    "array of no axes": numpy.array,
    "number of numpy": numpy.complex128,
    "number": complex,
}


def slope(z: complex, exponent: complex, order: int) -> Any:
    """A derivative of a power of z."""
    factor = numpy.prod([numpy.clongdouble(exponent - k) for k in range(order)])
    with numpy.errstate(all="ignore"):
        return factor * numpy.exp(numpy.clongdouble(exponent - order) * numpy.log(numpy.clongdouble(z)))


def derivative(power: Callable[[Any], Any], one: Any) -> Callable[[Any], Any]:
    return lambda z: te.jvp(power, (z,), (one,))[1]


def is_polar(exponent: complex) -> bool:
    return isinstance(exponent, complex) or exponent != int(exponent)


def close(found: Any, wanted: Any) -> bool:
    """Whether a derivative is right; one that overflows may be anything, one that underflows is small."""
    return bool(abs(wanted) > 1e285 or abs(complex(found) - complex(wanted)) <= 1e-10 * abs(wanted) + 1e-285)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_derivatives(exponent: complex, kind: str) -> None:
    wrong = []
    for point in (size * complex(numpy.cos(angle), numpy.sin(angle)) for size in SIZES for angle in ANGLES):
        if not 1e-305 < abs(slope(point, exponent, 0)) < 1e305:
            continue
        z = KINDS[kind](point)
        one = numpy.ones_like(z) if isinstance(z, numpy.ndarray) else type(z)(1)
        for name, power in (("**", lambda x: x**exponent), ("power", lambda x: numpy.power(x, exponent))):
            value, back = te.vjp(power, z)
            if not numpy.isfinite(numpy.ravel(value)[0]):  # numpy's own value
                continue
            first = derivative(power, one)
            unit = numpy.ones_like(value) if isinstance(value, numpy.ndarray) else type(value)(1)
            for order, found in ((1, first(z)), (1, back(unit)[0]), (2, derivative(first, one)(z))):
                if order == 2 and kind == "number" and is_polar(exponent) and not 1e-150 < abs(point) < 1e150:
                    continue  # in polar form the second derivative of the angle overflows
                if not close(numpy.ravel(found)[0], slope(point, exponent, order)):
                    wrong.append((name, point, order, found))
    assert wrong == []
