"""The functions of `statistics` on traced numbers: exactly its values, with the derivatives of the formulas."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from .._core.arrays.array import holds_traced
from .._core.scalars import math
from .._core.scalars.scalar import with_value
from .._core.sweeps.trace import value_of
from ..naming import named_like


def fmean(data: Any, weights: Any = None) -> Any:
    """The mean, weighted or not."""
    if weights is None:
        return sum(data) / len(data)
    return sum(w * x for w, x in zip(weights, data, strict=True)) / sum(weights)


def geometric_mean(data: Any) -> Any:
    """The exponential of the mean of the logarithms."""
    return math.exp(fmean([math.log(x) for x in data]))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """The reciprocal of the mean of reciprocals; 0 where an item is 0."""
    return 1.0 / fmean([1.0 / x for x in data], weights) if all(data) else 0.0


def squares(data: Any, centre: Any) -> Any:
    """The sum of squared distances from a centre, by default the mean."""
    centre = fmean(data) if centre is None else centre
    return sum((x - centre) ** 2 for x in data)


def pvariance(data: Any, mu: Any = None) -> Any:
    """The mean of the squared distances from the mean."""
    return squares(data, mu) / len(data)


def variance(data: Any, xbar: Any = None) -> Any:
    """The sample estimate of the variance."""
    return squares(data, xbar) / (len(data) - 1)


def pstdev(data: Any, mu: Any = None) -> Any:
    """The square root of `pvariance`."""
    return math.sqrt(pvariance(data, mu))


def stdev(data: Any, xbar: Any = None) -> Any:
    """The square root of `variance`."""
    return math.sqrt(variance(data, xbar))


def covariance(x: Any, y: Any, /) -> Any:
    """The sample covariance."""
    return products(x, y) / (len(x) - 1)


def products(x: Any, y: Any) -> Any:
    """The sum of the products of distances from the means."""
    a, b = fmean(x), fmean(y)
    return sum((p - a) * (q - b) for p, q in zip(x, y, strict=True))


def correlation(x: Any, y: Any, /) -> Any:
    """Pearson's correlation coefficient."""
    return products(x, y) / math.sqrt(products(x, x) * products(y, y))


def linear_regression(x: Any, y: Any, /, *, proportional: bool = False) -> Any:
    """The slope and the intercept of a line."""
    if proportional:
        return sum(p * q for p, q in zip(x, y, strict=True)) / sum(p * p for p in x), 0.0
    slope = products(x, y) / products(x, x)
    return slope, fmean(y) - slope * fmean(x)


def _mean_stdev(data: Any) -> Any:
    """What the class of normal distributions is made of."""
    return fmean(data), stdev(data)


FORMULAS: tuple[Callable[..., Any], ...] = (
    *(fmean, geometric_mean, harmonic_mean, pvariance, variance, pstdev, stdev),
    *(covariance, correlation, linear_regression, _mean_stdev),
)


def plain(value: Any) -> Any:
    """A value, or a list of values, without derivatives."""
    return [value_of(x) for x in value] if isinstance(value, list) else value_of(value)


def exact(value: Any, formula: Any) -> Any:
    """The result of a formula, with the values computed by the library."""
    if isinstance(value, tuple):
        parts = map(exact, value, formula)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return with_value(formula, float(value))


def of(function: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the library that accepts traced numbers in its data."""

    def on_numbers(*args: Any, **options: Any) -> Any:
        args = tuple(list(x) if hasattr(x, "__iter__") else x for x in args)
        options = {name: list(x) if hasattr(x, "__iter__") else x for name, x in options.items()}
        if not any(map(holds_traced, (*args, *options.values()))):
            return function(*args, **options)
        value = function(*map(plain, args), **{name: plain(x) for name, x in options.items()})
        return exact(value, formula(*args, **options))

    return named_like(on_numbers, function)


def functions() -> dict[str, Any]:
    """The functions of `statistics` that have a formula here."""
    found = {formula.__name__: of(getattr(statistics, formula.__name__), formula) for formula in FORMULAS}
    return {**found, "mean": of(statistics.mean, fmean)}
