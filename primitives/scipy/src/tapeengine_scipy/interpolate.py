"""Derivatives of `scipy.interpolate`: splines and piecewise interpolation, with SciPy's own signatures.

Differentiable in the values, the query points and the data points: `CubicSpline` solves for the slopes with the
differentiable `solve_banded` and `solve`.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import interpolate
>>> float(interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])(1.5))
2.25
"""

from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._bsplines import BSpline, make_interp_spline
from tapeengine_scipy._callables import holds_traced, plain_value, plain_values
from tapeengine_scipy._grids import RegularGridInterpolator, interpn
from tapeengine_scipy._passing import names_of, passed, refuse
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg.solve import solve
from tapeengine_scipy.linalg.structured import solve_banded

__all__ = [
    "BSpline", "CubicHermiteSpline", "CubicSpline", "PchipInterpolator",
    "RegularGridInterpolator", "interp1d", "interpn", "make_interp_spline", "pchip_interpolate",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.interpolate")


def _column(x: Any, ndim: int) -> Any:
    """Append axes, so that values along the first axis broadcast."""
    return np.reshape(x, (x.shape[0],) + (1,) * (ndim - 1))


def _intervals(x: Any, xq: Any) -> Any:
    """The index of the interval that contains each query point; the outer intervals extend to infinity."""
    return numpy.clip(numpy.searchsorted(plain_value(x), plain_value(xq), side="right") - 1, 0, x.shape[0] - 2)


class _Interpolant:
    """An interpolant with its SciPy counterpart on plain values, which checks arguments and does the rest."""

    def __init__(self, name: str, *args: Any, **keywords: Any) -> None:
        self._path = f"scipy.interpolate.{name}"
        self._is_traced = holds_traced(args, keywords)
        still, named = plain_values((args, keywords))
        self._theirs = getattr(scipy.interpolate, name)(*still, **named)

    def of_scipy(self) -> Any:
        """Return SciPy's own interpolant with plain values."""
        return self._theirs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._theirs, name)  # raises AttributeError if SciPy does not have it either
        if self._is_traced:
            refuse(f"{self._path}.{name}")
        return passed(found, f"{self._path}.{name}")


