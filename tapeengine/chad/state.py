"""Programs that change lists, dicts or arrays of their module: dual numbers would leave traced values there."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy

from .language.nodes import every_node
from .ordinary import functions_on_duals
from .parse.names.outside import names_outside
from .parse.rewrites.procedures import Procedures, changed_in_place, text_of

DATA = (list, dict, set, deque, bytearray, numpy.ndarray)
HOLDING = (ast.Tuple, ast.List, ast.Dict)
#: Expressions whose value may be data that has a name, a part of it, or hold it.
OTHER_NAMES = (ast.Name, ast.Subscript, ast.Attribute, ast.IfExp, ast.BoolOp, ast.NamedExpr, *HOLDING)


def changes_outside(function: Callable[..., Any]) -> bool:
    """Tell whether a function, or one that it calls, changes data that it has not made and was not given."""
    return any(map(changes_data, functions_on_duals(function)))


def changes_data(function: FunctionType) -> bool:
    """Tell whether the text of a function changes data from outside in place."""
    if (tree := text_of(function)) is None:
        return False
    outside = names_outside(function)
    names = with_other_names(tree, changed_in_place(tree.body, Procedures(tree, outside).of))
    return any(isinstance(outside.get(name), DATA) for name in names)


def with_other_names(tree: ast.FunctionDef, names: list[str]) -> list[str]:
    """Add what names may be other names of, or of parts of it."""
    assigned = [n for n in every_node(tree) if isinstance(n, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For)]
    for name in names:  # which grows
        for node in assigned:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.iter if isinstance(node, ast.For) else node.value
            if isinstance(value, OTHER_NAMES) and binds(targets, name):
                names += [n.id for n in every_node(value) if isinstance(n, ast.Name) and n.id not in names]
    return names


def binds(targets: list[ast.expr], name: str) -> bool:
    """Tell whether targets of an assignment bind a name."""
    each = (n for target in targets for n in every_node(target))
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in each)
