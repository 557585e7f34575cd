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
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, builders, patterns, uniform
from tapeengine.primitive.builders import unbroadcast
from tapeengine_scipy._filters import lfilter, sosfilt
from tapeengine_scipy._names import names_of
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating

__all__ = ["convolve", "correlate", "fftconvolve", "lfilter", "sosfilt", "upfirdn"]

__getattr__, __dir__ = names_of("scipy.signal", globals())

#: The method by which images are filtered.
IMAGES = "images"

# ---- full convolution, along some axes by FFT; modes 'same' and 'valid' are slices of it -----------


def _is_of_images(method: str, large: Any, kernel: Any) -> bool:
    """Whether SciPy's filter of images, whose loops run along rows, computes this: real numbers and a small kernel."""
    is_real = not (numpy.iscomplexobj(large) or numpy.iscomplexobj(kernel))
    places = numpy.maximum(numpy.subtract(large.shape, kernel.shape) + 1, 0)
    return method == IMAGES and is_real and kernel.size < numpy.prod(places)


def _filtered(image: Any, kernel: Any) -> Any:
    """The valid correlation: the part of a filtered image that no margin has a part in."""
    found = scipy.ndimage.correlate(image, kernel, mode="constant")
    starts = [extent // 2 for extent in kernel.shape]
    return found[tuple(map(slice, starts, numpy.add(starts, image.shape) - kernel.shape + 1))]


def _full_convolution(in1: Any, in2: Any, *, method: str = "auto", axes: Any = None) -> Any:
    if _is_of_images(method, in1, in2):
        return _filtered(numpy.pad(in1, [(extent - 1, extent - 1) for extent in in2.shape]), numpy.flip(in2))
    method = "direct" if method == IMAGES else method
    if axes is None:
        return scipy.signal.convolve(in1, in2, mode="full", method=method)
    return scipy.signal.fftconvolve(in1, in2, mode="full", axes=axes)


def _correlation(ct: Any, kernel: Any, *, method: str = "auto", axes: Any = None) -> Any:
    """The transpose of the full convolution with `kernel`: sums of ct[k + i] kernel[i]."""
    if _is_of_images(method, ct, kernel):
        return _filtered(ct, kernel)
    method = "direct" if method == IMAGES else method
    if axes is None:
        return scipy.signal.convolve(ct, numpy.flip(kernel), mode="valid", method=method)
    full = scipy.signal.fftconvolve(ct, numpy.flip(kernel, axes), mode="full", axes=axes)
    cut = [slice(None)] * full.ndim
    for axis in axes:
        start = kernel.shape[axis] - 1
        cut[axis] = slice(start, start + ct.shape[axis] - kernel.shape[axis] + 1)
    return full[tuple(cut)]


def _windows(call: patterns.Call, sets: Any, extents: Any, padding: int) -> Any:
    """Unions over windows of some extents, one for each axis; in between zeros are put around the sets."""
    for axis, extent in enumerate(extents):
        lines = numpy.moveaxis(sets, axis, 0)
        room = numpy.zeros((padding * (extent - 1), *lines.shape[1:]), lines.dtype)
        lines = patterns.windows(call, numpy.concatenate((room, lines, room)), extent)
        sets = numpy.moveaxis(lines, 0, axis)
    return sets


def _axes_of(call: patterns.Call) -> tuple[int, ...]:
    axes = call.static["axes"]
    return tuple(range(call.spaces[0].ndim)) if axes is None else axes


def _extents(space: Any, axes: tuple[int, ...]) -> list[int]:
    return [extent if axis in axes else 1 for axis, extent in enumerate(space.shape)]


def _full_pattern(call: patterns.Call) -> Any:
    """Each element depends on a window of either argument, as large as the other; along other axes, on its own."""
    axes = _axes_of(call)
    found = [_windows(call, sets, _extents(call.spaces[1 - k], axes), 1) for k, sets in call.sets.items()]
    return numpy.broadcast_to(found[0] if len(found) == 1 else call.union(*found), call.shape)


def _valid_pattern(call: patterns.Call) -> Any:
    """Each element depends on a window of the first argument and on all of the kernel; along other axes, on its own."""
    axes = _axes_of(call)
    kernel = _extents(call.spaces[1], axes)
    found = [_windows(call, sets, kernel, 0) if k == 0 else call.over(sets, axes) for k, sets in call.sets.items()]
    return numpy.broadcast_to(found[0] if len(found) == 1 else call.union(*found), call.shape)


def _to_in1(ct: Any, in2: Any, method: str, axes: Any, in1_space: Any) -> Any:
    return unbroadcast(CORRELATE(ct, in2, method=method, axes=axes), in1_space)


def _to_in2(ct: Any, in1: Any, method: str, axes: Any, in2_space: Any) -> Any:
    return unbroadcast(CORRELATE(ct, in1, method=method, axes=axes), in2_space)


def _to_ct(outer: Any, kernel: Any, method: str, axes: Any, ct_space: Any) -> Any:
    return unbroadcast(CONVOLVE(outer, kernel, method=method, axes=axes), ct_space)


def _to_kernel(outer: Any, ct: Any, method: str, axes: Any, kernel_space: Any) -> Any:
    return unbroadcast(CORRELATE(ct, outer, method=method, axes=axes), kernel_space)


CONVOLVE: Primitive = builders.bilinear(
    "scipy.signal.convolve",
    _full_convolution,
    {"in1": _to_in1, "in2": _to_in2},
    samples=(
        Sample((uniform((5,)), uniform((3,)))),
        Sample((uniform((2, 3)), uniform((3, 2))), {"method": "direct"}),
        Sample((uniform((4,)), uniform((2,))), {"method": "fft"}),
        Sample((uniform((4,)), uniform((2,), dtype=complex)), {"method": "direct"}),
        Sample((uniform((5,)), uniform((3,))), {"axes": (0,)}),
        Sample((uniform((2, 4)), uniform((1, 3))), {"axes": (1,)}),
    ),
    pattern=_full_pattern,
    doc="the full convolution; each cotangent is the correlation of ct with the other argument",
)
CORRELATE: Primitive = builders.bilinear(
    "scipy.signal.correlate",
    _correlation,
    {"ct": _to_ct, "kernel": _to_kernel},
    samples=(
        Sample((uniform((5,)), uniform((3,)))),
        Sample((uniform((4, 3)), uniform((2, 2))), {"method": "direct"}),
        Sample((uniform((6, 5)), uniform((2, 3))), {"method": IMAGES}),
        Sample((uniform((5,)), uniform((3,))), {"axes": (0,)}),
        Sample((uniform((2, 4)), uniform((1, 3))), {"axes": (1,)}),
    ),
    pattern=_valid_pattern,
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
    if method == IMAGES:  # which only filters of images use
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if in1.ndim == 0:
        return in1 * in2
    return _part(CONVOLVE(in1, in2, method=method), in1.shape, in2.shape, mode, tuple(range(in1.ndim)))


@beside("scipy.signal.correlate")
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Correlate two arrays of the same number of axes; see `scipy.signal.correlate`.

    Examples
    --------
    >>> import numpy as np
    >>> correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0]), mode="valid")
    array([2., 3.])
    """
    in1, in2 = floating(in1), floating(in2)
    if in1.ndim == in2.ndim == 0:
        return in1 * np.conj(in2)
    turned = np.conj(np.flip(in2)) if in2.dtype.kind == "c" else np.flip(in2)
    return convolve(in1, turned, mode, method)


def _part(full: Any, shape1: tuple[int, ...], shape2: tuple[int, ...], mode: str, axes: tuple[int, ...]) -> Any:
    """Cut a full convolution to the part for a mode."""
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
    if mode == "valid" and any(1 < in1.shape[axis] < in2.shape[axis] for axis in along):
        in1, in2 = in2, in1  # as in SciPy: the order affects last bits
    return _part(CONVOLVE(in1, in2, axes=along), in1.shape, in2.shape, mode, along)


@beside("scipy.signal.upfirdn")
def upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str | None = "constant", cval: float = 0
) -> Any:
    """Put zeros between samples, filter, and take some of the results; see `scipy.signal.upfirdn`.

    Examples
    --------
    >>> import numpy as np
    >>> upfirdn([1.0, 1.0], np.array([1.0, 2.0]), up=2)
    array([1., 1., 2., 2.])
    """
    if mode not in (None, "constant") or cval != 0:
        raise UnsupportedError("upfirdn is differentiated for signals that are 0 beyond their ends")
    h, rows = np.atleast_1d(floating(h)), np.moveaxis(floating(x), axis, -1)
    apart = np.zeros((*rows.shape, up), rows.dtype)
    apart[..., 0] = rows
    apart = apart.reshape(*rows.shape[:-1], -1)[..., : up * (rows.shape[-1] - 1) + 1]
    found = convolve(apart, h.reshape((1,) * (rows.ndim - 1) + (-1,)))
    return np.moveaxis(found[..., ::down], -1, axis)
