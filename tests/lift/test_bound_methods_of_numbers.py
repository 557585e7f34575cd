"""Methods of plain numbers as functions, ``map((2.0).__mul__, xs)``: in lifted code they know traced numbers."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import tapeengine as te
from tapeengine.lift.rewrite import METHODS_OF_NUMBERS

XS = [0.7, 1.25, 2.3]
UNARY = {"__abs__", "__neg__", "__pos__"}
BINARY = sorted(METHODS_OF_NUMBERS - UNARY)
TEMPLATE = """
def called(xs):
    return sum((1.5).NAME(x)[1] * x if "divmod" in "NAME" else (1.5).NAME(x) * x for x in xs)

def mapped(xs, number=1.25):
    found = list(map(number.NAME, xs))
    return sum(x * (f[0] + f[1] if isinstance(f, tuple) else f) for x, f in zip(xs, found))

def filtered(xs):
    return sum(x * x for x in filter((1.5).NAME, xs))

def complexes(xs):
    ordered = "NAME" in ("__lt__", "__gt__", "__le__", "__ge__") or not hasattr(1j, "NAME")
    return sum(xs) if ordered else abs(sum((1.5 + 1j).NAME(x) * x for x in xs))
"""


@pytest.mark.parametrize("name", BINARY)
def test_values_and_derivatives(name: str, package: Any) -> None:
    module = f"bound_{name.strip('_')}"
    package({module: TEMPLATE.replace("NAME", name)})
    plain, lifted = __import__(module), te.lift(module)
    for program in ("called", "mapped", "filtered", "complexes"):
        here, there = getattr(lifted, program), getattr(plain, program)
        value, slopes = te.value_and_grad(lambda xs, here=here: here(xs) + 0.0 * xs[0])(XS)
        assert value == there(XS), program
        for k, slope in enumerate(slopes):
            up, down = ([x + h * (j == k) for j, x in enumerate(XS)] for h in (1e-6, -1e-6))
            if XS[k] != 1.25:
                assert slope == pytest.approx((there(up) - there(down)) / 2e-6, rel=1e-6, abs=1e-6), program


def test_iterators_that_call_them() -> None:
    def program(xs: list[float]) -> float:
        head, tail = itertools.takewhile((2.0).__gt__, xs), itertools.dropwhile((2.0).__gt__, xs)
        return sum(x * x for x in head) + sum(tail) + (xs[0] if (1.5).__ge__(xs[1]) else 0.0)

    assert te.value_and_grad(te.lift(program))(XS) == (program(XS), [2.4, 2.5, 1.0])


EXACT = """
from decimal import Decimal
from fractions import Fraction

def chosen(xs, exact):
    return sum(x * x for x in filter(exact.NAME, xs))

def computed(xs, exact):
    found = [exact.NAME(x) for x in xs]
    numbers = [1.0 if f is NotImplemented else f[0] + f[1] if isinstance(f, tuple) else f for f in found]
    return sum(x * f for x, f in zip(xs, numbers))
"""


@pytest.mark.parametrize("exact", [Fraction(3, 2), Decimal("1.5")], ids=["fraction", "decimal"])
@pytest.mark.parametrize("name", BINARY)
def test_methods_of_exact_numbers(name: str, exact: Any, package: Any) -> None:
    module = f"exact_{name.strip('_')}_{type(exact).__name__}"
    package({module: EXACT.replace("NAME", name)})
    plain, lifted = __import__(module), te.lift(module)
    if not hasattr(exact, name):
        pytest.skip("no such method")
    for program in (
        ("chosen", "computed") if name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__") else ("computed",)
    ):
        here, there = getattr(lifted, program), getattr(plain, program)
        value, slopes = te.value_and_grad(lambda xs, here=here: here(xs, exact) + 0.0 * xs[0])(XS)
        assert value == there(XS, exact)
        for k, slope in enumerate(slopes):
            above, below = ([x + step * (j == k) for j, x in enumerate(XS)] for step in (1e-6, -1e-6))
            assert slope == pytest.approx((there(above, exact) - there(below, exact)) / 2e-6, rel=1e-6, abs=1e-7)
