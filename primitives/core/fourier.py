"""Discrete Fourier transforms. All are linear: the one along a single axis is a primitive, others are compositions.

The matrix of fft is symmetric, so its transpose is fft again, with other lengths; likewise for ifft. The transposes of
rfft and irfft are each other, conjugated and with the paired frequencies halved or doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Rule, Sample, Uniform, patterns, uniform
from tapeengine.primitive.builders import linear, unbroadcast

from .joining import along
from .ufuncs import of_names
from .values import as_array, is_complex, normal_axis, shape_of


def resized(x: Any, extent: int, axis: int) -> Any:
    """Cut an axis, or pad it with zeros, to an extent."""
    shape = shape_of(x)
    axis = normal_axis(axis, len(shape))
    if shape[axis] > extent:
        return x[along(axis, slice(0, extent))]
    rest = (*shape[:axis], extent - shape[axis], *shape[axis + 1 :])
    return np.concatenate((x, numpy.zeros(rest, x.dtype)), axis=axis) if shape[axis] < extent else x


def _samples(low: int = 1) -> tuple[Sample, ...]:
    return (
        *(Sample((uniform((extent,), dtype=complex),)) for extent in (low, 4, 5)),
        *(Sample((uniform((4, 3), dtype=complex),), {"n": n, "axis": 0}) for n in (3, 4, 6)),
        *(Sample((uniform((5,)),), {"norm": norm}) for norm in ("ortho", "forward", "backward")),
        Sample((uniform((4,), dtype=numpy.complex64),)),
        Sample((uniform((2, 3), dtype=numpy.float32),)),
    )


def _real_samples() -> tuple[Sample, ...]:
    return tuple(Sample((_real_part(one.args[0]),), one.static) for one in _samples())


def _real_part(values: Uniform) -> Uniform:
    narrow = numpy.dtype(values.dtype).char in "Ff"
    return uniform(values.shape, dtype=numpy.float32 if narrow else numpy.float64)


def doubled(extent: int, ndim: int, axis: int, factor: float) -> Any:
    """Return `factor` for the frequencies of a real transform that represent a pair, and 1 for the others."""
    weights = numpy.full(extent // 2 + 1, factor)
    weights[0] = 1.0
    if extent % 2 == 0:
        weights[-1] = 1.0
    return weights.reshape([-1 if position == normal_axis(axis, ndim) else 1 for position in range(ndim)])


def other(norm: Any) -> str:
    """Return the normalisation of the inverse transform."""
    others = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
    if norm not in others:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return others[norm]


def _itself(run: Any, ct: Any, norm: Any, weights: Any) -> Any:
    return run(ct, norm)


def _from_half(run: Any, ct: Any, norm: Any, weights: Any) -> Any:
    return run(np.conjugate(ct) * weights(0.5), other(norm), "irfft")


def _to_half(run: Any, ct: Any, norm: Any, weights: Any) -> Any:
    return np.conjugate(run(ct, other(norm), "rfft")) * weights(2.0)


def _twice_less_two(extent: int) -> int:
    return 2 * (extent - 1)


#: For each transform: its transpose, its length for an extent, its samples, and the transpose in words.
_TRANSFORMS = {
    "fft": (_itself, int, _samples, "fft(ct)"),
    "ifft": (_itself, int, _samples, "ifft(ct)"),
    "rfft": (_from_half, int, _real_samples, "n irfft(conj(ct)), paired frequencies halved"),
    "irfft": (_to_half, _twice_less_two, lambda: _samples(2), "conj(rfft(ct)) / n, paired frequencies doubled"),
}


def records(family: str, primal: Callable[[str], Callable[..., Any]], *options: str) -> list[Primitive]:
    """Build the records of fft, ifft, rfft and irfft along an axis, whose functions `primal` gives by name.

    `options` are names of further parameters of these, which the transposes get as well.
    """
    made: dict[str, Primitive] = {}

    def record(name: str, transposed: Any, length: Any, samples: Any, doc: str) -> Primitive:
        def vjp(ct: Any, x_space: Any, n: Any, axis: int, norm: Any, *given: Any) -> Any:
            extent = length(x_space.shape[axis]) if n is None else n

            def run(x: Any, norm: Any, of: str = name) -> Any:
                return made[of](x, n=extent, axis=axis, norm=norm, **dict(zip(options, given, strict=True)))

            found = transposed(run, ct, norm, lambda factor: doubled(extent, x_space.ndim, axis, factor))
            return unbroadcast(resized(found, x_space.shape[axis], axis), x_space)

        rule = Rule(vjp, ("x_space", "n", "axis", "norm", *options))
        doc = f"{name} along an axis; dx = {doc}"
        return linear(f"{family}.{name}", primal(name), rule, samples=samples, pattern=patterns.along, doc=doc)

    made.update((name, record(name, *row)) for name, row in _TRANSFORMS.items())
    return list(made.values())


def _primal(name: str) -> Callable[..., Any]:
    return lambda x, *, n=None, axis=-1, norm=None: getattr(numpy.fft, name)(x, n, axis, norm)


FFT, IFFT, RFFT, IRFFT = records("numpy.fft", _primal)


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


RULES = of_names(vars(), numpy.fft)
