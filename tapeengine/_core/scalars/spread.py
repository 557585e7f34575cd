"""Functions of sequences as functions of their numbers, so that a replay can call them."""

import math
from fractions import Fraction
from typing import Any


def fsum(*items: Any) -> float:
    """Sum without loss of precision."""
    return math.fsum(items)


def dist(*both: Any) -> float:
    """Distance between the points of the first and the second half of the numbers."""
    return math.dist(both[: len(both) // 2], both[len(both) // 2 :])


def sumprod(*both: Any) -> Any:
    """Sum of the products of the first and the second half of the numbers, rounded once; integers stay integers.

    Examples
    --------
    >>> sumprod(1e16, 1.0, -1e16, 1.0, 1.0, 1.0)
    1.0
    """
    both = tuple(x.item() if hasattr(x, "item") else x for x in both)
    p, q = both[: len(both) // 2], both[len(both) // 2 :]
    exact: Any = getattr(math, "sumprod", None)
    if exact is not None:
        return exact(p, q)
    if all(isinstance(x, int) for x in both):
        return sum(a * b for a, b in zip(p, q, strict=True))
    products = [float(a) * float(b) for a, b in zip(p, q, strict=True)]
    if not all(map(math.isfinite, products)):
        return math.fsum(products)
    return float(sum(Fraction(a) * Fraction(b) for a, b in zip(p, q, strict=True)))
