"""Arrays in fields that change in place, ``r.xs[i] = v``: such a field becomes a variable, as the record is not used.

Nothing else may refer to the arrays: the record is an argument of a program, or the value of a constructor that gives
these fields new arrays. It gets them back before it is returned.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

from ..traverse import Names
from .by_cells import placed
from .callees import is_plain
from .classes import maker_of
from .names import OWN, parameters
from .outside import named_outside, root
from .procedures import CHANGING, text_of
from .types import class_fields

#: Expressions and functions whose values are new, or no arrays.
NEW = (ast.List, ast.ListComp, ast.Constant, ast.BinOp, ast.UnaryOp)
MAKING = frozenset("list sorted copy zeros ones full array arange linspace zeros_like ones_like".split())


class OwnFields(ast.NodeTransformer):
    r"""Rewrites a function for one of its variables.

    Examples
    --------
    >>> tree = ast.parse("def f(r):\n    r = own(r)\n    r.xs.append(r.y)\n    return r").body[0]
    >>> tree.body[0].value.func.id = OWN
    >>> print(ast.unparse(own_fields(tree, {})))
    def f(r):
        r =  own(r)
        xs =  own(r.xs)
        xs.append(r.y)
        r.xs = xs
        return r
    """

    def __init__(self, record: str, fields: Mapping[str, str], start: ast.stmt) -> None:
        self.record, self.fields, self.start = record, fields, start

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace a field."""
        if isinstance(node.value, ast.Name) and node.value.id == self.record and node.attr in self.fields:
            return ast.copy_location(ast.Name(self.fields[node.attr], node.ctx), node)
        return self.generic_visit(node)

    def moved(self, form: str, at: ast.stmt) -> list[ast.stmt]:
        """Write an assignment for each field."""
        texts = (form.format(r=self.record, field=field, own="own_") for field in self.fields)
        made = [placed(ast.parse(text).body[0], at) for text in texts]
        for statement, name in zip(made, self.fields.values(), strict=True):
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and node.id in ("_", "own_"):
                    node.id = name if node.id == "_" else OWN
        return made

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Take the arrays out where the record begins."""
        self.generic_visit(node)
        return [node, *self.moved("_ = {own}({r}.{field})", node)] if node is self.start else node

    def visit_Return(self, node: ast.Return) -> Any:
        """Put the arrays back before the record is returned."""
        self.generic_visit(node)
        is_result = isinstance(node.value, ast.Name) and node.value.id == self.record
        return [*self.moved("{r}.{field} = _", node), node] if is_result else node


def own_fields(tree: ast.FunctionDef, outer: Mapping[str, Any]) -> ast.FunctionDef:
    """Rewrite a function for all its variables of which arrays in fields change."""
    names = Names(getattr(n, "id", getattr(n, "arg", "")) for n in ast.walk(tree))
    for record, fields in changed_fields(tree).items():
        start = beginning(tree, record, fields, outer)
        if start is not None:
            OwnFields(record, {field: names(field) for field in fields}, start).visit(tree)
    return tree


def changed_fields(tree: ast.FunctionDef) -> dict[str, list[str]]:
    """Give the variables of which fields change in place, and these fields."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value):
                while isinstance(value, ast.Subscript):
                    value = value.value
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in CHANGING:
                pass
            case _:
                continue
        match value:
            case ast.Attribute(value=ast.Name(id=name), attr=field) if field not in found.setdefault(name, []):
                found[name].append(field)
    return found


def has_rows(tree: ast.FunctionDef, record: str) -> bool:
    """Tell whether elements of elements of a record's fields change: a copy of a list has the same rows."""
    rows = [n.value for n in ast.walk(tree) if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load)]
    return any(isinstance(row, ast.Subscript) and root(row.value) == record for row in rows)


def beginning(tree: ast.FunctionDef, record: str, fields: list[str], outer: Mapping[str, Any]) -> ast.stmt | None:
    """Give the statement that makes a record, or takes it as an own one, if it is only used for fields after it."""
    nodes = list(ast.walk(tree))
    uses = {id(n): n for n in nodes if isinstance(n, ast.Name) and n.id == record}
    inner = [n for f in nodes if isinstance(f, ast.FunctionDef | ast.Lambda) and f is not tree for n in ast.walk(f)]
    starts = [s for s in tree.body if isinstance(s, ast.Assign) and assigns(s, record)]
    if not fields or len(starts) != 1 or any(id(n) in uses for n in inner):
        return None
    start, is_parameter = starts[0], record in [a.arg for a in parameters(tree.args)]
    if not is_parameter and has_rows(tree, record):
        return None
    if not (is_taken(start.value) if is_parameter else is_new(start.value, fields, outer)):
        return None
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    of_fields = [n.value for n in nodes if isinstance(n, ast.Attribute) and id(n) not in called]
    results = [n.value for n in nodes if isinstance(n, ast.Return)]
    allowed = {id(n) for n in (*of_fields, *results, *ast.walk(start)) if isinstance(n, ast.Name)}
    return start if uses.keys() <= allowed else None


def assigns(s: ast.Assign, name: str) -> bool:
    """Tell whether a statement assigns to a variable alone."""
    return len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and s.targets[0].id == name


def is_taken(value: ast.expr) -> bool:
    """Tell whether an expression is an argument to which nothing else refers."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == OWN


def is_new(value: ast.expr, fields: list[str], outer: Mapping[str, Any]) -> bool:
    """Tell whether an expression makes a record whose fields hold new arrays, each its own."""
    if not isinstance(value, ast.Call) or any(isinstance(a, ast.Starred) for a in value.args):
        return False
    cls = named_outside(value.func, outer)
    if class_fields(cls) is None:
        each = [*value.args, *(k.value for k in value.keywords)]
        return maker_of(cls) is not None and all(map(is_new_array, each)) and gives_new(cls, fields)
    given = dict(zip(class_fields(cls) or (), value.args, strict=False))
    given.update({str(k.arg): k.value for k in value.keywords})
    made = [f.name for f in dataclasses.fields(cls) if is_literal(f.default_factory)] if hasattr(cls, FIELDS) else []
    return all(is_new_array(given[f]) if f in given else f in made for f in fields)


#: The attribute that dataclasses have.
FIELDS = "__dataclass_fields__"


def is_literal(factory: Any) -> bool:
    """Tell whether a factory of defaults is `list`, or a function that names nothing and so gives a new list."""
    return factory is list or (is_plain(factory) and not (factory.__code__.co_names or factory.__code__.co_freevars))


def gives_new(cls: Any, fields: list[str]) -> bool:
    """Tell whether the ``__init__`` of a plain class gives fields new arrays, or arguments that it uses once."""
    tree = text_of(cls.__init__)
    assert tree is not None
    nodes = list(ast.walk(tree))
    reads = [n for n in nodes if isinstance(n, ast.Attribute | ast.Name) and isinstance(n.ctx, ast.Load)]
    names = [n.id if isinstance(n, ast.Name) else n.attr for n in reads]
    for s in (n for n in nodes if isinstance(n, ast.Assign | ast.AnnAssign)):
        value = s.value
        is_once = isinstance(value, ast.Name) and names.count(value.id) == 1
        if value is not None and not is_once and not is_new_array(value):
            return False
    return not set(fields).intersection(n.attr for n in reads if isinstance(n, ast.Attribute))


def is_new_array(node: ast.expr) -> bool:
    """Tell whether the text shows that an expression makes an array, or is none."""
    name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
    return isinstance(node, NEW) or name in MAKING
