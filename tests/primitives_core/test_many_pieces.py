"""Arrays joined of many pieces: derivatives, and calls that grow as the number of pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from counted_calls import calls

import tapeengine as te

JOINS: dict[str, Callable[[Any], Any]] = {
    "concatenate": np.concatenate,
    "rows": lambda pieces: np.concatenate([p[None] for p in pieces], axis=-1),
    "without an axis": lambda pieces: np.concatenate(pieces, axis=None),
    "hstack": np.hstack,
    "vstack": np.vstack,
    "column_stack": np.column_stack,
    "stack": np.stack,
}


def gradient(join: Callable[[Any], Any], n: int) -> Any:
    weights = np.cos(np.arange(5 * n))

    def program(x: Any) -> Any:
        joined = join([x[i : i + 5] * 2.0 for i in range(n)])
        return np.sum(joined * weights.reshape(joined.shape))

    return te.grad(program)(np.ones(n + 5))


@pytest.mark.parametrize("name", JOINS)
def test_many_pieces(name: str) -> None:
    join = JOINS[name]
    for n in (3, 40):
        x, rows = np.arange(n + 5.0), np.cos(np.arange(5 * n))
        expected = np.zeros(n + 5)
        place = join([x[i : i + 5] for i in range(n)]).ravel().astype(int)
        np.add.at(expected, place, 2.0 * rows)
        np.testing.assert_allclose(gradient(join, n), expected, rtol=1e-13, atol=1e-13)
    gradient(join, 10)
    few, many = (len(calls(lambda n=n: gradient(join, n))) for n in (100, 400))
    assert many < 4.5 * few
