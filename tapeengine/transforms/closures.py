"""Closures over traced values made into arguments: closure conversion of ordinary Python callables.

A function that is run again later, once its trace is over (`checkpoint`, `iterate`), may not capture traced values.
Those in the cells of its closure, its default arguments, its partial arguments or the object that it is a method of
are lifted out into arguments, also from functions that it captures.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from tapeengine.structure import Structures
from tapeengine.transforms.forms import flatten, is_traced, unflatten

__all__ = ["lifted"]

Rebuild = Callable[[Iterator[Any]], Any]


def lifted(
    structures: Structures, f: Callable[..., Any]
) -> tuple[list[Any], Callable[[list[Any]], Callable[..., Any]]]:
    """Return the traced values that a callable captures, and a function that makes it anew around other values.

    Parameters
    ----------
    structures : Structures
        The containers that are looked into.
    f : callable

    Returns
    -------
    captured : list
        The traced leaves, in a fixed order.
    around : callable
        ``around(values)`` is `f` with these in their places; `f` itself where nothing traced is captured.
    """
    captured: list[Any] = []
    rebuild = _lift(structures, f, captured, set())
    if rebuild is None:
        return [], lambda values: f
    return captured, lambda values: rebuild(iter(values))


def _lift(structures: Structures, value: Any, captured: list[Any], seen: set[int]) -> Rebuild | None:
    """Collect the traced leaves of a captured value; how to rebuild it, or None where it has none."""
    if id(value) in seen:
        return None
    if isinstance(value, types.FunctionType):
        return _lift_function(structures, value, captured, seen | {id(value)})
    if isinstance(value, functools.partial):
        parts = [value.func, value.args, value.keywords]
        return _lift_all(structures, parts, captured, seen, lambda p: functools.partial(p[0], *p[1], **p[2]))
    if isinstance(value, types.MethodType):
        parts = [value.__func__, value.__self__]
        return _lift_all(structures, parts, captured, seen, lambda p: types.MethodType(p[0], p[1]))
    return _lift_structure(structures, value, captured, seen)


def _lift_function(
    structures: Structures, f: types.FunctionType, captured: list[Any], seen: set[int]
) -> Rebuild | None:
    cells = f.__closure__ or ()
    contents = [_content(cell) for cell in cells]

    def rebuild(parts: list[Any]) -> Any:
        fresh = [cell if new is old else types.CellType(new) for cell, new, old in zip(cells, parts, contents)]
        made = types.FunctionType(f.__code__, f.__globals__, f.__name__, parts[-2], tuple(fresh))
        made.__kwdefaults__ = parts[-1]
        return made

    return _lift_all(structures, [*contents, f.__defaults__, f.__kwdefaults__], captured, seen, rebuild)


def _lift_structure(structures: Structures, value: Any, captured: list[Any], seen: set[int]) -> Rebuild | None:
    leaves, steps = flatten(structures, value)
    if len(leaves) == 1 and steps == [None]:
        if not is_traced(value):
            return None
        captured.append(value)
        return next
    return _lift_all(structures, leaves, captured, seen, lambda parts: unflatten(steps, parts))


def _lift_all(
    structures: Structures, parts: list[Any], captured: list[Any], seen: set[int], make: Callable[[list[Any]], Any]
) -> Rebuild | None:
    """Lift each part, and make the whole around what has changed."""
    found = [_lift(structures, part, captured, seen) for part in parts]
    if all(rebuild is None for rebuild in found):
        return None

    def rebuild(values: Iterator[Any]) -> Any:
        return make([part if one is None else one(values) for part, one in zip(parts, found, strict=True)])

    return rebuild


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None
