"""Derivatives of `scipy.fft`: Fourier, cosine and sine transforms, with SciPy's own signatures.

All of them are linear. The discrete Fourier transform is its own transpose, so the rule of `fft` is an `fft` of the
cotangent, cut or padded to the input's length; those of the real transforms follow from it. `overwrite_x` is accepted
and does nothing.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import fft
>>> fft.dct(np.array([1.0, 1.0]))
array([4., 0.])
"""

from typing import Any

import numpy
import scipy
from numpy.lib.array_utils import normalize_axis_index

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast
from tapeengine_scipy._passing import beside, names_of
from tapeengine_scipy._trigonometric import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._transpose import conjugate

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "idct", "idctn", "idst",
    "idstn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft",
    "rfft2", "rfftn",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.fft")

_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def resized(x: Any, length: int, axis: int) -> Any:
    """Cut an axis, or pad it with zeros."""
    have = x.shape[axis]
    if have == length:
        return x
    if have > length:
        return x[(slice(None),) * (axis % x.ndim) + (slice(0, length),)]
    room = list(x.shape)
    room[axis] = length - have
    return np.concatenate([x, numpy.zeros(room, x.dtype)], axis=axis)


def _lengths() -> tuple[Sample, ...]:
    return (
        Sample((uniform((4,)),), {"n": 4, "axis": -1}),
        Sample((uniform((3, 4), dtype=complex),), {"n": 5, "axis": 0, "norm": "ortho"}),
        Sample((uniform((5, 2), dtype=complex),), {"n": 3, "axis": 0, "norm": "forward"}),
    )


def _transform(name: str) -> Primitive:
    def primal(x: Any, *, n: int, axis: int, norm: Any = None, workers: Any = None) -> Any:
        return getattr(scipy.fft, name)(x, n=n, axis=axis, norm=norm, workers=workers)

    def transpose(ct: Any, axis: int, norm: Any, workers: Any, n: int, x_space: Any) -> Any:
        back = made(ct, n=n, axis=axis, norm=norm, workers=workers)
        return unbroadcast(resized(back, x_space.shape[axis], axis), x_space)

    doc = f"{name}(x); dx = {name}(ct), cut to x"
    made = linear(f"scipy.fft.{name}", primal, transpose, samples=_lengths, pattern=patterns.along, doc=doc)
    return made


FFT: Primitive = _transform("fft")
IFFT: Primitive = _transform("ifft")


def _rfft_primal(x: Any, *, n: int, axis: int, norm: Any = None, workers: Any = None) -> Any:
    return scipy.fft.rfft(x, n=n, axis=axis, norm=norm, workers=workers)


def _rfft_transpose(ct: Any, axis: int, norm: Any, workers: Any, n: int, x_space: Any) -> Any:
    whole = FFT(resized(ct, n, axis), n=n, axis=axis, norm=norm, workers=workers)
    return unbroadcast(resized(whole, x_space.shape[axis], axis), x_space)


RFFT: Primitive = linear(
    "scipy.fft.rfft",
    _rfft_primal,
    _rfft_transpose,
    samples=(
        Sample((uniform((4,)),), {"n": 4, "axis": -1}),
        Sample((uniform((3, 4)),), {"n": 5, "axis": 0, "norm": "ortho"}),
    ),
    pattern=patterns.along,
    doc="rfft(x); dx = Re fft(ct), with ct padded by zeros",
)


def _irfft_primal(x: Any, *, n: int, axis: int, norm: Any = None, workers: Any = None) -> Any:
    return scipy.fft.irfft(x, n=n, axis=axis, norm=norm, workers=workers)


