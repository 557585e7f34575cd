"""Which variables are read, or changed in place, after a statement, before anything else is assigned to them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...language.nodes import child_nodes, every_node
from ..names.uses import assigned, exchanged, functions_in, uses

Live = frozenset[str]
NONE: Live = frozenset()


def live_after(function: ast.FunctionDef) -> dict[ast.stmt, Live]:
    """Give for each statement of a function the names that are read after it, and those that local functions read."""
    found: dict[ast.stmt, Live] = {}
    for scope in (node for node in every_node(function) if isinstance(node, ast.FunctionDef)):
        captured = frozenset(uses(list(functions_in(child_nodes(scope)))))  # which may be called anywhere
        walk = Walk()
        walk.block(scope.body, NONE)
        found.update((s, after | captured) for s, after in walk.after.items())
    return found


def changed_after(scope: ast.FunctionDef, changed_in: Callable[[list[ast.stmt]], list[str]]) -> Mapping[ast.stmt, Live]:
    """Give for each statement of a function, without those of inner functions, the names that are changed after it."""
    walk = Walk(changed_in)
    walk.block(scope.body, NONE)
    return walk.after


class Walk:
    """Goes through statements from the last to the first with the names that are read after each.

    `uses` gives the names that statements or expressions read, `after` those that are read after each statement.
    """

    def __init__(self, uses: Callable[[list[Any]], Iterable[str]] = uses) -> None:
        self.uses = uses
        self.used: dict[ast.AST, Live] = {}
        self.after: dict[ast.stmt, Live] = {}
        self.broken: list[Live] = []
        self.continued: list[Live] = []

    def block(self, statements: Sequence[ast.stmt], after: Live) -> Live:
        """Give the names that are read from the first of several statements on."""
        for s in reversed(statements):
            after = self.statement(s, after)
        return after

    def read(self, node: ast.AST) -> Live:
        """Give the names that a statement or an expression reads, which each round of a loop asks for."""
        if node not in self.used:
            self.used[node] = frozenset(self.uses([node]))
        return self.used[node]

    def statement(self, s: ast.stmt, after: Live) -> Live:
        """Give the names that are read from a statement on."""
        self.after[s] = after
        match s:
            case ast.For(target=target, iter=over, body=body):
                names = {n.id for n in every_node(target) if isinstance(n, ast.Name)}
                return self.loop(body, names, after) | self.read(over)
            case ast.While(test=test, body=body):
                return self.loop(body, set(), after | self.read(test))
            case ast.If(test=test, body=body, orelse=orelse):
                return self.block(body, after) | self.block(orelse, after) | self.read(test)
            case ast.Break() if self.broken:
                return self.broken[-1]
            case ast.Continue() if self.continued:
                return self.continued[-1]
            case ast.Return() | ast.Raise():
                return self.read(s)
            case ast.AugAssign(target=ast.Name(id=name)):
                return after | self.read(s) | {name}
        if swap := exchanged(s):
            return frozenset(swap.get(name, name) for name in after) | self.read(s)
        plain = isinstance(s, ast.Assign | ast.AnnAssign)
        return (after - frozenset(assigned([s]) if plain else ())) | self.read(s)

    def loop(self, body: Sequence[ast.stmt], names: set[str], after: Live) -> Live:
        """Give the names that are read from a loop on, whose body runs any number of times."""
        self.broken.append(after)
        head = after
        while True:
            self.continued.append(head)
            again = head | (self.block(body, head) - names)
            self.continued.pop()
            if again == head:
                break
            head = again
        self.broken.pop()
        return head
