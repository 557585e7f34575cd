"""Filters: an image with margins is correlated with weights, or reduced window by window."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.lib.array_utils import normalize_axis_index

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import holds_traced
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, floating_real, is_complex, of_precision, root
from tapeengine_scipy.signal import CORRELATE, IMAGES

#: numpy.pad's names of the boundary modes.
MARGINS = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip


def of_images(path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark the function that differentiates SciPy's at `path`; its result has the precision of its image."""

    def decorate(ours: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(ours)
        def called(input: Any, *args: Any, **keywords: Any) -> Any:
            if not holds_traced(input) and numpy.asarray(input).dtype.kind in "biu":
                raise UnsupportedError(
                    f"{path} truncates its result to the integers of the image, so it has no derivative: convert the "
                    "image with astype(float)"
                )
            return of_precision(ours(input, *args, **keywords), input)

        return beside(path)(called)

    return decorate


def _padded(x: Any, margins: list[tuple[int, int]], mode: str, cval: Any) -> Any:
    if mode not in MARGINS:
        raise RuntimeError("boundary mode not supported")
    named = MARGINS[mode]
    return np.pad(x, margins, mode=named, **({"constant_values": cval} if named == "constant" else {}))


def _margins(sizes: Sequence[int], origins: Sequence[int]) -> list[tuple[int, int]]:
    """The extents of windows of given sizes on both sides of their positions."""
    found = []
    for size, origin in zip(sizes, origins, strict=True):
        before = size // 2 + origin
        if not 0 <= before < size:
            raise ValueError("invalid origin")
        found.append((before, size - 1 - before))
    return found


def _per_axis(value: Any, count: int) -> list[Any]:
    if isinstance(value, str) or np.ndim(value) == 0:
        return [value] * count
    if len(value) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return list(value)


def _no_output(output: Any) -> None:
    if output is not None:
        raise UnsupportedError("scipy.ndimage: output= is not supported for traced values; use the returned array")


@of_images("scipy.ndimage.correlate")
def correlate(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """Correlate an image with weights; see `scipy.ndimage.correlate`. Differentiable in both, and in `cval`."""
    return _filtered(input, weights, output, mode, cval, origin, axes)


def _filtered(
    input: Any, weights: Any, output: Any, mode: str, cval: Any, origin: Any, axes: Any, convolution: bool = False
) -> Any:
    """A correlation, for which SciPy conjugates the weights, or a convolution."""
    _no_output(output)
    x, kernel = floating(input), floating(weights)
    kernel, origins = _for_all_axes(kernel, origin, axes, x.ndim)
    if convolution:
        kernel = np.flip(kernel)
        origins = [-shift - (size % 2 == 0) for shift, size in zip(origins, kernel.shape, strict=True)]
    elif is_complex(kernel):
        kernel = np.conj(kernel)
    return CORRELATE(_padded(x, _margins(kernel.shape, origins), mode, cval), kernel, method=IMAGES)


def _for_all_axes(kernel: Any, origin: Any, axes: Any, ndim: int) -> tuple[Any, list[Any]]:
    """Weights and origins for all axes of an image; SciPy keeps the order of the weights' axes."""
    along = _axes(axes, ndim)
    origins = _per_axis(origin, len(along))
    if len(along) < ndim and kernel.ndim == len(along):
        named = along if np.ndim(axes) else [axes]  # a negative number is an error in SciPy
        kernel = np.expand_dims(kernel, [k for k in range(ndim) if k not in named])
        given = dict(zip(along, origins, strict=True))
        origins = [given.get(k, 0) for k in range(ndim)]
    if kernel.ndim != ndim:
        raise RuntimeError(f"weights.ndim ({kernel.ndim}) must match len(axes) ({len(along)})")
    return kernel, origins


def _axes(axes: Any, ndim: int) -> list[int]:
    if axes is None:
        return list(range(ndim))
    found = [normalize_axis_index(int(axis), ndim) for axis in numpy.atleast_1d(axes)]
    if len({*found}) < len(found):
        raise ValueError("axes must be unique")
    return found


@of_images("scipy.ndimage.convolve")
def convolve(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """Convolve an image with weights; see `scipy.ndimage.convolve`."""
    return _filtered(input, weights, output, mode, cval, origin, axes, convolution=True)


@of_images("scipy.ndimage.correlate1d")
def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    """Correlate along an axis; see `scipy.ndimage.correlate1d`."""
    kernel = floating(weights)
    if kernel.ndim != 1 or kernel.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    return _filtered(input, kernel, output, mode, cval, origin, (axis,))


@of_images("scipy.ndimage.convolve1d")
def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    """Convolve along an axis; see `scipy.ndimage.convolve1d`."""
    kernel = floating(weights)
    if kernel.ndim != 1 or kernel.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    return _filtered(input, kernel, output, mode, cval, origin, (axis,), convolution=True)


@of_images("scipy.ndimage.uniform_filter1d")
def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """Return running means; see `scipy.ndimage.uniform_filter1d`."""
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return correlate1d(input, numpy.full(size, 1.0 / size), axis, output, mode, cval, origin)


def _along(one: Callable[..., Any], input: Any, axes: Any, mode: Any, cval: Any, *parameters: Any) -> Any:
    """Filter along one axis after the other, with separate parameters and modes for each."""
    x = floating(input)
    along = _axes(axes, x.ndim)
    modes = _per_axis(mode, len(along))
    columns = [_per_axis(parameter, len(along)) for parameter in parameters]
    for axis, how, *own in zip(along, modes, *columns, strict=True):
        x = one(x, axis, how, cval, *own)
    return x


@of_images("scipy.ndimage.uniform_filter")
def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    """Return means of windows; see `scipy.ndimage.uniform_filter`."""
    _no_output(output)

    def one(x: Any, axis: int, how: str, cval: Any, size: Any, origin: Any) -> Any:
        return x if size <= 1 else uniform_filter1d(x, int(size), axis, None, how, cval, origin)

    return _along(one, input, axes, mode, cval, size, origin)


def _gaussian_weights(sigma: Any, order: int, radius: int) -> Any:
    """The derivative of a Gaussian: a polynomial times Gaussian weights normalised to sum 1."""
    places = numpy.arange(-radius, radius + 1)
    variance = sigma * sigma
    bell = np.exp(-0.5 / variance * places**2)
    bell = bell / np.sum(bell)
    factors: list[Any] = [1.0]  # of the polynomial, which each derivative changes to p' - x p / sigma^2
    for _ in range(order):
        slope = [power * factors[power] for power in range(1, len(factors))]
        factors = [
            (slope[power] if power < len(slope) else 0.0) - (factors[power - 1] / variance if power else 0.0)
            for power in range(len(factors) + 1)
        ]
    return bell * sum(factor * places**power for power, factor in enumerate(factors))


@of_images("scipy.ndimage.gaussian_filter1d")
def gaussian_filter1d(
    input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect",
    cval: Any = 0.0, truncate: float = 4.0, *, radius: int | None = None,
) -> Any:  # fmt: skip
    """Smooth along an axis; see `scipy.ndimage.gaussian_filter1d`.

    Differentiable in `sigma` as well; the number of weights is determined by its value.
    """
    if order < 0:
        raise ValueError("order must be non-negative")
    reach = int(truncate * sigma + 0.5) if radius is None else radius
    weights = np.flip(_gaussian_weights(sigma, order, reach))
    return correlate1d(input, weights, axis, output, mode, cval, 0)


@of_images("scipy.ndimage.gaussian_filter")
def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    """Smooth an image; see `scipy.ndimage.gaussian_filter`. Differentiable in `sigma` as well."""
    _no_output(output)

    def one(x: Any, axis: int, how: str, cval: Any, sigma: Any, order: Any, radius: Any) -> Any:
        if sigma <= 1e-15:
            return x
        return gaussian_filter1d(x, sigma, axis, order, None, how, cval, truncate, radius=radius)

    return _along(one, input, axes, mode, cval, sigma, order, radius)


def _sum_over_axes(part: Callable[[int, str], Any], axes: list[int], mode: Any) -> Any:
    return sum(part(axis, how) for axis, how in zip(axes, _per_axis(mode, len(axes)), strict=True))


@of_images("scipy.ndimage.laplace")
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    """Return the sum of second differences; see `scipy.ndimage.laplace`."""
    _no_output(output)
    x = floating(input)
    along = _axes(axes, x.ndim)

    def part(axis: int, how: str) -> Any:
        return correlate1d(x, numpy.array([1.0, -2.0, 1.0]), axis, output, how, cval)

    return _sum_over_axes(part, along, mode) if along else x.copy()


@of_images("scipy.ndimage.gaussian_laplace")
def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Return the sum of smoothed second derivatives; see `scipy.ndimage.gaussian_laplace`."""
    _no_output(output)
    x = floating(input)
    along = _axes(axes, x.ndim)
    sigma = _per_axis(sigma, len(along))

    def part(axis: int, how: str) -> Any:
        order = [2 if other == axis else 0 for other in along]
        return gaussian_filter(x, sigma, order, output, how, cval, axes=along, **kwargs)

    return _sum_over_axes(part, along, mode) if along else x.copy()


@of_images("scipy.ndimage.gaussian_gradient_magnitude")
def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Return the length of the smoothed gradient; see `scipy.ndimage.gaussian_gradient_magnitude`.

    The derivative of a length of 0 is 0. SciPy smooths along all axes, those not in `axes` as well.
    """
    _no_output(output)
    x = floating(input)
    along = _axes(axes, x.ndim)

    def part(axis: int, how: str) -> Any:
        order = [1 if other == axis else 0 for other in range(x.ndim)]
        return gaussian_filter(x, sigma, order, output, how, cval, **kwargs) ** 2

    if not along:
        return x.copy()
    return root(_sum_over_axes(part, along, mode))


def _edges(input: Any, axis: int, mode: Any, cval: Any, across: Any) -> Any:
    x = floating(input)
    axis = normalize_axis_index(axis, x.ndim)
    modes = _per_axis(mode, x.ndim)
    x = correlate1d(x, numpy.array([-1.0, 0.0, 1.0]), axis, None, modes[axis], cval)
    for other in range(x.ndim):
        if other != axis:
            x = correlate1d(x, across, other, None, modes[other], cval)
    return x


@of_images("scipy.ndimage.sobel")
def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Return differences along an axis, smoothed across; see `scipy.ndimage.sobel`."""
    _no_output(output)
    return _edges(input, axis, mode, cval, numpy.array([1.0, 2.0, 1.0]))


@of_images("scipy.ndimage.prewitt")
def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Return differences along an axis, added up across; see `scipy.ndimage.prewitt`."""
    _no_output(output)
    return _edges(input, axis, mode, cval, numpy.array([1.0, 1.0, 1.0]))


def _window_filter(name: str, reduce: Callable[..., Any], what: str) -> Callable[..., Any]:
    """The counterpart of a SciPy filter that reduces the elements in each window, selected by a footprint."""

    def windowed(
        input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
        cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        _no_output(output)
        x = floating_real(input)
        if axes is not None or not isinstance(mode, str):
            raise UnsupportedError("scipy.ndimage: axes= and several modes of these filters are not differentiated")
        if footprint is None:
            if size is None:
                raise RuntimeError("no footprint or filter size provided")
            footprint = numpy.ones(_per_axis(size, x.ndim), bool)
        footprint = numpy.asarray(footprint, bool)
        padded = _padded(x, _margins(footprint.shape, _per_axis(origin, x.ndim)), mode, cval)
        windows = np.lib.stride_tricks.sliding_window_view(padded, footprint.shape)
        return reduce(np.reshape(windows, (*x.shape, -1))[..., footprint.ravel()], axis=-1)

    windowed.__name__ = windowed.__qualname__ = name
    windowed.__doc__ = f"Return the {what} of windows; see `scipy.ndimage.{name}`."
    return of_images(f"scipy.ndimage.{name}")(windowed)


def _upper_median(x: Any, axis: int) -> Any:
    return np.sort(x, axis=axis)[..., x.shape[axis] // 2]


maximum_filter = _window_filter("maximum_filter", np.max, "greatest elements")
minimum_filter = _window_filter("minimum_filter", np.min, "smallest elements")
median_filter = _window_filter("median_filter", _upper_median, "medians, the upper one of an even number,")