def _twice(n: int, ndim: int, axis: int) -> Any:
    """The number of times that irfft uses each coefficient: twice if it has a mirror image."""
    weights = numpy.full(n // 2 + 1, 2.0)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[-1] = 1.0
    shape = [1] * ndim
    shape[axis] = n // 2 + 1
    return weights.reshape(shape)


def _irfft_transpose(ct: Any, axis: int, norm: Any, workers: Any, n: int, x_space: Any) -> Any:
    half = np.conj(RFFT(ct, n=n, axis=axis, norm=_SWAPPED[norm], workers=workers))
    weighted = half * _twice(n, x_space.ndim, axis)
    return unbroadcast(resized(weighted, x_space.shape[axis], axis), x_space)


IRFFT: Primitive = linear(
    "scipy.fft.irfft",
    _irfft_primal,
    _irfft_transpose,
    samples=(
        Sample((uniform((3,), dtype=complex),), {"n": 4, "axis": -1}),
        Sample((uniform((3, 4), dtype=complex),), {"n": 5, "axis": 0, "norm": "ortho"}),
        Sample((uniform((4,), dtype=complex),), {"n": 4, "axis": 0}),
        Sample((uniform((4,)),), {"n": 5, "axis": 0}),
    ),
    pattern=patterns.along,
    doc="irfft(x); dx = conj(rfft(ct)), doubled where a coefficient has a mirror image",
)


@beside("scipy.fft.fft")
def fft(
    x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the discrete Fourier transform; see `scipy.fft.fft`.

    Examples
    --------
    >>> import numpy as np
    >>> fft(np.array([1.0, 3.0])).real
    array([ 4., -2.])
    """
    x = floating(x)
    return FFT(x, n=_length(n, x.shape[axis], plan), axis=axis, norm=norm, workers=workers)


@beside("scipy.fft.ifft")
def ifft(
    x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse discrete Fourier transform; see `scipy.fft.ifft`."""
    x = floating(x)
    return IFFT(x, n=_length(n, x.shape[axis], plan), axis=axis, norm=norm, workers=workers)


@beside("scipy.fft.rfft")
def rfft(
    x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the first half of the transform of a real array; see `scipy.fft.rfft`."""
    x = floating(x)
    return RFFT(x, n=_length(n, x.shape[axis], plan), axis=axis, norm=norm, workers=workers)


@beside("scipy.fft.irfft")
def irfft(
    x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `rfft`; see `scipy.fft.irfft`."""
    x = floating(x)
    return IRFFT(x, n=_length(n, 2 * (x.shape[axis] - 1), plan), axis=axis, norm=norm, workers=workers)


@beside("scipy.fft.hfft")
def hfft(
    x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the transform of an array with Hermitian symmetry; see `scipy.fft.hfft`."""
    return irfft(conjugate(floating(x)), n, axis, _SWAPPED[norm], workers=workers, plan=plan)


@beside("scipy.fft.ihfft")
def ihfft(
    x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `hfft`; see `scipy.fft.ihfft`."""
    return np.conj(rfft(x, n, axis, _SWAPPED[norm], workers=workers, plan=plan))


def _length(n: Any, default: int, plan: Any) -> int:
    """The length of a transform."""
    if plan is not None:
        raise NotImplementedError("scipy.fft takes no precomputed plan")
    length = default if n is None else int(n)
    if length < 1:
        raise ValueError(f"invalid number of data points ({length})")
    return length


def _axes(x: Any, s: Any, axes: Any, plan: Any) -> list[tuple[int, int | None]]:
    """The axes to transform, each with its length."""
    if plan is not None:
        raise NotImplementedError("scipy.fft takes no precomputed plan")
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(numpy.atleast_1d(s)), x.ndim)
    axes = [normalize_axis_index(int(axis), x.ndim) for axis in numpy.atleast_1d(axes)]
    lengths = [None] * len(axes) if s is None else [int(length) for length in numpy.atleast_1d(s)]
    if len(lengths) != len(axes) or len(set(axes)) != len(axes):
        raise ValueError(f"{len(lengths)} lengths were given for the axes {axes}, which must differ")
    return [(axis, None if length == -1 else length) for axis, length in zip(axes, lengths, strict=True)]


@beside("scipy.fft.fftn")
def fftn(
    x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the transform along several axes; see `scipy.fft.fftn`."""
    x = floating(x)
    for axis, length in _axes(x, s, axes, plan):
        x = fft(x, length, axis, norm, workers=workers)
    return x


@beside("scipy.fft.ifftn")
def ifftn(
    x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `fftn`; see `scipy.fft.ifftn`."""
    x = floating(x)
    for axis, length in _axes(x, s, axes, plan):
        x = ifft(x, length, axis, norm, workers=workers)
    return x


@beside("scipy.fft.rfftn")
def rfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the transform of a real array along several axes; see `scipy.fft.rfftn`."""
    x = floating(x)
    *others, (last, length) = _axes(x, s, axes, plan)
    x = rfft(x, length, last, norm, workers=workers)
    for axis, size in others:
        x = fft(x, size, axis, norm, workers=workers)
    return x


@beside("scipy.fft.irfftn")
def irfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `rfftn`; see `scipy.fft.irfftn`."""
    x = floating(x)
    *others, (last, length) = _axes(x, s, axes, plan)
    if length is None:  # SciPy makes one number of one, and of a length of -1 as many as there are
        length = 2 * (x.shape[last] - 1) or 1 if s is None else x.shape[last]
    for axis, size in others:
        x = ifft(x, size, axis, norm, workers=workers)
    return irfft(x, length, last, norm, workers=workers)


@beside("scipy.fft.hfftn")
def hfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the transform along several axes of an array with Hermitian symmetry; see `scipy.fft.hfftn`."""
    return irfftn(conjugate(floating(x)), s, axes, _SWAPPED[norm], workers=workers, plan=plan)


@beside("scipy.fft.ihfftn")
def ihfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `hfftn`; see `scipy.fft.ihfftn`."""
    return np.conj(rfftn(x, s, axes, _SWAPPED[norm], workers=workers, plan=plan))


@beside("scipy.fft.fft2")
def fft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the transform along two axes; see `scipy.fft.fft2`."""
    return fftn(x, s, axes, norm, workers=workers, plan=plan)


@beside("scipy.fft.ifft2")
def ifft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `fft2`; see `scipy.fft.ifft2`."""
    return ifftn(x, s, axes, norm, workers=workers, plan=plan)


@beside("scipy.fft.rfft2")
def rfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the transform of a real array along two axes; see `scipy.fft.rfft2`."""
    return rfftn(x, s, axes, norm, workers=workers, plan=plan)


@beside("scipy.fft.irfft2")
def irfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `rfft2`; see `scipy.fft.irfft2`."""
    return irfftn(x, s, axes, norm, workers=workers, plan=plan)


@beside("scipy.fft.hfft2")
def hfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the transform along two axes of an array with Hermitian symmetry; see `scipy.fft.hfft2`."""
    return hfftn(x, s, axes, norm, workers=workers, plan=plan)


@beside("scipy.fft.ihfft2")
def ihfft2(
    x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, plan: Any = None,
) -> Any:  # fmt: skip
    """Return the inverse of `hfft2`; see `scipy.fft.ihfft2`."""
    return ihfftn(x, s, axes, norm, workers=workers, plan=plan)


def _rolled(x: Any, axes: Any, inverse: bool) -> Any:
    x = floating(x)
    along = tuple(range(x.ndim)) if axes is None else tuple(int(axis) for axis in numpy.atleast_1d(axes))
    for axis in along:
        middle = (x.shape[axis] if inverse else x.shape[axis] + 1) // 2
        before = (slice(None),) * (axis % x.ndim)
        x = np.concatenate([x[(*before, slice(middle, None))], x[(*before, slice(0, middle))]], axis=axis)
    return x


@beside("scipy.fft.fftshift")
def fftshift(x: Any, axes: Any = None) -> Any:
    """Move the zero frequency to the middle; see `scipy.fft.fftshift`.

    Examples
    --------
    >>> import numpy as np
    >>> fftshift(np.array([0.0, 1.0, -1.0]))
    array([-1.,  0.,  1.])
    """
    return _rolled(x, axes, inverse=False)


@beside("scipy.fft.ifftshift")
def ifftshift(x: Any, axes: Any = None) -> Any:
    """Undo `fftshift`; see `scipy.fft.ifftshift`."""
    return _rolled(x, axes, inverse=True)
