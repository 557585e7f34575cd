"""Methods that change fields of their record become functions of fields, which return those that they change.

A call then costs what the method does, and not one term for each field of the record.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any, NamedTuple

from ..names.per_function import PerFunction
from ..names.uses import parameters
from .own_fields import OwnFields
from .procedures import Returns, copy_of, text_of


class ByFields(NamedTuple):
    """A function of fields: what it is, the fields that are its first arguments, and those that it returns."""

    function: FunctionType
    used: tuple[str, ...]
    changed: tuple[str, ...]


@PerFunction
def by_fields(method: FunctionType) -> ByFields | None:
    """Give a method as a function of fields; None if it uses the record otherwise."""
    tree = text_of(method)
    if tree is None or method.__closure__ or not is_of_fields(tree):
        return None
    used, changed = (tuple(dict.fromkeys(n.attr for n in fields_in(tree) if isinstance(n.ctx, c))) for c in CONTEXTS)
    used = tuple(dict.fromkeys((*used, *changed)))

    def rewritten(tree: ast.FunctionDef) -> None:
        first, *others = tree.args.args
        names = {f: f"{first.arg}_{f}" for f in used}
        OwnFields(first.arg, names).visit(tree)
        tree.args.args = [*(ast.copy_location(ast.arg(name), first) for name in names.values()), *others]
        returns, at_end = Returns([names[f] for f in changed]), ast.copy_location(ast.Return(None), tree.body[-1])
        tree.body, tree.returns = [returns.visit(s) for s in (*tree.body, at_end)], None

    rewritten(tree)
    ast.increment_lineno(tree, method.__code__.co_firstlineno - 1)
    whole = compile(ast.Module([tree], []), method.__code__.co_filename, "exec")
    made: Any = copy_of(method)
    made.__code__ = next(c for c in whole.co_consts if getattr(c, "co_name", "") == tree.name)
    made.rewritten = rewritten
    return ByFields(made, used, changed)


def fields_in(tree: ast.FunctionDef) -> list[ast.Attribute]:
    """Give the fields of a method's record in its text."""
    record = tree.args.args[0].arg
    return [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == record]


def is_of_fields(tree: ast.FunctionDef) -> bool:
    """Tell whether a method uses its record for reading and assigning fields only."""
    a, nodes = tree.args, list(ast.walk(tree))
    if tree.decorator_list or a.vararg or a.kwarg or a.posonlyargs or not a.args:
        return False
    record, fields, names = a.args[0].arg, fields_in(tree), [n.id for n in nodes if isinstance(n, ast.Name)]
    return (
        names.count(record) == len(fields)
        and {*names, *(arg.arg for arg in parameters(a))}.isdisjoint(f"{record}_{n.attr}" for n in fields)
        and not any(isinstance(n, LOCAL) for n in nodes if n is not tree)
    )


#: How fields are used: read, and assigned.
CONTEXTS = (ast.Load, ast.Store)
#: Parts of methods that run in scopes of their own, or later, or leave no value.
LOCAL = (ast.FunctionDef, ast.Lambda, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.NamedExpr, ast.Delete)
