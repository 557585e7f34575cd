"""numpy.unique of traced vectors: values, indices, inverse and counts are numpy's, also of ties, zeros and NaN."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te

RANDOM = np.random.default_rng(3)
VECTORS: dict[str, Any] = {
    "distinct": RANDOM.normal(size=200),
    "ties": np.round(RANDOM.normal(size=300), 1),
    "zeros": np.array([0.0, -0.0, 1.0, -0.0, 0.0, np.inf, -np.inf, np.inf]),
    "NaN": np.array([np.nan, 1.0, np.nan, 1.0]),
    "empty": np.zeros(0),
    "one": np.array([2.0]),
    "single": np.round(RANDOM.normal(size=50), 1).astype(np.float32),
    "matrix": np.round(RANDOM.normal(size=(5, 6)), 1),
    "complex": np.round(RANDOM.normal(size=20), 0) + 1j * np.round(RANDOM.normal(size=20), 0),
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=3)), ids=str)
def test_outputs(name: str, flags: tuple[bool, ...]) -> None:
    x = VECTORS[name]
    found: list[Any] = []

    def program(x: Any) -> Any:
        result = np.unique(x, *flags)
        found.append(result if isinstance(result, tuple) else (result,))
        return np.sum(found[0][0].real * np.arange(1.0, len(found[0][0]) + 1))

    value, back = te.vjp(program, x)
    wanted = np.unique(x, *flags)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for a, b in zip(found[0], wanted, strict=True):
        a = te.value(a)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    expected = np.zeros(x.size)
    if name != "NaN":
        expected[np.unique(x, return_index=True)[1]] = np.arange(1.0, len(wanted[0]) + 1)
        np.testing.assert_array_equal(np.real(back(type(value)(1))[0]).ravel(), expected)
