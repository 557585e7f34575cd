"""Recursive definitions: which they are, and the pair of passes that each becomes."""

from __future__ import annotations

from collections.abc import Iterator

from tapeengine.chad.generate.builder import Axes, Builder
from tapeengine.chad.imperative import Operand, Ref
from tapeengine.chad.terms import Call, Module, Term
from tapeengine.chad.traverse import Names, children

__all__ = ["Unit", "recursive"]


class Unit:
    """A definition in imperative form, with blocks and variables of its own.

    Parameters
    ----------
    name : str
        The definition.
    forward, reverse : str
        The names of its passes in the program text.
    names : Names
    axes : Axes

    Attributes
    ----------
    params : list of Ref
        The leaves of its parameters.
    results : list of Operand
        The leaves of its result.
    b : Builder
        Writes its forward pass.
    """

    def __init__(self, name: str, forward: str, reverse: str, names: Names, axes: Axes) -> None:
        self.name = name
        self.forward = forward
        self.reverse = reverse
        self.params: list[Ref] = []
        self.results: list[Operand] = []
        self.b = Builder(names, axes)


def recursive(module: Module) -> frozenset[str]:
    """Give the names of the definitions that call themselves, perhaps by way of others.

    Examples
    --------
    >>> from tapeengine.chad.terms import Definition, Var
    >>> from tapeengine.chad.types import FLOAT
    >>> x = Var("x", FLOAT)
    >>> calls = {"f": "g", "g": "f", "h": "g"}
    >>> made = {n: Definition(n, (x,), FLOAT, Call(m, (x,), FLOAT)) for n, m in calls.items()}
    >>> sorted(recursive(Module("h", made)))
    ['f', 'g']
    """
    calls = {name: set(_called(d.body)) for name, d in module.definitions.items()}
    return frozenset(name for name in calls if name in _reached(calls, name))


def _called(term: Term) -> Iterator[str]:
    if isinstance(term, Call):
        yield term.name
    for child, _ in children(term):
        yield from _called(child)


def _reached(calls: dict[str, set[str]], name: str) -> set[str]:
    """Give what a definition calls, directly or not."""
    found: set[str] = set()
    pending = [name]
    while pending:
        new = calls.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return found
