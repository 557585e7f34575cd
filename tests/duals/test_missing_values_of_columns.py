"""Columns of pandas inside a program: numbers are numpy's, and NaN is a missing value, as in the plain program."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

pd = pytest.importorskip("pandas")

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda s: s.sum(),
    "fillna": lambda s: (s.fillna(2.0) ** 2).sum(),
    "dropna": lambda s: (s.dropna() * 3.0).to_numpy()[0],
    "count": lambda s: s.sum() / s.count(),
    "isna": lambda s: s[~s.isna()].sum() * s.isna().sum(),
    "products": lambda s: (s * s.shift(1)).fillna(1.0).sum(),
    "max": lambda s: s.max() * s.min(),
    "where": lambda s: s.where(s.notna(), 4.0).prod(),
    "divided by zero": lambda s: (s / pd.Series([0.0, 1.0, 2.0, 4.0])).max(),
    "power": lambda s: (s - s).pow(-1.0).max(),
    "element divided by zero": lambda s: s.iloc[0] / 0.0,
    "remainder": lambda s: (s % pd.Series([1.0, 0.3, 0.7, 2.0])).sum(),
}
COLUMNS = ([1.5, 2.5, 0.5, 3.0], [1.5, np.nan, 0.5, 3.0], [np.nan, 2.5, np.nan, 3.0], [-1.2, 2.6, np.nan, np.nan])


@pytest.mark.parametrize("column", COLUMNS, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name: str, column: list[float]) -> None:
    program, series = PROGRAMS[name], pd.Series(column)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = program(series)
        value, gradient = te.value_and_grad(program)(series)
        np.testing.assert_allclose(value, expected, rtol=1e-14)
        assert isinstance(value, float) == isinstance(expected, float)
        if not np.isfinite(expected):
            return
        for k in np.flatnonzero(np.isfinite(column)):
            step = np.where(np.arange(4) == k, 1e-6, 0.0)
            difference = (program(series + step) - program(series - step)) / 2e-6
            assert gradient[k] == pytest.approx(difference, rel=1e-5, abs=1e-8)
        assert not gradient[~np.isfinite(column)].any()
