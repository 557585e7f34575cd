"""Discrete results whose recordings check the result, by operations that are recorded, and not the operands.

What each check looks at depends on the outcomes of those before it alone, so that paths fork where outcomes differ.
"""

import math
from typing import Any

#: Up to here a quotient that is rounded down follows from the remainder without error.
EXACT = float(1 << 50)


def knows_quotient(x: Any, y: Any, quotient: Any) -> bool:
    """Whether ``x // y`` is known from checks; a quotient of 0 has the sign of x, which is not 0 then."""
    size = (x - x % y) / y
    return bool(abs(size) < EXACT) and round(size) == quotient and (quotient != 0 or bool(x))


def knows_whole(x: Any, whole: float) -> bool:
    """Whether the whole part of x is known from checks, with its sign."""
    return bool(x) and bool(abs(x) < math.inf) and bool(x < 0) == (math.copysign(1, whole) < 0) and int(x) == whole


def exponent(x: float) -> float:
    """The exponent of `math.frexp`, which a replay computes again."""
    return float(math.frexp(x)[1])
