"""Pieces of syntax that the reader writes itself, in the place of those that they replace."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import TypeVar

from ...language.nodes import Transformer, every_node

Node = TypeVar("Node", bound=ast.AST)


def placed(made: Node, node: ast.AST, kept: ast.AST | None = None) -> Node:
    """Give new nodes the source position of the node that they replace."""
    own = set(every_node(kept)) if kept else set()
    for inner in every_node(made):
        if inner not in own and "lineno" in inner._attributes:
            ast.copy_location(inner, node)
    return made


def load(name: str, at: ast.AST) -> ast.Name:
    """Read a variable at the place of a node."""
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def statements(text: str, at: ast.AST, **parts: str | ast.expr) -> list[ast.stmt]:
    """Write statements at the place of a node; names stand for `parts`, which may be names that Python has not."""
    return [Put(parts).visit(placed(s, at)) for s in ast.parse(text).body]


def expression(text: str, at: ast.AST, **parts: str | ast.expr) -> ast.expr:
    """Write an expression in the same way."""
    return statements(text, at, **parts)[0].value  # type: ignore[attr-defined,no-any-return]


class Put(Transformer):
    """Puts copies of expressions, or other names, where names stand for them."""

    def __init__(self, parts: Mapping[str, str | ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Write another name, or the expression."""
        found = self.parts.get(node.id, node.id)
        if isinstance(found, ast.expr):
            return copy.deepcopy(found)
        return ast.copy_location(ast.Name(found, node.ctx), node)
