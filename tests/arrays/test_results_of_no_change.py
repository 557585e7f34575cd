"""What leaves an array as it is returns a view or a copy as numpy does: writes show where numpy's show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

M = np.arange(1.0, 17.0).reshape(4, 4)
D = np.random.default_rng(0).normal(size=(4, 4))
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "choose": lambda np, b: np.choose(0, [b]),
    "choose by indices": lambda np, b: np.choose([0, 0, 0, 0], [b]),
    "choose a row": lambda np, b: np.choose([[0], [0]], [b[0]]),
    "choose a number": lambda np, b: np.choose([0, 0], [b[0, 0]]),
    "where": lambda np, b: np.where(True, b, b),
    "select": lambda np, b: np.select([np.array(True)], [b]),
    "take": lambda np, b: np.take(b, np.arange(4), 0),
    "clip": lambda np, b: np.clip(b, None, None),
    "round": lambda np, b: np.round(b, 3),
    "roll": lambda np, b: np.roll(b, 0),
    "diff": lambda np, b: np.diff(b, 0),
    "pad": lambda np, b: np.pad(b, 0),
    "tile": lambda np, b: np.tile(b, 1),
    "repeat": lambda np, b: np.repeat(b, 1, 0),
    "concatenate": lambda np, b: np.concatenate([b]),
    "block": lambda np, b: np.block(b),
    "delete": lambda np, b: np.delete(b[0], []),
    "insert": lambda np, b: np.insert(b[0], [], 1.0),
    "resize": lambda np, b: np.resize(b, b.shape),
    "sum": lambda np, b: b.sum(axis=()),
    "max": lambda np, b: b.max(axis=()),
    "mean": lambda np, b: np.mean(b, axis=()),
    "matrix_power": lambda np, b: np.linalg.matrix_power(b, 1),
    "polyint": lambda np, b: np.polyint(b[0], 0),
    "real": lambda np, b: np.real(b),
    "conj": lambda np, b: b.conj(),
    "nan_to_num": lambda np, b: np.nan_to_num(b, copy=False),
    "real_if_close": lambda np, b: np.real_if_close(b),
    "astype": lambda np, b: b.astype(float, copy=False),
    "squeeze": lambda np, b: np.squeeze(b),
    "atleast_2d": lambda np, b: np.atleast_2d(b),
    "ravel": lambda np, b: np.ravel(b),
    "rot90": lambda np, b: np.rot90(b, 4),
    "trim_zeros": lambda np, b: np.trim_zeros(b[0]),
    "einsum": lambda np, b: np.einsum("ij->ij", b),
    "positive": lambda np, b: np.positive(b),
}


def program(np: Any, call: Callable[[Any, Any], Any], into_result: bool, a: Any) -> Any:
    """The array and the result after a write into one of them."""
    b = a * 1.0
    c = call(np, b)
    if into_result:
        c[...] = 7.0 * a[0, 0]
    else:
        b[...] = b * b + 1.0
    return b, c * 1.0


@pytest.mark.parametrize("into_result", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_writes_show_where_numpys_do(name: str, into_result: bool) -> None:
    def weighted(a: Any, np: Any = np) -> Any:
        return sum((part * (1.0 + k) * part.shape[-1]).sum() for k, part in enumerate(plain(a, np)))

    def plain(a: Any, module: Any = np) -> Any:
        return program(module, CALLS[name], into_result, a)

    for found, wanted in zip(te.vjp(lambda a: plain(a, tnp), M)[0], plain(M), strict=True):
        assert np.array_equal(found, wanted)
    slope = (weighted(M + 1e-6 * D) - weighted(M - 1e-6 * D)) / 2e-6
    assert np.sum(te.grad(lambda a: weighted(a, tnp))(M) * D) == pytest.approx(slope, rel=1e-6)
