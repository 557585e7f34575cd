"""The evaluation ``hello``: the square of a number, and its derivative."""

from typing import Any

import tapeengine as te

from .functions import Function


def square(x: Any) -> Any:
    """Return x squared."""
    return x * x


def given(x: Any) -> tuple[float]:
    """Convert the input, which is only the number."""
    return (float(x),)


FUNCTIONS = {"square": Function(given, square), "double": Function(given, te.grad(square))}
