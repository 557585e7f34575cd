"""Interpolation of images by splines, at coordinates that may be traced."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import discrete
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating
from tapeengine_scipy.ndimage.filters import of_images

_NAMED = {"grid-mirror": "reflect"}
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
    left, right, up = _TURNED(x, length=length, beyond=beyond)
    return np.where(left, -x - up - beyond, np.where(right, period - (x + up) - beyond, x + up))


def _turned(x: Any, *, length: int, beyond: int) -> tuple[Any, Any, Any]:
    """Which places are reflected at the left and at the right edge, and the whole periods to add to the others."""
    period = 2 * (length - 1 + beyond)
    turns = numpy.trunc(numpy.abs(x) / period) * period
    near = x - numpy.copysign(turns, x)
    left = (near < 0) & (near >= -length if beyond else near > 1 - length)
    return left, near >= length, numpy.where((near < 0) & ~left, period, 0.0) - numpy.copysign(turns, x)


_TURNED = discrete(
    "scipy.ndimage.turned",
    _turned,
    static=("length", "beyond"),
    samples=(Sample((uniform((3,)),), {"length": 3, "beyond": 1}),),
    doc="which places are reflected at the edges, and the periods to add to the others",
)
_FIRST = discrete(
    "scipy.ndimage.first",
    lambda x, *, order: numpy.floor(x + (0.5 if order == 0 else 0.0)).astype(int),
    samples=(Sample((uniform((3,)),), {"order": 1}),),
    doc="the element before each place",
)


def _taps(x: Any, length: int, order: int, mode: str) -> list[tuple[Any, Any, Any]]:
    """For one axis: the elements, their weights, and which of them exist."""
    x = _folded(x, length, mode)
    first = _FIRST(x, order=order)
    z = x - first
    start = first - (1 if order == 3 else 0)
    found = []
    for step, weight in enumerate(_weights(z, order)):
        there = (start + step >= 0) & (start + step < length) if mode == "grid-constant" else True
        found.append((_inside(start + step, length, mode), weight, there))
    return found


@beside("scipy.ndimage.spline_filter")
def spline_filter(input: Any, order: int = 3, output: Any = numpy.float64, mode: str = "mirror") -> Any:
    """Return the coefficients of the spline through an image; see `scipy.ndimage.spline_filter`."""
    if output is not numpy.float64:
        raise UnsupportedError("spline_filter: output= is not supported for traced values")
    x = floating(input)
    if not 2 <= order <= 5:
        raise RuntimeError("spline order not supported")
    for axis, length in enumerate(x.shape):
        matrix = scipy.ndimage.spline_filter1d(numpy.eye(length), order, axis=0, mode=mode) if length > 1 else None
        if matrix is not None:
            x = np.moveaxis(np.tensordot(matrix, x, axes=(1, axis)), 0, axis)
    return x


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
    return np.where(numpy.logical_or.reduce(ends), cval, total)


def _checked(order: int, mode: str, output: Any) -> str:
    mode = _NAMED.get(mode, mode)
    if output is not None or order not in (0, 1, 3) or mode not in (_LINEAR if order < 2 else _CUBIC):
        raise UnsupportedError(
            f"scipy.ndimage: interpolation of order {order} with mode={mode!r} is not differentiated; orders 0, 1 are "
            f"with {', '.join(_LINEAR)}, order 3 with {', '.join(_CUBIC)}; output= is not supported"
        )
    return mode


def _coefficients(x: Any, order: int, mode: str, prefilter: bool) -> Any:
    return spline_filter(x, order, mode="mirror" if mode == "constant" else mode) if prefilter and order > 1 else x


@of_images("scipy.ndimage.map_coordinates")
def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:  # fmt: skip
    """Return an image at coordinates; see `scipy.ndimage.map_coordinates`.

    Differentiable in the image, the coordinates and `cval`, for splines of order 0, 1 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> map_coordinates(np.array([0.0, 1.0, 4.0]), np.array([[0.5]]), order=1)
    array([0.5])
    """
    mode, x = _checked(order, mode, output), floating(input)
    at = floating(coordinates)
    if at.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    return _sampled(_coefficients(x, order, mode, prefilter), list(at), order, mode, cval)


def _transformed(
    input: Any, place: Callable[[Any], Any], shape: Any, order: int, mode: str, cval: Any, prefilter: bool
) -> Any:
    x = floating(input)
    shape = x.shape if shape is None else tuple(int(n) for n in shape)
    return _sampled(
        _coefficients(x, order, mode, prefilter), list(place(numpy.indices(shape).astype(float))), order, mode, cval
    )


@of_images("scipy.ndimage.affine_transform")
def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None, order: int = 3,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> Any:  # fmt: skip
    """Move an image by a linear map of coordinates; see `scipy.ndimage.affine_transform`.

    Differentiable in the image, `matrix`, `offset` and `cval`, for splines of order 0, 1 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> affine_transform(np.array([0.0, 1.0, 4.0]), np.array([[1.0]]), offset=0.5, order=1)
    array([0.5, 2.5, 0. ])
    """
    mode, m, ndim = _checked(order, mode, output), floating(matrix), np.ndim(input)
    if m.ndim == 2 and m.shape[1] == ndim + 1:
        m, offset = m[:ndim, :ndim], m[:ndim, ndim]
    by = floating(offset)
    by = np.reshape(by * numpy.ones(ndim), (ndim,) + (1,) * ndim)

    def place(grid: Any) -> Any:
        moved = np.tensordot(m, grid, axes=(1, 0)) if m.ndim == 2 else np.reshape(m, (ndim,) + (1,) * ndim) * grid
        return moved + by

    return _transformed(input, place, output_shape, order, mode, cval, prefilter)


@of_images("scipy.ndimage.shift")
def shift(
    input: Any, shift: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:  # fmt: skip
    """Move an image; see `scipy.ndimage.shift`. Differentiable in the image, `shift` and `cval`.

    Examples
    --------
    >>> import numpy as np
    >>> shift(np.array([1.0, 2.0, 3.0]), 0.5, order=1)
    array([0. , 1.5, 2.5])
    """
    mode, ndim = _checked(order, mode, output), np.ndim(input)
    by = floating(shift) * numpy.ones(ndim)
    return _transformed(
        input, lambda grid: grid - np.reshape(by, (ndim,) + (1,) * ndim), None, order, mode, cval, prefilter
    )
