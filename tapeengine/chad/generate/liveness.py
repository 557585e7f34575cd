"""What a block defines and uses, and which of its statements are needed."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from tapeengine.chad.imperative import (
    Add,
    AddAt,
    Assign,
    Branch,
    Call,
    Loop,
    Operand,
    Ref,
    Set,
    Statement,
    Store,
    Unpack,
)

__all__ = ["defined", "has_loop", "needed", "used"]


def has_loop(block: Iterable[Statement]) -> bool:
    """Tell whether there is a loop among statements, in inner blocks too.

    Examples
    --------
    >>> has_loop([Branch(Ref("b", (), "bool"), [Loop([])], [])])
    True
    """
    return any(
        isinstance(s, Loop) or (isinstance(s, Branch) and (has_loop(s.then) or has_loop(s.orelse))) for s in block
    )


def defined(block: Iterable[Statement]) -> set[str]:
    """Give the names that statements define, in inner blocks too."""
    names: set[str] = set()
    for s in block:
        match s:
            case Assign() | Set():
                names.add(s.out.name)
            case Unpack():
                names |= {out.name for out in s.outs}
            case Call():
                names |= {out.name for out in s.outs} | ({s.kept} if not s.backwards else set())
            case Loop():
                names |= defined(s.test) | defined(s.body) | {c.var.name for c in s.carried}
                names |= {c.out.name for c in s.carried} | {out.name for out, _ in s.collected} | {s.kept}
                if s.index is not None:
                    names.add(s.index.name)
            case Branch():
                names |= defined(s.then) | defined(s.orelse) | {j.out.name for j in s.joined} | {s.kept}
            case _:
                pass
    return names - {""}


def names_of(operands: Iterable[Operand | None]) -> dict[str, Ref]:
    """Give the variables among operands."""
    return {x.name: x for x in operands if isinstance(x, Ref)}


def used(block: Iterable[Statement]) -> dict[str, Ref]:
    """Give the variables that statements use, in order, in inner blocks too."""
    found: dict[str, Ref] = {}
    for s in block:
        found.update(uses(s))
    return found


def uses(s: Statement) -> dict[str, Ref]:
    """Give the variables that a statement uses."""
    match s:
        case Assign():
            return names_of(s.args)
        case Set():
            return names_of((s.value,))
        case Add():
            return names_of((s.out, s.value))
        case AddAt():
            return names_of((s.out, s.value, *s.args))
        case Store():
            return names_of((s.out, s.index, s.value))
        case Unpack():
            return names_of((s.value,))
        case Call():
            kept = {s.kept: Ref(s.kept, (), "box")} if s.backwards else {}
            return names_of((*s.args, *s.into)) | kept
        case Loop():
            inner = names_of((s.count, s.condition)) | used(s.test) | used(s.body)
            inner |= names_of([x for c in s.carried for x in (c.init, c.last)])
            inner |= names_of([x for _, x in s.collected])
            return _unpacking(s, inner, s.keeps)
        case Branch():
            inner = {}
            for block, keeps in zip((s.then, s.orelse), s.keeps, strict=True):
                inner |= _unpacking(s, used(block), keeps)
            inner |= names_of((s.condition,))
            inner |= names_of([x for j in s.joined for x in (j.then, j.orelse)])
            return inner
    raise TypeError(f"{type(s).__name__} is no statement")


def _unpacking(s: Loop | Branch, inner: dict[str, Ref], keeps: list[Ref]) -> dict[str, Ref]:
    """Take what a statement of a reverse pass unpacks from what its body uses."""
    if not s.backwards or not s.kept:
        return inner
    unpacked = {k.name for k in keeps}
    return {n: x for n, x in inner.items() if n not in unpacked} | {s.kept: Ref(s.kept)}


def needed(block: list[Statement], wanted: Iterable[str]) -> list[Statement]:
    """Give the statements of a block that some wanted names depend on."""
    live = set(wanted)
    kept: list[Statement] = []
    for s in reversed(block):
        s_needed = _needed(s, live)
        if s_needed is not None:
            kept.append(s_needed)
            live |= set(uses(s_needed))
    return kept[::-1]


def _needed(s: Statement, live: set[str]) -> Statement | None:
    match s:
        case Assign(op="same_size"):
            return s
        case Assign() | Set() | Add() | AddAt() | Store():
            return s if s.out.name in live else None
        case Unpack():
            return s if any(out.name in live for out in s.outs) else None
        case Call():
            wanted = {out.name for out in (*s.outs, *s.into)} | (set() if s.backwards else {s.kept})
            return s if not live.isdisjoint(wanted) else None
        case Loop():
            return _loop(s, live)
        case Branch():
            return _branch(s, live)
    return s


def _loop(s: Loop, live: set[str]) -> Loop | None:
    s = copy(s)  # what is live in a loop is found by trying, and a trial must not change the statements inside
    s.collected = [(out, x) for out, x in s.collected if out.name in live]
    wanted = {k.name for k in s.keeps} if not s.backwards else set()
    wanted |= set(names_of([s.condition, *(x for _, x in s.collected)])) | live
    before = -1
    while before != len(wanted):
        before = len(wanted)
        for c in s.carried:
            if c.out.name in live or c.var.name in wanted:
                wanted |= {c.var.name} | set(names_of((c.last,)))
        wanted |= set(used(needed(s.body, wanted))) | set(used(needed(s.test, wanted)))
    s.carried = [c for c in s.carried if c.out.name in live or c.var.name in wanted]
    s.body, s.test = needed(s.body, wanted), needed(s.test, wanted)
    has_effect = any(isinstance(t, Add | AddAt | Store | Call | Loop | Branch) for t in s.body)
    is_kept = s.kept in live and not s.backwards
    return s if s.carried or s.collected or has_effect or is_kept else None


def _branch(s: Branch, live: set[str]) -> Branch | None:
    s = copy(s)
    s.joined = [j for j in s.joined if j.out.name in live]
    for which, name in ((0, "then"), (1, "orelse")):
        wanted = live | set(names_of([j.then if which == 0 else j.orelse for j in s.joined]))
        wanted |= {k.name for k in s.keeps[which]} if not s.backwards else set()
        setattr(s, name, needed(getattr(s, name), wanted))
    is_kept = s.kept in live and not s.backwards
    return s if s.joined or s.then or s.orelse or is_kept else None
