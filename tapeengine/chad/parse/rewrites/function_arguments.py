"""Functions as arguments of ``map`` and the like, written as lambdas: the text shows what their parameters are."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...language.nodes import Transformer, every_node
from ...language.traverse import Names
from ..names.callees import is_plain, library_name
from ..names.outside import named_outside, root
from ..names.syntax import expression

#: The functions that apply their first argument, with the number of arguments that they give it; 0 for one of each.
APPLIED = {"builtins.map": 0, "functools.reduce": 2, "builtins.filter": 1, "tapeengine.fork_map": 0}


class FunctionArguments(Transformer):
    """Rewrites a function."""

    def __init__(self, tree: ast.AST, outer: Mapping[str, Any], names: Names) -> None:
        self.outer, self.names = outer, names
        nodes = every_node(tree)
        self.local = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.local |= {getattr(n, "arg", getattr(n, "name", "")) for n in nodes}

    def found(self, node: ast.expr) -> Any:
        """Give what an expression denotes outside; None for others."""
        return None if root(node) in self.local else named_outside(node, self.outer)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Write the functions among the arguments of a call."""
        self.generic_visit(node)
        name = library_name(self.found(node.func))
        if name.startswith(("builtins.", "functools.")):
            node.known_as = name.rpartition(".")[2]  # type: ignore[attr-defined]
        if name in APPLIED and node.args:
            node.args[0] = self.written(node.args[0], APPLIED[name] or len(node.args) - 1)
        for keyword in node.keywords:
            if keyword.arg == "key" and name.startswith("builtins."):
                keyword.value = self.written(keyword.value, 1)
        return node

    def written(self, function: ast.expr, count: int) -> ast.expr:
        """Give the lambda for a function of the user's own; others stay."""
        if not is_plain(self.found(function)):
            return function
        items = ", ".join(self.names("item") for _ in range(count))
        return expression(f"lambda {items}: f({items})", function, f=function)
