"""Calls of classes without arguments as what they give: ``list()`` is ``[]``, and ``float()`` is ``0.0``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...language.nodes import Transformer
from ..names.outside import named_outside

#: What the classes of Python give.
EMPTY: Mapping[Any, str] = {list: "[]", tuple: "()", float: "0.0", int: "0", bool: "False", str: "''"}


class EmptyCalls(Transformer):
    """Writes what such a call gives; `outer` says what names denote outside the function."""

    def __init__(self, outer: Mapping[str, Any]) -> None:
        self.outer = outer

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Write a display or a constant for a call."""
        self.generic_visit(node)
        found = None if node.args or node.keywords else named_outside(node.func, self.outer)
        if not isinstance(found, type) or found not in EMPTY:
            return node
        return ast.fix_missing_locations(ast.copy_location(ast.parse(EMPTY[found], mode="eval").body, node))