class _Cubic(_Interpolant):
    """Cubic pieces between data points, with given slopes there."""

    def _made(self, x: Any, y: Any, axis: int, extrapolate: Any, slopes_of: Any) -> None:
        """Keep the coefficients; `slopes_of(steps, slopes, y)` gives the slopes at the data points."""
        self.x, y = floating(x), np.moveaxis(floating(y), axis, 0)
        self.axis, self.extrapolate, self._rest = axis % y.ndim, extrapolate, y.shape[1:]
        flat = np.reshape(y, (y.shape[0], -1))
        steps = _column(self.x[1:] - self.x[:-1], 2)
        slopes = (flat[1:] - flat[:-1]) / steps
        s = slopes_of(steps[:, 0], slopes, flat)
        bend = (s[:-1] + s[1:] - 2 * slopes) / steps
        self._c = np.stack([bend / steps, (slopes - s[:-1]) / steps - bend, s[:-1], flat[:-1]])

    @property
    def c(self) -> Any:
        """The coefficients."""
        return np.reshape(self._c, (*self._c.shape[:2], *self._rest))

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Evaluate the interpolant, or its derivative of order `nu`."""
        if not (self._is_traced or holds_traced(x)):
            return self._theirs(x, nu, extrapolate)
        if nu < 0:
            raise ValueError("Order of derivative cannot be negative")
        return self._value(x, nu, extrapolate)

    def _value(self, x: Any, nu: int, extrapolate: Any) -> Any:
        """The interpolant's derivative; for a negative order, an integral from the first data point."""
        outside = self.extrapolate if extrapolate is None else extrapolate
        query = floating(x)
        xq = np.reshape(query, (-1,))
        if outside == "periodic":
            if nu < 0:
                raise UnsupportedError("integrals of periodic interpolants are not differentiated")
            span = self.x[-1] - self.x[0]
            xq = xq - span * numpy.floor(plain_value((xq - self.x[0]) / span))
        at = _intervals(self.x, xq)
        value = _power_sum(self._coefficients(-nu)[:, at], _column(xq - self.x[at], 2), max(nu, 0))
        if outside is False:
            inside = (xq >= self.x[0]) & (xq <= self.x[-1])
            value = np.where(_column(inside, 2), value, np.nan)
        return _moved(np.reshape(value, (*query.shape, *self._rest)), query.ndim, self.axis)

    def _coefficients(self, order: int) -> Any:
        """The coefficients of the antiderivative of an order, with constants that make it continuous."""
        c, steps = self._c, _column(self.x[1:] - self.x[:-1], 2)
        for _ in range(order):
            raised = c / numpy.arange(c.shape[0], 0, -1)[:, None, None]
            ends = steps * _power_sum(raised, steps, 0)
            start = np.concatenate([numpy.zeros((1, c.shape[2])), np.cumsum(ends, axis=0)[:-1]])
            c = np.concatenate([raised, start[None]])
        return c

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative as a function of the query points."""
        return lambda x, extrapolate=None: self(x, nu, extrapolate)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the antiderivative that is 0 at the first data point, as a function of the query points."""
        return lambda x, extrapolate=None: self._value(x, -nu, extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral between limits, which may be traced."""
        if not (self._is_traced or holds_traced(a, b)):
            return self._theirs.integrate(a, b, extrapolate)
        found = self._value(b, -1, extrapolate) - self._value(a, -1, extrapolate)
        return np.asarray(found)  # also without dimensions

    def solve(self, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Return where a scalar interpolant has a value, as functions of all traced values.

        Newton steps from SciPy's solutions give derivatives up to third order.
        """
        if not (self._is_traced or holds_traced(y)):
            return self._theirs.solve(y, discontinuity, extrapolate)
        if self._rest:
            raise UnsupportedError("roots of interpolants of several functions are not differentiated; select one")
        places = self._theirs.solve(plain_value(y), discontinuity, extrapolate)
        for _ in range(2):
            places = places - (self(places) - y) / self(places, 1)
        return places

    def roots(self, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Return the zeros of the interpolant; see `solve`."""
        return self.solve(0.0, discontinuity, extrapolate)


def _power_sum(c: Any, z: Any, nu: int) -> Any:
    """The polynomial with coefficients c, highest power first, or its derivative."""
    degree = c.shape[0] - 1
    total: Any = 0.0 * z
    for power in range(degree, nu - 1, -1):
        factor = float(numpy.prod(numpy.arange(power - nu + 1, power + 1))) if nu else 1.0
        total = total * z + factor * c[degree - power]
    return total + 0.0 * c[-1]


class CubicSpline(_Cubic):
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
        super().__init__("CubicSpline", x, y, axis=axis, bc_type=bc_type, extrapolate=extrapolate)
        periodic = "periodic" if bc_type == "periodic" else True
        rest = np.moveaxis(floating(y), axis, 0).shape[1:]

        def slopes_of(steps: Any, slopes: Any, flat: Any) -> Any:
            return _knot_slopes(steps, slopes, _end_conditions(bc_type, flat, rest))

        self._made(x, y, axis, periodic if extrapolate is None else extrapolate, slopes_of)


class CubicHermiteSpline(_Cubic):
    """Cubics through points with given slopes; see `scipy.interpolate.CubicHermiteSpline`."""

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        super().__init__("CubicHermiteSpline", x, y, dydx, axis=axis, extrapolate=extrapolate)
        given = np.moveaxis(floating(dydx), axis, 0)
        flat = np.reshape(given, (given.shape[0], -1))
        self._made(x, y, axis, True if extrapolate is None else extrapolate, lambda *_: flat)


class PchipInterpolator(_Cubic):
    """Cubics that keep monotony; see `scipy.interpolate.PchipInterpolator`.

    Examples
    --------
    >>> import numpy as np
    >>> float(PchipInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 1.0])(1.5))
    1.0
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        super().__init__("PchipInterpolator", x, y, axis=axis, extrapolate=extrapolate)
        self._made(x, y, axis, True if extrapolate is None else extrapolate, _monotone_slopes)


def _monotone_slopes(h: Any, slopes: Any, y: Any) -> Any:
    """Weighted harmonic means of slopes of equal sign; 0 between slopes of opposite signs (Fritsch and Butland)."""
    if h.shape[0] == 1:
        return np.concatenate([slopes, slopes])
    before, after = _column(2 * h[1:] + h[:-1], 2), _column(h[1:] + 2 * h[:-1], 2)
    opposite = np.sign(slopes[:-1]) * np.sign(slopes[1:]) <= 0
    first, second = np.where(opposite, 1.0, slopes[:-1]), np.where(opposite, 1.0, slopes[1:])
    inner = np.where(opposite, 0.0, (before + after) / (before / first + after / second))
    ends = [_monotone_end(h[0], h[1], slopes[0], slopes[1]), _monotone_end(h[-1], h[-2], slopes[-1], slopes[-2])]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _monotone_end(h: Any, further: Any, slope: Any, beyond: Any) -> Any:
    """The slope at an end from three points, limited to keep the interpolant monotone."""
    found = ((2 * h + further) * slope - h * beyond) / (h + further)
    found = np.where(np.sign(found) != np.sign(slope), 0.0, found)
    steep = (np.sign(slope) != np.sign(beyond)) & (np.abs(found) > 3.0 * np.abs(slope))
    return np.where(steep, 3.0 * slope, found)


