"""Which options of a case are told apart: those whose branches are the same are one branch.

A test of a class has a branch for each option of a union, and all but one are the rest of the program.
"""

from __future__ import annotations

from ..language import terms as S
from ..language.traverse import same


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
    return same(first.body, second.body, {first.var.name: ""})  # which no variable has
