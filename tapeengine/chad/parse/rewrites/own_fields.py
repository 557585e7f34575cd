"""Arrays and records in fields that change, ``r.xs[i] = v`` and ``r.p.x = v``: such a field becomes a variable.

Nothing else may refer to the record or to them: the record is an argument of a program, or the value of a constructor
that gets new arrays and records for these fields. They are put back where it is returned.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from ...language.nodes import Transformer, every_node
from ...language.traverse import Names
from ..analyses.iterators import blocks
from ..analyses.ownership import MAKING
from ..names.callees import is_plain
from ..names.outside import named_outside, root
from ..names.syntax import expression, statements
from ..names.types import class_fields, has_free_fields
from ..names.uses import OWN
from .classes import record_of
from .elements import MODULE
from .procedures import CHANGING
from .results import Outside


class OwnFields(Transformer):
    """Replaces fields of a record by variables, which are put back where it is returned, or read by a method."""

    def __init__(self, record: str, fields: Mapping[str, str], reads: Callable[[str], bool]) -> None:
        self.record, self.fields, self.reads = record, fields, reads

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replace a field."""
        if ast.unparse(node.value) == self.record and node.attr in self.fields:
            return ast.copy_location(ast.Name(self.fields[node.attr], node.ctx), node)
        if ast.unparse(node.value) == self.record and self.reads(node.attr):
            back = ", ".join(f"{field}={name}" for field, name in self.fields.items())
            node.value = expression(f"_.replace({self.record}, {back})", node, _=MODULE)
            return node
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> Any:
        """Put the arrays back."""
        self.generic_visit(node)
        back = [f"{self.record}.{field} = {name}" for field, name in self.fields.items()]
        is_result = isinstance(node.value, ast.Name) and node.value.id == self.record
        return [*statements("\n".join(back), node), node] if is_result else node


def own_fields(tree: ast.FunctionDef, outer: dict[str, Any], classes: Mapping[str, Any]) -> ast.FunctionDef:
    """Rewrite a function for the records of which parts of fields change; `classes` are those of its parameters."""
    names = Names(getattr(n, "id", getattr(n, "arg", "")) for n in every_node(tree))
    every, results = changed_fields(tree), Outside(outer)
    for block, start in [(found, s) for found in blocks(every_node(tree)) for s in found]:
        match start:
            case ast.Assign(targets=[ast.Name(id=record)], value=ast.Call(func=function) as call) if record in every:
                is_taken = root(function) == OWN
                cls = classes.get(record) if is_taken else named_outside(function, outer)
                changed = {field: names(field) for field in every[record]}
                is_own = is_taken or is_new(tree, call, cls, changed, outer)
                reads = functools.partial(results.only_reads, cls)
                if is_own and is_alone(tree, start, record, cls, reads):
                    outer[MODULE] = dataclasses
                    OwnFields(record, changed, reads).visit(tree)
                    at = block.index(start) + 1
                    for field, name in reversed(changed.items()):
                        block[at:at] = statements(f"_ = own(record.{field})", start, _=name, own=OWN, record=record)
                    every = changed_fields(tree)
    return tree


def changed_fields(tree: ast.AST) -> Mapping[str, list[str]]:
    """Give the fields that change in place, by the texts of the records."""
    found = []
    for node in every_node(tree):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value):
                while isinstance(value, ast.Subscript):
                    value = value.value
                found.append(value)
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in CHANGING:
                found.append(value)
            case ast.Attribute(ctx=ast.Store(), value=value):
                found.append(value)
    fields: dict[str, list[str]] = {}
    for value in found:
        if isinstance(value, ast.Attribute):
            fields.setdefault(ast.unparse(value.value), []).append(value.attr)
    return fields


def is_alone(tree: ast.FunctionDef, start: ast.stmt, record: str, cls: Any, reads: Callable[[str], bool]) -> bool:
    """Tell whether a record is only used for fields and methods of its class that read, or returned."""
    nodes, fields = every_node(tree), class_fields(cls) or ()
    used = [id(n) for n in nodes if isinstance(n, ast.Name) and n.id == record]
    allowed = [id(n.value) for n in nodes if isinstance(n, ast.Attribute) and (n.attr in fields or reads(n.attr))]
    allowed += [id(n.value) for n in nodes if isinstance(n, ast.Return)] + list(map(id, every_node(start)))
    inner = [n for f in nodes if isinstance(f, ast.FunctionDef | ast.Lambda) and f is not tree for n in every_node(f)]
    return set(used) <= set(allowed) and not set(used).intersection(map(id, inner))


def is_new(
    tree: ast.FunctionDef, call: ast.Call, cls: Any, fields: Mapping[str, str], outer: Mapping[str, Any]
) -> bool:
    """Tell whether a constructor gets new arrays and records; rows of a new list need not be new."""
    rows = [n.value for n in every_node(tree) if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load)]
    has_rows = any(isinstance(row, ast.Subscript) and isinstance(row.value, ast.Attribute) for row in rows)
    if not dataclasses.is_dataclass(cls) or has_rows or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    given = {str(k.arg): k.value for k in call.keywords} | dict(zip(class_fields(cls) or (), call.args, strict=False))
    made = [f.name for f in dataclasses.fields(cls) if is_literal(f.default_factory)]
    return all(is_new_array(given[f]) or makes_record(given[f], outer) if f in given else f in made for f in fields)


def makes_record(node: ast.expr, outer: Mapping[str, Any]) -> bool:
    """Tell whether an expression calls the class of records whose fields can be assigned."""
    return isinstance(node, ast.Call) and has_free_fields(record_of(named_outside(node.func, outer)))


def is_literal(factory: Any) -> bool:
    """Tell whether a factory of defaults is `list`, or a function that names nothing."""
    return factory is list or (is_plain(factory) and not (factory.__code__.co_names or factory.__code__.co_freevars))


def is_new_array(node: ast.expr) -> bool:
    """Tell whether an expression makes an array, or is not an array."""
    name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.List | ast.ListComp | ast.Constant | ast.BinOp) or name in MAKING - {"astype", OWN}
