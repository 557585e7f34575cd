"""Which variables depend on the parameters that are differentiated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tapeengine.chad.generate.recursion import Unit
from tapeengine.chad.imperative import Assign, Branch, Call, Loop, Operand, Ref, Statement, Unpack
from tapeengine.chad.primitives import DISCRETE

__all__ = ["CONTINUOUS", "activate", "activate_all", "declarations"]

#: The kinds of variables that may depend on what is differentiated.
CONTINUOUS = ("float", "box", "list", "tuple")


def activate_all(block: Iterable[Statement], units: Mapping[str, Unit], active: set[str]) -> None:
    """Add the variables of a program and of its recursive definitions that depend on active ones."""
    blocks = [block, *(unit.b.block for unit in units.values())]
    before = -1
    while before != len(active):
        before = len(active)
        for each in blocks:
            activate(each, active, units)


def activate(block: Iterable[Statement], active: set[str], units: Mapping[str, Unit] = MappingProxyType({})) -> None:
    """Add those variables of a block that depend on active ones."""
    for s in block:
        match s:
            case Assign(out, op, args):
                if out.kind in CONTINUOUS and op not in DISCRETE and any(_is_active(x, active) for x in args):
                    active.add(out.name)
            case Unpack(outs, value):
                if _is_active(value, active):
                    active |= {out.name for out in outs if out.kind in CONTINUOUS}
            case Call():
                _call(s, active, units[s.name])
            case Loop():
                _loop(s, active, units)
            case Branch():
                activate(s.then, active, units)
                activate(s.orelse, active, units)
                for j in s.joined:
                    if j.out.kind in CONTINUOUS and (_is_active(j.then, active) or _is_active(j.orelse, active)):
                        active.add(j.out.name)


def _call(s: Call, active: set[str], unit: Unit) -> None:
    each = zip(unit.params, s.args, strict=False)
    active |= {p.name for p, x in each if p.kind in CONTINUOUS and _is_active(x, active)}
    active |= {out.name for out, x in zip(s.outs, unit.results, strict=True) if _is_active(x, active)}


def _loop(s: Loop, active: set[str], units: Mapping[str, Unit]) -> None:
    before = -1
    while before != len(active):
        before = len(active)
        for c in s.carried:
            if c.var.kind in CONTINUOUS and (_is_active(c.init, active) or _is_active(c.last, active)):
                active |= {c.var.name, c.out.name}
        activate(s.body, active, units)
    active |= {out.name for out, x in s.collected if out.kind in CONTINUOUS and _is_active(x, active)}


def _is_active(x: Operand, active: set[str]) -> bool:
    return isinstance(x, Ref) and x.name in active


def declarations(block: Iterable[Statement], into: dict[str, Ref]) -> None:
    """Collect each variable of a block as it is defined."""
    for s in block:
        match s:
            case Assign():
                into[s.out.name] = s.out
            case Unpack():
                into.update({out.name: out for out in s.outs})
            case Call():
                into.update({out.name: out for out in s.outs})
                into[s.kept] = Ref(s.kept, (), "box")
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
