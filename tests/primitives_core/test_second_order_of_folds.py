"""Second derivatives of functions of many numbers at zeros and ties, compared with differences in 60 digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_primitives.ufunc_methods import RULES

DIGITS, STEP = 60, mpmath.mpf(10) ** -14
POINTS = [
    *itertools.product((0.0, 1.0, -2.0), repeat=2),
    *itertools.product((0.0, 1.5, -2.0), repeat=3),
    (0.0, 0.0, 0.0, 3.0),
    (0.7, 0.7, 0.7, 0.7),
    (0.0, 2.0, 0.0, -2.0),
]


def length(xs: Sequence[Any]) -> Any:
    return mpmath.sqrt(mpmath.fsum(x * x for x in xs))


def fold(f: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any]], Any]:
    def folded(xs: Sequence[Any]) -> Any:
        value = xs[0]
        for x in xs[1:]:
            value = f(value, x)
        return value

    return folded


def logarithm(base: float) -> Callable[[Sequence[Any]], Any]:
    return lambda xs: mpmath.log(mpmath.fsum(mpmath.mpf(base) ** x for x in xs), base)


def copysign(x: Any, y: Any) -> Any:
    return abs(x) * mpmath.sign(y)


#: The meaning of each reduction, apart from the discrete ones.
REDUCTIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "add": mpmath.fsum,
    "arctan2": fold(mpmath.atan2),
    "copysign": fold(copysign),
    "divide": fold(lambda x, y: x / y),
    "float_power": fold(lambda x, y: mpmath.mpf(x) ** y),
    "fmax": max,
    "fmin": min,
    "fmod": fold(lambda x, y: x - y * int(x / y)),
    "hypot": length,
    "logaddexp": logarithm(mpmath.e),
    "logaddexp2": logarithm(2),
    "maximum": max,
    "minimum": min,
    "multiply": mpmath.fprod,
    "power": fold(lambda x, y: mpmath.mpf(x) ** y),
    "remainder": fold(lambda x, y: x - y * mpmath.floor(x / y)),
    "subtract": fold(lambda x, y: x - y),
}
MATH: dict[str, tuple[Callable[..., Any], Callable[[Sequence[Any]], Any]]] = {
    "hypot": (lambda xs: te.math.hypot(*xs), length),
    "hypot with a plain zero": (lambda xs: te.math.hypot(0.0, *xs, 0.0), length),
    "dist": (lambda xs: te.math.dist(xs, [0.0] * len(xs)), length),
    "dist of two": (lambda xs: te.math.dist(xs, xs[::-1]), lambda xs: length([a - b for a, b in zip(xs, xs[::-1])])),
    "prod": (te.math.prod, mpmath.fprod),
    "fsum": (te.math.fsum, mpmath.fsum),
    "sumprod": (lambda xs: te.math.sumprod(xs, xs), lambda xs: mpmath.fsum(x * x for x in xs)),
}
WAYS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "plain": lambda f: f,
    "lifted": lambda f: te.lift(lambda xs: f(xs)),
    "staged": lambda f: te.stage(f),
}


def differences(f: Callable[[Sequence[Any]], Any], point: Sequence[float]) -> Any:
    """The Hessian of a function; None where it has none, so that two steps do not agree."""
    with mpmath.workdps(DIGITS):
        found = [hessian(f, point, step) for step in (STEP, 3 * STEP, (STEP, 2 * STEP))]
    if any(h is None for h in found):
        return None
    size = 1.0 + abs(found[0]).max()
    return found[0] if all(abs(h - found[0]).max() < 1e-6 * size for h in found) else None


def hessian(f: Callable[[Sequence[Any]], Any], point: Sequence[float], step: Any) -> Any:
    """Second differences with steps to both sides, or with two steps, to one side of each argument."""
    n, (first, second) = len(point), step if isinstance(step, tuple) else (-step, step)
    found = np.empty((n, n))

    def at(*moves: tuple[int, Any]) -> Any:
        xs = [mpmath.mpf(x) for x in point]
        for k, by in moves:
            xs[k] += by
        return f(xs)

    try:
        for i, j in itertools.product(range(n), repeat=2):
            mixed = at((i, second), (j, second)) - at((i, second), (j, first))
            mixed += at((i, first), (j, first)) - at((i, first), (j, second))
            found[i, j] = mixed / (second - first) ** 2
    except (ZeroDivisionError, TypeError, ValueError, OverflowError):
        return None
    return found


def compare(name: str, traced: Callable[..., Any], plain: Callable[[Sequence[Any]], Any], lists: bool) -> int:
    """Compare at all points where there is a Hessian, and return their number."""
    count = 0
    for point in POINTS:
        expected = differences(plain, point)
        if expected is None:
            continue
        try:
            found = np.array(te.hessian(traced)(list(point) if lists else np.array(point)))
        except UnsupportedError:  # a method without a rule, or one that numpy computes wrongly on this processor
            continue
        count += 1
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6, err_msg=f"{name} at {point}")
    return count


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MATH)
def test_functions_of_math(name: str, way: str) -> None:
    traced, plain = MATH[name]
    assert compare(name, WAYS[way](traced), plain, lists=True) >= 20


def test_lifted_functions_of_math() -> None:
    assert compare("hypot", te.lift(lambda xs: math.hypot(*xs)), length, lists=True) >= 20


def test_a_replay_begins_with_a_coordinate_that_is_not_zero() -> None:
    staged = te.stage(lambda xs: te.math.hypot(*xs))
    for point in [(0.0, 1.0, 2.0), (2.0, 1.0, 0.0), (3.0, 0.0, 0.0), (0.0, 0.0, 3.0), (0.0, 3.0, 0.0), (1.0, 1.0, 1.0)]:
        np.testing.assert_allclose(np.array(te.hessian(staged)(list(point))), differences(length, point), atol=1e-6)


def test_every_reduction_is_compared() -> None:
    assert set(REDUCTIONS) == {ufunc.__name__ for ufunc, method in RULES if ufunc.nin == 2 and method == "reduceat"}


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_methods_of_ufuncs(name: str, method: str) -> None:
    ufunc = getattr(np, name)
    whole: dict[str, Callable[[Any], Any]] = {
        "reduce": ufunc.reduce,
        "accumulate": lambda x: ufunc.accumulate(x)[-1],
        "reduceat": lambda x: ufunc.reduceat(x, [0])[0],
    }
    rows: dict[str, Callable[[Any], Any]] = {
        "reduce": lambda x: ufunc.reduce(np.stack([x, x + 1.0]), axis=1)[0],
        "accumulate": lambda x: ufunc.accumulate(np.stack([x, x + 1.0], axis=1))[-1, 0],
        "reduceat": lambda x: ufunc.reduceat(np.stack([x + 1.0, x]), [0], axis=1)[1, 0],
    }
    least = 5 if method == "accumulate" or name not in ("arctan2", "copysign", "power") else 0
    with np.errstate(all="ignore"):
        for traced in (whole[method], rows[method]):
            assert compare(f"{name}.{method}", traced, REDUCTIONS[name], lists=False) >= least
