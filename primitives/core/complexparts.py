"""Real and imaginary parts, conjugation, angles, and conversions between dtypes.

A cotangent pairs with a tangent by the real part of ``sum(ct * t)``, without conjugation, so the cotangent of z is ct
for ``real``, -i ct for ``imag`` and conj(ct) for ``conj``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import is_number
from tapeengine.duals.creation import copy_mode, is_discrete, plain
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import broadcast, discrete, elementwise, linear, unbroadcast

from .ufuncs import of_names, unary_samples
from .values import as_array, dtype_of, is_complex, is_traced, ndim_of, number_or_array, of_parts, real_part


def _samples() -> tuple[Sample, ...]:
    return unary_samples(0.3, 2.0, True)


CONJUGATE = Primitive(
    "numpy.conjugate",
    numpy.conjugate,
    vjp={"x": lambda ct, x_space: unbroadcast(np.conjugate(ct), x_space)},
    jvp={"x": lambda t, out_space: broadcast(np.conjugate(t), out_space)},
    args=("x",),
    samples=_samples,
    pattern=patterns.elementwise,
    doc="the complex conjugate; dz = conj(ct)",
)
ANGLE = elementwise(
    "numpy.angle",
    lambda z, *, deg=False: numpy.angle(z, deg),
    lambda z, deg: _angle_slope(z, deg),
    samples=lambda: (*_samples(), Sample((uniform((2,), dtype=complex),), {"deg": True})),
    doc="the argument of z; dz = -i ct / z, and 0 at 0",
)


def angle(z: Any, deg: bool = False) -> Any:
    """Return the angle of a complex number; see `numpy.angle`."""
    return ANGLE(z, deg=deg)


def _angle_slope(z: Any, deg: bool) -> Any:
    if not is_complex(z):
        return 0.0
    zero = np.equal(z, 0)
    return np.where(zero, 0.0, (-180j / math.pi if deg else -1j) / np.where(zero, 1.0, z))


def _converted(x: Any, *, dtype: Any) -> Any:
    """An array stays an array, also without dimensions; a number becomes one of numpy's."""
    return x.astype(dtype) if hasattr(x, "astype") else numpy.asarray(x).astype(dtype)[()]


ASTYPE = linear(
    "numpy.astype",
    _converted,
    lambda ct, x_space: unbroadcast(ct, x_space),
    samples=(
        Sample((uniform((2, 3)),), {"dtype": numpy.dtype(numpy.float32)}),
        Sample((uniform((3,), dtype=numpy.float32),), {"dtype": numpy.dtype(numpy.float64)}),
        Sample((uniform((3,)),), {"dtype": numpy.dtype(numpy.complex128)}),
        Sample((uniform(()),), {"dtype": numpy.dtype(numpy.complex64)}),
    ),
    pattern=patterns.elementwise,
    doc="x in another floating or complex dtype; dx = ct in the dtype of x",
)
TRUNCATED = discrete(
    "numpy.astype_integer",
    _converted,
    samples=(Sample((uniform((3,)),), {"dtype": numpy.dtype(int)}),),
    doc="x as integers or booleans, which are discrete",
)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Convert to another dtype; see `numpy.astype`. A real dtype drops the imaginary part."""
    target = numpy.dtype(dtype)
    if target.kind == "O" and is_traced(x):
        return x.astype(object)
    if not copy and is_traced(x) and dtype_of(x) == target:
        return x
    primitive = TRUNCATED if is_discrete(target) else ASTYPE
    value = primitive(real_part(x) if target.kind == "f" else x, dtype=target)
    return value[()] if is_number(x) else value


def _replaced(x: Any, **numbers: Any) -> Any:
    """Replace NaN and infinities; traced numbers take the places of their plain values."""
    value = NAN_TO_NUM(x, **{name: plain(number) for name, number in numbers.items()})
    for test, number in zip((np.isnan, np.isposinf, np.isneginf), numbers.values(), strict=True):
        if is_traced(number):
            value = number_or_array(np.where(test(x), np.asarray(number, dtype_of(x)), value))
    return value


def _where_finite(first: Any, x: Any, space: Any) -> Any:
    """Return the contribution of finite elements; a replaced element gets 0, even from an infinite cotangent."""
    return unbroadcast(np.where(np.isfinite(x), first, numpy.zeros((), space.dtype)), space)


NAN_TO_NUM = Primitive(
    "numpy.nan_to_num",
    lambda x, *, nan=0.0, posinf=None, neginf=None: numpy.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf),
    vjp={"x": lambda ct, x, x_space: _where_finite(ct, x, x_space)},
    jvp={"x": lambda t, x, out_space: _where_finite(t, x, out_space)},
    samples=(
        Sample((uniform((2, 3)),)),
        Sample((uniform((3,), dtype=numpy.float32),)),
        Sample((numpy.array([1.0, numpy.nan, numpy.inf, -numpy.inf]),), {"nan": 2.0}, order=0),
        Sample((uniform(()),)),
    ),
    pattern=patterns.elementwise,
    doc="x with numbers in place of NaN and infinities; dx = ct where x is finite",
)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace NaN and infinities by numbers; see `numpy.nan_to_num`."""
    x, numbers = as_array(x), {"nan": nan, "posinf": posinf, "neginf": neginf}
    if is_complex(x):
        value = of_parts(*(_replaced(part, **numbers) for part in (np.real(x), np.imag(x))))
    else:
        value = _replaced(x, **numbers)
    if copy_mode(copy):
        return value
    if not hasattr(x, "__setitem__"):
        numpy.array(0.0, copy=copy)  # raises numpy's error
        return value
    x[...] = value
    return x if ndim_of(x) else x[()]


RULES = {
    **of_names(vars(), numpy),
    numpy.conjugate: CONJUGATE,
}
