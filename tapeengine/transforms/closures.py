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
    structures: Structures, f: Callable[..., Any], is_wanted: Callable[[Any], bool] = is_traced
) -> tuple[list[Any], Callable[[list[Any]], Callable[..., Any]]]:
    """Return the traced values that a callable captures, and a function that makes it anew around other values.

    Parameters
    ----------
    structures : Structures
        The containers that are looked into.
    f : callable
    is_wanted : callable
        Says of a leaf whether it is to be lifted out; by default, whether it is traced.

    Returns
    -------
    captured : list
        The leaves that were lifted out, in a fixed order.
    around : callable
        ``around(values)`` is `f` with these in their places; `f` itself where there are none.
    """
    lift = Lift(structures, is_wanted)
    rebuild = lift.value(f, set())
    if rebuild is None:
        return [], lambda values: f
    return lift.captured, lambda values: rebuild(iter(values))


class Lift:
    """Collects the wanted leaves of what is captured; each method gives how to rebuild it, None where it has none."""

    def __init__(self, structures: Structures, is_wanted: Callable[[Any], bool]) -> None:
        self.structures = structures
        self.is_wanted = is_wanted
        self.captured: list[Any] = []

    def value(self, value: Any, seen: set[int]) -> Rebuild | None:
        """Look into a captured value; into functions that are not being looked into already."""
        if id(value) in seen:
            return None
        if isinstance(value, types.FunctionType):
            return self.function(value, seen | {id(value)})
        if isinstance(value, functools.partial):
            parts = [value.func, value.args, value.keywords]
            return self.parts(parts, seen, lambda p: functools.partial(p[0], *p[1], **p[2]))
        if isinstance(value, types.MethodType):
            return self.parts([value.__func__, value.__self__], seen, lambda p: types.MethodType(p[0], p[1]))
        return self.structure(value, seen)

    def function(self, f: types.FunctionType, seen: set[int]) -> Rebuild | None:
        """Look into a function's closure and its default arguments."""
        cells = f.__closure__ or ()
        contents = [_content(cell) for cell in cells]

        def rebuild(parts: list[Any]) -> Any:
            fresh = [cell if new is old else types.CellType(new) for cell, new, old in zip(cells, parts, contents)]
            made = types.FunctionType(f.__code__, f.__globals__, f.__name__, parts[-2], tuple(fresh))
            made.__kwdefaults__ = parts[-1]
            return made

        return self.parts([*contents, f.__defaults__, f.__kwdefaults__], seen, rebuild)

    def structure(self, value: Any, seen: set[int]) -> Rebuild | None:
        """Look into a container; a leaf is taken if it is wanted."""
        leaves, steps = flatten(self.structures, value)
        if len(leaves) == 1 and steps == [None]:
            if not self.is_wanted(value):
                return None
            self.captured.append(value)
            return next
        return self.parts(leaves, seen, lambda parts: unflatten(steps, parts))

    def parts(self, parts: list[Any], seen: set[int], make: Callable[[list[Any]], Any]) -> Rebuild | None:
        """Look into each part, and make the whole around what has changed."""
        found = [self.value(part, seen) for part in parts]
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
