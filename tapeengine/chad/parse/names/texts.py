"""Operations on texts, which are known when a program is read: Python does them then."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum
from typing import Any

#: Stands for a value that only a run knows.
MISSING: Any = object()


def is_key(value: Any) -> bool:
    """Tell whether a value may be the key of a dict: a text, an integer, an enumeration's member, a tuple of these."""
    if isinstance(value, tuple):
        return type(value) is tuple and all(map(is_key, value))
    return isinstance(value, str | int | Enum)


def known_text(node: ast.expr, known: Callable[[ast.expr], Any]) -> Any:
    """Give the value of an operation on texts, MISSING for any other expression."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right) if isinstance(second := known(right), str):
            first = known(left)
            return first + second if isinstance(first, str) else MISSING
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args, keywords=[]):
            owner = known(value)
            return method(owner, attr, list(map(known, args))) if isinstance(owner, str) else MISSING
        case ast.Call(func=ast.Name() as function, args=[only], keywords=[]) if isinstance(text := known(only), str):
            called = known(function)
            try:
                return called(text) if any(called is number for number in (float, int, len, ord)) else MISSING
            except (TypeError, ValueError):  # which a run raises
                return MISSING
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case ast.Subscript(value=value, slice=index) if isinstance(owner := known(value), str):
            ends = (index.lower, index.upper, index.step) if isinstance(index, ast.Slice) else (index,)
            found: list[Any] = [end and known(end) for end in ends]
            try:
                return owner[slice(*found) if len(found) > 1 else found[0]]
            except (IndexError, TypeError, ValueError):  # which a run raises, or an index that only a run knows
                return MISSING
        case ast.JoinedStr(values=values):
            parts = [formatted(part, known) for part in values]
            return MISSING if any(part is MISSING for part in parts) else "".join(parts)
    return MISSING


def method(owner: str, name: str, args: list[Any]) -> Any:
    """Call a method of a text."""
    called = getattr(owner, name, None)
    return MISSING if called is None or any(arg is MISSING for arg in args) else called(*args)


def formatted(part: ast.expr, known: Callable[[ast.expr], Any]) -> Any:
    """Give the text of a part of an f-string."""
    if not isinstance(part, ast.FormattedValue):
        return known(part)
    value = known(part.value)
    form = "" if part.format_spec is None else known(part.format_spec)
    if value is MISSING or form is MISSING:
        return MISSING
    return format(
        {ord("s"): str(value), ord("r"): repr(value), ord("a"): ascii(value)}.get(part.conversion, value), form
    )
