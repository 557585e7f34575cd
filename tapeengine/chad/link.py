"""Join the definitions of several programs in one module."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..errors import UnsupportedError
from ..recursion import deep
from .language.terms import Call, Definition, Module, Term
from .language.traverse import map_children
from .language.types import Sum
from .parse.names.types import name_classes
from .parse.operations.state import Parsed


@deep()
def link(program: Any) -> tuple[Module, dict[str, type], dict[str, Any]]:
    """Give the module of a program and its callees, the classes of its named products, and its primitives."""
    definitions: dict[str, Definition] = {}
    types: dict[str, Sum] = {}
    classes: dict[str, type] = {}
    primitives: dict[str, Any] = {}
    by_numpy = copies = mixes = False
    chooses = 0
    pending: list[Any] = [program]
    seen: set[str] = set()
    while pending:
        unit = pending.pop()
        if unit.symbol in seen:
            continue
        seen.add(unit.symbol)
        if unit is not program and getattr(unit, "changes", None):
            raise UnsupportedError(f"{unit.symbol} changes its arguments: call it in a statement, by its name")
        parsed: Parsed = unit.parsed()
        definitions.update(parsed.definitions)
        types.update(parsed.types)
        name_classes(classes, parsed.classes)
        primitives.update(parsed.primitives)
        by_numpy = by_numpy or parsed.by_numpy
        copies = copies or parsed.copies
        mixes = mixes or parsed.mixes
        chooses |= parsed.chooses
        pending += parsed.programs.values()
    short = short_names(definitions)
    renamed = {
        short[name]: dataclasses.replace(d, name=short[name], body=rename_calls(d.body, short))
        for name, d in definitions.items()
    }
    return Module(short[program.symbol], renamed, types, by_numpy, copies, mixes, chooses), classes, primitives


def short_names(definitions: Mapping[str, Definition]) -> dict[str, str]:
    """Shorten each symbol to the last part of its name if that is unique."""
    last = {symbol: symbol.split(".")[-1].replace("<", "_").replace(">", "_") for symbol in definitions}
    counts = list(last.values())
    whole = {s: "".join(c if c.isidentifier() or c.isdigit() else "_" for c in s) for s in last}
    return {symbol: name if counts.count(name) == 1 else whole[symbol] for symbol, name in last.items()}


def rename_calls(term: Term, names: Mapping[str, str]) -> Term:
    """Rename the definitions that a term calls."""
    term = map_children(term, lambda child: rename_calls(child, names))
    if isinstance(term, Call) and names.get(term.name, term.name) != term.name:
        return dataclasses.replace(term, name=names[term.name])
    return term
