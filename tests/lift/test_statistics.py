"""Every function of `statistics`, and every method of its normal distributions, on traced numbers."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

LIFTED = te.lift("statistics")
DATA = [1.5, 4.0, 2.25, 3.0, 0.5]
OTHER = [2.0, 3.5, 1.0, 5.0, 4.5]
OF_ONE = [name for name in statistics.__all__ if callable(getattr(statistics, name)) and name != "StatisticsError"]
OF_TWO = ("covariance", "correlation", "linear_regression")
METHODS = ("mean", "stdev", "variance", "median", "mode", "pdf", "cdf", "zscore", "inv_cdf", "quantiles", "samples")


def of_samples(module: Any, method: str, data: Any) -> Any:
    made = module.NormalDist.from_samples(data)
    found = getattr(made, method)
    arguments = {"pdf": 1.0, "cdf": 1.0, "zscore": 1.0, "inv_cdf": 0.3, "quantiles": 3}
    return found(arguments[method]) if method in arguments else found


CASES: dict[str, Callable[[Any, Any], Any]] = {
    **{name: lambda module, data, name=name: getattr(module, name)(data) for name in OF_ONE if name not in OF_TWO},
    **{name: lambda module, data, name=name: getattr(module, name)(data, OTHER) for name in OF_TWO},
    **{
        f"from_samples.{name}": lambda module, data, name=name: of_samples(module, name, data)
        for name in METHODS
        if hasattr(statistics.NormalDist, name) and name != "samples"
    },
    "iterators": lambda module, data: module.NormalDist.from_samples(iter(data)).stdev + module.stdev(iter(data)),
    "overlap": lambda module, data: module.NormalDist.from_samples(data).overlap(module.NormalDist(1.0, 2.0)),
}


def numbers(value: Any) -> Any:
    return np.ravel(list(value) if isinstance(value, (list, tuple)) else value).astype(float)


@pytest.mark.parametrize("name", CASES)
def test_it_is_right_or_refused(name: str) -> None:
    case = CASES[name]
    try:
        plain = numbers(case(statistics, DATA))
    except (TypeError, ValueError):
        pytest.skip("not a function of numbers")
    try:
        jacobian = np.array(te.jacobian(lambda data: list(case_numbers(case(LIFTED, data))))(DATA))
    except TapeEngineError:
        assert name not in ("mean", "stdev", "from_samples.mean", "from_samples.stdev", "iterators")
        return
    value = te.vjp(lambda data: case(LIFTED, data), DATA)[0]
    assert numbers(value) == pytest.approx(plain, rel=1e-15)
    for k in range(len(DATA)):
        ends = [numbers(case(statistics, [x + h * (j == k) for j, x in enumerate(DATA)])) for h in (1e-5, -1e-5)]
        assert jacobian[:, k] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


def case_numbers(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]
