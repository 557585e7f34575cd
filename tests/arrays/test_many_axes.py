"""Traced arrays have as many axes as all of numpy's functions take: 32. More are refused, also inside a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

LIMIT = 32
X = np.array([1.0, 2.0])
#: Programs of an array with many axes of length 1 before its last axis.
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "product": lambda y: y * 2.0,
    "sum": lambda y: (y**2).sum(),
    "sum over one axis": lambda y: y.sum(axis=3),
    "sum over two axes": lambda y: y.sum(axis=(2, -1)),
    "mean": lambda y: np.mean(y * y, -1),
    "item": lambda y: y[..., 0],
    "indices": lambda y: y[..., [0, 1, 1]],
    "mask": lambda y: y[y > 1.5],
    "where": lambda y: np.where(y > 1.5, y, 1.0),
    "transposed": lambda y: y.T * y,
    "joined": lambda y: np.concatenate([y, y]),
    "squeezed": lambda y: np.squeeze(y),
    "flat": lambda y: y.ravel(),
    "largest": lambda y: np.max(y, axis=-1),
    "sorted": lambda y: np.sort(y),
    "median": lambda y: np.median(y, -1),
    "norm": lambda y: np.linalg.norm(y, axis=-1),
    "taken": lambda y: np.take_along_axis(y, np.zeros(y.shape, int), -1),
}


def with_axes(count: int) -> tuple[int, ...]:
    return (1,) * (count - 1) + (2,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_array_with_as_many_axes_as_are_taken(name: str) -> None:
    def program(x: Any, count: int) -> Any:
        return PROGRAMS[name](x.reshape(with_axes(count)))

    value, back = te.vjp(lambda x: program(x, LIMIT), X)
    assert np.array_equal(value, program(X, LIMIT))
    assert np.allclose(te.jacfwd(lambda x: program(x, LIMIT))(X), te.jacrev(lambda x: program(x, LIMIT))(X))
    assert np.allclose(
        back(np.ones_like(value))[0], te.vjp(lambda x: program(x, 4), X)[1](np.ones_like(program(X, 4)))[0]
    )


@pytest.mark.parametrize("count", [LIMIT + 1, 48, 64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_more_axes_are_refused(name: str, count: int) -> None:
    with pytest.raises(UnsupportedError, match="32 axes"):
        te.vjp(lambda x: PROGRAMS[name](x.reshape(with_axes(count))), X)
    with pytest.raises(UnsupportedError, match="32 axes"):
        te.jvp(PROGRAMS[name], (X.reshape(with_axes(count)),), (X.reshape(with_axes(count)),))