def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """Evaluate the monotone interpolant of points; see `scipy.interpolate.pchip_interpolate`."""
    if np.ndim(der):
        return [PchipInterpolator(xi, yi, axis=axis)(x, nu) for nu in der]
    return PchipInterpolator(xi, yi, axis=axis)(x, der)


def _moved(value: Any, count: int, axis: int) -> Any:
    """Move the first `count` axes to the position of the axis of interpolation."""
    if axis == 0:
        return value
    order = [*range(count, count + axis), *range(count), *range(count + axis, value.ndim)]
    return np.transpose(value, order)


def _end_conditions(bc_type: Any, y: Any, rest: tuple[int, ...]) -> Any:
    """Read the end conditions: 'not-a-knot', 'periodic', or (order, values) for each end."""
    if isinstance(bc_type, str):
        if bc_type == "periodic":
            if not numpy.allclose(plain_value(y[0]), plain_value(y[-1]), rtol=1e-15, atol=1e-15):
                raise ValueError("CubicSpline: the first and the last value must be equal for bc_type='periodic'")
            return "periodic"
        bc_type = (bc_type, bc_type)
    return tuple(_end_condition(bc, y.shape[1]) for bc in bc_type)


def _end_condition(bc: Any, width: int) -> Any:
    if isinstance(bc, str):
        named = {"clamped": (1, numpy.zeros(width)), "natural": (2, numpy.zeros(width)), "not-a-knot": None}
        if bc not in named:
            raise ValueError(f"CubicSpline: {bc!r} is not a boundary condition")
        return named[bc]
    order, value = bc
    if order not in (1, 2):
        raise ValueError("CubicSpline: a boundary condition fixes the derivative of order 1 or 2")
    return order, np.reshape(floating(value), (-1,)) * numpy.ones(width)


def _knot_slopes(h: Any, slopes: Any, ends: Any) -> Any:
    """The spline's slopes at the data points: a tridiagonal system, with two more entries for 'not-a-knot'."""
    count = h.shape[0] + 1
    if ends == "periodic":
        return _periodic_slopes(h, slopes)
    if count == 2:
        ends = tuple((1, slopes[0]) if end is None else end for end in ends)
    if count == 3 and ends == (None, None):
        return _parabola_slopes(h, slopes)
    low, first, low_rhs = _end_row(h, slopes, ends[0], 1.0)
    high, last, high_rhs = _end_row(h[::-1], slopes[::-1], ends[1], -1.0)
    middle = np.concatenate([_one(low), 2 * (h[:-1] + h[1:]), _one(high)])
    above = np.concatenate([numpy.zeros(1), _one(first), h[:-1]])
    below = np.concatenate([h[1:], _one(last), numpy.zeros(1)])
    inner = 3 * (_column(h[1:], 2) * slopes[:-1] + _column(h[:-1], 2) * slopes[1:])
    rhs = np.concatenate([low_rhs[None], inner, high_rhs[None]])
    return solve_banded((1, 1), np.stack([above, middle, below]), rhs, check_finite=False)


def _one(value: Any) -> Any:
    return np.array([value])


def _end_row(h: Any, slopes: Any, end: Any, sign: float) -> tuple[Any, Any, Any]:
    """The equation at one end: the factors of that slope and of the next one, and the right-hand side."""
    if end is None:
        both = h[0] + h[1]
        return h[1], both, ((h[0] + 2 * both) * h[1] * slopes[0] + h[0] ** 2 * slopes[1]) / both
    order, value = end
    if order == 1:
        return 1.0, 0.0, value + 0.0 * slopes[0]
    return 2 * h[0], h[0], -sign * 0.5 * value * h[0] ** 2 + 3 * h[0] * slopes[0]


def _parabola_slopes(h: Any, slopes: Any) -> Any:
    """Three points without inner knots: the slopes of the parabola through them."""
    bend = (slopes[1] - slopes[0]) / (h[0] + h[1])
    middle = slopes[0] + bend * h[0]
    return np.stack([slopes[0] - bend * h[0], middle, slopes[1] + bend * h[1]])


