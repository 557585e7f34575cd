"""Masked arrays and matrices hold plain numbers: the error names the class, on either side, lifted or not."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv),
    *(operator.lt, operator.ge, operator.eq, operator.ne, operator.iadd, operator.imul, operator.itruediv),
]
FUNCTIONS = ["asarray", "array", "masked_invalid", "log", "sum", "mean", "median", "sort", "average", "masked_less"]


def masked() -> Any:
    return np.ma.array([1.0, 2.0], mask=[0, 1])


def is_named(program: Any) -> None:
    for called in (program, te.lift(program)):
        with pytest.raises(TapeEngineError, match=r"numpy\.MaskedArray") as caught:
            te.vjp(called, np.array([0.5, 1.5]))
        assert "tapeengine.lift" not in str(caught.value)
        assert "Functions in lists" not in str(caught.value)


@pytest.mark.parametrize("operation", OPERATORS, ids=lambda f: f.__name__)
def test_masked_arrays_on_the_left(operation: Any) -> None:
    is_named(lambda x: operation(masked(), x))


@pytest.mark.parametrize("operation", OPERATORS[:6], ids=lambda f: f.__name__)
def test_masked_arrays_on_the_right(operation: Any) -> None:
    is_named(lambda x: operation(x, masked()))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_make_masked_arrays(name: str) -> None:
    is_named(lambda x: getattr(np.ma, name)(x, *([1.0] if name == "masked_less" else [])))


@pytest.mark.parametrize("make", [np.matrix, np.asmatrix, lambda x: np.bmat([[x]])])
def test_matrices(make: Any) -> None:
    is_named(lambda x: make(x[None]))
