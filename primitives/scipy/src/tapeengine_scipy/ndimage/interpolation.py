"""What SciPy's compiled interpolation of images by splines computes, at coordinates that may be traced.

The functions have the names and arguments of `scipy.ndimage._nd_image`, and write their results to `output`.
"""

import functools
from itertools import product
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import decides
from tapeengine_scipy.ndimage.filters import write

#: The boundary modes, by SciPy's numbers.
MODES = ("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant")
#: The differentiated modes, by the order of the spline; SciPy extends images differently in the other modes.
_LINEAR = ("constant", "grid-constant", "nearest", "reflect", "mirror", "grid-wrap")
_CUBIC = ("constant", "mirror", "reflect", "grid-wrap")


def _weights(z: Any, order: int) -> list[Any]:
    """The values of the B-splines of neighbouring elements, at distance z to the right of the first one."""
    if order == 0:
        return [1.0]
    if order == 1:
        return [1.0 - z, z]
    left = 1.0 - z
    return [left**3 / 6, (4 - 6 * z**2 + 3 * z**3) / 6, (4 - 6 * left**2 + 3 * left**3) / 6, z**3 / 6]


def _inside(place: Any, length: int, mode: str) -> Any:
    """The element that represents an index beyond the edges."""
    if mode in ("nearest", "grid-constant"):
        return numpy.clip(place, 0, length - 1)
    if mode == "grid-wrap":
        return place % length
    if mode == "reflect":
        place = place % (2 * length)
        return numpy.minimum(place, 2 * length - 1 - place)
    if length == 1:
        return numpy.zeros_like(place)
    place = place % (2 * length - 2)
    return numpy.minimum(place, 2 * length - 2 - place)


def _folded(x: Any, length: int, mode: str) -> Any:
    """The place that represents one beyond the edges, for modes in which splines are symmetric there.

    Places are folded before they are rounded, as SciPy does it: rounding is not symmetric.
    """
    if mode not in ("mirror", "reflect"):
        return x
    beyond = 1 if mode == "reflect" else 0  # elements between an edge and its mirror image
    period = 2 * (length - 1 + beyond)
    if period == 0:
        return 0.0 * x
    left, right, up = _turned(x, length=length, beyond=beyond)
    return np.where(left, -x - up - beyond, np.where(right, period - (x + up) - beyond, x + up))


@decides("scipy.ndimage.turned", Sample((uniform((3,)),), {"length": 3, "beyond": 1}))
def _turned(x: Any, *, length: int, beyond: int) -> tuple[Any, Any, Any]:
    """Which places are reflected at the left and at the right edge, and the whole periods to add to the others."""
    period = 2 * (length - 1 + beyond)
    turns = numpy.trunc(numpy.abs(x) / period) * period
    near = x - numpy.copysign(turns, x)
    left = (near < 0) & (near >= -length if beyond else near > 1 - length)
    return left, near >= length, numpy.where((near < 0) & ~left, period, 0.0) - numpy.copysign(turns, x)


def _taps(x: Any, length: int, order: int, mode: str) -> list[tuple[Any, Any, Any]]:
    """For one axis: the elements, their weights, and which of them exist."""
    x = _folded(x, length, mode)
    first = np.floor(x + 0.5 if order == 0 else x).astype(int)  # the element before each place
    z = x - first
    start = first - (1 if order == 3 else 0)
    found = []
    for step, weight in enumerate(_weights(z, order)):
        there = (start + step >= 0) & (start + step < length) if mode == "grid-constant" else True
        found.append((_inside(start + step, length, mode), weight, there))
    return found


def spline_filter1d(input: Any, order: int, axis: int, output: Any, mode: int) -> None:
    """The coefficients of the splines through the lines of an image along an axis."""
    if (length := input.shape[axis]) > 1:
        matrix = scipy.ndimage.spline_filter1d(numpy.eye(length), order, axis=0, mode=MODES[mode])
        input = np.moveaxis(np.tensordot(matrix, input, axes=(1, axis)), 0, axis)
    write(output, input)


def _sampled(c: Any, places: list[Any], order: int, mode: str, cval: Any) -> Any:
    """Evaluate a spline with given coefficients; there is one array of coordinates for each axis."""
    per_axis = [_taps(x, length, order, mode) for x, length in zip(places, c.shape, strict=True)]
    total: Any = 0.0
    for corner in product(*per_axis):
        value = c[tuple(index for index, _, _ in corner)]
        there = True
        for _, _, exists in corner:
            there = there & exists
        value = value if there is True else np.where(there, value, cval)
        for _, weight, _ in corner:
            value = value * weight
        total = total + value
    if mode != "constant":
        return total
    ends = [np.less(x, 0) | np.greater(x, length - 1) for x, length in zip(places, c.shape, strict=True)]
    return np.where(functools.reduce(numpy.logical_or, ends), cval, total)


def _check(order: int, mode: str) -> None:
    if order not in (0, 1, 3) or mode not in (_LINEAR if order < 2 else _CUBIC):
        raise UnsupportedError(
            f"scipy.ndimage: interpolation of order {order} with mode={mode!r} is not differentiated; orders 0, 1 are "
            f"with {', '.join(_LINEAR)}, order 3 with {', '.join(_CUBIC)}"
        )


def _grid(shape: Any) -> list[Any]:
    """The coordinates along each axis, which broadcast against each other."""
    return [numpy.reshape(numpy.arange(float(n)), (-1,) + (1,) * (len(shape) - k - 1)) for k, n in enumerate(shape)]


def geometric_transform(
    input: Any, mapping: Any, coordinates: Any, matrix: Any, shift: Any, output: Any, order: int, mode: int, cval: Any,
    *rest: Any,
) -> None:  # fmt: skip
    """An image at coordinates, or at those that a matrix and a shift make of the output's."""
    if mapping is not None:
        raise UnsupportedError("geometric_transform is not differentiated: use map_coordinates")
    _check(order, MODES[mode])
    if coordinates is None:
        grid = np.stack(np.broadcast_arrays(*_grid(output.shape)))
        coordinates = np.tensordot(matrix, grid, axes=(1, 0)) + np.reshape(shift, (-1,) + (1,) * output.ndim)
    write(output, _sampled(input, list(coordinates), order, MODES[mode], cval))


def zoom_shift(
    input: Any, zoom: Any, shift: Any, output: Any, order: int, mode: int, cval: Any, padding: int, grid_mode: bool
) -> None:
    """An image whose axes are moved and stretched; in the grid mode, its elements are intervals."""
    _check(order, MODES[mode])
    places, middle = _grid(output.shape), 0.5 if grid_mode else 0.0
    if shift is not None:
        places = [x + by for x, by in zip(places, shift, strict=True)]
    if zoom is not None:
        places = [(x + middle) * by - middle for x, by in zip(places, zoom, strict=True)]
    write(output, _sampled(input, places, order, MODES[mode], cval))
