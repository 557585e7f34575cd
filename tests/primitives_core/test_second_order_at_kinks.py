"""At a kink, as of a norm at 0, first and second derivatives are 0, in every mode: those of the other terms remain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

KINKS: dict[str, Callable[[Any], Any]] = {
    **{f"norm {p}": lambda v, p=p: np.linalg.norm(v, p) for p in (None, 0.5, 1, 1.5, 2, 3, np.inf)},
    **{f"matrix norm {p}": lambda v, p=p: np.linalg.norm(v[:, None], p) for p in ("fro", "nuc", 1, 2, np.inf)},
    "norms of columns": lambda v: np.sum(np.linalg.norm(v[:, None] * v, axis=0)),
    "norm of complex numbers": lambda v: np.linalg.norm(v + 1j * v[::-1]),
    "hypot": lambda v: np.hypot(v[0], v[1]) + np.hypot(v[:1], v[1:2])[0],
    "hypot.reduce": lambda v: np.hypot.reduce(v),
    "math.hypot": lambda v: te.math.hypot(*v) + te.math.dist(list(v), [0.0, 0.0, 0.0]),
    "abs": lambda v: np.sum(np.abs(v)) + abs(v[0]),
    "abs of complex numbers": lambda v: np.sum(np.abs(v + 1j * v[::-1])) + abs(v[0] + 1j * v[1]),
    "sign of complex numbers": lambda v: np.real(np.sum(np.sign(v + 1j * v[::-1]))),
    **{f"std {d}": lambda v, d=d: np.std(v, ddof=d) for d in (0, 1)},
    "std of a part": lambda v: np.std(v, where=np.array([True, True, False])),
    "std of complex numbers": lambda v: np.std(v + 1j * v[::-1]),
    "nanstd": lambda v: np.nanstd(tnp.stack([v, v])),
}


@pytest.mark.parametrize("name", KINKS)
def test_only_the_smooth_terms_count(name: str) -> None:
    def f(v: Any) -> Any:
        return 0.5 * KINKS[name](v) + np.sum(np.sin(v) * v[::-1]) + v[0]

    def smooth(v: Any) -> Any:
        return np.sum(np.sin(v) * v[::-1]) + v[0]

    zero = np.zeros(3)
    np.testing.assert_array_equal(te.grad(f)(zero), te.grad(smooth)(zero))
    expected = te.hessian(smooth)(zero)
    for second in (te.hessian(f), te.jacrev(te.grad(f)), te.jacfwd(te.grad(f)), te.jacrev(te.jacfwd(f))):
        np.testing.assert_array_equal(second(zero), expected)
