"""Which variables depend on the parameters that are differentiated."""

from __future__ import annotations

from collections.abc import Iterable

from tapeengine.chad.imperative import Assign, Branch, Loop, Operand, Ref, Statement
from tapeengine.chad.primitives import DISCRETE

__all__ = ["activate", "declarations"]


def activate(block: Iterable[Statement], active: set[str]) -> None:
    """Add those variables of a block that depend on active ones."""
    for s in block:
        match s:
            case Assign(out, op, args):
                if out.kind in ("float", "tuple") and op not in DISCRETE and any(_is_active(x, active) for x in args):
                    active.add(out.name)
            case Loop():
                _loop(s, active)
            case Branch():
                activate(s.then, active)
                activate(s.orelse, active)
                for j in s.joined:
                    if j.out.kind == "float" and (_is_active(j.then, active) or _is_active(j.orelse, active)):
                        active.add(j.out.name)


def _loop(s: Loop, active: set[str]) -> None:
    before = -1
    while before != len(active):
        before = len(active)
        for c in s.carried:
            if c.var.kind == "float" and (_is_active(c.init, active) or _is_active(c.last, active)):
                active |= {c.var.name, c.out.name}
        activate(s.body, active)
    active |= {out.name for out, x in s.collected if out.kind == "float" and _is_active(x, active)}


def _is_active(x: Operand, active: set[str]) -> bool:
    return isinstance(x, Ref) and x.name in active


def declarations(block: Iterable[Statement], into: dict[str, Ref]) -> None:
    """Collect each variable of a block as it is defined."""
    for s in block:
        match s:
            case Assign():
                into[s.out.name] = s.out
            case Loop():
                for c in s.carried:
                    into[c.var.name], into[c.out.name] = c.var, c.out
                into.update({out.name: out for out, _ in s.collected})
                if s.index is not None:
                    into[s.index.name] = s.index
                declarations(s.test, into)
                declarations(s.body, into)
            case Branch():
                into.update({j.out.name: j.out for j in s.joined})
                declarations(s.then, into)
                declarations(s.orelse, into)
