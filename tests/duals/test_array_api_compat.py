"""array_api_compat, of which SciPy has a copy: one namespace for traced and plain arrays, as for plain ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

compat = pytest.importorskip("scipy._lib.array_api_compat")
X, PLAIN = np.array([0.7, 1.9]), np.array([2.0, 3.0])
#: Of a traced array x, and a plain one in every second place.
GIVEN: dict[str, Callable[[Any], Any]] = {
    "traced": lambda x: x,
    "plain": lambda x: PLAIN,
    "made": lambda x: tnp.ones(2),
    "element": lambda x: x[0],
    "part": lambda x: x[:1],
}
USES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda xp, x: xp.sum(x * PLAIN),
    "concat": lambda xp, x: xp.sum(xp.concat([x, PLAIN])),
    "std": lambda xp, x: xp.std(x, correction=1),
    "astype": lambda xp, x: xp.sum(xp.astype(x, xp.float64)),
    "vector_norm": lambda xp, x: xp.linalg.vector_norm(x),
    "zeros_like": lambda xp, x: xp.sum(xp.zeros_like(x) + x),
}


@pytest.mark.parametrize("names", [*itertools.permutations(GIVEN, 2), ("traced", "element", "plain")], ids="-".join)
@pytest.mark.parametrize("use", USES)
def test_one_namespace_for_all_arrays(names: tuple[str, ...], use: str) -> None:
    for options in ({}, {"use_compat": False}):
        if use == "astype" and options and "plain" not in names:
            continue

        def program(x: Any, options: Any = options) -> Any:
            return USES[use](compat.array_namespace(*(GIVEN[name](x) for name in names), **options), x)

        found = te.grad(program)(X)
        wanted = [(program(X + h) - program(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


def test_traced_arrays_alone_have_the_engines_namespace() -> None:
    found: list[Any] = []

    def program(x: Any) -> Any:
        found.append(compat.array_namespace(x, x))
        return x[0]

    te.grad(program)(X)
    assert found == [tnp]
