"""Writes to read-only arrays raise what numpy raises: a ValueError that says so."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

WRITES: dict[str, Callable[[Any], Any]] = {
    "element": lambda x: x.__setitem__(0, 2.0),
    "slice": lambda x: x.__setitem__(slice(None), 2.0),
    "view": lambda x: x[::-1].__iadd__(1.0),
    "in place": lambda x: x.__imul__(2.0),
    "put": lambda x: np.put(x, [0], 2.0),
    "copyto": lambda x: np.copyto(x, 2.0),
    "place": lambda x: np.place(x, [True, False, False], [1.0]),
    "putmask": lambda x: np.putmask(x, [True, False, False], [1.0]),
    "fill_diagonal": lambda x: np.fill_diagonal(x[None], 1.0),
    "put_along_axis": lambda x: np.put_along_axis(x, np.array([1]), 2.0, 0),
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "ufunc": lambda x: np.add(x, 1.0, out=x),
    "sum": lambda x: np.sum(x[None], 0, out=x),
    "clip": lambda x: np.clip(x, 0.0, 1.0, out=x),
    "cumsum": lambda x: np.cumsum(x, out=x),
    "cumprod": lambda x: x.cumprod(out=x),
    "take": lambda x: np.take(x, [0, 1, 2], out=x),
    "matmul": lambda x: np.matmul(np.eye(3), x + 0.0, out=x),
    "mean": lambda x: x[None].mean(0, out=x),
    "max": lambda x: x[None].max(0, out=x),
    "round": lambda x: np.round(x, out=x),
    "sort": lambda x: x.sort(),
    "partition": lambda x: x.partition(1),
    "fill": lambda x: x.fill(1.0),
    "flat": lambda x: x.flat.__setitem__(0, 1.0),
    "real": lambda x: x.real.__setitem__(0, 1.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_error(name: str) -> None:
    write = WRITES[name]

    def program(x: Any) -> Any:
        y = x * 1.0
        y.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            write(y)
        return (y * y).sum()

    x = np.array([1.0, 2.0, 3.0])
    assert program(x) == 14.0
    np.testing.assert_array_equal(te.grad(program)(x), 2 * x)


@pytest.mark.parametrize("name", WRITES)
def test_error_of_a_broadcast_view(name: str) -> None:
    def program(x: Any) -> Any:
        y = np.broadcast_to(x, (3,))
        with pytest.raises(ValueError, match="read-only"):
            WRITES[name](y)
        return (y * y).sum()

    assert program(np.float64(2.0)) == 12.0
    assert te.grad(program)(2.0) == 12.0
    np.testing.assert_array_equal(te.grad(program)(np.array([2.0])), [12.0])


def flagged(x: Any) -> Any:
    """A program that closes an array and opens a view of it, as helpers with rolling windows do."""
    y = x * 2.0
    y.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 1.0
    rows = np.broadcast_to(x * 1.0, (2, 3))
    rows.setflags(write=True)
    rows[0, 0] = 5.0
    rows[1] *= 2.0
    with pytest.raises(ValueError, match="WRITEBACKIFCOPY"):
        y.setflags(uic=True)
    return (y * y).sum() + (rows[1] * rows[0]).sum()


def test_flags_are_set_as_numpy_sets_them() -> None:
    x = np.arange(1.0, 4.0)
    value, pullback = te.vjp(flagged, x)
    assert value == flagged(x)
    steps = 1e-6 * np.eye(3)
    found = [(flagged(x + step) - flagged(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(pullback(1.0)[0], found, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("layout", ["as it is", "swapped", "unaligned", "gaps", "reversed", "broadcast"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
def test_read_only_primals_of_every_layout(layout: str, dtype: Any) -> None:
    """Also those of which the engine makes a copy that it can read faster."""
    x: Any = np.arange(1.0, 5.0).astype(dtype)
    if layout == "swapped":
        x = x.astype(x.dtype.newbyteorder("S"))
    elif layout == "unaligned":
        x = np.frombuffer(b"-" + x.tobytes(), np.uint8)[1:].view(dtype)
    elif layout == "broadcast":
        x = np.broadcast_to(x, (2, 4))
    else:
        x = x[:: {"as it is": 1, "gaps": 2, "reversed": -1}[layout]]
    x.flags.writeable = False

    def program(x: Any) -> Any:
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 2.0
        return x * x

    value, pullback = te.vjp(program, x)
    np.testing.assert_array_equal(value, x * x)
    np.testing.assert_array_equal(pullback(np.ones_like(value))[0], 2.0 * x)
