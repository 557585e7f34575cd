"""Methods of classes in programs that run on dual numbers: such a program is lifted with its classes.

Functions are exchanged one by one, with what they call (`ordinary.py`). A class cannot be: its objects leave the
program, and `isinstance` and `type` name it. Lifting has twins of classes, and hands over their objects both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

from ..errors import UnsupportedError
from ..lift.targets import relinked
from .ordinary import NUMBERS, on_duals, parts_of
from .parse.names.callees import is_plain
from .parse.names.constants import content, global_names


def relinked_function(function: Any) -> Callable[..., Any]:
    """Give a function with the names of lifted code, and with the twins of the classes of its module."""
    return relinked(function.__globals__, ()).entry(function, ())  # type: ignore[no-any-return]


def has_methods(function: Callable[..., Any], values: Iterable[Any]) -> bool:
    """Tell whether a function at some arguments meets classes with methods that dual numbers need in another form.

    Raises
    ------
    UnsupportedError
        If a variable around the function holds an object of such a class, as the function shares that variable.
    """
    known = dict[Any, Any]()
    on_duals(function, known)
    functions = [f for f in known if is_plain(f)]
    around = [(n, content(c)) for f in functions for n, c in zip(f.__code__.co_freevars, f.__closure__ or ())]
    for name, held in around:
        if not isinstance(held, type) and is_changed(type(held)):
            raise UnsupportedError(
                f"{name}, a variable around {function.__qualname__}, holds an object of {type(held).__name__}, whose "
                "methods use functions of plain numbers, and the program runs on dual numbers: make the object in the "
                "program, or pass it as an argument"
            )
    outside = [f.__globals__.get(name) for f in functions for name in global_names(f.__code__)]
    met = (*outside, *(held for _, held in around), *leaves(values))
    return any(map(is_changed, {x if isinstance(x, type) else type(x) for x in met} - NUMBERS))


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


def is_changed(cls: type) -> bool:
    """Tell whether a class, or one above it, has a method of which dual numbers need another form."""
    functions = (code_of(x) for c in cls.__mro__ for x in vars(c).values())
    return any(is_plain(f) and is_exchanged(f) for f in functions)


def code_of(value: Any) -> Any:
    """Give the function of a method, a property, a class method or a static method."""
    return getattr(value, "fget", None) or getattr(value, "__func__", value)


def is_exchanged(function: FunctionType) -> bool:
    """Tell whether dual numbers need another form of a function."""
    try:
        return on_duals(function) is not function
    except UnsupportedError:
        return True
