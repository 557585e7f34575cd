"""Captured arrays that share memory share it in later runs as well: a write through one is read through the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

#: Views of an array of six rows and four columns.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda a: a,
    "row": lambda a: a[1],
    "column": lambda a: a[:, 2],
    "reversed": lambda a: a[::-1, ::-1],
    "transposed": lambda a: a.T,
    "some": lambda a: a[1:4, ::2],
    "part of a part": lambda a: a[1:5][::2, 1:],
    "vector": lambda a: a.reshape(-1)[3:17],
    "bits": lambda a: a.view(np.int64).view(float),
    "new axis": lambda a: a[:, None, 1:3],
    "single": lambda a: a[1, 2, ...],
    "diagonal": lambda a: a[:4].reshape(-1)[::5],
}
ORDERS: dict[str, Callable[[], Any]] = {
    "C": lambda: np.zeros((6, 4)),
    "Fortran": lambda: np.zeros((6, 4), order="F"),
    "of a larger one": lambda: np.zeros((8, 9))[1:7, 2:6],
    "reversed": lambda: np.zeros((6, 4))[::-1],
}
RUNS: dict[str, Callable[[Any, Any], Any]] = {
    "checkpoint": lambda f, x: te.checkpoint(f)(x),
    "iterate": lambda f, x: te.iterate(f, 1, x),
    "fork": lambda f, x: te.fork(lambda: f(x), lambda: 0.0)[0],
    "checkpoint of a checkpoint": lambda f, x: te.checkpoint(te.checkpoint(f))(x),
}


def captured(one: Any, other: Any, way: int) -> Callable[[Any], Any]:
    """A function that writes to one array and reads the other one, found in different orders and containers."""

    def write_and_read(y: Any, one: Any, other: Any) -> Any:
        one[...] += 2.0
        one[..., 0] *= 1.5
        return y * np.sum(other * np.arange(1.0, 1.0 + other.size).reshape(other.shape))

    if way == 0:
        return lambda y: write_and_read(y, one, other)
    if way == 1:
        return lambda y, pair=(other, [one]): write_and_read(y, pair[1][0], pair[0])
    held = {"a": (one, other)}
    return lambda y: write_and_read(y, *held["a"])


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_write_is_seen(order: str, run: str) -> None:
    pairs = [(VIEWS[a], VIEWS[b]) for a, b in itertools.product(VIEWS, VIEWS)]
    for k, (first, second) in list(enumerate(pairs))[len(order + run) % 3 :: 3]:
        for x in (0.0, 1.5):

            def program(x: Any, run: Any, first: Any = first, second: Any = second, k: int = k) -> Any:
                whole = ORDERS[order]()
                one, other = first(whole) if whole.flags.c_contiguous or k else whole, second(whole)
                if one.ndim == 0:
                    one = one[None]
                f = captured(one, other, k % 3)
                return run(f, x) + whole.sum()

            try:
                wanted = te.value_and_grad(lambda x: program(x, lambda f, x: f(x)))(x)
            except ValueError:  # a reshape that is a copy, or a change of bits that numpy refuses
                continue
            for _ in range(2):
                assert te.value_and_grad(lambda x: program(x, RUNS[run]))(x) == wanted


def test_arrays_that_share_no_memory_are_copied_apart() -> None:
    large = np.ones((1000, 3))
    rows = [large[k] for k in range(0, 1000, 100)]

    def f(x: Any) -> Any:
        return x * sum(row[0] for row in rows)

    assert te.grad(te.checkpoint(f))(2.0) == 10.0
    kept = [known for _, known in te.default_engine().copies._known.values()]
    assert not any(copy.shape == large.shape and np.array_equal(copy, large) for copy in kept)
