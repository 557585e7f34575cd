"""Arithmetic, powers, remainders and roots: the ufuncs that operators call, and related ufuncs.

At the edges the partials are those of the scalar opcode table: ``abs`` has 0 at 0, ``x**y`` has 0 for x where y is 0
and 0 for y where x is 0, ``hypot`` has 0 at the origin.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import broadcast, decides, discrete, elementwise, linear, unbroadcast
from tapeengine.primitive.spaces import is_traced

from .ufuncs import binary, binary_samples, of_ufuncs, unary, unary_samples

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
    pattern=patterns.elementwise,
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
    pattern=patterns.elementwise,
    doc="x - y; dx = ct, dy = -ct",
)
NEGATIVE = linear(
    "numpy.negative",
    numpy.negative,
    lambda ct, x_space: unbroadcast(-ct, x_space),
    args=("x",),
    opcode="neg",
    samples=lambda: unary_samples(-2.0, 2.0, True),
    pattern=patterns.elementwise,
    doc="-x; dx = -ct",
)
POSITIVE = linear(
    "numpy.positive",
    numpy.positive,
    lambda ct, x_space: unbroadcast(ct, x_space),
    args=("x",),
    samples=lambda: unary_samples(-2.0, 2.0, True),
    pattern=patterns.elementwise,
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
    numpy.cbrt, lambda out: 1 / out / (3 * out), _POSITIVE, opcode="cbrt", complex_too=False, doc="dx = ct / (3 out^2)"
)


def _power_base(x: Any, y: Any) -> Any:
    """Return y x^(y-1), and 0 where that is 0 times an infinity."""
    return np.where(_undefined(x, y), 0.0, POWER_SLOPE(x, y)) if np.any(_undefined(x, y)) else POWER_SLOPE(x, y)


def _undefined(x: Any, y: Any) -> Any:
    """Whether y x^(y-1) is 0 times an infinity: of y and a power of 0, or of an infinite y and its power."""
    vanishes = (np.equal(y, numpy.inf) & np.less(np.abs(x), 1)) | (np.equal(y, -numpy.inf) & np.greater(np.abs(x), 1))
    return (np.equal(y, 0) & (np.equal(x, 0) | ~np.isfinite(x))) | vanishes


def _power(x: Any, y: Any) -> Any:
    """Return x^y, by logarithms where numpy's power of complex numbers overflows before the result does."""
    power = np.power(x, y)
    lost = np.isnan(power) & np.not_equal(x, 0) & np.isfinite(x) if _is_complex(power) else False
    return np.where(lost, np.exp(y * np.log(np.where(lost, x, 1.0))), power) if np.any(lost) else power


def _lowered(x: Any, y: Any, by: float) -> Any:
    """Return x^(y-1) or x^(y-2), in double precision if the difference is rounded in single and has the sign of x."""
    if np.any(np.less(x, 0) & np.greater(np.abs(y), 2.0**23)):
        y = y * numpy.float64(1.0)
    return _power(x, y - by)


def _power_bend(x: Any, y: Any) -> Any:
    """Return y (y-1) x^(y-2), computed from x^(y-1) where x^(y-2) overflows or underflows and the product does not."""
    factor = y * (y - 1.0)
    settled = np.equal(factor, 0) & ~np.isfinite(_power(x, y - 2.0))
    if np.any(settled):
        x, y, factor = np.where(settled, 1.0, x), np.where(settled, 0.0, y), np.where(settled, 0.0, factor)
    power = _lowered(x, y, 2.0)
    beyond = ~np.isfinite(power)
    if not np.any(beyond):
        return factor * power
    base = np.where(beyond, x, 1.0)
    return np.where(beyond, y * _lowered(base, y, 1.0) * ((y - 1.0) / base), factor * np.where(beyond, 0.0, power))


def _power_mixed(x: Any, y: Any) -> Any:
    """Return x^(y-1) (1 + y log(x)), with log(0) replaced by 0."""
    return _lowered(x, y, 1.0) + POWER_SLOPE(x, y) * _log_of_base(x, y)


POWER_SLOPE: Primitive = elementwise(
    "numpy.power_slope",
    lambda x, y: y * _lowered(x, y, 1.0),
    _power_bend,
    _power_mixed,
    samples=lambda: binary_samples(_POSITIVE, _BOTH[1], True),
    doc="y x^(y-1); dx = ct y (y-1) x^(y-2), dy = ct x^(y-1) (1 + y log(x))",
)


def _power_exponent(x: Any, out: Any) -> Any:
    """Return x^y log(x), and 0 where x is 0."""
    return np.where(np.equal(x, 0), 0.0, out * _log_of_base(x, out))


def _log_of_base(x: Any, like: Any) -> Any:
    """Return log(x), with log(0) replaced by 0; complex where a power is, for bases below 0."""
    base = np.where(np.equal(x, 0), 1.0, x)
    return np.log(base + 0j if _is_complex(like) and not _is_complex(x) else base)


def _record_of_power(ufunc: Any, base: Any, doc: str) -> Primitive:
    return binary(ufunc, base, _power_exponent, (_POSITIVE, _BOTH[1]), opcode="pow", doc=doc)


POWER = _record_of_power(
    numpy.power, _power_base, "x^y; dx = ct y x^(y-1) (0 where y is 0), dy = ct x^y log(x) (0 where x is 0)"
)
FLOAT_POWER = _record_of_power(
    numpy.float_power, lambda x, y, out: _power_base(x, y), "x^y in double precision; as numpy.power"
)


