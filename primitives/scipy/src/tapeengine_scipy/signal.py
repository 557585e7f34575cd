"""Derivatives of `scipy.signal`: convolutions and linear filters, with SciPy's own signatures.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import signal
>>> signal.convolve(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
array([1., 3., 2.])
"""

from typing import Any

import numpy
import scipy
from numpy.lib.array_utils import normalize_axis_index

import tapeengine.numpy as np
from tapeengine.builders import bilinear, unbroadcast
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine_scipy._passing import beside, names_of, plain_value
from tapeengine_scipy._values import floating

__all__ = ["convolve", "fftconvolve", "lfilter"]

__getattr__, __dir__ = names_of("scipy.signal")

# ---- full convolution; 'same' and 'valid' are slices of it ---------------------------------------


def _full_convolution(in1: Any, in2: Any, *, method: str = "auto") -> Any:
    return scipy.signal.convolve(in1, in2, mode="full", method=method)


def _correlation(ct: Any, kernel: Any, *, method: str = "auto") -> Any:
    """The transpose of the full convolution with `kernel`: sums of ct[k + i] kernel[i]."""
    return scipy.signal.convolve(ct, numpy.flip(kernel), mode="valid", method=method)


CONVOLVE: Primitive = bilinear(
    "scipy.signal.convolve",
    _full_convolution,
    {
        "in1": lambda ct, in2, method, in1_space: unbroadcast(CORRELATE(ct, in2, method=method), in1_space),
        "in2": lambda ct, in1, method, in2_space: unbroadcast(CORRELATE(ct, in1, method=method), in2_space),
    },
    samples=(
        Sample((uniform((5,)), uniform((3,)))),
        Sample((uniform((2, 3)), uniform((3, 2))), {"method": "direct"}),
        Sample((uniform((4,)), uniform((2,))), {"method": "fft"}),
        Sample((uniform((4,)), uniform((2,), dtype=complex)), {"method": "direct"}),
    ),
    doc="the full convolution; each cotangent is the correlation of ct with the other argument",
)
CORRELATE: Primitive = bilinear(
    "scipy.signal.correlate",
    _correlation,
    {
        "ct": lambda outer, kernel, method, ct_space: unbroadcast(CONVOLVE(outer, kernel, method=method), ct_space),
        "kernel": lambda outer, ct, method, kernel_space: unbroadcast(
            CORRELATE(ct, outer, method=method), kernel_space
        ),
    },
    samples=(Sample((uniform((5,)), uniform((3,)))), Sample((uniform((4, 3)), uniform((2, 2))), {"method": "direct"})),
    doc="the valid correlation, transpose of the full convolution",
)


