"""Linear algebra at sizes for which LAPACK uses other algorithms than for small matrices, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "eigvals": lambda a: np.max(np.abs(np.linalg.eigvals(a))),
    "all eigvals": lambda a: np.sum(np.abs(np.linalg.eigvals(a)) ** 2.5),
    "eigvals of a stack": lambda a: np.sum(np.abs(np.linalg.eigvals(np.stack([a, a.T * 2.0]))) ** 2.5),
    "roots": lambda a: np.max(np.abs(np.roots(a[0]))),
    "eig": lambda a: np.max(np.abs(np.linalg.eig(a)[0])),
    "eigvalsh": lambda a: np.sum(np.abs(np.linalg.eigvalsh(a)) ** 2.5),
    "eigh": lambda a: np.sum((lambda w, v: (v * np.sin(w)) @ v.T)(*np.linalg.eigh(a))[0]),
    "svd": lambda a: np.sum(np.linalg.svd(a)[1] ** 1.5),
    "svdvals": lambda a: np.linalg.norm(a, 2),
    "inv": lambda a: np.sum(np.linalg.inv(a)[0]),
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "solve": lambda a: np.linalg.solve(a, a[0])[3],
    "cholesky": lambda a: np.sum(np.linalg.cholesky(a @ a.T + np.eye(len(a)))[-1]),
    "qr": lambda a: np.sum(np.abs(np.diagonal(np.linalg.qr(a)[1])) ** 1.5),
    "lstsq": lambda a: np.sum(np.linalg.lstsq(a[:, :50], a[:, -1])[0]),
    "pinv": lambda a: np.sum(np.linalg.pinv(a[:, :50])[0]),
    "cond": lambda a: np.log(np.linalg.cond(a)),
}


@pytest.mark.parametrize("n", [130, 200])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_directions(name: str, n: int) -> None:
    f, random = FUNCTIONS[name], np.random.default_rng(n)
    for _ in range(2):
        a, t = random.normal(size=(2, n, n))
        value, tangent = te.jvp(f, (a,), (t,))
        assert value == pytest.approx(f(a), rel=1e-12)
        assert np.sum(te.grad(f)(a) * t) == pytest.approx(tangent, rel=1e-8)
        ends = [(f(a + h * t) - f(a - h * t)) / (2 * h) for h in (1e-6, 5e-7)]
        assert tangent == pytest.approx((4 * ends[1] - ends[0]) / 3, rel=1e-4)
