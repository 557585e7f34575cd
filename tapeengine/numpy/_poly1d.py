"""numpy.poly1d with traced coefficients, and numpy's functions of such polynomials."""

from collections.abc import Callable
from typing import Any

import numpy

from .._core.arrays.array import holds_traced
from .._core.arrays.functions import offered
from ..naming import named_like
from ._creation import asarray

__all__ = ["poly1d", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub", "polyval", "roots"]


class poly1d(numpy.poly1d):
    """`numpy.poly1d`: a list of traced numbers becomes a traced array, not an array of objects.

    Examples
    --------
    >>> import tapeengine as te, tapeengine.numpy as np
    >>> te.grad(lambda a: np.poly1d([a, 2.0])(3.0))(1.0)
    3.0
    """

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        super().__init__(asarray(c_or_r) if holds_traced(c_or_r) else c_or_r, r, variable)

    def __call__(self, val: Any) -> Any:
        """The value at a number, an array or another polynomial."""
        return polyval(self.coeffs, val)


def polyval(p: Any, x: Any) -> Any:
    """`numpy.polyval`, also at a polynomial."""
    if not isinstance(x, numpy.poly1d):
        return offered(numpy.polyval)(coefficients(p), x)
    value: Any = poly1d(0)
    for each in coefficients(p):
        value = value * x + poly1d([each])
    return poly1d(value.coeffs)


def roots(p: Any) -> Any:
    """`numpy.roots`, also of a polynomial."""
    return offered(numpy.roots)(coefficients(p))


def of_polynomials(function: Callable[..., Any]) -> Callable[..., Any]:
    """The counterpart of a function whose result is a polynomial if an argument is one."""
    of_coefficients = offered(function)

    def made(*args: Any, **options: Any) -> Any:
        if not any(isinstance(x, numpy.poly1d) for x in (*args, *options.values())):
            return of_coefficients(*args, **options)
        found = of_coefficients(*map(coefficients, args), **{name: coefficients(x) for name, x in options.items()})
        return tuple(map(poly1d, found)) if isinstance(found, tuple) else poly1d(found)

    return named_like(made, function, f"numpy.{function.__name__}.")


def coefficients(value: Any) -> Any:
    """The coefficients of a polynomial; other values unchanged."""
    return value.coeffs if isinstance(value, numpy.poly1d) else value


polyadd, polysub = of_polynomials(numpy.polyadd), of_polynomials(numpy.polysub)
polymul, polydiv = of_polynomials(numpy.polymul), of_polynomials(numpy.polydiv)
polyder, polyint = of_polynomials(numpy.polyder), of_polynomials(numpy.polyint)
