"""The language's constructors as functions, for terms that Python has no expression for.

Inside a `program` they are constructors; in ordinary Python they compute the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeengine.chad.functions import fold, gather, replicate, scan, scatter
from tapeengine.chad.primitives import evaluate_op
from tapeengine.chad.registered import named
from tapeengine.chad.values import Tagged

__all__ = [
    "build", "case", "concatenate", "elements", "filter", "fold", "function", "gather", "inject", "let", "loop", "map",
    "op", "primitive", "replicate", "scan", "scatter", "total", "while_loop",
]  # fmt: skip


def let(value: Any, body: Callable[[Any], Any]) -> Any:
    """``let x = value in body(x)``."""
    return body(value)


def op(name: str, *args: Any) -> Any:
    """Apply a scalar operation by its name in `tapeengine.chad.primitives`."""
    return evaluate_op(name, args)


def primitive(name: str, *args: Any, **static: Any) -> Any:
    """Apply a primitive of the registry by its name."""
    return named(name)(*args, **static)


def inject(of: Any, index: int, value: Any) -> Tagged:
    """Make the member number `index` of a sum type."""
    return Tagged(index, value)


def case(value: Tagged, *branches: Callable[[Any], Any]) -> Any:
    """Match a member of a sum, with one branch for each option."""
    return branches[value.option](value.payload)


def function(params: tuple[Any, ...], body: Callable[..., Any]) -> Callable[..., Any]:
    """Give a lambda the types of its parameters."""
    return body


def build(size: int, body: Callable[[int], Any]) -> list[Any]:
    """``[body(i) for i in range(size)]``."""
    return [body(i) for i in range(size)]


def elements(of: Any, *items: Any) -> list[Any]:
    """Make an array of items of a type, possibly of none."""
    return list(items)


def map(body: Callable[..., Any], *arrays: Sequence[Any]) -> list[Any]:
    """``[body(x, ...) for x, ... in zip(arrays)]``."""
    return [body(*xs) for xs in zip(*arrays, strict=False)]


def filter(condition: Callable[[Any], bool], array: Sequence[Any]) -> list[Any]:
    """``[x for x in array if condition(x)]``."""
    return [x for x in array if condition(x)]


def loop(size: int, init: Any, body: Callable[[int, Any], Any]) -> Any:
    """``for i in range(size): state = body(i, state)``."""
    state = init
    for i in range(size):
        state = body(i, state)
    return state


def while_loop(init: Any, condition: Callable[[Any], bool], body: Callable[[Any], Any]) -> Any:
    """``while condition(state): state = body(state)``."""
    state = init
    while condition(state):
        state = body(state)
    return state


def total(array: Sequence[Any]) -> Any:
    """``sum(array)``."""
    return sum(array)


def concatenate(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """Give the elements of two arrays, one after the other."""
    return [*first, *second]
