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
>>> fft.fft(np.array([1.0, 3.0])).real
array([ 4., -2.])
"""

from collections.abc import Callable
from typing import Any

import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_primitives.fourier import other, records
from tapeengine_scipy._names import names_of
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._trigonometric import axes_of, dct, dctn, dst, dstn, idct, idctn, idst, idstn, length_of
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg._transpose import conjugate

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftn", "hfft", "hfft2", "hfftn", "idct", "idctn", "idst",
    "idstn", "ifft", "ifft2", "ifftn", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft",
    "rfft2", "rfftn",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.fft", globals())


def _primal(name: str) -> Callable[..., Any]:
    return lambda x, *, n=None, axis=-1, norm=None, workers=None: getattr(scipy.fft, name)(
        x, n=n, axis=axis, norm=norm, workers=workers
    )


FFT, IFFT, RFFT, IRFFT = records("scipy.fft", _primal, "workers")


def _named(name: str, transform: Callable[..., Any], returns: str) -> Callable[..., Any]:
    """The function of SciPy that transforms one axis or several, which has their lengths and numbers."""

    def function(x: Any, norm: Any, overwrite_x: bool, workers: Any, plan: Any, **along: Any) -> Any:
        return transform(floating(x), *along.values(), norm, workers, plan)

    return with_signature(f"scipy.fft.{name}", returns=returns)(function)


def _of_record(record: Primitive) -> Callable[..., Any]:
    """The transform of one axis by a record, by default at the length of the axis."""
    return lambda x, n, axis, norm, workers, plan: record(
        x, n=length_of(n, x.shape[axis], plan), axis=axis, norm=norm, workers=workers
    )


def _irfft(x: Any, n: Any, axis: int, norm: Any, workers: Any, plan: Any) -> Any:
    return IRFFT(x, n=length_of(n, 2 * (x.shape[axis] - 1), plan), axis=axis, norm=norm, workers=workers)


def _from_hermitian(transform: Callable[..., Any]) -> Callable[..., Any]:
    """The transform of an array with Hermitian symmetry, from the inverse of a real one."""
    return lambda x, n, axis, norm, workers, plan: transform(conjugate(x), n, axis, other(norm), workers, plan)


def _to_hermitian(transform: Callable[..., Any]) -> Callable[..., Any]:
    """The inverse of `_from_hermitian`, from the transform of a real array."""
    return lambda x, n, axis, norm, workers, plan: np.conj(transform(x, n, axis, other(norm), workers, plan))


def _in_turn(x: Any, transform: Callable[..., Any], along: Any, norm: Any, workers: Any) -> Any:
    """Transform one axis after the other."""
    for axis, length in along:
        x = transform(x, length, axis, norm, workers, None)
    return x


def _fftn(x: Any, s: Any, axes: Any, norm: Any, workers: Any, plan: Any) -> Any:
    return _in_turn(x, _fft, axes_of(x, s, axes, plan), norm, workers)


def _ifftn(x: Any, s: Any, axes: Any, norm: Any, workers: Any, plan: Any) -> Any:
    return _in_turn(x, _ifft, axes_of(x, s, axes, plan), norm, workers)


def _rfftn(x: Any, s: Any, axes: Any, norm: Any, workers: Any, plan: Any) -> Any:
    *others, (last, length) = axes_of(x, s, axes, plan)
    return _in_turn(_rfft(x, length, last, norm, workers, None), _fft, others, norm, workers)


def _irfftn(x: Any, s: Any, axes: Any, norm: Any, workers: Any, plan: Any) -> Any:
    *others, (last, length) = axes_of(x, s, axes, plan)
    if length is None:  # SciPy makes one number of one, and of a length of -1 as many as there are
        length = 2 * (x.shape[last] - 1) or 1 if s is None else x.shape[last]
    return _irfft(_in_turn(x, _ifft, others, norm, workers), length, last, norm, workers, None)


_fft, _ifft, _rfft = map(_of_record, (FFT, IFFT, RFFT))
_hfftn, _ihfftn = _from_hermitian(_irfftn), _to_hermitian(_rfftn)

fft = _named("fft", _fft, "the discrete Fourier transform")
ifft = _named("ifft", _ifft, "the inverse discrete Fourier transform")
rfft = _named("rfft", _rfft, "the first half of the transform of a real array")
irfft = _named("irfft", _irfft, "the inverse of `rfft`")
hfft = _named("hfft", _from_hermitian(_irfft), "the transform of an array with Hermitian symmetry")
ihfft = _named("ihfft", _to_hermitian(_rfft), "the inverse of `hfft`")

fftn = _named("fftn", _fftn, "the transform along several axes")
ifftn = _named("ifftn", _ifftn, "the inverse of `fftn`")
rfftn = _named("rfftn", _rfftn, "the transform of a real array along several axes")
irfftn = _named("irfftn", _irfftn, "the inverse of `rfftn`")
hfftn = _named("hfftn", _hfftn, "the transform along several axes of an array with Hermitian symmetry")
ihfftn = _named("ihfftn", _ihfftn, "the inverse of `hfftn`")

fft2 = _named("fft2", _fftn, "the transform along two axes")
ifft2 = _named("ifft2", _ifftn, "the inverse of `fft2`")
rfft2 = _named("rfft2", _rfftn, "the transform of a real array along two axes")
irfft2 = _named("irfft2", _irfftn, "the inverse of `rfft2`")
hfft2 = _named("hfft2", _hfftn, "the transform along two axes of an array with Hermitian symmetry")
ihfft2 = _named("ihfft2", _ihfftn, "the inverse of `hfft2`")
