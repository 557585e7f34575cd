"""Reductions of traced Series and frames: tapeengine.numpy differentiates them, errors of pandas's name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import ResultError, TapeEngineError

pd = pytest.importorskip("pandas")
SERIES = pd.Series([1.0, 2.5, 4.0], index=list("abc"))

REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda np, s: np.mean(s),
    "std": lambda np, s: np.std(s),
    "var": lambda np, s: np.var(s),
    "median": lambda np, s: np.median(s),
    "average": lambda np, s: np.average(s, weights=s),
    "norm": lambda np, s: np.linalg.norm(s),
    "quantile": lambda np, s: np.quantile(s, 0.3),
    "outer": lambda np, s: np.outer(s, s).sum(),
    "det": lambda np, s: np.linalg.det(np.outer(s, s) + np.eye(3)),
    "interp": lambda np, s: np.interp(0.5, [0.0, 1.0, 2.0], s),
    "trace": lambda np, s: np.trace(np.diag(s.to_numpy()) @ np.diag(s)),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_numpys_functions_take_a_series(name: str) -> None:
    f = REDUCTIONS[name]
    steps = [1e-30j * np.eye(3)[k] for k in range(3)] if name in ("mean", "outer", "trace", "average") else None
    gradient = te.grad(lambda s: f(tnp, s))(SERIES)
    assert gradient.index is SERIES.index or list(gradient.index) == list(SERIES.index)
    if steps is not None:
        expected = [f(np, pd.Series(SERIES.to_numpy() + step)).imag / 1e-30 for step in steps]
        np.testing.assert_allclose(gradient.to_numpy(), expected, rtol=1e-12)
    else:
        ends = [[f(np, pd.Series(SERIES.to_numpy() + h * e)) for h in (1e-6, -1e-6)] for e in np.eye(3)]
        np.testing.assert_allclose(gradient.to_numpy(), [(up - down) / 2e-6 for up, down in ends], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["mean", "std", "var", "median", "sem", "skew", "kurt"])
@pytest.mark.parametrize("of", [SERIES, pd.DataFrame({"u": SERIES, "v": SERIES**2})], ids=["series", "frame"])
def test_pandas_own_reductions_say_what_to_write(name: str, of: Any) -> None:
    try:
        te.vjp(lambda s: np.sum(getattr(s, name)()), of)
    except TapeEngineError as error:
        assert "tapeengine.numpy" in str(error)
    except Exception as error:
        assert "tapeengine.numpy" in "".join(getattr(error, "__notes__", ()))


def test_a_data_array_without_dimensions_is_not_a_number() -> None:
    xr = pytest.importorskip("xarray")
    given = xr.DataArray(np.arange(3.0), dims="x")
    with pytest.raises(ResultError, match=r"a DataArray of shape \(\)\. Return the number in it: value\.item\(\)"):
        te.grad(lambda d: (d**2).sum())(given)
    np.testing.assert_array_equal(te.grad(lambda d: (d**2).sum().item())(given).values, [0.0, 2.0, 4.0])
