"""The parameters of Python functions: names, defaults, and parameters by name only as parameters by position."""

from __future__ import annotations

import linecache
from inspect import CO_VARARGS, CO_VARKEYWORDS, getblock
from types import FunctionType
from typing import Any


def source_of(function: Any) -> tuple[list[str], int]:
    """Give the lines of a function's own text, or of a code object's, and the number of the first one.

    `inspect.getsourcelines` reads what a function has in ``__wrapped__``, and looks through all modules for its own.

    It raises `OSError` if there is no text.
    """
    code = getattr(function, "__code__", function)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, getattr(function, "__globals__", None))
    if not 0 < code.co_firstlineno <= len(lines):
        raise OSError("could not get source code")
    return getblock(lines[code.co_firstlineno - 1 :]), code.co_firstlineno


def names_of(function: Any) -> tuple[str, ...]:
    """Give the names of a function's parameters, those by name only last; those with stars are each one of these."""
    rest, more = stars_of(function)
    code = function.__code__
    places, by_name = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    return (*code.co_varnames[:places], *rest, *code.co_varnames[places:by_name], *more)


def stars_of(function: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the names of the parameters with one star and with two, if there are such."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    has_rest, has_more = bool(code.co_flags & CO_VARARGS), bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_varnames[count : count + has_rest], code.co_varnames[count + has_rest :][:has_more]


def defaults_of(function: Any) -> dict[str, Any]:
    """Give the defaults of a function's parameters."""
    values = function.__defaults__ or ()
    names = names_of(function)[: function.__code__.co_argcount]
    return {**dict(zip(names[len(names) - len(values) :], values, strict=True)), **(function.__kwdefaults__ or {})}


def by_position(function: Any) -> Any:
    """Give a function that takes each of its arguments by position, or by name."""
    code = getattr(function, "__code__", None)
    if code is None or not (code.co_kwonlyargcount or code.co_posonlyargcount):
        return function
    code = code.replace(co_argcount=len(names_of(function)), co_kwonlyargcount=0, co_posonlyargcount=0)
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
