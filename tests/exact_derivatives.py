"""First and second derivatives in every mode, compared with differences by mpmath with as many digits as they need."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import tapeengine as te

Point = tuple[float, ...]

#: Tolerances relative to the exact value, and in roundings of the arguments that move the value.
RTOL, ROUNDINGS = 1e-10, 64 * sys.float_info.epsilon
TINY, HUGE = sys.float_info.min, sys.float_info.max

MAGNITUDES = (
    *(1e-300, 3e-155, 1e-150, 1e-103, 1e-20, 1e-8, 1e-3, 0.3, 0.5, 1.0, 1.5, 2.0, 7.25, 20.0, 37.5, 171.0, 700.0),
    *(1e4, 1e8, 1e20, 1e103, 1e150, 1e155, 1e300),
)
COARSE = (1e-300, 1e-160, 1e-9, 0.25, 1.0, 3.5, 40.0, 1e7, 1e160, 1e300)


def signed(magnitudes: Sequence[float]) -> tuple[float, ...]:
    """Return the magnitudes with both signs, and zero."""
    return (*(-m for m in reversed(magnitudes)), 0.0, *magnitudes)


class Exact(NamedTuple):
    """A value with its derivatives, and the effect of a rounding of the arguments on each of them."""

    value: Any
    first: tuple[Any, ...]
    second: dict[tuple[int, int], Any]
    first_change: tuple[Any, ...]
    second_change: dict[tuple[int, int], Any]


def exact(function: Callable[..., Any], point: Point, wanted: Sequence[int]) -> Exact:
    """Differentiate a function of mpmath's numbers by central differences with decreasing steps until two agree."""
    found = _differences(function, point, wanted, 25)
    for digits in (60, 150, 360):
        before, found = found, _differences(function, point, wanted, digits)
        pairs = list(zip(_numbers(before), _numbers(found), strict=True))
        if all(_agree(a, b) or (digits == 360 and _out_of_range(a, b)) for a, b in pairs):
            return found
    raise ArithmeticError(f"no step is short enough at {point}")


def _numbers(e: Exact) -> list[Any]:
    return [e.value, *e.first, *e.second.values()]


def _agree(a: Any, b: Any) -> bool:
    return bool(abs(b) > 0 and abs(a - b) <= 1e-13 * abs(b))


def _out_of_range(a: Any, b: Any) -> bool:
    return (abs(a) < TINY and abs(b) < TINY) or (abs(a) > HUGE and abs(b) > HUGE)


def _differences(function: Callable[..., Any], point: Point, wanted: Sequence[int], digits: int) -> Exact:
    import mpmath

    sizes = [abs(x) for x in point if x]
    reach = max([1.0, *(max(abs(math.log10(s)), 1.0) for s in sizes)])
    with mpmath.workdps(int(60 + 3 * digits + 5 * reach)):
        at = [mpmath.mpf(x) for x in point]
        steps = [mpmath.mpf(10) ** -digits * (min(abs(x), 1) if x else mpmath.mpf(10) ** -int(reach)) for x in at]

        memo: dict[tuple[int, ...], Any] = {}

        def moved(*shift: int) -> Any:
            if shift not in memo:
                memo[shift] = function(*(x + k * h for x, k, h in zip(at, shift, steps, strict=True)))
            return memo[shift]

        def unit(*places: int) -> tuple[int, ...]:
            return tuple(sum(place == k for place in places) for k in range(len(point)))

        def plus(a: Sequence[int], b: Sequence[int], sign: int = 1) -> tuple[int, ...]:
            return tuple(x + sign * y for x, y in zip(a, b, strict=True))

        zero = unit()

        def slope(i: int, base: tuple[int, ...] = zero) -> Any:
            e = unit(i)
            return (moved(*plus(base, e)) - moved(*plus(base, e, -1))) / (2 * steps[i])

        def bend(i: int, j: int, base: tuple[int, ...] = zero) -> Any:
            if i == j:
                e = unit(i)
                ends = moved(*plus(base, e)) + moved(*plus(base, e, -1))
                return (ends - 2 * moved(*base)) / steps[i] ** 2
            e = unit(j)
            return (slope(i, plus(base, e)) - slope(i, plus(base, e, -1))) / (2 * steps[j])

        first = {i: slope(i) for i in wanted}
        pairs = list(itertools.product(wanted, wanted))
        second = {pair: bend(*pair) for pair in pairs}

        def change(of: Callable[[tuple[int, ...]], Any]) -> Any:
            total = mpmath.mpf(0)
            for k in range(len(point)):
                e = unit(k)
                total += abs(at[k] * (of(e) - of(plus(zero, e, -1))) / (2 * steps[k]))
            return total

        return Exact(
            moved(*zero),
            tuple(first[i] for i in wanted),
            second,
            tuple(change(lambda base, i=i: slope(i, base)) for i in wanted),
            {pair: change(lambda base, p=pair: bend(*p, base)) for pair in pairs},
        )


def wrong(found: float, true: Any, change: Any) -> bool:
    """Tell whether a number differs from the exact one by more than the tolerance, if that is representable."""
    if abs(true) >= HUGE / 2:
        return math.isfinite(found) and abs(found) < HUGE / 16
    if abs(true) < 4 * TINY:
        return not abs(found) <= 16 * TINY
    return not abs(found - true) <= RTOL * abs(true) + ROUNDINGS * change


