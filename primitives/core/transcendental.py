"""Exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine.primitive.builders import elementwise, scale

from .arithmetic import turn
from .ufuncs import binary, of_ufuncs, unary
from .values import is_complex, of_parts

_POSITIVE = (0.3, 2.0)
_INSIDE = (-0.8, 0.8)
_LOG2 = math.log(2.0)

EXP = unary(numpy.exp, lambda out: out, opcode="exp", doc="dx = ct exp(x)")
EXP2 = unary(numpy.exp2, lambda out: _LOG2 * out, opcode="exp2", doc="dx = ct log(2) 2^x")
EXPM1 = unary(numpy.expm1, lambda x: np.exp(x), opcode="expm1", doc="dx = ct exp(x)")
LOG = unary(numpy.log, lambda x: 1 / x, _POSITIVE, opcode="log", doc="dx = ct / x")
LOG2 = unary(numpy.log2, lambda x: 1 / (_LOG2 * x), _POSITIVE, opcode="log2", doc="dx = ct / (log(2) x)")
LOG10 = unary(numpy.log10, lambda x: 1 / (math.log(10) * x), _POSITIVE, opcode="log10", doc="dx = ct / (log(10) x)")
LOG1P = unary(numpy.log1p, lambda x: 1 / (1 + x), _POSITIVE, opcode="log1p", doc="dx = ct / (1 + x)")


def _share(x: Any, y: Any) -> Any:
    """Return exp(x) / (exp(x) + exp(y)) without overflow."""
    return EXPIT(_gap(x, y))


def _share2(x: Any, y: Any) -> Any:
    """Return 2^x / (2^x + 2^y) without overflow."""
    return EXPIT(_LOG2 * _gap(x, y))


def _gap(x: Any, y: Any) -> Any:
    """Return x - y, and 0 where both are the same infinity."""
    same = np.equal(x, y) & np.isinf(x)
    return np.where(same, 0.0, x) - np.where(same, 0.0, y) if np.any(same) else x - y


LOGADDEXP = binary(
    numpy.logaddexp,
    lambda x, y: _share(x, y),
    lambda x, y: _share(y, x),
    opcode="logaddexp",
    complex_too=False,
    doc="log(exp(x) + exp(y)); dx = ct exp(x - out)",
)
LOGADDEXP2 = binary(
    numpy.logaddexp2,
    lambda x, y: _share2(x, y),
    lambda x, y: _share2(y, x),
    complex_too=False,
    doc="log2(2^x + 2^y); dx = ct 2^(x - out)",
)
SIN = unary(numpy.sin, lambda x: np.cos(x), opcode="sin", doc="dx = ct cos(x)")
COS = unary(numpy.cos, lambda x: -np.sin(x), opcode="cos", doc="dx = -ct sin(x)")
_PLAIN = (Sample((uniform((2, 3)),)), Sample((numpy.array([-800.0, -40.0, 0.0, 1e-20, 30.0]),)), Sample((0.7,)))


def _expit(x: Any) -> Any:
    e = numpy.exp(-numpy.abs(x))
    return numpy.where(numpy.less(x, 0), e, 1) / (1 + e)


def _dexpit(x: Any) -> Any:
    e = numpy.exp(-numpy.abs(x))
    return e / ((1 + e) * (1 + e))


EXPIT: Primitive = elementwise(
    "numpy.logaddexp_share", _expit, lambda x: DEXPIT(x), samples=_PLAIN, opcode="expit", doc="1 / (1 + exp(-x))"
)
DEXPIT: Primitive = elementwise(
    "numpy.logaddexp_curvature",
    _dexpit,
    lambda x, out: -out * np.tanh(0.5 * x),
    samples=_PLAIN,
    opcode="dexpit",
    doc="the derivative of 1 / (1 + exp(-x)); dx = -ct out tanh(x / 2)",
)


def _lorentz(x: Any) -> Any:
    if is_complex(x):  # by factors, which neither cancel nor overflow
        return numpy.where(numpy.isinf(x), 0.0, 1 / (1 - 1j * x) / (1 + 1j * x))[()]
    with numpy.errstate(over="ignore"):
        return 1 / (1 + x * x)


def _root(x: Any, *, sign: int) -> Any:
    """Return 1 / sqrt(x^2 - 1), or 1 / sqrt(1 - x^2), on the side of a branch cut that the sign of a zero part tells.

    Differences keep this sign, where x + 1 would turn -0 into 0.
    """
    return 1 / numpy.sqrt(x - 1 if sign > 0 else -(x - 1)) / numpy.sqrt(x - (-1))


def _sech2(x: Any) -> Any:
    e = numpy.exp(-2 * numpy.where(numpy.less(numpy.real(x), 0), numpy.negative(x), x))
    return 4 * e / ((1 + e) * (1 + e))


def _slope_samples(low: float = -0.8, high: float = 0.8) -> tuple[Sample, ...]:
    return tuple(Sample((uniform((3,), low, high, dtype),)) for dtype in (numpy.float64, numpy.float32, complex))


LORENTZ: Primitive = elementwise(
    "numpy.arctan_slope",
    _lorentz,
    lambda x, out: -2 * scale(out, scale(out, x)),
    samples=_slope_samples,
    opcode="lorentz",
    doc="1 / (1 + x^2); dx = -2 x out^2",
)
ROOT: Primitive = elementwise(
    "numpy.arccosh_slope",
    _root,
    lambda x, out, sign: -sign * (x * out) * out * out,
    samples=lambda: tuple(
        Sample((uniform((3,), low, 1.7, complex),), {"sign": sign}) for low in (0.2, 1.2) for sign in (1, -1)
    ),
    doc="1 / sqrt(sign (x^2 - 1)); dx = -sign x out^3",
)
SECH2: Primitive = elementwise(
    "numpy.tanh_slope",
    _sech2,
    lambda x, out: -2 * (np.tanh(x) * out),
    samples=lambda: (*_slope_samples(-3.0, 3.0), Sample((numpy.array([-300.0, -30.0, 0.0, 1e-20]),), order=0)),
    doc="1 / cosh(x)^2, where 1 - tanh(x)^2 cancels; dx = -2 ct tanh(x) out",
)
TAN = unary(
    numpy.tan,
    lambda x, out: SECH2(_turned(x)) if is_complex(x) else 1 + out * out,
    (-1.2, 1.2),
    opcode="tan",
    doc="dx = ct (1 + out^2)",
)
ARCSIN = unary(numpy.arcsin, lambda x: _cosine(x), _INSIDE, opcode="asin", doc="dx = ct / sqrt(1 - x^2)")
ARCCOS = unary(numpy.arccos, lambda x: -_cosine(x), _INSIDE, opcode="acos", doc="dx = -ct / sqrt(1 - x^2)")
ARCTAN = unary(numpy.arctan, lambda x: LORENTZ(x), _INSIDE, opcode="atan", doc="dx = ct / (1 + x^2)")
SINH = unary(numpy.sinh, lambda x: np.cosh(x), opcode="sinh", doc="dx = ct cosh(x)")
COSH = unary(numpy.cosh, lambda x: np.sinh(x), opcode="cosh", doc="dx = ct sinh(x)")
TANH = unary(numpy.tanh, lambda x: SECH2(x), (-1.2, 1.2), opcode="tanh", doc="dx = ct (1 - out^2)")
ARCSINH = unary(numpy.arcsinh, lambda x: _arcsinh_slope(x), _INSIDE, opcode="asinh", doc="dx = ct / sqrt(1 + x^2)")
ARCCOSH = unary(
    numpy.arccosh,
    lambda x: ROOT(x, sign=1),
    (1.3, 3.0),
    opcode="acosh",
    doc="dx = ct / sqrt(x^2 - 1)",
)
ARCTANH = unary(numpy.arctanh, lambda x: _arctanh_slope(x), _INSIDE, opcode="atanh", doc="dx = ct / (1 - x^2)")
ARCTAN2 = binary(
    numpy.arctan2,
    lambda x, y: turn(x, y),
    lambda x, y: -turn(y, x),
    opcode="atan2",
    complex_too=False,
    doc="the angle of the point (y, x); dx = ct y / (x^2 + y^2), dy = -ct x / (x^2 + y^2)",
)
DEG2RAD = unary(numpy.deg2rad, lambda out: math.pi / 180, complex_too=False, doc="dx = ct pi / 180")
RADIANS = unary(numpy.radians, lambda out: math.pi / 180, complex_too=False, doc="dx = ct pi / 180")
RAD2DEG = unary(numpy.rad2deg, lambda out: 180 / math.pi, complex_too=False, doc="dx = ct 180 / pi")
DEGREES = unary(numpy.degrees, lambda out: 180 / math.pi, complex_too=False, doc="dx = ct 180 / pi")


def _turned(x: Any) -> Any:
    """Return i x, also where a part is infinite or the sign of a zero tells the side of a branch cut."""
    return of_parts(-np.imag(x), np.real(x))


def _cosine(x: Any) -> Any:
    return ROOT(x, sign=-1) if is_complex(x) else 1 / np.sqrt((1 - x) * (1 + x))


def _arcsinh_slope(x: Any) -> Any:
    return _cosine(_turned(x)) if is_complex(x) else 1 / np.hypot(x, 1.0)


def _arctanh_slope(x: Any) -> Any:
    return LORENTZ(_turned(x)) if is_complex(x) else 1 / ((1 - x) * (1 + x))


def _sinc(x: Any, *, derivative: int = 0) -> Any:
    """Return the n-th derivative of sinc, with u = pi x.

    Away from 0 it uses the recurrence f_n = (sin(u + n pi/2) - n f_(n-1)) / u. Near 0, where the recurrence cancels, it
    uses the series f_n = sum_j (-1)^j u^(2j-n) (2j)! / ((2j-n)! (2j+1)!).
    """
    if derivative == 0:
        return numpy.sinc(x)
    u = numpy.asarray(x) * math.pi
    near = numpy.abs(u) < derivative + 2
    away = numpy.where(near, 1.0, u)
    value = numpy.sin(away) / away
    for n in range(1, derivative + 1):
        value = (numpy.sin(away + n * math.pi / 2) - n * value) / away
    return (numpy.where(near, _sinc_series(numpy.where(near, u, 0.0), derivative), value) * math.pi**derivative)[()]


def _sinc_series(u: Any, derivative: int) -> Any:
    first = (derivative + 1) // 2
    total, square = numpy.zeros_like(u), u * u
    for j in reversed(range(first, first + 20 + 2 * derivative)):
        falling = math.prod(range(2 * j - derivative + 1, 2 * j + 1))
        total = total * square + (-1.0) ** j * (falling / math.factorial(2 * j + 1))
    return total * u ** (2 * first - derivative)


SINC: Primitive = elementwise(
    "numpy.sinc",
    _sinc,
    lambda x, derivative: SINC(x, derivative=derivative + 1),
    samples=(
        *(Sample((uniform((2, 3)),), {"derivative": n}) for n in (0, 1, 2)),
        Sample((numpy.array([0.0, 1e-4, -0.3, 4.2]),)),
        Sample((numpy.array([0.0, 1e-4, -0.3, 4.2]),), {"derivative": 3}),
        Sample((uniform((3,), dtype=complex),)),
        Sample((uniform((3,), dtype=numpy.float32),)),
        Sample((uniform(()),)),
    ),
    doc="sin(pi x) / (pi x), or its derivative of the order given; dx = ct times the next derivative",
)

RULES = {
    **of_ufuncs(vars()),
    numpy.sinc: SINC,
}
