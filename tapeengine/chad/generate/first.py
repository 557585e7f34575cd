"""The first contribution to a scalar or a box is its value: ``d = 0.0; ...; d += x`` becomes ``d = x``."""

from __future__ import annotations

from collections.abc import Iterable

from tapeengine.chad.generate.liveness import defined
from tapeengine.chad.imperative import Add, Assign, Branch, Call, Const, Loop, Operand, Ref, Set, Statement

__all__ = ["first_contributions"]


def first_contributions(block: list[Statement], zero: Iterable[str] = ()) -> set[str]:
    """Rewrite the first contributions in a block of a reverse pass; give the names that are still zero after it.

    Parameters
    ----------
    block : list of statements
        Changed in place.
    zero : iterable of str
        Variables without axes that are zero before it.
    """
    still = set(zero)
    for i, s in enumerate(block):
        match s:
            case Assign(out, "none"):
                still.add(out.name)
            case Set():
                still = still | {s.out.name} if _is_zero(s.value, still) else still - {s.out.name}
            case Add() if s.out.name in still:
                block[i] = Set(s.out, s.value)
                still.discard(s.out.name)
            case Branch():
                still = first_contributions(s.then, still) & first_contributions(s.orelse, still)
            case Loop():
                still -= changed([s])
                first_contributions(s.body)
            case Call():
                still -= {out.name for out in s.outs}
    return still


def _is_zero(x: Operand, zero: set[str]) -> bool:
    return x == Const(0.0) or (isinstance(x, Ref) and x.name in zero)


def changed(block: Iterable[Statement]) -> set[str]:
    """Give the names that statements define or add to."""
    names = defined(block)
    for s in block:
        match s:
            case Add():
                names.add(s.out.name)
            case Branch():
                names |= changed(s.then) | changed(s.orelse)
            case Loop():
                names |= changed(s.body)
    return names
