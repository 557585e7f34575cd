"""Discrete Fourier transforms. All are linear: the one along a single axis is a primitive, others are compositions.

The matrix of fft is symmetric, so its transpose is fft again, with other lengths; likewise for ifft. The transposes of
rfft and irfft are each other, conjugated and with the paired frequencies halved or doubled.
"""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, Uniform, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast

from .joining import along
from .values import as_array, is_complex, ndim_of, normal_axis, shape_of


def fitted(ct: Any, space: Any, axis: int) -> Any:
    """Cut a cotangent, or pad it with zeros, to the extent of the argument."""
    axis = normal_axis(axis, space.ndim)
    extent, found = space.shape[axis], shape_of(ct)[axis]
    if found > extent:
        ct = ct[along(axis, slice(0, extent))]
    elif found < extent:
        rest = (*space.shape[:axis], extent - found, *space.shape[axis + 1 :])
        ct = np.concatenate((ct, numpy.zeros(rest, ct.dtype)), axis=axis)
    return unbroadcast(ct, space)


def _length(space: Any, n: int | None, axis: int) -> int:
    return int(space.shape[axis]) if n is None else n


def _samples(low: int = 1) -> tuple[Sample, ...]:
    return (
        *(Sample((uniform((extent,), dtype=complex),)) for extent in (low, 4, 5)),
        *(Sample((uniform((4, 3), dtype=complex),), {"n": n, "axis": 0}) for n in (3, 4, 6)),
        *(Sample((uniform((5,)),), {"norm": norm}) for norm in ("ortho", "forward", "backward")),
        Sample((uniform((4,), dtype=numpy.complex64),)),
        Sample((uniform((2, 3), dtype=numpy.float32),)),
    )


def _real_part(values: Uniform) -> Uniform:
    narrow = numpy.dtype(values.dtype).char in "Ff"
    return uniform(values.shape, dtype=numpy.float32 if narrow else numpy.float64)


def _symmetric(name: str, transform: Any) -> Primitive:
    def vjp(ct: Any, x_space: Any, n: Any, axis: int, norm: Any) -> Any:
        return fitted(made[0](ct, n=_length(x_space, n, axis), axis=axis, norm=norm), x_space, axis)

    made = (
        linear(
            name,
            lambda x, *, n=None, axis=-1, norm=None: transform(x, n, axis, norm),
            vjp,
            samples=_samples,
            pattern=patterns.along,
            doc="the discrete Fourier transform along an axis; dx = the transform of ct",
        ),
    )
    return made[0]


FFT = _symmetric("numpy.fft.fft", numpy.fft.fft)
IFFT = _symmetric("numpy.fft.ifft", numpy.fft.ifft)


