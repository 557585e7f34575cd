"""Discrete cosine and sine transforms.

The transpose of a transform is another one of the same kind with weights at the ends: types 1 and 4 are symmetric, and
types 2 and 3 are transposes of each other; the weights correct for end elements that a type counts only once.
"""

from collections.abc import Callable
from typing import Any

import numpy
import scipy
from numpy.lib.array_utils import normalize_axis_index

from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast
from tapeengine_primitives.fourier import resized
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._values import floating

# Type 1 of dct counts its inner elements twice and both ends once; type 3 counts one end once; type 2 counts all twice.
# So the transpose of a type, and its inverse, are of these types.
_TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}


def _end_weights(kind: str, type_: int, n: int) -> tuple[Any, Any]:
    """Weights w, v such that (w * M * v) is the transpose of the matrix of the transposed type."""
    ones, ends = numpy.ones(n), numpy.ones(n)
    if kind == "dct":
        ends[0] = 2.0
        if type_ == 1:
            ends[-1] = 2.0
    else:
        ends[-1] = 2.0
    if type_ == 1 and kind == "dct":
        return 1 / ends, ends
    if type_ == 2:
        return ones, ends
    if type_ == 3:
        return 1 / ends, ones
    return ones, ones


def _shaped(weights: Any, ndim: int, axis: int) -> Any:
    shape = [1] * ndim
    shape[axis] = -1
    return weights.reshape(shape)


def _sums(kind: str) -> Primitive:
    """Build the record of a transform without normalisation."""

    def primal(x: Any, *, type: int, axis: int, workers: Any = None) -> Any:
        return getattr(scipy.fft, kind)(x, type=type, axis=axis, workers=workers)

    def transpose(ct: Any, type: int, axis: int, workers: Any, x_space: Any) -> Any:
        after, before = _end_weights(kind, type, x_space.shape[axis])
        inner = ct * _shaped(before, x_space.ndim, axis)
        outer = made(inner, type=_TRANSPOSED[type], axis=axis, workers=workers)
        return unbroadcast(outer * _shaped(after, x_space.ndim, axis), x_space)

    made = linear(
        f"scipy.fft.{kind}",
        primal,
        transpose,
        samples=tuple(
            sample
            for type_ in (1, 2, 3, 4)
            for sample in (
                Sample((uniform((4,)),), {"type": type_, "axis": -1}),
                Sample((uniform((3, 2)),), {"type": type_, "axis": 0}),
            )
        ),
        pattern=patterns.along,
        doc=f"{kind} without normalisation; the transpose is the transposed type, with weights at the ends",
    )
    return made


DCT: Primitive = _sums("dct")
DST: Primitive = _sums("dst")


def length_of(n: Any, default: int, plan: Any) -> int:
    """The length of a transform."""
    if plan is not None:
        raise NotImplementedError("scipy.fft takes no precomputed plan")
    length = default if n is None else int(n)
    if length < 1:
        raise ValueError(f"invalid number of data points ({length})")
    return length


def axes_of(x: Any, s: Any, axes: Any, plan: Any) -> list[tuple[int, int | None]]:
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


def _apply(record: Primitive, kind: str, x: Any, type_: int, n: Any, axis: int, norm: Any, forward: bool,
           orthogonalize: Any, workers: Any) -> Any:  # fmt: skip
    """Normalise like `scipy.fft`: scale the whole transform, and weight the ends if its matrix is to be orthogonal."""
    if type_ not in _TRANSPOSED:
        raise ValueError(f"{kind}: type must be 1, 2, 3 or 4, not {type_!r}")
    x = floating(x)
    x = x if n is None else resized(x, length_of(n, 0, None), axis)
    length = x.shape[axis]
    if x.dtype.kind == "c" and orthogonalize is not None:
        raise UnsupportedError(f"{kind}: orthogonalize of complex arrays, which SciPy ignores, is not differentiated")
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    used = type_ if forward else _TRANSPOSED[type_]
    before, after = _orthogonal_weights(kind, used, length, x.real.dtype) if orthogonal else (None, None)
    x = x if before is None else x * _shaped(before, x.ndim, axis)
    y = record(x, type=used, axis=axis, workers=workers)
    y = y if after is None else y * _shaped(after, x.ndim, axis)
    scale = _scale(kind, type_, length, norm, forward)
    return y if scale == 1.0 else y * scale


def _orthogonal_weights(kind: str, type_: int, n: int, dtype: Any) -> tuple[Any, Any]:
    """Weights before and after a transform that make its matrix a multiple of an orthogonal one."""
    end = 0 if kind == "dct" else -1
    once = numpy.ones(n, dtype)
    once[end] = numpy.sqrt(0.5) if type_ == 2 else numpy.sqrt(2.0)
    if type_ == 1 and kind == "dct":
        once[-1] = numpy.sqrt(2.0)
        return once, 1 / once
    if type_ == 2:
        return None, once
    if type_ == 3:
        return once, None
    return None, None


def _scale(kind: str, type_: int, n: int, norm: Any, forward: bool) -> float:
    size = 2.0 * (n - 1 if kind == "dct" else n + 1) if type_ == 1 else 2.0 * n
    name = norm or "backward"
    if name not in ("backward", "ortho", "forward"):
        raise ValueError(f"{kind}: norm must be 'backward', 'ortho' or 'forward', not {norm!r}")
    if name == "ortho":
        return 1 / float(numpy.sqrt(size))
    return 1 / size if (name == "forward") == forward else 1.0


def _along_one(name: str, record: Primitive, returns: str) -> Callable[..., Any]:
    """The function of SciPy that transforms one axis."""
    kind, forward = name.removeprefix("i"), not name.startswith("i")

    def function(
        x: Any, type: int, n: Any, axis: int, norm: Any, overwrite_x: bool, workers: Any, orthogonalize: Any
    ) -> Any:
        return _apply(record, kind, x, type, n, axis, norm, forward, orthogonalize, workers)

    return with_signature(f"scipy.fft.{name}", returns=returns)(function)


def _along_several(name: str, transform: Callable[..., Any]) -> Callable[..., Any]:
    """The function of SciPy that transforms one axis after the other; without `axes` the last ones, as many as in s."""

    def function(x: Any, s: Any, axes: Any, **options: Any) -> Any:
        x = floating(x)
        for axis, n in axes_of(x, s, axes, None):
            x = transform(x, n=n, axis=axis, **options)
        return x

    return with_signature(f"scipy.fft.{name}", returns=f"`{name[:-1]}` along several axes")(function)


dct = _along_one("dct", DCT, "the discrete cosine transform")
idct = _along_one("idct", DCT, "the inverse of `dct`")
dst = _along_one("dst", DST, "the discrete sine transform")
idst = _along_one("idst", DST, "the inverse of `dst`")
dctn, idctn = _along_several("dctn", dct), _along_several("idctn", idct)
dstn, idstn = _along_several("dstn", dst), _along_several("idstn", idst)
