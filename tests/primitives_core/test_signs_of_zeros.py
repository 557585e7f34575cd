"""Order statistics that select a zero have numpy's sign of it."""

import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te


@pytest.mark.parametrize("name", ["median", "nanmedian", "max", "min", "sort", "ptp", "mean", "sum"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_signs(name: str, count: int) -> None:
    function: Any = getattr(np, name)
    for numbers in itertools.product([-1.0, -0.0, 0.0, 2.0], repeat=count):
        x = np.array([numbers, numbers[::-1]])
        for call in (function, lambda a: function(a, axis=1), lambda a: function(a, axis=0)):
            assert np.asarray(te.vjp(call, x)[0]).tobytes() == np.asarray(call(x)).tobytes(), numbers
