"""Programs that provide their own derivative, as a `te.program` does."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def own_derivative(program: Callable[..., Any], name: str) -> Callable[..., Any] | None:
    """Return the method `name` of a program's class; None if it has none.

    Functions have none. Looking it up would raise an exception each time: a tenth of the time to enter and leave `vjp`.

    Examples
    --------
    >>> own_derivative(lambda x: x, "__tapeengine_vjp__") is None
    True
    """
    return None if type(program) is FunctionType else getattr(type(program), name, None)
