"""Choose the definitions that become functions; calls of the others are inlined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..language.terms import Call, Module, Term
from ..language.traverse import every_term
from ..language.types import Array, Product, Type

#: If a program with all calls inlined has at most this many constructors, only recursive definitions become functions.
LARGE = 500
#: So it is if calls make a program longer by at most this factor, up to `LONGEST` constructors.
GROWTH, LONGEST = 4, 4000
#: In another program a definition is inlined if all of its copies have at most this many constructors.
SMALL = 400


def own_functions(module: Module) -> frozenset[str]:
    """Give the definitions that call themselves, and those whose copies would make the program large."""
    sizes: dict[str, int] = {}
    calls: dict[str, Counter[str]] = {}
    for name, definition in module.definitions.items():
        sizes[name], calls[name] = measured(definition.body)
    again = recursive(calls)
    whole = expanded(module.main, sizes, calls, again)
    if whole[module.main] <= max(LARGE, min(GROWTH * sum(sizes.values()), LONGEST)):
        return again
    found = set(again)
    copies = Counter([module.main])
    for name in reversed(whole):  # callers come first
        definition = module.definitions[name]
        types = [*(p.of for p in definition.params), definition.result]
        if copies[name] > 1 and copies[name] * whole[name] > SMALL and all(map(is_flat, types)):
            found.add(name)
            copies[name] = 1
        for callee, count in calls[name].items():
            copies[callee] += count * copies[name]
    return frozenset(found)


def measured(body: Term) -> tuple[int, Counter[str]]:
    """Count the constructors of a term and its calls of each definition."""
    size, found = 0, Counter[str]()
    for term in every_term(body):
        size += 1
        if isinstance(term, Call):
            found[term.name] += 1
    return size, found


def is_flat(of: Type) -> bool:
    """Tell whether no array holds arrays."""
    if isinstance(of, Array):
        return not isinstance(of.element, Array) and is_flat(of.element)
    return not isinstance(of, Product) or all(map(is_flat, of.items))


def recursive(calls: Mapping[str, Counter[str]]) -> frozenset[str]:
    """Give the definitions that call themselves, directly or indirectly."""
    reached = {name: set(found) for name, found in calls.items()}
    for _ in range(len(reached).bit_length()):  # each time chains of calls that are twice as long
        for found in reached.values():
            found |= set().union(*(reached.get(c, ()) for c in found))
    return frozenset(name for name, found in reached.items() if name in found)


def expanded(
    main: str, sizes: Mapping[str, int], calls: Mapping[str, Counter[str]], again: frozenset[str]
) -> dict[str, int]:
    """Give the sizes of definitions after inlining all calls except recursive ones."""
    whole: dict[str, int] = {}
    pending = [main]
    while pending:
        name = pending[-1]
        waiting = [c for c in calls[name] if c not in whole and c not in again and c in sizes]
        if waiting:
            pending += waiting
            continue
        whole[pending.pop()] = sizes[name] + sum(n * whole.get(c, 1) for c, n in calls[name].items())
    return whole
