"""The modified Bessel function of order 0, which numpy uses for the Kaiser window."""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine.primitive.builders import elementwise

from .values import as_array, shape_of

_FAR = 30.0  # from here on the asymptotic series reaches full precision before it diverges
_TERMS, _FAR_TERMS = 80, 30


def _near(x: Any, order: int) -> Any:
    """Return I_n(x) / x**n by its power series, whose terms are all positive (DLMF 10.25.2)."""
    quarter = x * x / 4.0
    term = numpy.ones_like(x) / (2.0**order * float(numpy.prod(numpy.arange(1.0, order + 1))))
    total = term
    for k in range(1, _TERMS):
        term = term * (quarter / (k * (k + order)))
        total = total + term
    return total


def _far(x: Any, order: int) -> Any:
    """Return I_n(x) / x**n by Hankel's expansion (DLMF 10.40.1)."""
    term = numpy.ones_like(x)
    total = term
    for k in range(1, _FAR_TERMS):
        term = term * ((2 * k - 1) ** 2 - 4 * order * order) / (8 * k * x)
        total = total + term
    half = numpy.exp(x / 2)  # in two factors, since exp overflows earlier than the function
    return half * (total / numpy.sqrt(2 * numpy.pi * x) / x**order) * half


def _over(x: Any, *, order: int) -> Any:
    size = numpy.abs(numpy.asarray(x, float))
    with numpy.errstate(over="ignore", invalid="ignore"):
        near = _near(numpy.minimum(size, _FAR), order)
        found = numpy.where(size > _FAR, _far(numpy.maximum(size, _FAR), order), near)
    return found.astype(getattr(x, "dtype", float), copy=False)[()]


I_OVER: Primitive = elementwise(
    "numpy.bessel_i_over",
    _over,
    lambda x, order: x * I_OVER(x, order=order + 1),
    static=("order",),
    samples=(
        Sample((1.3,), {"order": 1}),
        Sample((uniform((4,), -3.0, 3.0),), {"order": 2}),
        Sample((numpy.array([40.0, -35.0]),), {"order": 1}, order=1),
        Sample((numpy.array(0.0),), {"order": 1}, edge=True),
    ),
    doc="I_n(x) / x**n, the modified Bessel function of order n; d = x I_(n+1)(x) / x**(n+1) (DLMF 10.29.4)",
)

I0 = elementwise(
    "numpy.i0",
    lambda x: numpy.i0(x)[()],
    lambda x: x * I_OVER(x, order=1),
    samples=(
        Sample((1.3,)),
        Sample((uniform((4,), -3.0, 3.0),)),
        Sample((numpy.array([40.0, -35.0]),), order=1),
        Sample((numpy.array(0.0),), edge=True),
    ),
    doc="the modified Bessel function of order 0; d = I1(x)",
)


def i0(x: Any) -> Any:
    """Return the modified Bessel function of order 0; see `numpy.i0`."""
    value = as_array(x)
    return I0(value) if shape_of(value) else np.array(I0(value))


RULES = {numpy.i0: i0}
