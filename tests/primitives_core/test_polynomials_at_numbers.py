"""Polynomials at one number: the values and types of numpy's, and steps that are operations on numbers."""

from typing import Any

import numpy
import pytest
from counted_calls import calls

import tapeengine as te
import tapeengine.numpy as np


@pytest.mark.parametrize("at", [3.0, 3, 2j, numpy.float32(0.3), numpy.array(0.7), numpy.array([0.3, 2.0])], ids=repr)
@pytest.mark.parametrize("degree", [-1, 0, 1, 4])
@pytest.mark.parametrize("dtype", [float, numpy.float32, complex])
def test_values_have_numpys_types(dtype: Any, degree: int, at: Any) -> None:
    coefficients = numpy.arange(1, degree + 2).astype(dtype)
    found, expected = te.vjp(lambda c: np.polyval(c, at), coefficients)[0], numpy.polyval(coefficients, at)
    assert (type(found), found.dtype, repr(found)) == (type(expected), expected.dtype, repr(expected))


def test_steps_are_operations_on_numbers() -> None:
    def entered(count: int) -> int:
        return len(calls(lambda: te.vjp(lambda x: np.polyval([1.0] * count, x), 0.5), ("call",)))

    for count in (0, 1, 3, 4):
        entered(count)
    assert entered(1) - entered(0) < 3 * (entered(4) - entered(3)) < 9  # the first step as well
