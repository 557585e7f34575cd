"""Statistics have numpy's values to the last bit for every dtype of the data and every dtype that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

DTYPES = ("f4", "f8", "c8", "c16")
G = np.random.default_rng(3)
OPTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "axis 0": {"axis": 0},
    "axis 1": {"axis": 1},
    "no axis": {"axis": ()},
    "keepdims": {"keepdims": True},
    "rows": {"where": G.random((40, 1)) > 0.3},
    "mask": {"axis": 0, "where": G.random((40, 3)) > 0.3},
    "double": {"dtype": "f8"},
    "single": {"axis": 0, "dtype": "f4"},
}


def data(dtype: str, missing: int) -> Any:
    found = G.normal(size=(40, 3)) + (1j * G.normal(size=(40, 3)) if dtype[0] == "c" else 0)
    found[:missing, 0] = np.nan
    return found.astype(dtype)


def is_numpys(found: Any, wanted: Any) -> bool:
    return bool(found.dtype == wanted.dtype and np.array_equal(found, wanted, equal_nan=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("missing", [0, 3])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "nansum"])
def test_statistics_that_ignore_nan(name: str, dtype: str, option: str, missing: int) -> None:
    a, options = data(dtype, missing), OPTIONS[option]
    if "dtype" in options and dtype[0] == "c":
        options = {**options, "dtype": options["dtype"].replace("f8", "c16").replace("f4", "c8")}
        if name in ("nanvar", "nanstd"):
            pytest.skip("the variance is real")
    value = te.vjp(lambda x: getattr(tnp, name)(x, **options), a)[0]
    assert is_numpys(value, getattr(np, name)(a, **options))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wanted", [None, *DTYPES, "f2"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_covariances(name: str, dtype: str, wanted: str | None) -> None:
    a = data(dtype, 0).T
    value = te.vjp(lambda x: getattr(tnp, name)(x, dtype=wanted), a)[0]
    assert is_numpys(value, getattr(np, name)(a, dtype=wanted))


@pytest.mark.parametrize("option", ["all", "axis 0", "rows", "mask"])
@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_derivatives_with_missing_values(name: str, option: str) -> None:
    a, options, h = data("f8", 3), OPTIONS[option], 1e-6
    direction = G.normal(size=a.shape)
    slope = te.jvp(lambda x: getattr(tnp, name)(x, **options), (a,), (direction,))[1]
    ahead, behind = (getattr(np, name)(a + s * direction, **options) for s in (h, -h))
    assert slope == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)
    gradient = te.grad(lambda x: np.sum(getattr(tnp, name)(x, **options)))(a)
    assert np.sum(gradient * direction) == pytest.approx(np.sum(slope))


@pytest.mark.parametrize("p", [None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", DTYPES)
def test_condition_numbers(dtype: str, p: Any) -> None:
    for _ in range(20):
        a = data(dtype, 0)[:3]
        assert is_numpys(te.vjp(lambda x: tnp.linalg.cond(x, p), a)[0], np.linalg.cond(a, p))
