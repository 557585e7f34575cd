"""numpy's warnings about slices without numbers, and its errors where they are asked for."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

NAN, INF = numpy.nan, numpy.inf
DATA = {
    "numbers": numpy.array([[1.0, 2.5, 0.5], [4.0, -1.0, 2.0]]),
    "some": numpy.array([[1.0, NAN, 0.5], [4.0, NAN, 2.0]]),
    "none": numpy.full((2, 3), NAN),
    "a row": numpy.array([[NAN, NAN, NAN], [4.0, 1.0, 2.0]]),
    "one of each": numpy.array([[NAN, 1.0, NAN], [NAN, NAN, 2.0]]),
    "infinite": numpy.array([[INF, NAN, 1.0], [-INF, 2.0, 3.0]]),
    "nothing": numpy.zeros((0, 3)),
    "one row": numpy.array([[1.0, 2.0, 4.0]]),
    "one column": numpy.array([[1.0], [2.0]]),
}
NAMES = "nanmax nanmin nanmean nanvar nanstd nanmedian nansum nanprod mean var std median".split()
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: lambda n, x, name=name: getattr(n, name)(x) for name in NAMES},
    **{f"{name} of columns": lambda n, x, name=name: getattr(n, name)(x, axis=0) for name in NAMES},
    **{f"{name} of rows": lambda n, x, name=name: getattr(n, name)(x, axis=1, keepdims=True) for name in NAMES},
    "ddof": lambda n, x: n.nanstd(x, axis=0, ddof=2),
    "quantile": lambda n, x: n.nanquantile(x, 0.3, axis=1),
    "percentiles": lambda n, x: n.nanpercentile(x, [20.0, 70.0], axis=0),
    "percentile": lambda n, x: n.percentile(x, 120.0),
    "quantile of no number": lambda n, x: n.quantile(x, NAN),
    "cov": lambda n, x: n.cov(x),
    "corrcoef": lambda n, x: n.corrcoef(x),
}


def told(function: Callable[[], Any], errors: str) -> tuple[Any, list[tuple[Any, str]]]:
    """The value or error of a call, and the warnings."""
    with warnings.catch_warnings(record=True) as found, numpy.errstate(all=errors, under="ignore"):  # type: ignore[call-overload]
        warnings.simplefilter("always")
        try:
            value = function()
        except Exception as error:
            return type(error), None
    return value, [(warning.category, str(warning.message)) for warning in found]


@pytest.mark.parametrize("errors", ["warn", "raise"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", CALLS)
def test_warnings(name: str, data: str, errors: str) -> None:
    value, expected = told(lambda: CALLS[name](numpy, DATA[data]), errors)
    traced, found = told(lambda: te.vjp(lambda x: CALLS[name](np, x), DATA[data])[0], errors)
    assert found == expected
    numpy.testing.assert_equal(traced, value)
