"""Methods of plain numbers as functions, which know no traced operand: refused where they decide, right if lifted."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tapeengine as te

CONDITIONS: dict[str, Callable[[list[float]], Any]] = {
    "filter": lambda xs: sum(filter((1.5).__lt__, xs)),
    "filterfalse": lambda xs: sum(itertools.filterfalse((1.5).__lt__, xs)),
    "takewhile": lambda xs: sum(itertools.takewhile((2.5).__gt__, xs)),
    "dropwhile": lambda xs: sum(itertools.dropwhile((1.5).__ge__, xs)),
    "compress": lambda xs: sum(itertools.compress(xs, map((1.5).__le__, xs))),
    "any": lambda xs: sum(xs) * (2.0 if any(map((7.0).__eq__, xs)) else 1.0),
    "all": lambda xs: sum(xs) * (2.0 if all(map((7.0).__ne__, xs)) else 1.0),
    "if": lambda xs: xs[0] if (1.5).__ge__(xs[0]) else xs[1] * xs[2],
    "not": lambda xs: xs[0] if not (1.5).__lt__(xs[0]) else xs[1] * xs[2],
    "and": lambda xs: xs[0] if (1.5).__gt__(xs[0]) and xs[0] > 0 else xs[1] * xs[2],
    "of complex numbers": lambda xs: xs[0] if (1.5 + 0j).__eq__(xs[0]) else xs[1] * xs[2],
    "of the class": lambda xs: xs[0] if float.__lt__(1.5, xs[0]) else xs[1] * xs[2],
}
OTHERS: dict[str, Callable[[list[float]], Any]] = {
    "fractions": lambda xs: sum(filter(Fraction(3, 2).__lt__, xs)),
    "decimals": lambda xs: sum(filter(Decimal("1.5").__lt__, xs)),
}
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
COMPLEX = ("add", "sub", "mul", "truediv", "pow")


def transforms() -> dict[str, Callable[..., Any]]:
    """Transforms of a function of a list."""
    return {
        "grad": lambda f: te.value_and_grad(f)([1.0, 2.0, 3.0]),
        "jvp": lambda f: te.jvp(f, ([1.0, 2.0, 3.0],), ([1.0, 0.5, 0.25],)),
        "hvp": lambda f: te.hvp(f, ([1.0, 2.0, 3.0],), ([1.0, 0.5, 0.25],)),
        "stage": lambda f: te.vjp(te.stage(f), [1.0, 2.0, 3.0])[0],
    }


@pytest.mark.parametrize("start", [1.0, 1.5, 7.0, -2.0])
@pytest.mark.parametrize("name", CONDITIONS)
def test_in_lifted_code_they_are_right(name: str, start: float) -> None:
    f, xs = CONDITIONS[name], [start, 2.0, 3.0]
    value, found = te.value_and_grad(te.lift(lambda xs: f(xs) + 0.0 * xs[0]))(xs)
    assert value == f(xs)
    for k in range(3):
        moved = [x + 1e-6 * (i == k) for i, x in enumerate(xs)], [x - 1e-6 * (i == k) for i, x in enumerate(xs)]
        if start not in (1.5, 7.0):
            assert abs(found[k] - (f(moved[0]) - f(moved[1])) / 2e-6) < 1e-6


@pytest.mark.parametrize("side", ["", "r"])
@pytest.mark.parametrize("name", OPERATORS)
def test_so_are_operators(name: str, side: str) -> None:
    f = of_text(f"def f(x): return (2.5).__{side}{name}__(x) * float.__{side}{name}__(x, 3.5)")
    value, slope = te.value_and_grad(te.lift(f))(1.3)
    assert value == f(1.3) and type(value) is float
    assert abs(slope - (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6) < 1e-6 * max(1.0, abs(slope))


@pytest.mark.parametrize("side", ["", "r"])
@pytest.mark.parametrize("name", COMPLEX)
def test_so_are_those_of_complex_numbers(name: str, side: str) -> None:
    f = of_text(f"def f(x): return abs((2.5 + 1j).__{side}{name}__(x) + complex.__{side}{name}__(2j, x))")
    value, slope = te.value_and_grad(te.lift(f))(1.3)
    assert value == f(1.3)
    assert abs(slope - (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6) < 1e-6


class Length(float):
    """A float whose operators are its class's own."""

    def __mul__(self, other: Any) -> Any:
        return float.__mul__(self, other)

    def __rpow__(self, other: Any) -> Any:
        return float.__rpow__(self, other)


def test_methods_of_float_in_a_subclass_use_the_number() -> None:
    assert te.grad(te.lift(lambda x: Length(3.0) * x + x ** Length(2.0)))(2.0) == 7.0


@pytest.mark.parametrize("other", ["a", None, 1j, np.float32(1.0), np.ones(2)])
def test_operands_that_floats_do_not_know(other: Any) -> None:
    found = []
    te.grad(te.lift(lambda x: (found.append(float.__mul__(x, other)), x)[1]))(1.0)
    assert found == [NotImplemented]


def of_text(text: str) -> Any:
    """The function of a text, which can be lifted."""
    place = f"<{text}>"
    linecache.cache[place] = (len(text), None, [text], place)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, place, "exec"), space)
    return space["f"]
