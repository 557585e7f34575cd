"""Discrete operations whose results, computed by recorded operations, a recording checks instead of the operands.

The value that a check reads depends only on the outcomes of earlier checks, so that paths fork where outcomes differ.
"""

import math
from collections.abc import Callable
from typing import Any

#: Up to here a quotient that is rounded down follows from the remainder without error.
EXACT = float(1 << 50)


def quotient(x: Any, y: Any, a: float, b: float, function: Callable[[Any, Any], Any]) -> Any:
    """``x // y`` or ``divmod(x, y)``, computed from the values a and b.

    A quotient of 0 has the sign of x, so that x must not be 0 then. Where an outcome is not decisive, the operands are
    shown, which checks all of their bits.
    """
    if not y:
        repr((x, y))
    found = function(a, b)
    whole = found if function is not divmod else found[0]
    size = (x - x % y) / y
    if not (abs(size) < EXACT and round(size) == whole and (whole != 0 or bool(x))):
        repr((x, y))
    return found


def knows_whole(x: Any, whole: float) -> bool:
    """Whether the whole part of x is known from checks, with its sign."""
    return bool(x) and bool(abs(x) < math.inf) and bool(x < 0) == (math.copysign(1, whole) < 0) and int(x) == whole


def exponent(x: float) -> float:
    """The exponent of `math.frexp`, which a replay computes again."""
    return float(math.frexp(x)[1])
