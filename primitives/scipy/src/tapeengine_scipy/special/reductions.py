"""Softmax and the logarithm of a sum of exponentials."""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.duals.outputs import constant_of
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import decides
from tapeengine_primitives.reductions import by_slope, kept_shape
from tapeengine_scipy._values import floating, is_complex, is_traced


def _weights(x: Any, out: Any, axis: Any) -> Any:
    """exp(x - out); 0 where every term of the sum is 0."""
    return np.exp(x - _finite(np.reshape(out, kept_shape(numpy.shape(x), axis))))


def _finite(top: Any) -> Any:
    return np.where(np.isfinite(top), top, 0.0)


_MOST = 700.0  # whose exponential is finite


def _reductions() -> tuple[Sample, ...]:
    return (
        Sample((uniform((3,)),)),
        Sample((uniform((2, 3)),), {"axis": 1}),
        Sample((uniform((2, 3)),), {"axis": 0, "keepdims": True}),
        Sample((uniform((2, 3, 2)),), {"axis": (0, 2)}),
    )


_LOGSUMEXP: Primitive = by_slope(
    "scipy.special.logsumexp",
    lambda x, *, axis=None, keepdims=False: scipy.special.logsumexp(x, axis=axis, keepdims=keepdims),
    _weights,
    samples=_reductions,
    doc="log(sum(exp(x))); d/dx = softmax(x)",
)


def _signed_logsumexp(a: Any, b: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return scipy.special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)[0]


@decides("scipy.special.logsumexp_sign", Sample((numpy.array([0.1, 0.2, 2.0]), numpy.array([1.0, 1.0, -1.0]))))
def _sum_sign(a: Any, b: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The sign of sum(b exp(a))."""
    return scipy.special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)[1]


def _signed_weights(a: Any, b: Any, out: Any, axis: Any) -> Any:
    """The sign of the sum times exp(a - out), which stays finite where b is 0: such a term counts as 0."""
    shape = numpy.broadcast_shapes(numpy.shape(a), numpy.shape(b))
    sign, a = _sum_sign(a, b, axis=axis, keepdims=True), np.broadcast_to(a, shape)
    most = _finite(np.reshape(out, kept_shape(shape, axis))) + _MOST
    return sign * _weights(np.where(np.equal(b, 0.0) & (a > most), most, a), out, axis)


def _weighted_pattern(call: patterns.Call) -> Any:
    """Each element depends on what is summed up of either argument."""
    shape = numpy.broadcast_shapes(*(space.shape for space in call.spaces))
    parts = [numpy.broadcast_to(sets, shape) for sets in call.sets.values()]
    terms = parts[0] if len(parts) == 1 else call.union(*parts)
    return numpy.reshape(call.over(terms, patterns.axes_of(call, terms.ndim)), call.shape)


_WEIGHTED: Primitive = by_slope(
    "scipy.special.logsumexp_weighted",
    _signed_logsumexp,
    {"a": lambda a, b, out, axis: b * _signed_weights(a, b, out, axis), "b": _signed_weights},
    samples=lambda: (
        Sample((uniform((3,)), uniform((3,), 0.5, 2.0))),
        Sample((uniform((2, 3)), numpy.array([1.0, -3.0, 0.5])), {"axis": 1}),
        Sample((uniform((3,)), uniform((2, 1), 0.5, 2.0)), {"axis": 0, "keepdims": True}),
    ),
    pattern=_weighted_pattern,
    doc="log|sum(b exp(a))|; d/da = b exp(a)/sum, d/db = exp(a)/sum",
)


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials of `a`, with weights `b`; see `scipy.special.logsumexp`.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(logsumexp(np.zeros(4))), 6)
    1.386294
    """
    a = np.atleast_1d(floating(a))
    if b is None and not return_sign:
        return _LOGSUMEXP(a, axis=axis, keepdims=keepdims)
    number = b is None or isinstance(b, (int, float))  # which has no precision of its own
    weights = (
        numpy.asarray(1.0 if b is None else b, numpy.float32 if a.dtype in (numpy.float32, numpy.complex64) else float)
        if number
        else floating(b)
    )
    if is_complex(a) or is_complex(weights):
        return _of_complex(a, weights, axis, keepdims, return_sign)
    sign = _sum_sign(a, weights, axis=axis, keepdims=keepdims)
    log_sum = _WEIGHTED(a, weights, axis=axis, keepdims=keepdims)
    return (log_sum, sign) if return_sign else np.where((sign < 0) & (log_sum > -np.inf), np.nan, log_sum)[()]


def _of_complex(a: Any, b: Any, axis: Any, keepdims: bool, return_sign: bool) -> Any:
    """The weights become terms of the exponents; one that is zero leaves out its exponential."""
    b = constant_of(b)
    zero = np.equal(b, 0.0)
    if return_sign or (is_traced(b) and np.any(zero)):
        raise UnsupportedError(
            "logsumexp of complex numbers is not differentiated with return_sign, or in weights that are zero; write "
            "log(sum(b * exp(a)))"
        )
    terms = a + np.log(np.where(zero, 1.0, b) + 0j)
    return _LOGSUMEXP(np.where(zero, -np.inf, terms), axis=axis, keepdims=keepdims)