@beside("scipy.signal.convolve")
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Convolve two arrays of the same number of axes; see `scipy.signal.convolve`.

    Examples
    --------
    >>> import numpy as np
    >>> convolve(np.ones(3), np.ones(2), mode="valid")
    array([2., 2.])
    """
    in1, in2 = floating(in1), floating(in2)
    if in1.ndim != in2.ndim:
        raise ValueError(f"convolve: both arrays must have the same number of axes, not {in1.ndim} and {in2.ndim}")
    if in1.ndim == 0:
        return in1 * in2
    return _part(CONVOLVE(in1, in2, method=method), in1.shape, in2.shape, mode, tuple(range(in1.ndim)))


def _part(full: Any, shape1: tuple[int, ...], shape2: tuple[int, ...], mode: str, axes: tuple[int, ...]) -> Any:
    """Cut the part of a full convolution that a mode asks for."""
    if mode == "full":
        return full
    if mode not in ("same", "valid"):
        raise ValueError(f"mode must be 'full', 'same' or 'valid', not {mode!r}")
    cut = [slice(None)] * len(shape1)
    for axis in axes:
        long, short = max(shape1[axis], shape2[axis]), min(shape1[axis], shape2[axis])
        width = shape1[axis] if mode == "same" else long - short + 1
        start = (long + short - 1 - width) // 2
        cut[axis] = slice(start, start + width)
    if mode == "valid" and any(shape1[i] < shape2[i] for i in axes) and any(shape1[i] > shape2[i] for i in axes):
        raise ValueError("mode 'valid': one of the arrays must be at least as large as the other along every axis")
    return full[tuple(cut)]


# ---- convolution by FFT along some axes, broadcasting along the others ---------------------------


def _full_fft(in1: Any, in2: Any, *, axes: tuple[int, ...]) -> Any:
    return scipy.signal.fftconvolve(in1, in2, mode="full", axes=axes)


def _fft_correlation(ct: Any, kernel: Any, *, axes: tuple[int, ...]) -> Any:
    full = scipy.signal.fftconvolve(ct, numpy.flip(kernel, axes), mode="full", axes=axes)
    cut = [slice(None)] * full.ndim
    for axis in axes:
        start = kernel.shape[axis] - 1
        cut[axis] = slice(start, start + ct.shape[axis] - kernel.shape[axis] + 1)
    return full[tuple(cut)]


def _fft_correlation_vjp_kernel(outer: Any, ct: Any, axes: tuple[int, ...], kernel_space: Any) -> Any:
    return unbroadcast(FFTCORRELATE(ct, outer, axes=axes), kernel_space)


FFTCONVOLVE: Primitive = bilinear(
    "scipy.signal.fftconvolve",
    _full_fft,
    {
        "in1": lambda ct, in2, axes, in1_space: unbroadcast(FFTCORRELATE(ct, in2, axes=axes), in1_space),
        "in2": lambda ct, in1, axes, in2_space: unbroadcast(FFTCORRELATE(ct, in1, axes=axes), in2_space),
    },
    samples=(
        Sample((uniform((5,)), uniform((3,))), {"axes": (0,)}),
        Sample((uniform((2, 4)), uniform((1, 3))), {"axes": (1,)}),
    ),
    doc="the full convolution by FFT along some axes",
)
FFTCORRELATE: Primitive = bilinear(
    "scipy.signal.fftcorrelate",
    _fft_correlation,
    {
        "ct": lambda outer, kernel, axes, ct_space: unbroadcast(FFTCONVOLVE(outer, kernel, axes=axes), ct_space),
        "kernel": _fft_correlation_vjp_kernel,
    },
    samples=(
        Sample((uniform((5,)), uniform((3,))), {"axes": (0,)}),
        Sample((uniform((2, 4)), uniform((1, 3))), {"axes": (1,)}),
    ),
    doc="the valid correlation by FFT along some axes",
)


@beside("scipy.signal.fftconvolve")
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """Convolve two arrays by FFT; see `scipy.signal.fftconvolve`.

    Examples
    --------
    >>> import numpy as np
    >>> fftconvolve(np.ones(3), np.ones(2), mode="valid").round(12)
    array([2., 2.])
    """
    in1, in2 = floating(in1), floating(in2)
    if in1.ndim != in2.ndim:
        raise ValueError(f"fftconvolve: both arrays must have the same number of axes, not {in1.ndim} and {in2.ndim}")
    if in1.ndim == 0:
        return in1 * in2
    if 0 in (*in1.shape, *in2.shape):
        raise UnsupportedError("fftconvolve of empty arrays is not differentiated")
    given = range(in1.ndim) if axes is None else numpy.atleast_1d(axes)
    along = tuple(normalize_axis_index(int(axis), in1.ndim) for axis in given)
    return _part(FFTCONVOLVE(in1, in2, axes=along), in1.shape, in2.shape, mode, along)


# ---- filters: a * y = b * x, so that a * dy = db * x - da * y + b * dx ---------------------------


def _lfilter_primal(b: Any, a: Any, x: Any) -> Any:
    return scipy.signal.lfilter(b, a, x, axis=-1)


def _backwards(a: Any, ct: Any) -> Any:
    """The transpose of dividing by a: the recursion run from the end."""
    return np.flip(LFILTER(np.ones_like(a[:1]), a, np.flip(ct, -1)), -1)


def _lag_sums(left: Any, right: Any, *, lags: int) -> Any:
    """Sums of left[..., n] right[..., n - k] for each lag k, over all rows."""
    length = left.shape[-1]
    pairs = ((left[..., k:], right[..., : max(length - k, 0)]) for k in range(lags))
    return numpy.stack([numpy.sum(x * y) for x, y in pairs])


def _lagged(weights: Any, x: Any, *, ahead: bool) -> Any:
    """Sums over k of weights[k] x[..., n - k], or of x[..., n + k]."""
    room = numpy.zeros(x.shape, numpy.result_type(weights, x))
    length = x.shape[-1]
    for k, weight in enumerate(weights[:length]):
        into, out_of = (slice(0, length - k), slice(k, None)) if ahead else (slice(k, None), slice(0, length - k))
        room[..., into] += weight * x[..., out_of]
    return room


LAG_SUMS: Primitive = bilinear(
    "scipy.signal.lag_sums",
    _lag_sums,
    {
        "left": lambda ct, right, left_space: unbroadcast(LAGGED(ct, right, ahead=False), left_space),
        "right": lambda ct, left, right_space: unbroadcast(LAGGED(ct, left, ahead=True), right_space),
    },
    samples=(
        Sample((uniform((4,)), uniform((4,))), {"lags": 3}),
        Sample((uniform((2, 3)), uniform((2, 3))), {"lags": 4}),
    ),
    doc="correlations of two signals at the first lags",
)


def _lagged_vjp_weights(ct: Any, x: Any, ahead: bool, weights_space: Any) -> Any:
    left, right = (x, ct) if ahead else (ct, x)
    return unbroadcast(LAG_SUMS(left, right, lags=weights_space.shape[0]), weights_space)


LAGGED: Primitive = bilinear(
    "scipy.signal.lagged",
    _lagged,
    {
        "weights": _lagged_vjp_weights,
        "x": lambda ct, weights, ahead, x_space: unbroadcast(LAGGED(weights, ct, ahead=not ahead), x_space),
    },
    samples=(
        Sample((uniform((3,)), uniform((4,))), {"ahead": False}),
        Sample((uniform((5,)), uniform((2, 3))), {"ahead": True}),
    ),
    doc="a signal's weighted sum of delayed or advanced copies",
)


def _lfilter_vjp_x(ct: Any, b: Any, a: Any, x_space: Any) -> Any:
    return unbroadcast(LAGGED(b, _backwards(a, ct), ahead=True), x_space)


def _lfilter_vjp_b(ct: Any, a: Any, x: Any, b_space: Any) -> Any:
    return unbroadcast(LAG_SUMS(_backwards(a, ct), x, lags=b_space.size), b_space)


def _lfilter_vjp_a(ct: Any, a: Any, out: Any, a_space: Any) -> Any:
    return unbroadcast(-LAG_SUMS(_backwards(a, ct), out, lags=a_space.size), a_space)


LFILTER: Primitive = Primitive(
    "scipy.signal.lfilter",
    _lfilter_primal,
    vjp={"b": _lfilter_vjp_b, "a": _lfilter_vjp_a, "x": _lfilter_vjp_x},
    jvp={
        "b": lambda t, a, x, out_space: unbroadcast(LFILTER(t, a, x), out_space),
        "a": lambda t, a, out, out_space: unbroadcast(-LFILTER(t, a, out), out_space),
        "x": lambda t, b, a, out_space: unbroadcast(LFILTER(b, a, t), out_space),
    },
    samples=lambda: (
        Sample((uniform((3,)), numpy.array([1.5, -0.4, 0.3]), uniform((6,)))),
        Sample((uniform((2,)), numpy.array([2.0]), uniform((2, 4)))),
        Sample((uniform((1,)), numpy.array([1.0, 0.5, 0.1, 0.2]), uniform((2, 3)))),
    ),
    doc="a * y = b * x; with the recursion run backwards, v = ct / a: dx, db, da are correlations of v with b, x, -y",
)


@beside("scipy.signal.lfilter")
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter a signal with a rational transfer function; see `scipy.signal.lfilter`.

    Differentiable in `b`, `a`, `x` and `zi`; with `zi` the final state is returned as well.

    Examples
    --------
    >>> import numpy as np
    >>> lfilter([1.0], [1.0, -0.5], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    b, a, x = np.atleast_1d(floating(b)), np.atleast_1d(floating(a)), floating(x)
    if b.ndim != 1 or a.ndim != 1 or x.ndim == 0:
        raise ValueError("lfilter: b and a must be vectors, and x must have an axis")
    rows = np.moveaxis(x, axis, -1)
    if zi is None:
        return np.moveaxis(LFILTER(b, a, rows), -1, axis)
    _check_state(floating(zi), b, a, x, axis)
    y, state = _with_state(b / a[0], a / a[0], rows, np.moveaxis(floating(zi), axis, -1))
    return np.moveaxis(y, -1, axis), np.moveaxis(state, -1, axis)


def _check_state(zi: Any, b: Any, a: Any, x: Any, axis: int) -> None:
    expected = list(x.shape)
    expected[axis] = max(b.shape[0], a.shape[0]) - 1
    fits = zi.ndim == x.ndim and all(
        have == want or (have == 1 and place != axis % x.ndim)
        for place, (have, want) in enumerate(zip(zi.shape, expected, strict=True))
    )
    if not fits or not plain_value(a)[0]:
        raise ValueError(f"lfilter: zi must have the shape {tuple(expected)}, not {zi.shape}, and a[0] must not be 0")


def _with_state(b: Any, a: Any, x: Any, zi: Any) -> Any:
    """The state is an input that bypasses b: a * y = b * x + zi; what b * x - a * y + zi leaves is the new one."""
    length, order = x.shape[-1], zi.shape[-1]
    rows = numpy.broadcast_shapes(x.shape[:-1], zi.shape[:-1])
    late = np.concatenate([x, numpy.zeros((*x.shape[:-1], order))], axis=-1)
    state = np.concatenate([np.broadcast_to(zi, (*rows, order)), numpy.zeros((*rows, length))], axis=-1)
    y = LFILTER(b, a, x) + LFILTER(np.ones_like(a[:1]), a, state[..., :length])
    past = np.concatenate([y, numpy.zeros((*y.shape[:-1], order))], axis=-1)
    rest = LAGGED(b, late, ahead=False) - LAGGED(a, past, ahead=False) + state
    return y, rest[..., length:]
