"""Find programs that handle floating-point errors: a replay computes on, and reports none.

numpy warns of an error, or raises, as the program or its caller has said. A program that sets this by itself, by
`numpy.errstate` or by filters of warnings, also looks at the outcome: its code names one of a few functions.
"""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tapeengine.transforms.program_objects import global_names, is_fixed

_NAMES = frozenset(("errstate", "seterr", "seterrcall", "catch_warnings"))


def handles_errors(captured: Iterable[Any]) -> bool:
    """Whether captured functions, or functions of the program that these name, handle floating-point errors."""
    pending, seen = list(captured), set[int]()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (np.errstate, warnings.catch_warnings)):
            return True
        if type(value) is types.FunctionType:
            names = global_names(value.__code__)
            if not _NAMES.isdisjoint(names):
                return True
            pending += _named(names, value.__globals__)
        elif isinstance(value, type):
            pending += _functions_of(value)
        elif type(value).__module__ != "builtins":
            pending += [type(value), inspect.getattr_static(value, "__wrapped__", None)]
    return False


def _named(names: tuple[str, ...], found: dict[str, Any]) -> Iterator[Any]:
    """The functions and classes of the program that code names, in its namespace or in modules named there."""
    for name in names:
        value = found.get(name)
        if type(value) is types.ModuleType:
            if not is_fixed(value):
                yield from _named(names, vars(value))
        elif callable(value) and not is_fixed(value):
            yield value


def _functions_of(kind: type) -> list[Any]:
    """The functions that a class of the program and its bases define, also as properties and static methods."""
    parts = [part for base in kind.__mro__ if not is_fixed(base) for part in vars(base).values()]
    parts += [getattr(part, "fget", None) or getattr(part, "func", None) or part for part in parts]
    return [getattr(part, "__func__", part) for part in parts]
