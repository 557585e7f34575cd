"""Structures of scalars by their types, which `Interleave` and `Deinterleave` of DN Fig. 7 traverse.

leaves(R, x) = [x]    leaves((s, t), (x, y)) = leaves(s, x) ++ leaves(t, y)    leaves(Z, n) = []
leaves(s | t, in_i(x)) = leaves of option i    leaves(T, x) = leaves(the definition of T, x)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ..chad.language.types import Array, Float, Named, Product, Sum, Type
from ..chad.language.values import Tagged

#: The way to a leaf: the index of the component in each product; the payload of an option is component 0.
Path = tuple[int, ...]
Types = Mapping[str, Sum]
T = TypeVar("T", bound=Type)


def homomorphic(of: T, turn: Callable[[Type], Type]) -> T:
    """A product, a sum or an array of transformed types; other types unchanged."""
    match of:
        case Product(items):
            return replace(of, items=tuple(map(turn, items)))
        case Sum(options):
            return replace(of, options=tuple(map(turn, options)))
        case Array(element):
            return replace(of, element=turn(element))
    return of


def paths(of: Type, whole: Any, types: Types, prefix: Path = ()) -> list[Path]:
    """The paths to the scalars of a value, from left to right."""
    match of:
        case Float():
            return [prefix]
        case Product(items):
            parts = [paths(t, part, types, (*prefix, k)) for k, (t, part) in enumerate(zip(items, whole, strict=True))]
            return [path for part in parts for path in part]
        case Sum(options):
            return paths(options[whole.option], whole.payload, types, (*prefix, 0))
        case Named(name):
            return paths(types[name], whole, types, prefix)
    return []


def read(whole: Any, path: Path) -> Any:
    """The value at the end of a path."""
    for k in path:
        whole = whole.payload if isinstance(whole, Tagged) else whole[k]
    return whole


def leaves(of: Type, whole: Any, types: Types) -> list[Any]:
    """The scalars of a value, from left to right."""
    return [read(whole, path) for path in paths(of, whole, types)]


def update(whole: Any, path: Path, change: Callable[[Any], Any], visit: Callable[[int], None]) -> Any:
    """A copy with one leaf changed; it shares the other subtrees. ``visit`` is called with the number of cells made."""
    if not path:
        return change(whole)
    if isinstance(whole, Tagged):
        visit(1)
        return Tagged(whole.option, update(whole.payload, path[1:], change, visit))
    visit(len(whole))
    part = update(whole[path[0]], path[1:], change, visit)
    return (*whole[: path[0]], part, *whole[path[0] + 1 :])


def fill(of: Type, whole: Any, types: Types, leaf: Callable[[Any], Any], discrete: Callable[[Any], Any]) -> Any:
    """The same structure with other leaves; ``leaf`` is called from left to right."""
    match of:
        case Float():
            return leaf(whole)
        case Product(items):
            return tuple(fill(t, part, types, leaf, discrete) for t, part in zip(items, whole, strict=True))
        case Sum(options):
            return Tagged(whole.option, fill(options[whole.option], whole.payload, types, leaf, discrete))
        case Named(name):
            return fill(types[name], whole, types, leaf, discrete)
    return discrete(whole)
