"""The extreme of elements with a NaN is that NaN, and has its derivative."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "max": np.max,
    "min": np.min,
    "method": lambda a: a.max(),
    "reduce": np.maximum.reduce,
    "axis": lambda a: np.min(a[None], axis=1).sum(),
    "initial": lambda a: np.max(a, initial=0.5),
    "by elements": lambda a: np.maximum(np.maximum(a[0], a[1]), a[2]),
    "sorted": lambda a: np.sort(a)[-1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_nan_is_selected(name: str) -> None:
    x = np.array([1.0, np.nan, 2.0])
    value, pullback = te.vjp(FUNCTIONS[name], x)
    assert np.isnan(value)
    np.testing.assert_array_equal(pullback(2.0)[0], [0.0, 2.0, 0.0])
    assert te.jvp(FUNCTIONS[name], (x,), (np.array([3.0, 5.0, 7.0]),))[1] == 5.0


def test_nans_share_the_cotangent_and_other_rows_are_as_ever() -> None:
    x = np.array([[np.nan, np.nan, 1.0], [2.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
    found = te.vjp(lambda x: np.max(x, axis=1), x)[1](np.array([2.0, 4.0, 6.0]))[0]
    np.testing.assert_array_equal(found, [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 6.0]])
