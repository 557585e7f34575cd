"""Interpolation of values on rectangular grids. See `tapeengine_scipy.interpolate`."""

from itertools import product
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import Standing
from tapeengine_scipy._values import floating
from tapeengine_scipy.interpolate.polynomials import intervals


def _points(xi: Any, ndim: int) -> Any:
    """Query points as an array whose last axis is the coordinate."""
    if isinstance(xi, tuple):
        at = np.stack(np.broadcast_arrays(*(floating(x) for x in xi)), axis=-1)
    else:
        at = floating(xi)
    if at.ndim == 1:  # the coordinates of one point, or numbers, in rows
        at = np.reshape(at, (-1, ndim))
    return at if at.dtype == float else np.astype(at, float)


class RegularGridInterpolator(Standing, path="scipy.interpolate.RegularGridInterpolator"):
    """Interpolation on a rectangular grid; see `scipy.interpolate.RegularGridInterpolator`.

    Differentiable in values, grid points and query points, for the methods 'linear' and 'nearest'.

    Examples
    --------
    >>> import numpy as np
    >>> RegularGridInterpolator(([0.0, 1.0],), np.array([0.0, 2.0]))(np.array([[0.25]]))
    array([0.5])
    """

    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True,
        fill_value: Any = numpy.nan, *, solver: Any = None, solver_args: Any = None,
    ) -> None:  # fmt: skip
        self._stand(points, values, method, bounds_error, fill_value, solver=solver, solver_args=solver_args)
        grid = [floating(axis) for axis in points]
        values = floating(values)
        for k, axis in enumerate(grid):  # SciPy accepts descending axes
            if axis[0] > axis[-1]:
                grid[k], values = np.flip(axis), np.flip(values, k)
        self._axes, self._data, self._fill = tuple(grid), values, fill_value

    @classmethod
    def around(cls, theirs: Any, **traced: Any) -> Any:
        """Return the object in the place of one of SciPy's."""
        return cls(theirs.grid, theirs.values, theirs.method, theirs.bounds_error, theirs.fill_value)

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Any:
        """Evaluate at points."""
        method = self.method if method is None else method
        if method not in ("linear", "nearest") or nu is not None:
            raise UnsupportedError(f"RegularGridInterpolator: method={method!r} is not differentiated; use 'linear'")
        at = _points(xi, len(self._axes))
        if at.shape[-1] != len(self._axes):
            self._theirs(plain_value(at), method)  # raises SciPy's error
        shape = at.shape[:-1]
        flat = np.reshape(at, (-1, len(self._axes)))
        nowhere, outside = np.isnan(flat).any(axis=1), self._outside(flat)
        if self.bounds_error and (nowhere | outside).any():
            self._theirs(plain_value(at), method)  # raises SciPy's error
        ends = [self._cell(flat[:, k], axis, method) for k, axis in enumerate(self._axes)]
        total: Any = None
        for corner in product(*ends):
            value = self._data[tuple(place for place, _ in corner)]
            for _, weight in corner:
                if weight is not None:
                    value = value * np.reshape(weight, (-1,) + (1,) * (value.ndim - 1))
            total = value if total is None else total + value
        if self._fill is not None and not self.bounds_error:
            total = np.where(numpy.reshape(outside, (-1,) + (1,) * (total.ndim - 1)), self._fill, total)
        if nowhere.any():
            total = np.where(numpy.reshape(nowhere, (-1,) + (1,) * (total.ndim - 1)), numpy.nan, total)
        return np.reshape(total, (*shape, *self._data.shape[len(self._axes) :]))

    def _cell(self, x: Any, axis: Any, method: str) -> list[tuple[Any, Any]]:
        """The neighbours along an axis, and their weights, of which the nearest has none."""
        if len(axis) == 1:
            return [(numpy.zeros(len(x), int), numpy.ones(len(x)) if method == "linear" else None)]
        place = intervals(axis, x)
        part = (x - axis[place]) / (axis[place + 1] - axis[place])
        if method == "nearest":
            return [(numpy.where(np.less_equal(part, 0.5), place, place + 1), None)]
        return [(place, 1.0 - part), (place + 1, part)]

    def _outside(self, flat: Any) -> Any:
        outside = numpy.zeros(flat.shape[0], bool)
        for k, axis in enumerate(self._axes):
            outside |= np.less(flat[:, k], axis[0]) | np.greater(flat[:, k], axis[-1])
        return outside


@with_signature("scipy.interpolate.interpn")
def interpn(points: Any, values: Any, xi: Any, **options: Any) -> Any:
    """Interpolate on a rectangular grid; see `scipy.interpolate.interpn`.

    Examples
    --------
    >>> import numpy as np
    >>> interpn(([0.0, 1.0],), np.array([0.0, 2.0]), np.array([[0.25]]))
    array([0.5])
    """
    return RegularGridInterpolator(points, values, **options)(xi)
