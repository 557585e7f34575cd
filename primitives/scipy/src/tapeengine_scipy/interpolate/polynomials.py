"""Piecewise polynomials, and those through data points. See `interpolate`."""

from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import decides
from tapeengine_scipy._callables import plain_value
from tapeengine_scipy._passing import Standing
from tapeengine_scipy._values import floating
from tapeengine_scipy.interpolate import slopes
from tapeengine_scipy.interpolate.slopes import column


@decides("scipy.interpolate.intervals", Sample((numpy.arange(4.0), uniform((3,)))))
def intervals(x: Any, xq: Any) -> Any:
    """The interval that contains each query point; the outer ones extend to infinity."""
    sign = -1.0 if x[0] > x[-1] else 1.0
    return numpy.clip(numpy.searchsorted(sign * x, sign * xq, side="right") - 1, 0, x.shape[0] - 2)


def within_period(x: Any, first: Any, last: Any) -> Any:
    """Places moved by whole periods."""
    return x - (last - first) * np.floor((x - first) / (last - first))


def periodic_integral(whole: Callable[[Any], Any], a: Any, b: Any, first: Any, last: Any) -> Any:
    """The integral between limits of a function that is repeated, from its antiderivative in the first period."""

    def to(x: Any) -> Any:
        turns = np.floor((floating(x) - first) / (last - first))
        return whole(x - turns * (last - first)) + turns * (whole(last) - whole(first))

    return np.asarray(to(b) - to(a))  # also without dimensions


class Pieces(Standing, path=""):
    """A function with pieces: it has `_ends`, `_value` at a vector of places, and `_changed`, its derivatives.

    The coefficients `c` have `_leading` axes before those of a value.
    """

    _leading: int

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Evaluate the function, or its derivative of order `nu`."""
        if nu < 0:
            raise ValueError("the order of a derivative is not negative")
        outside = self.extrapolate if extrapolate is None else extrapolate
        (first, last), query = self._ends, floating(x)
        at = np.reshape(query, (-1,))
        at = within_period(at, first, last) if outside == "periodic" else at
        value = self._value(at, nu)
        if outside is False:
            low, high = (first, last) if first < last else (last, first)
            value = np.where(column((at >= low) & (at <= high), 2), value, np.nan)
        return moved(np.reshape(value, (*query.shape, *self.c.shape[self._leading :])), query.ndim, self.axis)

    def derivative(self, nu: int = 1) -> "Pieces":
        """Return the derivative as such a function."""
        return self._changed(self._theirs.derivative(nu), nu)

    def antiderivative(self, nu: int = 1) -> "Pieces":
        """Return an antiderivative as such a function."""
        return self._changed(self._theirs.antiderivative(nu), -nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral between limits, which may be traced."""
        outside = self.extrapolate if extrapolate is None else extrapolate
        whole = self.antiderivative()
        if outside == "periodic":
            return periodic_integral(lambda x: whole(x, 0, True), a, b, *self._ends)
        return np.asarray(whole(b, 0, outside) - whole(a, 0, outside))  # also without dimensions


