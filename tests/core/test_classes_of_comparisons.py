"""A comparison has the plain program's value and class, with integers of any size and fractions as well."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy
import pytest

import tapeengine as te

OTHERS = [2**53 + 1, -(2**53) - 1, 10**400, 2**64, 3, True, Fraction(1, 2), numpy.int64(2**53 + 1), numpy.float32(0.5)]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, and its class; or the class of the error, as numpy's for integers beyond all floats."""
    try:
        found = call()
    except OverflowError as error:
        return type(error), str(error)
    return type(found), found


@pytest.mark.parametrize("other", OTHERS, ids=range(len(OTHERS)))
@pytest.mark.parametrize("value", [2.0**53, 1e300, 0.5, float("inf"), 2.0**53 + 0j, 0.5 + 2j])
def test_value_and_class(value: Any, other: Any) -> None:
    for number in (value, numpy.array(value)[()]):
        for name in ("eq", "ne") if isinstance(value, complex) else ("lt", "le", "gt", "ge", "eq", "ne"):
            compare = getattr(operator, name)
            programs = [lambda x, compare=compare: compare(x, other)]
            if not isinstance(other, Fraction):  # whose own code compares when it is on the left
                programs.append(lambda x, compare=compare: compare(other, x))
            for program in programs:
                assert outcome(lambda: te.vjp(program, number)[0]) == outcome(lambda: program(number)), name  # noqa: B023
