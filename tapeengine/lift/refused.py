"""Types that cannot carry a derivative: exact fractions, decimals, bytes and arrays of C numbers.

For a traced number, their constructors would raise an unclear error or silently use the value. In lifted code they
raise an error that names the line.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .._core.arrays.array import holds_traced
from .._core.programs.callables import stand_in, stand_ins
from ..dropped import place_of_call
from ..duals.foreign import shared
from ..errors import DroppedDerivativeError
from ..naming import named_like

NAMES = {
    "struct": ("pack", "pack_into", "Struct"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "array": ("array", "ArrayType"),
}


def refused(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function that refuses traced numbers."""

    def checked(*args: Any, **options: Any) -> Any:
        args = tuple(list(x) if isinstance(x, Iterable) and hasattr(x, "__next__") else shared(x) for x in args)
        if any(map(holds_traced, args)):
            call, place = place_of_call(sys._getframe(1))
            raise DroppedDerivativeError(
                f"{call or name} would lose the derivative of a traced number ({place}): {name} holds plain numbers "
                "only. Keep the number a float there; "
                "tapeengine.value(x) drops the derivative on purpose"
            )
        return function(*args, **options)

    checked.__module__ = function.__module__
    return named_like(checked, function)


def refusing(module: str) -> dict[str, Any]:
    """The replacements for names of a module that refuse traced numbers."""
    there = importlib.import_module(module)
    found: dict[str, Any] = {}
    for name in NAMES[module]:
        value = getattr(there, name)
        if isinstance(value, type) and value.__name__ != "Struct":
            found[name] = stand_ins().get(value) or stand_in(value, (), refused(value, f"{module}.{name}"))
        elif not isinstance(value, type):
            found[name] = refused(value, f"{module}.{name}")
    return found
