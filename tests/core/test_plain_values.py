"""`te.value` of a traced number is the number of the plain program, of its class; a double may be a float."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te

NUMBERS = [1.5, np.float64(1.5), 1 + 2j, np.complex128(1 + 2j), np.complex64(1 + 2j), np.array(1.5), np.array(1 + 2j)]
ARRAYS = [np.array([1.5, 2.0]), np.array([1 + 2j, 0]), np.array([1.5], np.float32), np.array([1j], np.complex64)]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers(number: Any) -> None:
    seen: list[Any] = []
    te.vjp(lambda x: (seen.append(te.value(x)), x * 1)[1], number)
    assert isinstance(number, type(seen[0]))
    assert seen[0] == number


@pytest.mark.parametrize("array", ARRAYS)
def test_elements(array: Any) -> None:
    seen: list[Any] = []
    te.vjp(lambda x: (seen.extend((te.value(x[0]), te.value(x.sum()), te.value(x[:1]))), x * 1)[1], array)
    for found, wanted in zip(seen, (array[0], array.sum(), array[:1]), strict=True):
        assert isinstance(wanted, type(found))
        assert found == wanted
    assert {seen[0]: 1} == {array[0]: 1}
