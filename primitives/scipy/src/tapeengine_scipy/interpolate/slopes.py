"""The slopes at data points of cubic splines and of monotone cubics. See `interpolate`."""

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine_scipy._values import floating
from tapeengine_scipy.linalg.structured import solve_banded
from tapeengine_scipy.sparse.linalg import spsolve
from tapeengine_scipy.sparse.matrix import SparseArray
from tapeengine_scipy.sparse.pattern import Pattern


def column(x: Any, ndim: int) -> Any:
    """Append axes, so that values along the first axis broadcast."""
    return np.reshape(x, (x.shape[0],) + (1,) * (ndim - 1))


def monotone(h: Any, slopes: Any, y: Any) -> Any:
    """Weighted harmonic means of slopes of equal sign; 0 between slopes of opposite signs (Fritsch and Butland)."""
    if h.shape[0] == 1:
        return np.concatenate([slopes, slopes])
    before, after = column(2 * h[1:] + h[:-1], 2), column(h[1:] + 2 * h[:-1], 2)
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


def conditions(end: Any, width: int) -> list[tuple[int, Any]]:
    """The orders of the derivatives that are given at one end, and their values."""
    if isinstance(end, str):
        end = {"clamped": [(1, 0.0)], "natural": [(2, 0.0)], "not-a-knot": []}[end]
    return [(order, np.broadcast_to(np.ravel(floating(value)), (width,))) for order, value in end or []]


def at_knots(h: Any, slopes: Any, y: Any, bc_type: Any) -> Any:
    """The spline's slopes at the data points: a tridiagonal system, with two more entries for 'not-a-knot'."""
    if isinstance(bc_type, str) and bc_type == "periodic":
        return _periodic_slopes(h, slopes)
    ends = [end if isinstance(end, str) else [end] for end in ((bc_type,) * 2 if isinstance(bc_type, str) else bc_type)]
    count, ends = h.shape[0] + 1, [conditions(end, y.shape[1]) for end in ends]
    if count == 2:
        ends = [end or [(1, slopes[0])] for end in ends]
    if count == 3 and ends == [[], []]:
        return _parabola_slopes(h, slopes)
    low, first, low_rhs = _end_row(h, slopes, ends[0], 1.0)
    high, last, high_rhs = _end_row(h[::-1], slopes[::-1], ends[1], -1.0)
    middle = np.concatenate([_one(low), 2 * (h[:-1] + h[1:]), _one(high)])
    above = np.concatenate([numpy.zeros(1), _one(first), h[:-1]])
    below = np.concatenate([h[1:], _one(last), numpy.zeros(1)])
    inner = 3 * (column(h[1:], 2) * slopes[:-1] + column(h[:-1], 2) * slopes[1:])
    rhs = np.concatenate([low_rhs[None], inner, high_rhs[None]])
    return solve_banded((1, 1), np.stack([above, middle, below]), rhs, check_finite=False)


def _one(value: Any) -> Any:
    return np.array([value])


def _end_row(h: Any, slopes: Any, end: Any, sign: float) -> tuple[Any, Any, Any]:
    """The equation at one end: the factors of that slope and of the next one, and the right-hand side."""
    if not end:
        both = h[0] + h[1]
        return h[1], both, ((h[0] + 2 * both) * h[1] * slopes[0] + h[0] ** 2 * slopes[1]) / both
    ((order, value),) = end
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
    before, at = np.concatenate([h[-1:], h[:-1]]), numpy.arange(h.shape[0])
    places = numpy.tile(at, 3), numpy.concatenate([at, numpy.roll(at, -1), numpy.roll(at, 1)])
    matrix = SparseArray(np.concatenate([2 * (before + h), before, h]), Pattern(*places, (len(at), len(at))))
    earlier = np.concatenate([slopes[-1:], slopes[:-1]])
    rhs = 3 * (column(h, 2) * earlier + column(before, 2) * slopes)
    cyclic = np.reshape(spsolve(matrix, rhs), rhs.shape)
    return np.concatenate([cyclic, cyclic[:1]])
