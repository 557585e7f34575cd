"""`ufunc.at` with values that share memory with the array: numpy reads all of them before it writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from outcomes import outcome

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


#: Functions that write into an array in the order of its elements, and parts of it that they may write there.
WRITERS: dict[str, Any] = {
    "fill_diagonal": lambda xp, a, part: xp.fill_diagonal(a, part),
    "wrapped": lambda xp, a, part: xp.fill_diagonal(a, part, wrap=True),
    "place": lambda xp, a, part: xp.place(a, np.arange(a.size).reshape(a.shape) % 3 > 0, part),
    "flat": lambda xp, a, part: a.flat.__setitem__(slice(None, None, 2), part),
    "put": lambda xp, a, part: xp.put(a, [3, 1, 5, 0], part),
}
PARTS_OF: dict[str, Any] = {
    "row": lambda a: a[0],
    "column": lambda a: a[:, 1],
    "column reversed": lambda a: a[::-1, 0],
    "part of a row": lambda a: a[1, 1:],
    "column as a row": lambda a: a.T[2],
    "whole": lambda a: a,
    "transposed": lambda a: a.T,
    "copy": lambda a: a[0] * 1.0,
}


@pytest.mark.parametrize("part", PARTS_OF)
@pytest.mark.parametrize("writer", WRITERS)
def test_parts_of_an_array_written_into_itself(writer: str, part: str) -> None:
    def program(xp: Any, x: Any) -> Any:
        a = x * 2.0
        WRITERS[writer](xp, a, PARTS_OF[part](a))
        return a * a

    x = np.arange(1.0, 13.0).reshape(4, 3)
    value, back = te.vjp(lambda x: program(tnp, x), x)
    assert value.tolist() == program(np, x).tolist()
    weights = np.sin(np.arange(12.0)).reshape(4, 3)
    slopes = [np.sum(weights * program(np, x + 1e-30j * e.reshape(4, 3)).imag) * 1e30 for e in np.eye(12)]
    np.testing.assert_allclose(back(weights)[0].ravel(), slopes, rtol=1e-13)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(
    "shape", [(3,), (3, 3), (2, 5), (7, 2), (9, 3), (3, 3, 3), (2, 2, 2, 2), (4, 4, 3), (3, 1, 3)], ids=str
)
def test_diagonals_of_arrays_of_any_shape(shape: tuple[int, ...], wrap: bool) -> None:
    def program(xp: Any, x: Any) -> Any:
        a = xp.zeros(shape) + x[2]
        xp.fill_diagonal(a, x[:2], wrap)
        xp.fill_diagonal(a[..., :2, :2], x[0] * x[1], wrap)
        return a * a

    x = np.array([0.5, 1.25, -2.0])
    plain = outcome(lambda: program(np, x))
    found = outcome(lambda: te.vjp(lambda x: program(tnp, x), x))
    if isinstance(plain, Exception):
        assert (type(found), str(found)) == (type(plain), str(plain))
        return
    value, back = found
    assert value.tolist() == plain.tolist()
    weights = np.cos(np.arange(float(value.size))).reshape(shape)
    slopes = [np.sum(weights * program(np, x + 1e-30j * e).imag) * 1e30 for e in np.eye(3)]
    np.testing.assert_allclose(back(weights)[0], slopes, rtol=1e-12)