class PPoly(Pieces, path="scipy.interpolate.PPoly"):
    """A piecewise polynomial; see `scipy.interpolate.PPoly`. Coefficients, breakpoints and places may be traced.

    Examples
    --------
    >>> import numpy as np
    >>> float(PPoly(np.array([[1.0], [2.0]]), np.array([0.0, 1.0]))(0.5))
    2.5
    """

    _leading = 2

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        if self._stand(c, x, extrapolate, axis):
            self.c, self.x = np.moveaxis(floating(c), (axis, axis + 1), (0, 1)), floating(x)

    def _through(self, x: Any, y: Any, slopes_of: Callable[..., Any]) -> None:
        """Set the coefficients; `slopes_of(steps, slopes, y)` gives the slopes at the data points."""
        y = np.moveaxis(floating(y), self.axis, 0)  # SciPy takes any number as an axis, modulo the dimension
        self.x, flat = floating(x), np.reshape(y, (y.shape[0], -1))
        steps = column(self.x[1:] - self.x[:-1], 2)
        secants = (flat[1:] - flat[:-1]) / steps
        s = slopes_of(steps[:, 0], secants, flat)
        bend = (s[:-1] + s[1:] - 2 * secants) / steps
        c = np.stack([bend / steps, (secants - s[:-1]) / steps - bend, s[:-1], flat[:-1]])
        self.c = np.reshape(c, (*c.shape[:2], *y.shape[1:]))

    @property
    def _ends(self) -> tuple[Any, Any]:
        return self.x[0], self.x[-1]

    def _value(self, x: Any, nu: int) -> Any:
        at = intervals(self.x, x)
        c = np.reshape(self.c, (*self.c.shape[:2], -1))
        return _power_sum(c[:, at], column(x - self.x[at], 2), nu)

    def _changed(self, theirs: Any, nu: int) -> "PPoly":
        """SciPy's derivative or antiderivative, with traced coefficients and breakpoints."""
        c, steps = self.c, column(self.x[1:] - self.x[:-1], self.c.ndim - 1)
        for _ in range(nu):
            c = c[:-1] * column(numpy.arange(c.shape[0] - 1, 0, -1), c.ndim) if c.shape[0] > 1 else 0.0 * c
        for _ in range(-nu):
            raised = c / column(numpy.arange(c.shape[0], 0, -1), c.ndim)
            ends = np.cumsum(steps * _power_sum(raised, steps, 0), axis=0)
            start = np.concatenate([numpy.zeros((1, *c.shape[2:])), ends[:-1]])
            c = np.concatenate([raised, start[None]])
        return type(self).around(theirs, c=c, x=self.x)

    def solve(self, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Return where a scalar polynomial has a value, as functions of all traced values.

        Newton steps from SciPy's solutions give derivatives up to third order.
        """
        if self.c.ndim > 2:
            raise UnsupportedError("roots of interpolants of several functions are not differentiated; select one")
        places = self.of_scipy().solve(plain_value(y), discontinuity, extrapolate)
        steps = plain_value((self(places) - y) / self(places, 1))
        if not numpy.all(numpy.abs(steps) <= 1e-6 * (1.0 + numpy.abs(places))):
            raise UnsupportedError("roots at jumps, multiple roots and whole pieces of roots have no derivative")
        for _ in range(2):
            places = places - (self(places) - y) / self(places, 1)
        return places

    def roots(self, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Return the zeros of the polynomial; see `solve`."""
        return self.solve(0.0, discontinuity, extrapolate)


def _power_sum(c: Any, z: Any, nu: int) -> Any:
    """The polynomial with coefficients c, highest power first, or its derivative."""
    degree = c.shape[0] - 1
    total: Any = 0.0 * z
    for power in range(degree, nu - 1, -1):
        factor = float(numpy.prod(numpy.arange(power - nu + 1, power + 1))) if nu else 1.0
        total = total * z + factor * c[degree - power]
    return total + 0.0 * c[-1]


class CubicHermiteSpline(PPoly, path="scipy.interpolate.CubicHermiteSpline"):
    """Cubics through points with given slopes; see `scipy.interpolate.CubicHermiteSpline`."""

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        if self._stand(x, y, dydx, axis=axis, extrapolate=extrapolate):
            given = np.moveaxis(floating(dydx), self.axis, 0)
            self._through(x, y, lambda *_: np.reshape(given, (given.shape[0], -1)))


class CubicSpline(CubicHermiteSpline, path="scipy.interpolate.CubicSpline"):
    """A cubic spline; see `scipy.interpolate.CubicSpline`.

    Parameters
    ----------
    x, y, axis, bc_type, extrapolate
        As in SciPy; `x` and `y` may be traced.

    Attributes
    ----------
    x : array of shape (n,)
    c : array of shape (4, n - 1, ...)
        The coefficients, highest power first.
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None:
        if self._stand(x, y, axis=axis, bc_type=bc_type, extrapolate=extrapolate):
            self._through(x, y, lambda *given: slopes.at_knots(*given, bc_type))


class PchipInterpolator(CubicHermiteSpline, path="scipy.interpolate.PchipInterpolator"):
    """Cubics that keep monotony; see `scipy.interpolate.PchipInterpolator`.

    Examples
    --------
    >>> import numpy as np
    >>> float(PchipInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 1.0])(1.5))
    1.0
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        if self._stand(x, y, axis=axis, extrapolate=extrapolate):
            self._through(x, y, slopes.monotone)


def moved(value: Any, count: int, axis: int) -> Any:
    """Move the first `count` axes to the position of the axis of interpolation."""
    order = [*range(count, count + axis), *range(count), *range(count + axis, value.ndim)]
    return np.transpose(value, order) if axis else value