def _periodic_slopes(h: Any, slopes: Any) -> Any:
    """The cyclic system, in which the last slope equals the first."""
    if h.shape[0] < 3:
        raise UnsupportedError("CubicSpline: bc_type='periodic' is differentiated for four points or more")
    before = np.concatenate([h[-1:], h[:-1]])
    size = h.shape[0]
    eye = numpy.eye(size)
    up, down = numpy.roll(eye, 1, axis=1), numpy.roll(eye, -1, axis=1)
    matrix = _column(2 * (before + h), 2) * eye + _column(before, 2) * up + _column(h, 2) * down
    earlier = np.concatenate([slopes[-1:], slopes[:-1]])
    rhs = 3 * (_column(h, 2) * earlier + _column(before, 2) * slopes)
    cyclic = solve(matrix, rhs, check_finite=False)
    return np.concatenate([cyclic, cyclic[:1]])


class interp1d(_Interpolant):
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
        super().__init__("interp1d", x, y, kind, axis, copy, **options)
        self.x, y = floating(x), floating(y)
        self.axis = axis % y.ndim
        y = np.moveaxis(y, axis, 0)
        if not assume_sorted:
            order = numpy.argsort(plain_value(self.x), kind="stable")
            self.x, y = self.x[order], y[order]
        self.kind = {0: "zero", 1: "slinear", 3: "cubic"}.get(kind, kind)
        self.extrapolated = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.fill = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
        plain_fill = not self.extrapolated and not isinstance(fill_value, tuple)
        default = plain_fill and bool(numpy.all(numpy.isnan(fill_value)))
        self.bounds_error = default if bounds_error is None else bounds_error
        self._rest = y.shape[1:]
        self.y = np.reshape(y, (y.shape[0], -1))
        self._spline = CubicSpline(self.x, self.y) if self.kind == "cubic" else None

    def __call__(self, x: Any) -> Any:
        """Evaluate at query points."""
        if not (self._is_traced or holds_traced(x)):
            return self._theirs(x)
        if self.kind not in ("linear", "slinear", "cubic", "zero", "previous", "next", "nearest", "nearest-up"):
            raise UnsupportedError(f"interp1d: kind={self.kind!r} is not differentiated; use 'linear' or 'cubic'")
        query = floating(x)
        xq = np.reshape(query, (-1,))
        low, high = plain_value(xq) < plain_value(self.x[0]), plain_value(xq) > plain_value(self.x[-1])
        if self.bounds_error and not self.extrapolated and (low.any() or high.any()):
            self._theirs(plain_value(query))  # raises SciPy's error
        value = self._spline(xq) if self._spline else self._piecewise(xq)
        if self.extrapolated:  # there is no sample before the first or after the last
            value = np.where((low & (self.kind == "previous") | high & (self.kind == "next"))[:, None], np.nan, value)
        elif low.any() or high.any():
            value = np.where(low[:, None], self.fill[0], np.where(high[:, None], self.fill[1], value))
        return _moved(np.reshape(value, (*query.shape, *self._rest)), query.ndim, self.axis)

    def _piecewise(self, xq: Any) -> Any:
        if self.kind == "linear" and not self._rest and not self.extrapolated and self.y.dtype.kind == "f":
            return np.interp(xq, self.x, self.y[:, 0])[:, None]
        if self.kind == "slinear":
            at = _intervals(self.x, xq)
            part = _column((xq - self.x[at]) / (self.x[at + 1] - self.x[at]), 2)
            return self.y[at] * (1.0 - part) + self.y[at + 1] * part
        if self.kind == "linear":
            at = numpy.clip(numpy.searchsorted(plain_value(self.x), plain_value(xq)), 1, self.x.shape[0] - 1) - 1
            slope = (self.y[at + 1] - self.y[at]) / _column(self.x[at + 1] - self.x[at], 2)
            return self.y[at] + slope * _column(xq - self.x[at], 2)
        value = self.y[_nearby(plain_value(self.x), plain_value(xq), self.kind)]
        nowhere = numpy.isnan(plain_value(xq)) & (self.kind == "zero")
        return np.where(nowhere[:, None], numpy.nan, value) if nowhere.any() else value


def _nearby(x: Any, xq: Any, kind: str) -> Any:
    """The index of the sample for each query point."""
    last = len(x) - 1
    if kind in ("zero", "previous"):
        return numpy.clip(numpy.searchsorted(x, xq, side="right") - 1, 0, last)
    if kind == "next":
        return numpy.clip(numpy.searchsorted(x, xq, side="left"), 0, last)
    middle = (x[1:] + x[:-1]) / 2
    return numpy.clip(numpy.searchsorted(middle, xq, side="left" if kind == "nearest" else "right"), 0, last)
