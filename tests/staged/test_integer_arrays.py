"""Arrays of integers and booleans among the arguments of staged programs: compared by value, in all transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

X = np.array([0.3, -1.2, 0.8])
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "vjp": lambda f, k: te.vjp(f, X, k)[0],
    "grad": lambda f, k: te.grad(f)(X, k),
    "value_and_grad": lambda f, k: te.value_and_grad(f)(X, k),
    "both": lambda f, k: te.value_and_grad(f, argnums=(0, 1))(X, k)[1][0],
    "keyword": lambda f, k: te.grad(f)(X, k=k),
}
KINDS = {"int64": np.array([0, 1, 1]), "int8": np.array([0, 1, 1], np.int8), "bool": np.array([True, False, True])}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", CALLS)
def test_a_program_with_an_integer_array_is_replayed(way: str, kind: str) -> None:
    def program(x: Any, k: Any) -> Any:
        return np.sum(x[k] ** 2 * np.arange(1.0, 1.0 + len(x[k])))

    k, call = KINDS[kind].copy(), CALLS[way]
    staged = te.stage(program)
    first = call(staged, k)
    for _ in range(3):
        np.testing.assert_equal(call(staged, k), first)
    assert staged.refused is None
    assert staged.stats().replays == 3
    np.testing.assert_equal(first, call(program, k))
    k[1] = 1 - k[1]  # the caller's array changes
    np.testing.assert_equal(call(staged, k), call(program, k))
