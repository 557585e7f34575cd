"""Piecewise interpolation of samples. See `interpolate`."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import Standing
from tapeengine_scipy._values import floating
from tapeengine_scipy.interpolate.polynomials import CubicSpline, intervals, moved
from tapeengine_scipy.interpolate.slopes import column


class interp1d(Standing, path="scipy.interpolate.interp1d"):
    """Piecewise interpolation of samples; see `scipy.interpolate.interp1d`.

    The kinds 'linear', 'slinear', 'cubic', 'nearest', 'nearest-up', 'zero', 'previous' and 'next' are differentiated;
    'quadratic' and numbers above 1 other than 3 are not.

    Examples
    --------
    >>> import numpy as np
    >>> interp1d(np.array([0.0, 1.0]), np.array([0.0, 2.0]))(np.array([0.25]))
    array([0.5])
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: Any = np.nan,
        assume_sorted: bool = False,
    ) -> None:
        options = {"bounds_error": bounds_error, "fill_value": fill_value, "assume_sorted": assume_sorted}
        self._stand(x, y, kind, axis, copy, **options)
        x, y = floating(x), floating(y)
        self._axis = axis % y.ndim
        y = np.moveaxis(y, axis, 0)
        order = slice(None) if assume_sorted else np.argsort(x, kind="stable")
        self._x, self._kind = x[order], {0: "zero", 1: "slinear", 3: "cubic"}.get(kind, kind)
        self._y, self._rest = np.reshape(y[order], (y.shape[0], -1)), y.shape[1:]
        if self._kind in ("zero", "slinear", "cubic"):  # which SciPy computes as splines, in double precision
            self._x, self._y = (np.astype(part, numpy.promote_types(part.dtype, float)) for part in (self._x, self._y))
        self._extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
        self._fill = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
        self._spline = CubicSpline(self._x, self._y) if self._kind == "cubic" else None

    @classmethod
    def around(cls, theirs: Any, **traced: Any) -> Any:
        """Return the object in the place of one of SciPy's."""
        rest = theirs.bounds_error, theirs.fill_value, True
        return cls(theirs.x, theirs.y, theirs._kind, theirs.axis, True, *rest)

    def __call__(self, x: Any) -> Any:
        """Evaluate at query points."""
        if self._kind not in ("linear", "slinear", "cubic", "zero", "previous", "next", "nearest", "nearest-up"):
            raise UnsupportedError(f"interp1d: kind={self._kind!r} is not differentiated; use 'linear' or 'cubic'")
        query = floating(x)
        xq = np.reshape(query, (-1,))
        low, high = np.less(xq, self._x[0]), np.greater(xq, self._x[-1])
        if self.bounds_error and (low.any() or high.any()):
            self._theirs(plain_value(query))  # raises SciPy's error
        value = self._spline(xq) if self._spline else self._piecewise(xq)
        if self._extrapolates:  # there is no sample before the first or after the last
            value = np.where((low & (self._kind == "previous") | high & (self._kind == "next"))[:, None], np.nan, value)
        elif low.any() or high.any():
            value = np.where(low[:, None], self._fill[0], np.where(high[:, None], self._fill[1], value))
        return moved(np.reshape(value, (*query.shape, *self._rest)), query.ndim, self._axis)

    def _piecewise(self, xq: Any) -> Any:
        doubles = self._x.dtype == self._y.dtype == float
        if self._kind == "linear" and not self._rest and not self._extrapolates and doubles:
            return np.interp(xq, self._x, self._y[:, 0])[:, None]
        if self._kind == "slinear":
            at = intervals(self._x, xq)
            part = column((xq - self._x[at]) / (self._x[at + 1] - self._x[at]), 2)
            return self._y[at] * (1.0 - part) + self._y[at + 1] * part
        if self._kind == "linear":
            at = numpy.clip(np.searchsorted(self._x, xq), 1, len(self._x) - 1) - 1
            slope = (self._y[at + 1] - self._y[at]) / column(self._x[at + 1] - self._x[at], 2)
            return self._y[at] + slope * column(xq - self._x[at], 2)
        value = self._y[_nearby(self._x, xq, self._kind)]
        nowhere = np.isnan(xq) & (self._kind == "zero")
        return np.where(nowhere[:, None], numpy.nan, value) if nowhere.any() else value


def _nearby(x: Any, xq: Any, kind: str) -> Any:
    """The sample for each query point."""
    if kind in ("zero", "previous"):
        return numpy.clip(np.searchsorted(x, xq, side="right") - 1, 0, len(x) - 1)
    if kind == "next":
        return numpy.clip(np.searchsorted(x, xq), 0, len(x) - 1)
    return np.searchsorted((x[1:] + x[:-1]) / 2, xq, side="left" if kind == "nearest" else "right")
