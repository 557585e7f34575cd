"""Which method an operator of two records calls: every choice of methods in a class and one derived from it."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


def left_adds(self: Any, other: Any) -> float:
    return self.x + 2.0 * other.x


def right_adds(self: Any, other: Any) -> float:
    return 3.0 * self.x + 5.0 * other.x


def is_less(self: Any, other: Any) -> bool:
    return bool(self.x < 3.0 * other.x)


def is_never(self: Any, other: Any) -> bool:
    return False


def plus(A: Any, B: Any) -> Callable[[float], float]:
    def f(x: float) -> float:
        return A(x) + B(2.0 * x)  # type: ignore[no-any-return]

    return f


def less(A: Any, B: Any) -> Callable[[float], float]:
    def f(x: float) -> float:
        return x if A(x) < B(2.0 * x) else 5.0 * x

    return f


def less_or_equal(A: Any, B: Any) -> Callable[[float], float]:
    def f(x: float) -> float:
        return x if A(x) <= B(2.0 * x) else 5.0 * x

    return f


def equals(A: Any, B: Any) -> Callable[[float], float]:
    def f(x: float) -> float:
        return x if A(x) == B(2.0 * x) else 5.0 * x

    return f


def differs(A: Any, B: Any) -> Callable[[float], float]:
    def f(x: float) -> float:
        return x if A(x) != B(2.0 * x) else 5.0 * x

    return f


OPERATORS = [
    (plus, ("__add__", "__radd__"), (left_adds, right_adds)),
    (less, ("__lt__", "__gt__"), (is_less, is_never)),
    (less_or_equal, ("__le__", "__ge__"), (is_less, is_never)),
    (equals, ("__eq__",), (is_less, is_never)),
    (differs, ("__ne__", "__eq__"), (is_less, is_never)),
]


def class_of(name: str, base: tuple[Any, ...], methods: dict[str, Any], eq: bool) -> Any:
    fields = [] if base else [("x", float)]
    return dataclasses.make_dataclass(name, fields, bases=base, namespace=methods, frozen=True, eq=eq)


def pairs(names: tuple[str, ...], functions: tuple[Any, ...]) -> Any:
    """Classes A and B with each choice of these methods, where B is derived from A or from nothing."""
    choices = list(itertools.product((None, *functions), repeat=len(names)))
    for own, others in itertools.product(choices, choices):
        for is_derived, eq in itertools.product((True, False), {False, "__eq__" in names}):
            a = class_of("A", (), {n: f for n, f in zip(names, own, strict=True) if f}, eq)
            b = class_of("B", (a,) if is_derived else (), {n: f for n, f in zip(names, others, strict=True) if f}, eq)
            yield a, b


@pytest.mark.parametrize(("make", "names", "functions"), OPERATORS, ids=lambda x: getattr(x, "__name__", ""))
def test_an_operator_calls_the_method_that_python_calls(make: Any, names: Any, functions: Any) -> None:
    followed = 0
    for a, b in pairs(names, functions):
        for left, right in ((a, b), (b, a)):
            f = make(left, right)
            with contextlib.suppress(TypeError, ProgramError):  # Python has no such operator; the language has not
                expected = f(0.7)
                value, gradient = te.value_and_grad(te.program(f))(0.7)
                assert value == expected, (vars(a), vars(b), left, right)
                assert gradient == pytest.approx((f(0.7 + 1e-4) - f(0.7 - 1e-4)) / 2e-4, rel=1e-7)
                followed += 1
    assert followed > 20
