"""Methods that change fields of their record become functions of fields, which return those that they change.

A call then costs what the method does, and not one term for each field of the record.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any, NamedTuple

from ..names.per_function import PerFunction
from ..names.uses import parameters
from .procedures import Returns, copy_of, text_of


class ByFields(NamedTuple):
    """A function of fields: what it is, the fields that are its first arguments, and those that it returns."""

    function: FunctionType
    used: tuple[str, ...]
    changed: tuple[str, ...]


class Fields(ast.NodeTransformer):
    """Writes the fields of a record as variables."""

    def __init__(self, record: str) -> None:
        self.record = record
        self.used: dict[str, None] = {}
        self.changed: dict[str, None] = {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Write ``self.x`` as a variable."""
        if not isinstance(node.value, ast.Name) or node.value.id != self.record:
            return self.generic_visit(node)
        self.used[node.attr] = None
        if isinstance(node.ctx, ast.Store):
            self.changed[node.attr] = None
        return ast.copy_location(ast.Name(f"{self.record}_{node.attr}", node.ctx), node)

    def rewrite(self, tree: ast.FunctionDef) -> None:
        """Rewrite a method, which returns None and the fields."""
        first, *others = tree.args.args
        tree.body = [self.visit(s) for s in tree.body]
        names = [f"{self.record}_{name}" for name in self.used]
        tree.args.args = [*(ast.copy_location(ast.arg(name), first) for name in names), *others]
        returns = Returns([f"{self.record}_{name}" for name in self.changed])
        at_end = ast.copy_location(ast.Return(None), tree.body[-1])
        tree.body, tree.returns = [returns.visit(s) for s in (*tree.body, at_end)], None


@PerFunction
def by_fields(method: FunctionType) -> ByFields | None:
    """Give a method as a function of fields; None if it uses the record otherwise."""
    tree = text_of(method)
    if tree is None or method.__closure__ or not is_of_fields(tree):
        return None
    fields = Fields(tree.args.args[0].arg)
    fields.rewrite(tree)
    ast.increment_lineno(tree, method.__code__.co_firstlineno - 1)
    whole = compile(ast.Module([tree], []), method.__code__.co_filename, "exec")
    made: Any = copy_of(method)
    made.__code__ = next(c for c in whole.co_consts if getattr(c, "co_name", "") == tree.name)
    made.rewritten = Fields(fields.record).rewrite
    return ByFields(made, tuple(fields.used), tuple(fields.changed))


def is_of_fields(tree: ast.FunctionDef) -> bool:
    """Tell whether a method uses its record for reading and assigning fields only."""
    a, nodes = tree.args, list(ast.walk(tree))
    if tree.decorator_list or a.vararg or a.kwarg or a.posonlyargs or not a.args:
        return False
    record = a.args[0].arg
    names = [n for n in nodes if isinstance(n, ast.Name)]
    fields = [
        n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == record
    ]
    taken = {*(n.id for n in names), *(arg.arg for arg in parameters(a))}
    return (
        sum(n.id == record for n in names) == len(fields)
        and not any(isinstance(n.ctx, ast.Del) for n in fields)
        and taken.isdisjoint(f"{record}_{n.attr}" for n in fields)
        and not any(isinstance(n, LOCAL) for n in nodes if n is not tree)
    )


#: Parts of methods that run in scopes of their own, or later.
LOCAL = (ast.FunctionDef, ast.Lambda, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.NamedExpr)
