"""`ufunc.at` with values that share memory with the array: numpy reads all of them before it writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

A = np.array([0.9, 1.3, 0.4, 1.7, 0.6, 1.1])
D = np.array([0.3, -0.7, 0.5, 0.2, -0.4, 0.8])


@pytest.mark.parametrize("part", [slice(3, None), slice(None, 3), slice(None, None, 2), slice(4, 1, -1)], ids=str)
@pytest.mark.parametrize("places", [[4, 4, 2], [2, 5, 2], [0, 0, 0], [5, 2, 2]], ids=str)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_values_are_read_first(name: str, places: list[int], part: slice) -> None:
    def program(a: Any, np: Any = np) -> Any:
        b = a * 1.0
        getattr(np, name).at(b, places, b[part])
        return b

    value, back = te.vjp(lambda a: program(a, tnp), A)
    weights = np.arange(1.0, 7.0)
    slope = np.sum(weights * (program(A + 1e-6 * D) - program(A - 1e-6 * D))) / 2e-6
    assert np.allclose(value, program(A), rtol=1e-15)
    assert np.sum(back(weights)[0] * D) == pytest.approx(slope, rel=1e-6)
