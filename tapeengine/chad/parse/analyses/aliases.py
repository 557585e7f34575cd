"""Find names that may refer to the same array when one of them is changed in place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...language.nodes import every_node
from ..names.uses import assigned, exchanged, handed, is_handed, renaming, uses
from .liveness import Live

#: The pairs of names that may refer to one array.
Pairs = frozenset[frozenset[str]]
NONE: Pairs = frozenset()


def aliases(function: ast.FunctionDef, live: Mapping[ast.stmt, Live]) -> Mapping[tuple[str, int], str]:
    """Map each change in place (name, line) of an array to another name of it that is read later, if there is one."""
    walk = Walk(live)
    for scope in (node for node in every_node(function) if isinstance(node, ast.FunctionDef)):
        walk.block(scope.body, NONE)
    return walk.found


def changes(statement: ast.AST) -> Iterator[tuple[str, int]]:
    """Iterate over the names that a statement or expression changes in place, with their lines."""
    for node in every_node(statement):
        match node:
            case (
                ast.Subscript(value=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)), ctx=ast.Store())
                | ast.Attribute(value=ast.Name(id=name), ctx=ast.Store())
                | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))))
                | ast.Assign(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop")))
                | ast.AugAssign(target=ast.Name(id=name))  # of an array
            ):
                yield name, node.lineno
            case ast.Name(id=name) if is_handed(node):
                yield name, node.lineno


class Walk:
    """Visits statements with the pairs of names that may refer to one array before each.

    `live` gives the names that are read after each statement.
    """

    def __init__(self, live: Mapping[ast.stmt, Live]) -> None:
        self.live = live
        self.found: dict[tuple[str, int], str] = {}
        self.left: list[Pairs] = []

    def block(self, statements: Sequence[ast.stmt], pairs: Pairs) -> Pairs:
        """Give the pairs after statements."""
        for s in statements:
            pairs = self.statement(s, pairs)
        return pairs

    def statement(self, s: ast.stmt, pairs: Pairs) -> Pairs:
        """Give the pairs after a statement."""
        match s:
            case ast.For(target=target, body=body, orelse=orelse):
                return self.loop([n.id for n in every_node(target) if isinstance(n, ast.Name)], body, orelse, pairs)
            case ast.While(body=body, orelse=orelse):
                return self.loop([], body, orelse, pairs)
            case ast.If(body=body, orelse=orelse):
                return self.block(body, pairs) | self.block(orelse, pairs)
            case ast.Break() | ast.Continue() if self.left:
                self.left[-1] |= pairs
                return NONE
            case ast.Return() | ast.Raise():
                return NONE
            case ast.FunctionDef():
                return pairs
        return self.simple(s, pairs)

    def loop(self, names: Sequence[str], body: list[ast.stmt], orelse: list[ast.stmt], pairs: Pairs) -> Pairs:
        """Give the pairs after a loop; before its body are the pairs after any number of steps."""
        self.left.append(NONE)
        while True:
            before = pairs
            pairs |= self.block(body, without(pairs, names)) | self.left[-1]
            if pairs == before:
                break
        self.left.pop()
        return self.block(orelse, pairs) | pairs

    def simple(self, s: ast.stmt, pairs: Pairs) -> Pairs:
        """Record the changes of a statement; return the pairs after it."""
        for name, line in changes(s):
            for pair in pairs:
                if name in pair and pair - {name} <= self.live[s].union(uses([s]) if handed(s) else ()):
                    (self.found[name, line],) = pair - {name}
        if swap := exchanged(s):
            now = {value: target for target, value in swap.items()}
            return frozenset(frozenset(now.get(name, name) for name in pair) for pair in pairs)
        names = renaming(s)
        kept = pairs if isinstance(s, ast.AugAssign) else without(pairs, set(assigned([s])) - set(handed(s)))
        if names is None or names[0] == names[1]:
            return pairs if names else kept
        target, value = names
        return kept | {frozenset({target, x}) for x in (value, *others(kept, value))}


def without(pairs: Pairs, names: Iterable[str]) -> Pairs:
    """Remove names that have been rebound."""
    return frozenset(pair for pair in pairs if not pair.intersection(names))


def others(pairs: Pairs, name: str) -> list[str]:
    """Give the names that may refer to the same array as a name."""
    return [x for pair in pairs if name in pair for x in pair if x != name]
