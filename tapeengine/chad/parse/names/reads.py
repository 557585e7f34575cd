"""Which variables around it a local function may read when it is called, itself or by other functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ...language.nodes import every_node
from .scopes import bound
from .uses import parameters, uses


def used_as_values(nodes: Sequence[ast.AST]) -> set[str]:
    """Give the names that stand elsewhere than in front of a call's arguments."""
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in called}


def read_by(tree: ast.FunctionDef) -> Mapping[str, set[str]]:
    """Give for each local function, or variable that may hold one, the names around it that its calls may read."""
    nodes = every_node(tree)
    inner = [n for n in nodes if isinstance(n, ast.FunctionDef) and n is not tree]
    own = {n.name: {*(a.arg for a in parameters(n.args)), *bound(n)} for n in inner}
    makers = {n.name for n in inner if any(isinstance(part, FUNCTIONS_IN) for part in every_node(n) if part is not n)}
    found = {n.name: set(uses(n.body)) - own[n.name] for n in inner}
    before = None
    while before != found:
        before = {name: set(read) for name, read in found.items()}
        for s in nodes:
            if isinstance(s, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For) and (value := value_of(s)):
                parts = [] if is_number(value) else every_node(value)
                held = used_as_values(parts).union(makers.intersection(uses([value]))).intersection(found)
                if held or any(isinstance(part, ast.Lambda) for part in parts):
                    for target in names_in(s):
                        found.setdefault(target, set()).update(uses([value]))
        for name, read in found.items():
            read.update(*(found[n] for n in tuple(read) if n in found))
            read -= own.get(name, set())
    return found


#: Functions inside functions.
FUNCTIONS_IN = (ast.FunctionDef, ast.Lambda)


def value_of(s: ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For) -> ast.expr | None:
    """Give the expression whose value, or whose elements, get a name."""
    return s.iter if isinstance(s, ast.For) else s.value


#: Functions that give no functions.
MEASURES = frozenset("sum len float int abs any all round".split())


def is_number(value: ast.expr) -> bool:
    """Tell whether the text shows that a value holds no function."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in MEASURES
    return isinstance(value, ast.BinOp | ast.Compare | ast.UnaryOp | ast.Constant)


def names_in(s: ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For) -> set[str]:
    """Give the names that get the value, or a part of it."""
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]
    return {n.id for target in targets for n in every_node(target) if isinstance(n, ast.Name)}
