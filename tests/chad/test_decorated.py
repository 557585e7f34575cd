"""Functions with decorators: what is read is the text of the code that runs, not that of `__wrapped__`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import tapeengine as te


def twice(g: Callable[..., float]) -> Callable[..., float]:
    @functools.wraps(g)
    def w(a: float, b: float) -> float:
        return 2.0 * g(a, b)

    return w


def shifted(by: float) -> Callable[..., Any]:
    def decorator(g: Callable[..., float]) -> Callable[..., float]:
        @functools.wraps(g)
        def w(*args: Any, **kwargs: Any) -> float:
            return g(*args, **kwargs) * by + args[0]

        return w

    return decorator


def renamed(g: Callable[..., float]) -> Callable[..., float]:
    functools.update_wrapper(other, g)
    return other


def other(x: float, y: float) -> float:
    return x - y * y


def marked(g: Callable[..., float]) -> Callable[..., float]:
    g.mark = True  # type: ignore[attr-defined]
    return g


@twice
def doubled(x: float, y: float) -> float:
    return x * y


@twice
@twice
def fourfold(x: float, y: float) -> float:
    return x * y


@shifted(by=3.0)
def moved(x: float, y: float) -> float:
    return x * y


@shifted(by=0.5)
@twice
def both(x: float, y: float) -> float:
    return x * y


@renamed
def replaced(x: float, y: float) -> float:
    return x * y


@marked
def same(x: float, y: float) -> float:
    return x * y


DECORATED = [doubled, fourfold, moved, both, replaced, same]


def gradient(f: Callable[..., float], x: float, y: float) -> tuple[float, float]:
    """Central differences; the functions are quadratic."""
    return (f(x + 0.5, y) - f(x - 0.5, y), f(x, y + 0.5) - f(x, y - 0.5))


@pytest.mark.parametrize("function", [doubled, fourfold, replaced, same], ids=["once", "twice", "another", "marked"])
def test_a_program_of_a_decorated_function_is_the_decorated_one(function: Any) -> None:
    found = te.value_and_grad(te.program(function), (0, 1))(3.0, 5.0)
    assert found == (function(3.0, 5.0), gradient(function, 3.0, 5.0))


@pytest.mark.parametrize("k", range(len(DECORATED)))
def test_a_program_calls_a_decorated_function_as_python_does(k: int) -> None:
    function = DECORATED[k]

    @te.program
    def outer(x: float, y: float) -> float:
        return function(x, y) * 1.5

    def plain(x: float, y: float) -> float:
        return function(x, y) * 1.5

    assert te.value_and_grad(outer, (0, 1))(3.0, 5.0) == (plain(3.0, 5.0), gradient(plain, 3.0, 5.0))


@pytest.mark.parametrize("function", [moved, both, functools.singledispatch(same)], ids=["stars", "both", "dispatch"])
def test_a_program_whose_code_has_parameters_with_stars_runs_on_dual_numbers(function: Any) -> None:
    found = te.value_and_grad(te.program(function), (0, 1))(3.0, 5.0)
    assert found == (function(3.0, 5.0), gradient(function, 3.0, 5.0))
