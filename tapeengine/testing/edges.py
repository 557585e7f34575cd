"""Edges of an elementwise operation: ties, zeros, poles and infinities, which a rule may treat as special cases.

Where the first or second derivatives on both sides of a point join smoothly, the derivative at the point must lie
between them: a rule that returns 0 or NaN there, because it tests for equal arguments or divides by zero, is wrong.
Where the sides do not join (a kink, a pole, the end of a domain), a convention applies and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..engine import Engine
from .case import Case

Point = tuple[float, ...]

#: Common edges of functions; for an operation of two arguments, every pair of finite ones is tried.
_PLACES = (0.0, 1.0, -1.0, 2.0, np.inf, -np.inf)
_STEP = 1e-3
_OFFSETS = np.arange(-3.0, 4.0) * _STEP
_FAR = np.array([1e150, 1e200])
_RTOL = 1e-6


def edges_of(case: Case) -> list[Point]:
    """Return the points at which an elementwise operation is checked: common edges and those of the sample."""
    count = len(case.args)
    stated = np.broadcast_arrays(*(np.asarray(arg, dtype=float) for arg in case.args))
    points = list(zip(*(array.ravel().tolist() for array in stated), strict=True)) if case.sample.edge else []
    if all(position in set(case.differentiated()) for position in range(count)) and count <= 2:
        finite = [x for x in _PLACES if np.isfinite(x)]
        usual = [(x,) for x in _PLACES] if count == 1 else [(x, y) for x in finite for y in finite]
        points += [(0.7, 0.7), (-3.0, -3.0)] if count == 2 else []
        points += [point for point in usual if point not in points]
    return points


def edge_messages(engine: Engine, case: Case) -> Iterator[str]:
    """Compare the derivatives at the edges with those nearby."""
    for point in edges_of(case):
        around = _line(point)
        with np.errstate(all="ignore"):
            try:
                value = case.value(tuple(around))
                if np.iscomplexobj(value) or not np.isfinite(value).all() or _jumps(value, point):
                    continue
                found = _derivatives(engine, case, around)
            except Exception:  # outside the primal's domain, or the rule fails in another check
                continue
        for what, numbers in found.items():
            expected = _limit(numbers, bool(np.isinf(point).any()))
            center = numbers[_center(numbers)]
            if len(point) > 1 and np.isnan(center) and not case.sample.edge:
                continue  # perhaps outside the domain of one of them, which shows in the value
            if expected is not None and not abs(center - expected[0]) <= _RTOL * expected[1]:
                at = ", ".join(map(repr, point))
                yield f"{what} at ({at}) is {center:.7g}, but {expected[0]:.7g} on both sides of it"
                return


def _line(point: Point) -> list[Any]:
    """The arguments along a short line through a point, or towards it if it is infinite."""
    if not np.isinf(point).any():
        return [x + _OFFSETS * (1.0 + 0.37 * k) for k, x in enumerate(point)]
    return [np.append(np.copysign(_FAR, x) if np.isinf(x) else np.full(2, x), x) for x in point]


def _jumps(value: Any, point: Point) -> bool:
    """Whether the value at an infinite point differs from the limit of the values before it."""
    return bool(np.isinf(point).any() and not np.isclose(value[-1], value[-2], rtol=_RTOL, atol=_RTOL))


def _center(numbers: Any) -> int:
    return 3 if len(numbers) == len(_OFFSETS) else len(numbers) - 1


def _limit(numbers: Any, infinite: bool) -> tuple[float, float] | None:
    """The expected number at the center, and the size for comparison; None if the numbers nearby do not tell."""
    around = np.delete(numbers, _center(numbers))
    if not np.isfinite(around).all():
        return None
    size = max(float(np.abs(around).max()), 1e-6)
    if infinite:
        return (float(around[-1]), size) if abs(around[0] - around[1]) <= 1e-9 * size else None
    third, second, first = around[:3] + around[:2:-1]
    near, far = (4 * first - second) / 6, (9 * second - 4 * third) / 10
    jump = around[4] - around[1] - 2 * (around[3] - around[2])
    return (float(near), size) if abs(near - far) <= 0.1 * _RTOL * size and abs(jump) <= 0.01 * size else None


def _derivatives(engine: Engine, case: Case, around: Sequence[Any]) -> Mapping[str, Any]:
    """First and second derivatives at all points of a line, in forward and reverse mode."""
    places = list(case.differentiated())
    one = np.ones_like(around[0])

    def program(*moving: Any) -> Any:
        args = list(around)
        for place, value in zip(places, moving, strict=True):
            args[place] = value
        return case.primitive(*args, **case.static)

    def gradient(*moving: Any) -> Any:
        return engine.vjp(program, *moving)[1](one)

    at = tuple(around[place] for place in places)
    found = {f"d/d{case.name(p)}": g for p, g in zip(places, gradient(*at), strict=True)}
    back: Callable[..., Any] = engine.vjp(gradient, *at)[1]
    for k, place in enumerate(places):
        unit = tuple(one * (j == k) for j in range(len(places)))
        rows = {"reverse": back(unit), "forward": engine.jvp(gradient, at, unit)[1]}
        for mode, row in rows.items():
            for other, numbers in zip(places, row, strict=True):
                found[f"d2/d{case.name(place)}d{case.name(other)} ({mode} over reverse)"] = numbers
    return found
