"""Copies of backpropagators: they are functions, so `copy` and `deepcopy` return them, also within containers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tapeengine as te

PROGRAMS: dict[str, Any] = {
    "numbers": (lambda x: x * x, 3.0),
    "arrays": (lambda x: np.sum(x**3), np.array([1.0, 2.0])),
    "structures": (lambda x: {"a": x[0] * x[1]["b"]}, [2.0, {"b": 4.0}]),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: copy.deepcopy({"in": [x]})["in"][0]])
def test_copies(name: str, copied: Any) -> None:
    program, x = PROGRAMS[name]
    _, back = te.vjp(program, x)
    cotangent = {"a": 1.0} if name == "structures" else 1.0
    np.testing.assert_equal(copied(back)(cotangent), back(cotangent))
