"""Arithmetic, powers, remainders and roots: the ufuncs that operators call, and their relatives.

At the edges the partials are those of the scalar opcode table: ``abs`` has 0 at 0, ``x**y`` has 0 for x where y is 0
and 0 for y where x is 0, ``hypot`` has 0 at the origin.
"""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.builders import broadcast, discrete, linear, unbroadcast
from tapeengine.primitive import Primitive, Sample
from tapeengine_primitives.ufuncs import binary, binary_samples, unary, unary_samples

__all__ = ["RULES"]

_BOTH = ((-2.0, 2.0), (-2.0, 2.0))
_POSITIVE = (0.3, 2.0)

ADD = linear(
    "numpy.add",
    numpy.add,
    {"x": lambda ct, x_space: unbroadcast(ct, x_space), "y": lambda ct, y_space: unbroadcast(ct, y_space)},
    jvp={"x": lambda t, out_space: broadcast(t, out_space), "y": lambda t, out_space: broadcast(t, out_space)},
    args=("x", "y"),
    opcode="add",
    samples=lambda: binary_samples(*_BOTH, True),
    doc="x + y; dx = ct, dy = ct",
)
SUBTRACT = linear(
    "numpy.subtract",
    numpy.subtract,
    {"x": lambda ct, x_space: unbroadcast(ct, x_space), "y": lambda ct, y_space: -unbroadcast(ct, y_space)},
    jvp={"x": lambda t, out_space: broadcast(t, out_space), "y": lambda t, out_space: broadcast(-t, out_space)},
    args=("x", "y"),
    opcode="sub",
    samples=lambda: binary_samples(*_BOTH, True),
    doc="x - y; dx = ct, dy = -ct",
)
NEGATIVE = linear(
    "numpy.negative",
    numpy.negative,
    lambda ct, x_space: unbroadcast(-ct, x_space),
    args=("x",),
    opcode="neg",
    samples=lambda: unary_samples(-2.0, 2.0, True),
    doc="-x; dx = -ct",
)
POSITIVE = linear(
    "numpy.positive",
    numpy.positive,
    lambda ct, x_space: unbroadcast(ct, x_space),
    args=("x",),
    samples=lambda: unary_samples(-2.0, 2.0, True),
    doc="+x; dx = ct",
)
MULTIPLY = binary(numpy.multiply, lambda y: y, lambda x: x, opcode="mul", doc="x y; dx = ct y, dy = ct x")
DIVIDE = binary(
    numpy.divide,
    lambda y: 1 / y,
    lambda y, out: -out / y,
    (_BOTH[0], _POSITIVE),
    opcode="div",
    doc="x / y; dx = ct / y, dy = -ct out / y",
)
SQUARE = unary(numpy.square, lambda x: 2 * x, doc="x^2; dx = 2 x ct")
RECIPROCAL = unary(numpy.reciprocal, lambda out: -out * out, _POSITIVE, doc="1/x; dx = -out^2 ct")
SQRT = unary(numpy.sqrt, lambda out: 0.5 / out, _POSITIVE, opcode="sqrt", doc="dx = ct / (2 out)")
CBRT = unary(
    numpy.cbrt, lambda out: 1 / (3 * out * out), _POSITIVE, opcode="cbrt", complex_too=False, doc="dx = ct / (3 out^2)"
)


def _power_base(x: Any, y: Any) -> Any:
    """Return y x^(y-1), and 0 where y is 0."""
    return np.where(np.equal(y, 0), 0.0, y * np.power(x, np.where(np.equal(y, 0), 1.0, y - 1.0)))


def _power_exponent(x: Any, out: Any) -> Any:
    """Return x^y log(x), and 0 where x is 0."""
    return np.where(np.equal(x, 0), 0.0, out * np.log(np.where(np.equal(x, 0), 1.0, x)))


POWER = binary(
    numpy.power,
    _power_base,
    _power_exponent,
    (_POSITIVE, _BOTH[1]),
    opcode="pow",
    doc="x^y; dx = ct y x^(y-1) (0 where y is 0), dy = ct x^y log(x) (0 where x is 0)",
)
FLOAT_POWER = binary(
    numpy.float_power,
    _power_base,
    _power_exponent,
    (_POSITIVE, _BOTH[1]),
    doc="x^y in double precision; as numpy.power",
)


def _quotient(x: Any, y: Any, out: Any) -> Any:
    return -np.rint((x - out) / y)


def _one(out: Any) -> float:
    return 1.0


