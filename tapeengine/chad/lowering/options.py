"""Which options of a case are told apart: those whose branches are the same are one branch.

A test of a class has a branch for each option of a union, and all but one are the rest of the program.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from ..language import terms as S
from ..language.traverse import children

#: The fields that hold names of variables: slots of accumulators, whose names are those of the variables.
NAMED = frozenset(("slot", "slots"))


def told_apart(t: S.Case, possible: list[int]) -> list[int]:
    """Give options that have branches of their own, and last one that stands for itself and for all others."""
    if len(possible) < 3:
        return possible
    branches = t.by_option
    for default in (possible[-1],) if t.options else (possible[-1], possible[0]):
        others = [k for k in possible if k != default and not is_same(branches[k], branches[default])]
        if len(others) < len(possible) - 1:
            return [*others, default]
    return possible


def is_same(first: S.Branch, second: S.Branch) -> bool:
    """Tell whether two branches differ by the names that they bind only, and do not use their options."""
    names: dict[str, str] = {}
    pairs: list[tuple[S.Term, S.Term]] = [(first.body, second.body)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, S.Var) and isinstance(b, S.Var):
            if a.name == first.var.name or b.name == second.var.name or names.get(a.name, a.name) != b.name:
                return False
            continue
        below, other = children(a), children(b)
        if len(below) != len(other):
            return False
        for (x, own), (y, others) in zip(below, other, strict=True):
            if [v.of for v in own] != [v.of for v in others]:
                return False
            names.update((v.name, w.name) for v, w in zip(own, others, strict=True))
            pairs.append((x, y))
        if not are_plain_fields_same(a, b, names):
            return False
    return True


def are_plain_fields_same(a: S.Term, b: S.Term, names: dict[str, str]) -> bool:
    """Tell whether the fields that are no terms and no bound variables are the same, but for these names."""
    cls: Any = type(a)
    for name in names_of(cls):
        x, y = getattr(a, name), getattr(b, name)
        first = x[0] if isinstance(x, tuple) and x else x
        if not isinstance(first, S.Term) and (translated(x, names) if name in NAMED else x) != y:
            return False
    return True


@functools.cache
def names_of(cls: type) -> tuple[str, ...]:
    """Give the names of the fields of a constructor."""
    return tuple(f.name for f in dataclasses.fields(cls))


def translated(x: Any, names: dict[str, str]) -> Any:
    """Give a field with other names."""
    if isinstance(x, tuple):
        return tuple(translated(part, names) for part in x)
    return names.get(x, x) if isinstance(x, str) else x