def measured(
    program: Callable[..., Any], points: Sequence[Point], wanted: Sequence[int], scalar: bool
) -> Iterator[Any]:
    """Yield ``(mode, kind, found)``: found[(i, j)][n] at point n; kind 1 has keys i, and kind 2 keys (i, j)."""
    if scalar:
        yield from _by_point(program, points, wanted)
    else:
        yield from _at_once(program, [np.array(column) for column in zip(*points, strict=True)], wanted)


def _at_once(program: Callable[..., Any], columns: list[Any], wanted: Sequence[int]) -> Iterator[Any]:
    def of(*moving: Any) -> Any:
        args = list(columns)
        for place, value in zip(wanted, moving, strict=True):
            args[place] = value
        return program(*args)

    at = tuple(columns[i] for i in wanted)
    one = np.ones(len(columns[0]))

    def unit(i: int) -> tuple[Any, ...]:
        return tuple(one if k == i else 0 * one for k in range(len(wanted)))

    def gradient(*moving: Any) -> Any:
        return te.vjp(of, *moving)[1](one)

    yield "vjp", 1, dict(enumerate(gradient(*at)))
    forward = {i: te.jvp(of, at, unit(i))[1] for i in range(len(wanted))}
    yield "jvp", 1, forward
    yield (
        "jvp of vjp",
        2,
        {(i, j): te.jvp(gradient, at, unit(i))[1][j] for i in range(len(wanted)) for j in range(len(wanted))},
    )
    back = te.vjp(gradient, *at)[1]
    rows = {j: back(unit(j)) for j in range(len(wanted))}
    yield "vjp of vjp", 2, {(i, j): rows[j][i] for i in range(len(wanted)) for j in range(len(wanted))}
    found = {}
    for j in range(len(wanted)):
        columns_of = te.vjp(lambda *moving, j=j: te.jvp(of, moving, unit(j))[1], *at)[1](one)
        found.update({(i, j): columns_of[i] for i in range(len(wanted))})
    yield "vjp of jvp", 2, found


def _by_point(program: Callable[..., Any], points: Sequence[Point], wanted: Sequence[int]) -> Iterator[Any]:
    collected: dict[tuple[str, int], dict[Any, list[float]]] = {}
    for point in points:
        for mode, kind, found in _scalar(program, point, wanted):
            kept = collected.setdefault((mode, kind), {})
            for key, value in found.items():
                kept.setdefault(key, []).append(value)
    yield from ((mode, kind, found) for (mode, kind), found in collected.items())


def _scalar(program: Callable[..., Any], point: Point, wanted: Sequence[int]) -> Iterator[Any]:
    def of(*moving: Any) -> Any:
        args = list(point)
        for place, value in zip(wanted, moving, strict=True):
            args[place] = value
        return program(*args)

    at = tuple(point[i] for i in wanted)
    count = range(len(wanted))

    def unit(i: int) -> tuple[float, ...]:
        return tuple(float(k == i) for k in count)

    def gradient(*moving: Any) -> Any:
        return te.vjp(of, *moving)[1](1.0)

    yield "vjp", 1, dict(enumerate(gradient(*at)))
    yield "jvp", 1, {i: te.jvp(of, at, unit(i))[1] for i in count}
    yield "jvp of vjp", 2, {(i, j): te.jvp(gradient, at, unit(i))[1][j] for i in count for j in count}
    back = te.vjp(gradient, *at)[1]
    yield "vjp of vjp", 2, {(i, j): back(unit(j))[i] for i in count for j in count}


def failures(
    program: Callable[..., Any],
    reference: Callable[..., Any],
    points: Sequence[Point],
    wanted: Sequence[int] | None = None,
    *,
    scalar: bool = False,
) -> list[str]:
    """List the wrong derivatives, at points where the plain value is correct and representable."""
    import mpmath

    wanted = range(len(points[0])) if wanted is None else wanted
    kept: list[tuple[Point, Exact]] = []
    for point in points:
        try:
            with np.errstate(all="ignore"):
                value = float(program(*point) if scalar else program(*(np.array([x]) for x in point))[0])
            true = exact(reference, point, list(wanted))
        except (ValueError, OverflowError, ZeroDivisionError, ArithmeticError, mpmath.libmp.NoConvergence):
            continue
        numbers = [true.value, *true.first, *true.second.values()]
        if any(mpmath.im(x) or not mpmath.isfinite(x) for x in numbers) or not math.isfinite(value):
            continue
        if abs(true.value) > HUGE or 0 < abs(true.value) < TINY or abs(value - true.value) > 1e-11 * abs(true.value):
            continue
        kept.append((point, true))
    if not kept:
        return ["no point was kept"]
    found: list[str] = []
    with np.errstate(all="ignore"):
        for mode, kind, columns in measured(program, [point for point, _ in kept], wanted, scalar):
            for key, numbers in columns.items():
                for (point, true), number in zip(kept, numbers, strict=True):
                    at = key if kind == 1 else (wanted[key[0]], wanted[key[1]])
                    wants = true.first[key] if kind == 1 else true.second[at]
                    change = true.first_change[key] if kind == 1 else true.second_change[at]
                    if wrong(float(number), wants, change):
                        found.append(f"{mode} {at} at {point}: {float(number)!r}, not {mpmath.nstr(wants, 17)}")
    return found
