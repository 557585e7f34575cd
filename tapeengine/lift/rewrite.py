"""The one change that no binding of a name can make: ``is`` asks for identity, and a stand-in is another object.

``x.__class__ is float`` becomes ``x.__class__ == float``; a stand-in equals the class that it stands for. ``type(x)``,
``isinstance`` and class patterns need no change, because their names are bound to stand-ins.
"""

from __future__ import annotations

import ast
import re
from types import CodeType

__all__ = ["RULES", "compiled"]

_CLASSES = ("float", "complex", "float64", "ndarray", "complex128")
#: Changes with what is changed, so that no code is used that was kept by other rules.
RULES = 1
_NAMED = "(?:" + "|".join(_CLASSES) + ")"
#: Sources without this have nothing to change; what follows keeps most sentences of docstrings out.
_LIKELY = re.compile(
    rf"is\s+(?:not\s+)?[\w.]*\b{_NAMED}\s*(?:[:)\]}}\n#]|and\b|or\b|if\b|else\b)|\b{_NAMED}\s+is\s+[\w.(]".encode()
)


def names_class(node: ast.expr) -> bool:
    """Whether an expression is a class that has a stand-in, by its name."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in _CLASSES


def by_equality(tree: ast.Module) -> ast.Module:
    """Compare classes that have stand-ins by equality: ``a is float`` as ``a == float``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for i, operator in enumerate(node.ops):
                if names_class(sides[i]) or names_class(sides[i + 1]):
                    node.ops[i] = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}.get(type(operator), type(operator))()
    return tree


def compiled(source: bytes, place: str) -> CodeType | None:
    """The code of a changed source; None where the original's code will do. Lines and columns are the original's."""
    if _LIKELY.search(source) is None:
        return None
    return compile(by_equality(ast.parse(source, place)), place, "exec", dont_inherit=True)
