"""Classes in programs that run on dual numbers: methods that ask whether something is a float are refused.

Functions are exchanged one by one, with what they call (`ordinary.py`), so that a traced number is a float to
`isinstance`. Methods stay as they are, as objects of their class are also elsewhere: there the answer would be no.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy

from .._core.arrays.array import Array
from .._core.scalars.scalar import Dual
from ..errors import UnsupportedError
from ..naming import names_in
from .ordinary import NUMBERS, functions_on_duals, parts_of
from .parse.names.callees import is_plain
from .parse.names.constants import content, global_names

ASKING = frozenset({"isinstance", "issubclass", "type", "__class__"})
CLASSES = frozenset({"float", "complex", "ndarray", "float64", "complex128", "floating", "inexact"})
#: Arguments of these types hold no others.
WITHOUT_PARTS = frozenset((float, int, bool, numpy.ndarray, numpy.float64, Dual, Array))
#: Methods that are called without their names. Operators on what they do not know fail, and are not refused here.
UNNAMED = frozenset({"__init__", "__post_init__", "__call__"})


def check_methods(function: Callable[..., Any], values: Iterable[Any], known: Iterable[type] = ()) -> None:
    """Refuse a function that calls, by its names or at some arguments, methods of a class that ask for a float.

    `known`: classes whose methods are exchanged for dual numbers.

    Raises
    ------
    UnsupportedError
        With the method, and what to write instead.
    """
    functions = functions_on_duals(function)
    met = [*names_of(functions), *leaves(values)]
    classes = {x if isinstance(x, type) else type(x) for x in met} - NUMBERS - set(known)
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

    def __init__(self, function: Callable[..., Any], known: frozenset[type] = frozenset()) -> None:
        self.function, self.known = function, known
        self.checked: set[frozenset[type]] = set()

    def __call__(self, values: Sequence[Any]) -> None:
        """Look, and refuse as `check_methods` does."""
        classes = frozenset(map(type, values))
        if not WITHOUT_PARTS.issuperset(classes):
            classes = frozenset(map(type, leaves(values)))
        if classes not in self.checked:
            check_methods(self.function, values, self.known)
            self.checked.add(classes)


def called(functions: Sequence[FunctionType], methods: Sequence[FunctionType]) -> list[FunctionType]:
    """Give the methods whose names occur in functions, or in methods that they call."""
    names, found = set(UNNAMED), list(functions)
    for f in found:  # which grows
        names.update(names_in(f.__code__))
        found += [m for m in methods if m.__name__ in names and m not in found]
    return found[len(functions) :]


def names_of(functions: Iterable[FunctionType]) -> Iterator[Any]:
    """Go through what functions read from outside."""
    for f in functions:
        yield from (f.__globals__.get(name) for name in global_names(f.__code__))
        yield from map(content, f.__closure__ or ())


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


def methods_of(cls: type) -> Iterator[FunctionType]:
    """Go through the functions of methods, properties, class methods and static methods, also of classes above."""
    for value in (x for c in cls.__mro__ for x in vars(c).values()):
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if is_plain(function):
            yield function


def asks(function: FunctionType) -> bool:
    """Tell whether a function asks for the class of numbers or arrays."""
    code = function.__code__
    names = names_in(code)
    is_asked = not ASKING.isdisjoint(names) or any(i.opname == "MATCH_CLASS" for i in dis.get_instructions(code))
    return is_asked and not CLASSES.isdisjoint(names)
