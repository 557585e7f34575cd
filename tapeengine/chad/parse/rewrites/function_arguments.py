"""Functions as arguments of ``map`` and the like, written as lambdas: the text shows what their parameters are.

``reduce(operator.add, xs)`` becomes ``reduce(lambda a, b: a + b, xs)``, in which ``+`` joins lists, as everywhere.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...language.nodes import every_node
from ...language.traverse import Names
from ..names.callees import is_plain, library_name
from ..names.outside import named_outside, root
from .by_cells import placed
from .desugar import is_star

#: The signs of Python's operators, for the functions that apply them.
SIGNS = MappingProxyType(
    {
        getattr(operator, name): sign
        for name, sign in zip(
            "add sub mul truediv floordiv mod pow matmul lt le eq ne ge gt and_ or_ xor".split(),
            "+ - * / // % ** @ < <= == != >= > & | ^".split(),
            strict=True,
        )
    }
)
#: The functions that apply their first argument, with the number of arguments that they give it; 0 for one of each.
APPLIED = MappingProxyType({"builtins.map": 0, "functools.reduce": 2, "builtins.filter": 1, "tapeengine.fork_map": 0})


class FunctionArguments(ast.NodeTransformer):
    """Rewrites a function."""

    def __init__(self, tree: ast.AST, outer: Mapping[str, Any], names: Names) -> None:
        self.outer, self.names = outer, names
        self.local = {n.id for n in every_node(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.local |= {getattr(n, "arg", getattr(n, "name", "")) for n in every_node(tree)}

    def found(self, node: ast.expr) -> Any:
        """Give what an expression denotes outside; None for others."""
        return None if root(node) in self.local else named_outside(node, self.outer)

    def sign(self, node: ast.expr) -> str:
        """Give the sign of the operator that a function of `operator` applies; an empty one for others."""
        found = self.found(node)
        is_named = inspect.isbuiltin(found) and getattr(node, "attr", getattr(node, "id", "")) == found.__name__
        return SIGNS.get(found, "") if is_named else ""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Write a call of a function of `operator` with its sign, and functions among arguments as lambdas."""
        self.generic_visit(node)
        if (sign := self.sign(node.func)) and len(node.args) == 2 and not any(map(is_star, node.args)):
            return ast.copy_location(operation(sign, *node.args), node)
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
        """Give the lambda for a function of the user's own, or one of `operator`; others stay."""
        sign = self.sign(function) if count == 2 else ""
        if not (sign or is_plain(self.found(function))):
            return function
        names = [self.names("item") for _ in range(count)]
        given: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
        body = operation(sign, *given) if sign else ast.Call(function, given, [])
        made = ast.Lambda(ast.arguments([], list(map(ast.arg, names)), None, [], [], None, []), body)
        return placed(made, function, function)


def operation(sign: str, left: ast.expr, right: ast.expr) -> ast.expr:
    """Give ``left + right`` and the like."""
    made: Any = ast.parse(f"_ {sign} _", mode="eval").body
    made.left = left
    if isinstance(made, ast.BinOp):
        made.right = right
    else:
        made.comparators = [right]
    return made  # type: ignore[no-any-return]
