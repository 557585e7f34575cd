"""Derivatives of the Hurwitz zeta function with respect to its exponent.

Uses the Euler-Maclaurin formula for the sum of (n + q)^-s, in truncated power series of a shift e of s: the k-th
derivative in s is k! times the coefficient of e^k.
"""

from math import factorial
from typing import Any

import numpy
import scipy

from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise
from tapeengine_scipy._values import real

_TERMS = 24
#: The Bernoulli numbers of even index from 2; those of odd index are 0 except for the first.
BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330),
    *(854513 / 138, -236364091 / 2730, 8553103 / 6, -23749461029 / 870, 8615841276005 / 14322),
)


def _series_product(left: list[Any], right: list[Any]) -> list[Any]:
    return [sum(left[i] * right[k - i] for i in range(k + 1)) for k in range(len(left))]


def _power_series(base: Any, exponent: Any, order: int) -> list[Any]:
    """The power series of base^-(exponent + e) in e."""
    log_base = numpy.log(base)
    return [base**-exponent * (-log_base) ** k / factorial(k) for k in range(order + 1)]


def _tail_series(s: Any, base: Any, order: int) -> list[Any]:
    """The integral, the half term and the corrections of the Euler-Maclaurin formula, at base = q + _TERMS."""
    integral = [(-1.0) ** k / (s - 1) ** (k + 1) for k in range(order + 1)]
    bracket = [base * value for value in integral]
    bracket[0] = bracket[0] + 0.5
    rising = [s, numpy.ones_like(s)] + [numpy.zeros_like(s)] * order
    rising = rising[: order + 1]
    for j, bernoulli in enumerate(BERNOULLI[:8], start=1):
        scale = bernoulli / factorial(2 * j) * base ** (1 - 2 * j)
        bracket = [total + scale * value for total, value in zip(bracket, rising, strict=True)]
        for shift in (2 * j - 1, 2 * j):
            factor = ([s + shift, numpy.ones_like(s)] + [numpy.zeros_like(s)] * order)[: order + 1]
            rising = _series_product(rising, factor)
    return _series_product(_power_series(base, s, order), bracket)


def _hurwitz_zeta(x: Any, q: Any, *, order: int) -> Any:
    s, q = numpy.broadcast_arrays(real(x), real(q))
    if order == 0:
        return scipy.special.zeta(s, q)
    with numpy.errstate(all="ignore"):
        terms = (_power_series(q + n, s, order)[order] for n in range(_TERMS))
        total = sum(terms) + _tail_series(s, q + _TERMS, order)[order]
    return numpy.where((s > 1) & (q > 0), factorial(order) * total, numpy.nan)[()]


def _in_q(x: Any, q: Any, order: int) -> Any:
    slope = -x * hurwitz_zeta(x + 1, q, order=order)
    return slope if order == 0 else slope - order * hurwitz_zeta(x + 1, q, order=order - 1)


hurwitz_zeta: Primitive = elementwise(
    "scipy.special.hurwitz_zeta",
    _hurwitz_zeta,
    {"x": lambda x, q, order: hurwitz_zeta(x, q, order=order + 1), "q": _in_q},
    {"x": (1.5, 6.0), "q": (0.5, 4.0)},
    "derivatives of the Hurwitz zeta function in its exponent",
    static={"order": 1},
)
