"""Statistics of nothing, and of no more elements than degrees of freedom: both modes give one derivative.

The mean of nothing moves with nothing, so its derivative is zero in whatever the elements are made of. A variance
without a degree of freedom is divided by zero, and so is its derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeengine as te

#: Statistics of the rows of a matrix, and the number of columns up to which they have no degree of freedom.
STATISTICS: dict[str, tuple[Any, int]] = {
    "mean": (lambda d: np.mean(d, -1), 0),
    "mean of all": (lambda d: np.mean(d), 0),
    "mean in single precision": (lambda d: np.mean(d, -1, dtype="f4", keepdims=True), 0),
    "mean of none": (lambda d: np.mean(d, -1, where=np.zeros(d.shape, bool)), 0),
    "median": (lambda d: np.median(d, -1), 0),
    "average": (lambda d: np.average(d, -1), 0),
    "nanmean": (lambda d: np.nanmean(d, -1), 0),
    **{
        f"{name} {ddof} {form}": (lambda d, n=name, k=ddof, o=options: getattr(np, n)(d, -1, ddof=k, **o(d)), ddof)
        for name in ("var", "std", "nanvar", "nanstd")
        for ddof in (1, 2)
        for form, options in (
            ("of all", lambda d: {}),
            ("where", lambda d: {"where": np.ones(d.shape, bool)}),
            ("around", lambda d: {"mean": np.mean(d, -1, keepdims=True)}),
        )
    },
    "cov": (lambda d: np.cov(d), 1),
    "cov of a row": (lambda d: np.cov(d[0]), 1),
    "cov of two": (lambda d: np.cov(d[0], d[1], ddof=2), 2),
    "cov by weights": (lambda d: np.cov(d, aweights=d[0] ** 2 + 1), 1),
    "cov by counts": (lambda d: np.cov(d, fweights=np.ones(d.shape[1], int)), 1),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("columns", [0, 1, 2, 3])
@pytest.mark.parametrize("name", STATISTICS)
def test_both_modes_agree(name: str, columns: int) -> None:
    if "by" in name and not columns:
        pytest.skip("numpy divides by the sum of the weights")
    statistic, none = STATISTICS[name]
    x, q = 1.7 * np.arange(columns) ** 2, np.array([1.0, 0.6])

    def program(q: Any) -> Any:
        return statistic((q[:, None] - x) ** 2)

    value, back = te.vjp(program, q)
    assert np.array_equal(value, program(q), equal_nan=True)
    rows = [back(one.reshape(value.shape))[0] for one in np.eye(value.size)]
    moved = [te.jvp(program, (q,), (one,))[1] for one in np.eye(2)]
    assert np.reshape(rows, (*value.shape, 2)) == pytest.approx(np.stack(moved, -1), rel=1e-5, nan_ok=True)
    assert te.jacfwd(program)(q) == pytest.approx(np.stack(moved, -1), rel=1e-5, nan_ok=True)
    assert bool(np.any(np.isnan(rows))) == (0 < columns <= none)