def _quotient(x: Any, y: Any, out: Any) -> Any:
    return -np.rint(x / y - out / y)


def _one(out: Any) -> float:
    return 1.0


def _remainder(ufunc: Any, opcode: str, rounded: str) -> Primitive:
    doc = f"x - y {rounded}(x / y); dx = ct, dy = -ct {rounded}(x / y)"
    return binary(ufunc, _one, _quotient, ((3.1, 3.9), (1.2, 1.4)), opcode=opcode, complex_too=False, doc=doc)


REMAINDER, FMOD = _remainder(numpy.remainder, "mod", "floor"), _remainder(numpy.fmod, "fmod", "trunc")


def _cosine(x: Any, y: Any) -> Any:
    """Return x / hypot(x, y), 0 at the origin, and its limit along a ray where the hypotenuse is infinite."""
    h = numpy.hypot(x, y)
    beyond = numpy.isinf(x)
    if beyond.any():
        y = numpy.where(beyond, numpy.where(numpy.isinf(y), numpy.copysign(1, y), 0), y)
        x = numpy.where(beyond, numpy.copysign(1, x), x)
        h = numpy.where(beyond, numpy.hypot(x, y), h)
    return x / numpy.where(numpy.equal(x, 0), numpy.ones_like(h), h)


def turn(x: Any, y: Any) -> Any:
    """Return y / (x^2 + y^2)."""
    return _cosine(y, x) / numpy.hypot(x, y)


HYPOT = binary(
    numpy.hypot,
    lambda x, y: _cosine(x, y),
    lambda x, y: _cosine(y, x),
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
        return np.conj(x) / np.where(np.equal(out, 0), numpy.inf, out)
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
    samples=lambda: tuple(Sample((uniform(shape, 0.5, 2.0, numpy.complex128),)) for shape in ((), (3,), (2, 3))),
    pattern=patterns.elementwise,
    doc="x / |x| of complex x; (t - out Re(conj(out) t)) / |x|, and 0 at 0",
)
REAL_SIGN = discrete(
    "tapeengine.real_sign",
    numpy.sign,
    args=("x",),
    samples=(Sample((numpy.array([-2.0, 0.0, 1.5]),)),),
    doc="numpy.sign of real numbers; no derivative goes through it",
)


def sign_rule(x: Any) -> Any:
    """Return numpy.sign, which is discrete on real numbers."""
    return SIGN(x) if _is_complex(x) else REAL_SIGN(x)


def _sign_slope(first: Any, x: Any, out: Any, space: Any, transposed: bool) -> Any:
    size = np.where(np.equal(x, 0), 1.0, np.abs(x))
    unit = np.conj(out) if transposed else out
    change = (first - unit * np.real(np.conj(unit) * first)) / size
    return unbroadcast(np.where(np.equal(first, 0) | np.equal(x, 0), 0.0, change), space)


def divmod_rule(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the floored quotient, which is discrete, and the remainder."""
    return np.floor_divide(x, y), np.remainder(x, y)


FRACTION = linear(
    "numpy.modf_fraction",
    lambda x: numpy.modf(x)[0],
    lambda ct, x_space: unbroadcast(ct, x_space),
    jvp={"x": lambda t, out_space: broadcast(t, out_space)},
    samples=lambda: unary_samples(2.1, 2.9, False),
    pattern=patterns.elementwise,
    doc="the fractional part; dx = ct",
)


def modf_rule(x: Any) -> tuple[Any, Any]:
    """Return the fractional part and the integral part, which is discrete."""
    return FRACTION(x), np.trunc(x) if is_traced(x) else numpy.modf(x)[1]


def frexp_rule(x: Any) -> tuple[Any, Any]:
    """Return the mantissa and the exponent, which is discrete."""
    exponent = _exponent(x)
    return np.ldexp(x, -exponent), exponent


def _of_numbers(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return an operator on numpy's scalars, for which numpy has other loops than for arrays."""
    return lambda x, y: operation(_number(x), _number(y))


def _number(x: Any) -> Any:
    return x[()] if isinstance(x, numpy.ndarray) else x


def _number_samples() -> tuple[Sample, ...]:
    kinds = ((numpy.complex128, 2), (numpy.complex64, 2), (numpy.float32, 1))
    numbers = [(uniform((), *_POSITIVE, dtype=kind), order) for kind, order in kinds]
    return tuple(Sample((number, number), order=order) for number, order in numbers)


PRODUCT_OF_NUMBERS = elementwise(
    "numpy.multiply_numbers",
    _of_numbers(operator.mul),
    lambda y: y,
    lambda x: x,
    samples=_number_samples,
    doc="x y of two numbers, with the last bits of numpy's operator; as numpy.multiply",
)
POWER_OF_NUMBERS = elementwise(
    "numpy.power_numbers",
    _of_numbers(operator.pow),
    _power_base,
    _power_exponent,
    samples=_number_samples,
    doc="x^y of two numbers, with the last bits of numpy's operator; as numpy.power",
)


@decides("numpy.frexp_exponent", Sample((numpy.array([0.3, -5.0, 0.0]),)))
def _exponent(x: Any) -> Any:
    """The binary exponent, constant piece by piece."""
    return numpy.frexp(x)[1]


RULES = {
    **of_ufuncs(vars()),
    numpy.frexp: frexp_rule,
    (numpy.multiply, "numbers"): PRODUCT_OF_NUMBERS,
    (numpy.power, "numbers"): POWER_OF_NUMBERS,
    numpy.sign: sign_rule,
    numpy.divmod: divmod_rule,
    numpy.modf: modf_rule,
}