_REMAINDERS = ((3.1, 3.9), (1.2, 1.4))
REMAINDER = binary(
    numpy.remainder,
    _one,
    _quotient,
    _REMAINDERS,
    opcode="mod",
    complex_too=False,
    doc="x - y floor(x / y); dx = ct, dy = -ct floor(x / y)",
)
FMOD = binary(
    numpy.fmod,
    _one,
    _quotient,
    _REMAINDERS,
    opcode="fmod",
    complex_too=False,
    doc="x - y trunc(x / y); dx = ct, dy = -ct trunc(x / y)",
)


def _leg(leg: Any, out: Any) -> Any:
    return leg / np.where(np.equal(out, 0), 1.0, out)


HYPOT = binary(
    numpy.hypot,
    lambda x, out: _leg(x, out),
    lambda y, out: _leg(y, out),
    opcode="hypot",
    complex_too=False,
    doc="sqrt(x^2 + y^2); dx = ct x / out, and 0 at the origin",
)
COPYSIGN = binary(
    numpy.copysign,
    lambda x, y: np.sign(x) * np.copysign(1.0, y),
    None,
    opcode="copysign",
    complex_too=False,
    doc="|x| with the sign of y; dx = ct sign(x) sign(y), y is discrete",
)

NEXTAFTER = binary(
    numpy.nextafter,
    _one,
    None,
    complex_too=False,
    doc="the number next to x, towards y; dx = ct, y is discrete",
)


def _direction(x: Any, out: Any) -> Any:
    """Return conj(x) / |x|, and 0 at 0: the partial of the absolute value, and the sign of a real number."""
    if _is_complex(x):
        return np.conj(x) / np.where(np.equal(out, 0), 1.0, out)
    return np.sign(x)


def _is_complex(x: Any) -> bool:
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "f") == "c"


ABSOLUTE = unary(numpy.absolute, _direction, opcode="abs", doc="|x|; dx = ct conj(x) / |x|, and 0 at 0")
FABS = unary(numpy.fabs, lambda x: np.sign(x), opcode="abs", complex_too=False, doc="|x|; dx = ct sign(x)")
SIGN = Primitive(
    "numpy.sign",
    numpy.sign,
    vjp={"x": lambda ct, x, out, x_space: _sign_slope(ct, x, out, x_space, True)},
    jvp={"x": lambda t, x, out, out_space: _sign_slope(t, x, out, out_space, False)},
    args=("x",),
    samples=lambda: unary_samples(0.5, 2.0, True),
    doc="x / |x|; constant piece by piece for real x; (t - out Re(conj(out) t)) / |x| for complex x, and 0 at 0",
)


def _sign_slope(first: Any, x: Any, out: Any, space: Any, transposed: bool) -> Any:
    if not _is_complex(x):
        return space.zeros()
    size = np.where(np.equal(x, 0), 1.0, np.abs(x))
    unit = np.conj(out) if transposed else out
    change = (first - unit * np.real(np.conj(unit) * first)) / size
    return unbroadcast(np.where(np.equal(first, 0) | np.equal(x, 0), 0.0, change), space)


def divmod_rule(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the floored quotient, which is discrete, and the remainder."""
    return np.floor_divide(x, y), np.remainder(x, y)


def modf_rule(x: Any) -> tuple[Any, Any]:
    """Return the fractional part and the integral part, which is discrete."""
    return np.fmod(x, 1.0), np.trunc(x)


def frexp_rule(x: Any) -> tuple[Any, Any]:
    """Return the mantissa and the exponent, which is discrete."""
    exponent = EXPONENT(x)
    return np.ldexp(x, -exponent), exponent


EXPONENT = discrete(
    "numpy.frexp_exponent",
    lambda x: numpy.frexp(x)[1],
    samples=(Sample((numpy.array([0.3, -5.0, 0.0]),)),),
    doc="the binary exponent, constant piece by piece",
)


RULES = {
    numpy.frexp: frexp_rule,
    numpy.add: ADD,
    numpy.subtract: SUBTRACT,
    numpy.negative: NEGATIVE,
    numpy.positive: POSITIVE,
    numpy.multiply: MULTIPLY,
    numpy.divide: DIVIDE,
    numpy.square: SQUARE,
    numpy.reciprocal: RECIPROCAL,
    numpy.sqrt: SQRT,
    numpy.cbrt: CBRT,
    numpy.power: POWER,
    numpy.float_power: FLOAT_POWER,
    numpy.remainder: REMAINDER,
    numpy.fmod: FMOD,
    numpy.hypot: HYPOT,
    numpy.copysign: COPYSIGN,
    numpy.nextafter: NEXTAFTER,
    numpy.absolute: ABSOLUTE,
    numpy.fabs: FABS,
    numpy.sign: SIGN,
    numpy.divmod: divmod_rule,
    numpy.modf: modf_rule,
}
