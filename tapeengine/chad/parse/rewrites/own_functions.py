"""The user's own functions under names that the analyses of the text take for functions of Python or numpy.

The analyses know what a function such as ``clip`` or ``sorted`` does with its arguments by its name. A function of the
user's own that has such a name gets another one, which no text has.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from ....naming import attribute_of
from ...language.nodes import Transformer
from ..analyses.ownership import ADDING, METHODS, PASSING, READING
from ..names.callees import is_plain
from ..names.outside import named_outside
from .procedures import CHANGING, MARK

#: The names by which the analyses recognise functions and methods.
KNOWN = READING | PASSING | METHODS | ADDING | frozenset(CHANGING) | frozenset(vars(builtins))


class OwnFunctions(Transformer):
    """Rewrites a function, and adds the new names to what names denote outside, `outer`."""

    def __init__(self, function: Any, outer: dict[str, Any]) -> None:
        self.function, self.outer = function, outer

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Give a function another name."""
        return self.renamed(node) if node.id in KNOWN else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Do the same for a function of another module, or of a class."""
        found = self.renamed(node) if node.attr in KNOWN else node
        return self.generic_visit(node) if found is node else found

    def renamed(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """Give the new name of one of the user's own functions, but not of the one that is rewritten."""
        owner = named_outside(node.value, self.outer) if isinstance(node, ast.Attribute) else None
        found = getattr(owner, node.attr, None) if isinstance(owner, type) else named_outside(node, self.outer)  # type: ignore[union-attr]
        function = attribute_of(found, "__tapeengine_function__", found)
        if not is_plain(function) or function is self.function:
            return node
        name = f"{MARK}{ast.unparse(node)}"
        self.outer[name] = found
        return ast.copy_location(ast.Name(name, ast.Load()), node)
