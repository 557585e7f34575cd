"""Integrals of sampled functions."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating, is_traced, ratio


def _last(y: Any, x: Any, axis: int) -> tuple[Any, Any]:
    """The samples with the axis of integration last, and the points along it."""
    y = floating(y)
    if x is None:
        return np.moveaxis(y, axis, -1), None
    x = floating(x)
    return np.moveaxis(y, axis, -1), x if x.ndim == 1 else np.moveaxis(x, axis, -1)


def _check_points(y: Any, x: Any, axis: int) -> None:
    y, x = floating(y), None if x is None else floating(x)
    if x is not None and (x.ndim not in (1, y.ndim) or x.shape[axis if x.ndim > 1 else 0] != y.shape[axis]):
        raise ValueError(f"x must have one axis or the shape of y; shapes {x.shape} and {y.shape}")


@beside("scipy.integrate.trapezoid")
def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Integrate samples by the trapezoidal rule; see `scipy.integrate.trapezoid`. Differentiable in `y` and `x`.

    Examples
    --------
    >>> import numpy as np
    >>> float(trapezoid(np.array([0.0, 1.0, 2.0])))
    2.0
    """
    return np.trapezoid(floating(y), None if x is None else floating(x), dx, axis)


@beside("scipy.integrate.cumulative_trapezoid")
def cumulative_trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """Integrate samples cumulatively; see `scipy.integrate.cumulative_trapezoid`. Differentiable in `y` and `x`.

    Examples
    --------
    >>> import numpy as np
    >>> cumulative_trapezoid(np.array([0.0, 1.0, 2.0]), initial=0)
    array([0. , 0.5, 2. ])
    """
    _check_points(y, x, axis)
    y, x = _last(y, x, axis)
    if y.shape[-1] == 0:
        raise ValueError("cumulative_trapezoid: at least one point is needed along axis")
    steps = dx if x is None else x[..., 1:] - x[..., :-1]
    total = np.cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if initial is not None:
        if initial != 0:
            raise ValueError("cumulative_trapezoid: initial must be None or 0")
        total = np.concatenate([numpy.zeros((*total.shape[:-1], 1)), total], axis=-1)
    return np.moveaxis(total, -1, axis)


@beside("scipy.integrate.simpson")
def simpson(y: Any, x: Any = None, *, dx: float = 1.0, axis: int = -1) -> Any:
    """Integrate samples by Simpson's rule; see `scipy.integrate.simpson`. Differentiable in `y` and `x`.

    With an even number of points, the parabola through the last three points integrates the last interval.

    Examples
    --------
    >>> import numpy as np
    >>> float(simpson(np.array([0.0, 1.0, 4.0])))
    2.6666666666666665
    """
    _check_points(y, x, axis)
    y, x = _last(y, x, axis)
    points = y.shape[-1]
    steps = np.asarray(numpy.full(max(points - 1, 0), 1.0) * dx) if x is None else x[..., 1:] - x[..., :-1]
    if points == 2:
        return np.sum(steps * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if points == 0:
        raise IndexError("simpson: there are no points along axis")
    if points < 2:
        return np.sum(0.0 * y, axis=-1)
    if is_traced(x) and not numpy.all(plain_value(steps)):
        raise UnsupportedError("simpson jumps where points coincide, so it has no derivative at repeated points")
    total = _parabolas(y[..., : points - 1 + points % 2], steps[..., : points - 2 + points % 2])
    return total if points % 2 else total + _last_interval(y[..., -3:], steps[..., -2], steps[..., -1])


def _parabolas(y: Any, steps: Any) -> Any:
    """Simpson's rule over pairs of intervals of possibly different lengths; repeated points count as in SciPy."""
    h0, h1 = steps[..., 0::2], steps[..., 1::2]
    both, unequal = h0 + h1, ratio(h0, h1)
    first, middle, last = y[..., 0:-2:2], y[..., 1:-1:2], y[..., 2::2]
    terms = first * (2 - ratio(1.0, unequal)) + middle * (both * ratio(both, h0 * h1)) + last * (2 - unequal)
    return np.sum(both / 6 * terms, axis=-1)


def _last_interval(y: Any, h0: Any, h1: Any) -> Any:
    """Integrate the last interval by the parabola through three points (Cartwright)."""
    last = ratio(2 * h1**2 + 3 * h0 * h1, 6 * (h1 + h0))
    middle = ratio(h1**2 + 3 * h0 * h1, 6 * h0)
    first = ratio(h1**3, 6 * h0 * (h0 + h1))
    return last * y[..., 2] + middle * y[..., 1] - first * y[..., 0]
