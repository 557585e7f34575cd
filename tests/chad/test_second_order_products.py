"""Second derivatives of programs along tangents: of sums, largest elements and records, and with arguments and fields
that do not vary; compared with differences of gradients of the plain functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapeengine as te


@dataclass
class Pair:
    a: float
    b: te.Vec


class Point(NamedTuple):
    u: float
    n: int
    v: float


def of_pair(p: Pair) -> float:
    return p.a * p.a * np.sum(p.b * p.b * p.b)


def of_point(p: Point) -> float:
    return p.u * p.u * p.v**p.n


def of_pairs(ps: list[Pair], x: float) -> float:
    s = x * x
    for p in ps:
        s = s * p.a + np.sum(p.b) * x
    return s


def of_sum(x: te.Vec, y: float) -> float:
    return np.sum(np.sin(x) * y) * np.sum(x)


def of_largest(x: te.Vec, y: float) -> float:
    return max(v * v * y for v in x) * np.max(x)


def of_tuple(t: tuple[float, list[float]]) -> float:
    return t[0] ** 3 * sum(v * v for v in t[1])


def of_integers(x: float, n: int, v: te.Vec, flag: bool) -> float:
    k = int(x * 3.0) % 4 - n // 2
    y = float(n) * x * x + k * x**3 + round(x * 2.0) * np.sin(x) + math.floor(x) * x * x
    if x > 0.5 and not (n < 2 or k == 7):
        y = y * x + min(n, k) * x * x + abs(k - 5) * x**2
    y = y + float(flag) * x * x + sum(w * w * i for i, w in enumerate(v)) + 2.0**x
    return y * x if x != x or n >= 3 or flag != (x <= 1.0) else y


def of_powers(x: float, n: int, v: te.Vec) -> float:
    return (1.0 + x) ** 2.0 + x**2.0 + x ** float(n) + np.sum(v**3) * np.arctan2(x, 2.0) + np.sum(v ** float(n + 1))


V, D = np.array([1.0, 2.5]), np.array([0.5, -1.0])
CASES: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (of_pair, (Pair(1.5, V),), (Pair(0.5, D),)),
    (of_point, (Point(1.5, 2, 0.7),), (Point(0.5, 0, -1.0),)),
    (of_pairs, ([Pair(1.5, V), Pair(0.5, D)], 0.7), ([Pair(0.5, D), Pair(1.0, V)], 2.0)),
    (of_sum, (V, 0.7), (D, 2.0)),
    (of_sum, (V, 0.7), (D, None)),
    (of_sum, (V, 0.7), (None, 2.0)),
    (of_largest, (V, 0.7), (D, 2.0)),
    (of_tuple, ((1.5, [1.0, 2.0]),), ((0.5, [1.0, -1.0]),)),
    (of_integers, (1.6, 2, V, True), (0.5, 0, D, False)),
    (of_integers, (0.3, 3, V, False), (0.5, None, D, None)),
    (of_powers, (0.0, 3, 0.0 * V), (0.5, None, D)),
]


def moved(x: Any, t: Any, h: float) -> Any:
    """A value with a multiple of a tangent added."""
    if t is None or isinstance(x, int):
        return x
    if isinstance(x, Pair):
        return replace(x, a=moved(x.a, t.a, h), b=moved(x.b, t.b, h))
    if isinstance(x, Point):
        return Point(*(moved(a, b, h) for a, b in zip(x, t, strict=True)))
    if isinstance(x, list | tuple):
        return type(x)(moved(a, b, h) for a, b in zip(x, t, strict=True))
    return x + h * t


def numbers(x: Any) -> list[float]:
    """The numbers of a cotangent."""
    if isinstance(x, Pair):
        x = (x.a, x.b)
    return [n for part in x for n in numbers(part)] if isinstance(x, list | tuple | np.ndarray) else [x or 0.0]


def no_dual_numbers(*args: Any) -> Any:
    """What stands for the directional derivative on dual numbers, which is not wanted."""
    raise AssertionError(args)


@pytest.mark.parametrize("backend", [None, "machine", "native"], ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_products_with_the_second_derivative(case: Any, backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function, primals, tangents = case
    program = te.program(function, backend=backend)
    monkeypatch.setattr(type(program.__tapeengine_directional__()), "python", no_dual_numbers)
    found = te.hvp(program, primals, tangents)
    at = [[moved(x, t, h) for x, t in zip(primals, tangents, strict=True)] for h in (1e-5, -1e-5)]
    up, down = (numbers(te.vjp(function, *args)[1](1.0)) for args in at)
    wanted = [(a - b) / 2e-5 for a, b in zip(up, down, strict=True)]
    np.testing.assert_allclose(numbers(found), wanted, rtol=1e-6, atol=1e-7)


def with_sines(x: float, d_x: float, v: float) -> float:
    return math.sin(x) * x


def test_a_program_inside_a_trace_has_its_own_derivative() -> None:
    """Python's functions of `math` do not take traced numbers, so Python cannot run it there."""
    program = te.program(with_sines)
    value, gradient = te.value_and_grad(lambda x: program(x * x, 1.0, 2.0) * x)(0.7)
    slopes = [math.sin(x * x) * x**3 for x in (0.7 + 1e-6, 0.7 - 1e-6)]
    assert value == pytest.approx(math.sin(0.49) * 0.343, rel=1e-14)
    assert gradient == pytest.approx((slopes[0] - slopes[1]) / 2e-6, rel=1e-8)


def test_parameters_that_are_not_used_keep_their_names() -> None:
    found = te.hvp(te.program(with_sines), (0.7, 0.1, 0.2), (1.0, 3.0, 5.0))
    assert found[0] == pytest.approx(2.0 * math.cos(0.7) - 0.7 * math.sin(0.7), rel=1e-13)
    assert found[1:] == (0.0, 0.0)


class Count(NamedTuple):
    n: int
    odd: bool


def of_parts(x: float, n: int) -> tuple[int, Count, Point, list[int], list[float]]:
    return n * 2, Count(n, n % 2 == 1), Point(x * x, n, x**n), [n, n + 1], [x, x**2.0]


def test_results_that_do_not_vary_are_their_own_tangents(monkeypatch: pytest.MonkeyPatch) -> None:
    along = te.program(of_parts).__tapeengine_directional__()
    monkeypatch.setattr(type(along), "python", no_dual_numbers)
    (value, tangent), _ = te.vjp(along, 1.5, 3, 2.0, 3)
    assert value == of_parts(1.5, 3)
    assert type(value[1]) is type(tangent[1]) is Count
    assert tangent == (6, Count(3, True), Point(6.0, 3, 13.5), [3, 4], [2.0, 6.0])


def of_power(x: float, n: int) -> float:
    return x**2.0 + x ** float(n)


def test_constants_have_no_partial_derivatives() -> None:
    along: Any = te.program(of_power).__tapeengine_directional__()
    assert "log" not in along.derivative("reverse")