def doubled(extent: int, ndim: int, axis: int, factor: float) -> Any:
    """Return `factor` for the frequencies of a real transform that represent a pair, and 1 for the others."""
    weights = numpy.full(extent // 2 + 1, factor)
    weights[0] = 1.0
    if extent % 2 == 0:
        weights[-1] = 1.0
    return weights.reshape([-1 if position == normal_axis(axis, ndim) else 1 for position in range(ndim)])


def _other(norm: Any) -> str:
    others = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
    if norm not in others:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return others[norm]


def _rfft_vjp(ct: Any, x_space: Any, n: Any, axis: int, norm: Any) -> Any:
    extent = _length(x_space, n, axis)
    half = np.conjugate(ct) * doubled(extent, x_space.ndim, axis, 0.5)
    return fitted(np.fft.irfft(half, extent, axis, _other(norm)), x_space, axis)


def _irfft_vjp(ct: Any, x_space: Any, n: Any, axis: int, norm: Any) -> Any:
    extent = 2 * (x_space.shape[axis] - 1) if n is None else n
    whole = np.conjugate(np.fft.rfft(ct, extent, axis, _other(norm)))
    return fitted(whole * doubled(extent, x_space.ndim, axis, 2.0), x_space, axis)


RFFT = linear(
    "numpy.fft.rfft",
    lambda x, *, n=None, axis=-1, norm=None: numpy.fft.rfft(x, n, axis, norm),
    _rfft_vjp,
    samples=lambda: tuple(Sample((_real_part(one.args[0]),), one.static) for one in _samples()),
    pattern=patterns.along,
    doc="the transform of real values; dx = n irfft(conj(ct)), paired frequencies halved",
)
IRFFT = linear(
    "numpy.fft.irfft",
    lambda x, *, n=None, axis=-1, norm=None: numpy.fft.irfft(x, n, axis, norm),
    _irfft_vjp,
    samples=lambda: _samples(2),
    pattern=patterns.along,
    doc="the real values of a transform; dx = conj(rfft(ct)) / n, paired frequencies doubled",
)


def _along_axis(primitive: Primitive, real: bool = False) -> Any:
    def rule(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Any:
        x = as_array(a)
        if real and is_complex(x):
            raise TypeError(f"{primitive.name} transforms real values; use fft")
        return primitive(x, n=n, axis=axis, norm=norm)

    return rule


fft = _along_axis(FFT)
ifft = _along_axis(IFFT)
rfft = _along_axis(RFFT, real=True)
irfft = _along_axis(IRFFT)


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Any:
    """Transform the half of a signal with Hermitian symmetry; see `numpy.fft.hfft`."""
    return irfft(np.conjugate(a), n, axis, _other(norm))


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: None = None) -> Any:
    """Undo `hfft`; see `numpy.fft.ihfft`."""
    return np.conjugate(rfft(a, n, axis, _other(norm)))


def _shape_and_axes(x: Any, s: Any, axes: Any) -> tuple[list[Any], list[int]]:
    """Return the lengths and the axes of a transform over several axes; None and -1 keep a length."""
    if s is not None:
        ones: Any = [None if n is None else 1 for n in s]
        numpy.fft.fftn(numpy.zeros((1,) * ndim_of(x)), ones, axes)  # gives numpy's warnings
    if axes is None:
        axes = range(-ndim_of(x) if s is None else -len(s), 0)
    chosen = [normal_axis(axis, ndim_of(x)) for axis in axes]
    lengths = [None] * len(chosen) if s is None else [None if n in (None, -1) else int(n) for n in s]
    if len(lengths) != len(chosen):
        raise ValueError("Shape and axes have different lengths.")
    return lengths, chosen


def _over_axes(transform: Any, default: Any) -> Any:
    def rule(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: None = None) -> Any:
        x = np.asarray(a)
        for n, axis in reversed(list(zip(*_shape_and_axes(x, s, axes), strict=True))):
            x = transform(x, n, axis, norm)
        return x

    return rule


def _real_over_axes(default: Any) -> Any:
    def rule(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: None = None) -> Any:
        x = as_array(a)
        lengths, chosen = _shape_and_axes(x, s, axes)
        x = rfft(x, lengths[-1], chosen[-1], norm)
        for n, axis in zip(lengths[-2::-1], chosen[-2::-1], strict=True):
            x = fft(x, n, axis, norm)
        return x

    return rule


def _inverse_real_over_axes(default: Any) -> Any:
    def rule(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: None = None) -> Any:
        x = as_array(a)
        lengths, chosen = _shape_and_axes(x, s, axes)
        for n, axis in zip(lengths[:-1], chosen[:-1], strict=True):
            x = ifft(x, n, axis, norm)
        return irfft(x, lengths[-1], chosen[-1], norm)

    return rule


RULES = {
    numpy.fft.fft: fft,
    numpy.fft.ifft: ifft,
    numpy.fft.rfft: rfft,
    numpy.fft.irfft: irfft,
    numpy.fft.hfft: hfft,
    numpy.fft.ihfft: ihfft,
    numpy.fft.fft2: _over_axes(fft, (-2, -1)),
    numpy.fft.ifft2: _over_axes(ifft, (-2, -1)),
    numpy.fft.fftn: _over_axes(fft, None),
    numpy.fft.ifftn: _over_axes(ifft, None),
    numpy.fft.rfft2: _real_over_axes((-2, -1)),
    numpy.fft.rfftn: _real_over_axes(None),
    numpy.fft.irfft2: _inverse_real_over_axes((-2, -1)),
    numpy.fft.irfftn: _inverse_real_over_axes(None),
}
