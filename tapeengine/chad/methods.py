"""Classes in programs that run on dual numbers: methods that ask whether something is a float are refused.

Functions are exchanged one by one, with what they call (`ordinary.py`), so that a traced number is a float to
`isinstance`. Methods stay as they are, as objects of their class are also elsewhere: there the answer would be no.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

from ..errors import UnsupportedError
from ..lift.functions import WITHOUT_PARTS
from ..naming import names_in
from .ordinary import NUMBERS, functions_on_duals, parts_of
from .twins import is_copied, methods_of, names_of

ASKING = frozenset({"isinstance", "issubclass", "type", "__class__"})
CLASSES = frozenset({"float", "complex", "ndarray", "float64", "complex128", "floating", "inexact"})
#: Methods that are called without their names. Operators on what they do not know fail, and are not refused here.
UNNAMED = frozenset({"__init__", "__post_init__", "__call__"})


def check_methods(function: Callable[..., Any], values: Iterable[Any]) -> None:
    """Refuse a function that calls, by its names or at some arguments, methods of a class that ask for a float.

    Raises
    ------
    UnsupportedError
        With the method, and what to write instead.
    """
    functions = functions_on_duals(function)
    outside = list(names_of(functions))
    met = {*(x for x in outside if isinstance(x, type)), *map(type, leaves(values))} - NUMBERS
    classes = {type(x) for x in outside if not isinstance(x, type)} - NUMBERS | {
        cls for cls in met if not is_copied(cls)
    }
    methods = [m for cls in classes for m in methods_of(cls)]
    for method in called(functions, methods):
        if asks(method):
            raise UnsupportedError(
                f"{method.__qualname__} asks whether something is a float, and {function.__qualname__} runs on dual "
                "numbers, which are none in methods: ask for numbers.Real (tapeengine.Array for arrays), or lift the "
                f"function, tapeengine.lift({function.__name__})"
            )


class Asking:
    """Looks for such methods before a function runs on dual numbers; once for each combination of classes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.checked: set[frozenset[type]] = set()

    def __call__(self, values: Sequence[Any]) -> None:
        """Look, and refuse as `check_methods` does."""
        classes = frozenset(map(type, values))
        if not WITHOUT_PARTS.issuperset(classes):
            classes = frozenset(map(type, leaves(values)))
        if classes not in self.checked:
            check_methods(self.function, values)
            self.checked.add(classes)


def called(functions: Sequence[FunctionType], methods: Sequence[FunctionType]) -> list[FunctionType]:
    """Give the methods whose names occur in functions, or in methods that they call."""
    names, found = set(UNNAMED), list(functions)
    for f in found:  # which grows
        names.update(names_in(f.__code__))
        found += [m for m in methods if m.__name__ in names and m not in found]
    return found[len(functions) :]


def leaves(values: Iterable[Any]) -> Iterator[Any]:
    """Go through values and all that containers among them hold."""
    seen = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            pending += parts_of(value)


def asks(function: FunctionType) -> bool:
    """Tell whether a function asks for the class of numbers or arrays."""
    code = function.__code__
    names = names_in(code)
    is_asked = not ASKING.isdisjoint(names) or any(i.opname == "MATCH_CLASS" for i in dis.get_instructions(code))
    return is_asked and not CLASSES.isdisjoint(names)
