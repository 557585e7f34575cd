"""Weighted quantiles select an element: its value, and all of the cotangent."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest
from verdicts import verdict

FUNCTIONS = ("quantile", "nanquantile", "percentile", "nanpercentile")
QUANTILES = (0.3, [0.2, 0.9], numpy.array([[0.0, 1.0]]))
X = numpy.random.default_rng(4).normal(size=24)
WEIGHTS = numpy.random.default_rng(5).uniform(0.1, 1.0, size=24)
#: Shapes, and axes along which elements are selected.
LAYOUTS: tuple[tuple[tuple[int, ...], Any], ...] = (((24,), None), ((4, 6), 0), ((4, 6), -1), ((2, 3, 4), (0, 2)))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("function", "layout"), list(itertools.product(FUNCTIONS, LAYOUTS)))
def test_selected_elements(function: str, layout: tuple[Any, Any], keepdims: bool, missing: bool) -> None:
    shape, axis = layout

    def program(q: Any, traced: str) -> Any:
        def selected(x: Any) -> Any:
            values = x if traced == "values" else X
            values = numpy.where(X > 1.0, numpy.nan, values) if missing else values
            weights = abs(x) if traced == "weights" else WEIGHTS
            how = {"weights": weights.reshape(shape), "method": "inverted_cdf", "axis": axis, "keepdims": keepdims}
            return getattr(numpy, function)(values.reshape(shape), q, **how)

        return selected

    for q, traced in itertools.product(QUANTILES, ("values", "weights")):
        found = verdict(program(q, traced), X)
        right = {"traced", "raised"} if traced == "values" and not missing else {"traced", "discrete", "raised"}
        assert found.word in right, found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_numpys_errors(function: str) -> None:
    for how in ({}, {"method": "median_unbiased"}, {"method": "inverted_cdf", "axis": 2}):
        assert verdict(lambda x, how=how: getattr(numpy, function)(x, 0.3, weights=WEIGHTS, **how), X).word == "raised"
    for weights in (WEIGHTS[:3], -WEIGHTS):
        found = verdict(lambda x, w=weights: getattr(numpy, function)(x, 0.3, weights=w, method="inverted_cdf"), X)
        assert found.word == "raised"
