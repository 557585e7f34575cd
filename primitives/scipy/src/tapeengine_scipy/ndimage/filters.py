"""What SciPy's compiled filters of images compute: correlations of an image with margins, and reductions of windows.

The functions have the names and arguments of `scipy.ndimage._nd_image`, and write their results to `output`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._values import is_complex
from tapeengine_scipy.signal import CORRELATE, IMAGES

#: numpy.pad's names of the boundary modes, by SciPy's numbers.
MARGINS = ("edge", "wrap", "symmetric", "reflect", "constant", "wrap", "constant")


def write(output: Any, value: Any) -> None:
    """Write a result to the array that SciPy made for it, or that was given."""
    if output.dtype.kind in "biu":
        raise UnsupportedError(
            "scipy.ndimage truncates its result to the integers of the image, so it has no derivative: convert the "
            "image with astype(float)"
        )
    output[...] = value


def _padded(x: Any, sizes: Sequence[int], origins: Sequence[int], mode: int, cval: Any) -> Any:
    """The image with the margins that windows of these sizes need, at all their positions."""
    before = [size // 2 + origin for size, origin in zip(sizes, origins, strict=True)]
    margins = [(left, size - 1 - left) for left, size in zip(before, sizes, strict=True)]
    named = MARGINS[mode]
    return np.pad(x, margins, mode=named, **({"constant_values": cval} if named == "constant" else {}))


def _along(axis: int, ndim: int, value: Any, other: Any) -> list[Any]:
    """The value for one axis, and another one for all others."""
    return [value if k == axis else other for k in range(ndim)]


def correlate(input: Any, weights: Any, output: Any, mode: int, cval: Any, origins: Any) -> None:
    """Correlate an image with weights for all axes."""
    if is_complex(cval):
        raise TypeError("a real number is required")
    wide = input.astype(np.result_type(input.dtype, output.dtype), copy=False)  # SciPy computes in double precision
    padded = _padded(wide, weights.shape, origins, mode, cval)
    write(output, CORRELATE(padded, weights, method=IMAGES))


def correlate1d(input: Any, weights: Any, axis: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    """Correlate along an axis."""
    whole = np.reshape(weights, _along(axis, input.ndim, -1, 1))
    correlate(input, whole, output, mode, cval, _along(axis, input.ndim, origin, 0))


def uniform_filter1d(input: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    """Running means along an axis."""
    correlate1d(input, np.full(size, 1.0 / size), axis, output, mode, cval, origin)


def _reduced(
    reduce: Callable[[Any], Any], input: Any, footprint: Any, output: Any, mode: int, cval: Any, origins: Any
) -> None:
    """Reduce the last axis of an array of windows, which holds the elements that a footprint selects."""
    padded = _padded(input, footprint.shape, origins, mode, cval)
    windows = np.lib.stride_tricks.sliding_window_view(padded, footprint.shape)
    write(output, reduce(np.reshape(windows, (*input.shape, -1))[..., np.ravel(footprint)]))


def rank_filter(input: Any, rank: int, footprint: Any, output: Any, mode: int, cval: Any, origins: Any) -> None:
    """The elements of a rank in each window."""
    _reduced(lambda found: np.sort(found, axis=-1)[..., rank], input, footprint, output, mode, cval, origins)


def min_or_max_filter(
    input: Any, footprint: Any, structure: Any, output: Any, mode: int, cval: Any, origins: Any, minimum: int
) -> None:
    """The smallest or the greatest element of each window."""
    if structure is not None:
        raise UnsupportedError("filters of scipy.ndimage with a structure have no derivative rule: use a footprint")
    found = np.min if minimum else np.max
    _reduced(lambda windows: found(windows, axis=-1), input, footprint, output, mode, cval, origins)


def min_or_max_filter1d(
    input: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int, minimum: int
) -> None:
    """The smallest or the greatest elements along an axis."""
    footprint, origins = np.ones(_along(axis, input.ndim, size, 1), bool), _along(axis, input.ndim, origin, 0)
    min_or_max_filter(input, footprint, None, output, mode, cval, origins, minimum)
