"""Values of plain functions whose sums add from the left to the right.

From Python 3.12 on, the builtin `sum` compensates for the rounding of floats; the engine adds them in order.
"""

import builtins

import pytest


def added(values, /, start=0):
    """The sum of values, one after the other."""
    total = start
    for value in values:
        total = total + value
    return total


def in_order(function, *args):
    """The value of a plain call in which `sum` adds in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "sum", added)
        return function(*args)
