"""Maximum and minimum of two values, clipping, and related ufuncs.

At a tie each value gets half of the cotangent. A number is preferred to NaN in fmax and fmin; NaN gets the whole
cotangent in maximum and minimum.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy._core import umath

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import elementwise, linear

from .ufuncs import binary, of_ufuncs

UNSET: Any = numpy._NoValue


def _wins(greater: Any, tie: Any) -> Any:
    return np.where(greater, 1.0, np.where(tie, 0.5, 0.0))


def _is_nan(x: Any) -> Any:
    return np.not_equal(x, x)


def _beats(x: Any, y: Any) -> Any:
    """Return 1 where x > y or x is NaN, 1/2 at ties, and 0 elsewhere."""
    return _wins(np.greater(x, y) | _is_nan(x), np.equal(x, y))


def _loses(x: Any, y: Any) -> Any:
    """Return 1 where x < y or x is NaN, 1/2 at ties, and 0 elsewhere."""
    return _wins(np.less(x, y) | _is_nan(x), np.equal(x, y))


def _beats_number(beats: Any) -> Any:
    """Return the function that is 1 where x beats y or only y is NaN, 1/2 at ties, and 0 elsewhere."""

    def partial(x: Any, y: Any) -> Any:
        both = _is_nan(x) & _is_nan(y)
        return _wins(beats(x, y) | (_is_nan(y) & ~both), np.equal(x, y) | both)

    return partial


def _chosen(ufunc: Any, partial: Any, doc: str, opcode: str | None = None) -> Primitive:
    """Build the record of a ufunc that chooses one of two values, from its partial with respect to the first."""
    both = partial, lambda x, y: partial(y, x)
    return binary(ufunc, *both, opcode=opcode, complex_too=False, selects=True, doc=doc)


MAXIMUM = _chosen(numpy.maximum, _beats, "dx = ct where x > y, ct/2 at ties", "maximum")
MINIMUM = _chosen(numpy.minimum, _loses, "dx = ct where x < y, ct/2 at ties", "minimum")
FMAX = _chosen(numpy.fmax, _beats_number(np.greater), "dx = ct where x > y or y is NaN, ct/2 at ties")
FMIN = _chosen(numpy.fmin, _beats_number(np.less), "dx = ct where x < y or y is NaN, ct/2 at ties")
HEAVISIDE = binary(
    numpy.heaviside,
    None,
    lambda x: np.where(np.equal(x, 0), 1.0, 0.0),
    complex_too=False,
    selects=True,
    doc="0 for x < 0, y at 0, 1 for x > 0; dy = ct where x is 0, x is discrete",
)
LDEXP = elementwise(
    "numpy.ldexp",
    numpy.ldexp,
    lambda i: np.ldexp(1.0, i),
    None,
    args=("x", "i"),
    samples=(
        Sample((uniform((2, 3)), numpy.array([0, 1, -2]))),
        Sample((1.5, 3)),
        Sample((uniform((3,), dtype=numpy.float32), 2)),
    ),
    doc="x 2^i; dx = ct 2^i, i is an integer",
)
CLIP = elementwise(
    "numpy.clip",
    lambda x, low, high: numpy.clip(x, low, high),
    lambda x, low, high: _beats(x, low) * _beats(high, np.maximum(x, low)),
    lambda x, low, high: _beats(low, x) * _beats(high, np.maximum(x, low)),
    lambda x, low, high: _beats(np.maximum(x, low), high),
    selects=True,
    samples=(
        Sample((uniform((2, 3)), -0.5, 0.7)),
        Sample((uniform((2, 3)), uniform((3,), -1.0, -0.5), uniform((2, 1), 0.3, 0.9))),
        Sample((uniform((4,), dtype=numpy.float32), -0.5, 0.7)),
        Sample((uniform((3,)), 1.0, 0.5)),
        Sample((numpy.array([-1.0, 0.0, 2.0]), -1.0, 2.0), order=0),
        Sample((uniform((0,)), 0.0, 1.0)),
        Sample((0.3, 0.0, 1.0)),
    ),
    doc="min(max(x, low), high); the cotangent goes to the one that is returned, and is shared at ties",
)

ROUNDED = linear(
    "numpy.clip_of_rounding_errors",
    lambda x, *, low, high: numpy.clip(x, low, high),
    lambda ct: ct,
    jvp={"x": lambda t: t},
    samples=(Sample((uniform((2, 3)),), {"low": -9.0, "high": 9.0}), Sample((0.3,), {"low": 0.0, "high": 1.0})),
    pattern=patterns.elementwise,
    doc="x within limits that only rounding errors exceed; dx = ct, at the limits as well",
)


def within(x: Any, low: float, high: float, out: Any = None) -> Any:
    """Clip rounding errors, such as those of a correlation of 1, which is smooth there."""
    found = ROUNDED(x, low=low, high=high)
    if out is None:
        return found
    out[...] = found
    return out


def clip(
    a: Any,
    a_min: Any = UNSET,
    a_max: Any = UNSET,
    out: Any = None,
    *,
    min: Any = UNSET,
    max: Any = UNSET,
    **options: Any,
) -> Any:
    """Limit the values of an array; see `numpy.clip`. The options are those of ufuncs."""
    if a_min is UNSET and a_max is UNSET:
        a_min, a_max = (None if limit is UNSET else limit for limit in (min, max))
    elif a_min is UNSET or a_max is UNSET or min is not UNSET or max is not UNSET:
        raise TypeError("clip takes two limits")
    options = options if out is None else {**options, "out": out}
    low, high = a_min, a_max
    if low is None and high is None:
        return np.positive(a, **options)
    if low is None:
        return np.minimum(a, high, **options)
    if high is None:
        return np.maximum(a, low, **options)
    return vars(umath)["clip"](a, low, high, **options) if options else CLIP(a, low, high)


RULES = {
    **of_ufuncs(vars()),
    numpy.clip: clip,
    vars(umath)["clip"]: CLIP,  # called by the method of plain arrays
}
