"""Discrete cosine and sine transforms.

Of a transform whose matrix is orthogonal up to a factor, the transpose is the inverse with the opposite normalisation.
Other ones differ from such a transform by weights at the ends.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import scipy
from numpy.lib.array_utils import normalize_axis_index

from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast
from tapeengine_primitives.fourier import other, resized
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._values import floating

_INVERSES = {"dct": "idct", "idct": "dct", "dst": "idst", "idst": "dst"}


def _end_weights(name: str, type_: int, n: int, dtype: Any) -> tuple[Any, Any]:
    """Weights before and after a transform that make its matrix a multiple of an orthogonal one."""
    cosine, inverse = name.endswith("dct"), name.startswith("i")
    used = {2: 3, 3: 2}.get(type_, type_) if inverse else type_
    ones, once = numpy.ones(n, dtype), numpy.ones(n, dtype)
    once[0 if cosine else -1] = numpy.sqrt(0.5) if used == 2 else numpy.sqrt(2.0)
    if used == 1 and cosine:
        once[-1] = numpy.sqrt(2.0)
        return once, 1 / once
    return (ones, once) if used == 2 else (once, ones) if used == 3 else (ones, ones)


def _record(name: str) -> Primitive:
    """Build the record of a transform."""

    def primal(x: Any, *, type: int, axis: int, norm: Any = None, workers: Any = None, orthogonal: Any = None) -> Any:
        rest = {"type": type, "axis": axis, "norm": norm, "workers": workers, "orthogonalize": orthogonal}
        transform = partial(getattr(scipy.fft, name), **rest)
        if orthogonal is None or not numpy.iscomplexobj(x):
            return transform(x)
        return transform(x.real) + 1j * transform(x.imag)  # of complex numbers SciPy ignores `orthogonalize`

    def transpose(ct: Any, type: int, axis: int, norm: Any, workers: Any, orthogonal: Any, x_space: Any) -> Any:
        weights: Any = (1.0, 1.0)
        if not (norm == "ortho" if orthogonal is None else orthogonal):
            shape = [-1 if k == axis % x_space.ndim else 1 for k in range(x_space.ndim)]
            ends = _end_weights(name, type, x_space.shape[axis], numpy.finfo(ct.dtype).dtype)
            weights = [part.reshape(shape) for part in ends]
        inverse = RECORDS[_INVERSES[name]]
        found = inverse(ct / weights[1], type=type, axis=axis, norm=other(norm), workers=workers, orthogonal=True)
        return unbroadcast(found / weights[0], x_space)

    return linear(
        f"scipy.fft.{name}",
        primal,
        transpose,
        samples=tuple(
            sample
            for type_ in (1, 2, 3, 4)
            for sample in (
                Sample((uniform((4,)),), {"type": type_, "axis": -1}),
                Sample((uniform((3, 2)),), {"type": type_, "axis": 0, "norm": "ortho"}),
                Sample((uniform((3, 2), dtype=complex),), {"type": type_, "axis": 0, "norm": "forward"}),
            )
        ),
        pattern=patterns.along,
        doc=f"{name} along an axis; the transpose is {_INVERSES[name]}, with weights at the ends",
    )


RECORDS = {name: _record(name) for name in _INVERSES}
DCT, IDCT, DST, IDST = RECORDS.values()


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


def _along_one(name: str, returns: str) -> Callable[..., Any]:
    """The function of SciPy that transforms one axis."""

    def function(
        x: Any, type: int, n: Any, axis: int, norm: Any, overwrite_x: bool, workers: Any, orthogonalize: Any
    ) -> Any:
        x = floating(x)
        if x.dtype.kind == "c" and orthogonalize is not None:
            raise UnsupportedError(
                f"{name}: orthogonalize of complex arrays, which SciPy ignores, is not differentiated"
            )
        x = x if n is None else resized(x, length_of(n, 0, None), axis)
        return RECORDS[name](x, type=type, axis=axis, norm=norm, workers=workers, orthogonal=orthogonalize)

    return with_signature(f"scipy.fft.{name}", returns=returns)(function)


def _along_several(name: str, transform: Callable[..., Any]) -> Callable[..., Any]:
    """The function of SciPy that transforms one axis after the other; without `axes` the last ones, as many as in s."""

    def function(x: Any, s: Any, axes: Any, **options: Any) -> Any:
        x = floating(x)
        for axis, n in axes_of(x, s, axes, None):
            x = transform(x, n=n, axis=axis, **options)
        return x

    return with_signature(f"scipy.fft.{name}", returns=f"`{name[:-1]}` along several axes")(function)


dct = _along_one("dct", "the discrete cosine transform")
idct = _along_one("idct", "the inverse of `dct`")
dst = _along_one("dst", "the discrete sine transform")
idst = _along_one("idst", "the inverse of `dst`")
dctn, idctn = _along_several("dctn", dct), _along_several("idctn", idct)
dstn, idstn = _along_several("dstn", dst), _along_several("idstn", idst)
