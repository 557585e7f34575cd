"""What is found under the name of a program: pickles of functions are names."""

import sys
from typing import Any


def found_as(program: Any) -> Any:
    """Return what a program's module holds under the program's name; None if it holds nothing there.

    Examples
    --------
    >>> found_as(found_as) is found_as, found_as(lambda x: x)
    (True, None)
    """
    found: Any = sys.modules.get(getattr(program, "__module__", None) or "")
    for part in getattr(program, "__qualname__", "<").split("."):
        found = getattr(found, part, None)
    return found


def reduced(made: Any, program: Any, call: Any) -> Any:
    """Return what pickle stores of something made of a program: the name of a decorated function, else a call."""
    return program.__qualname__ if found_as(program) is made else call
