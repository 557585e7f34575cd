"""``r.x = v`` and ``r.x += v``: another record under the same name, if nothing else refers to the record."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ...language.terms import Proj, Term, Tuple
from ...language.types import NEVER, Array, Product
from ..names.types import has_free_fields
from ..operations.functions import Env, Rest
from ..operations.raising import failing
from ..operations.state import Parser
from ..rewrites.procedures import handing_back
from .in_place import instead, own_or_refuse


def field(
    p: Parser, node: ast.Attribute, value: Callable[[Term], Term], env: Env, then: Rest, is_augmented: bool = False
) -> Term:
    """``r.x = v``; `value` maps the old field to the new one."""
    record, name = env.get(getattr(node.value, "id", "")), getattr(node.value, "id", "")
    of = getattr(record, "type", None)
    cls = p.table.classes.get(getattr(of, "name", ""))
    if (
        not isinstance(record, Term)
        or not isinstance(of, Product)
        or not has_free_fields(cls)
        or node.attr not in of.fields
    ):
        p.error(node, "this cannot be changed in place", instead(node))
    own_or_refuse(p, node, name, node)
    old = Proj(record, of.fields.index(node.attr))
    if is_augmented and isinstance(old.type, Array):
        own = ast.unparse(node)
        p.error(node, f"another name may hold the array {own}", f"write {own} = {own} ... without the =")
    changed = p.within("v", value(old), lambda v: with_fields(p, {node.attr: (node, v)}, record))
    return p.grammar.bind(p, name, changed, env, then)


def with_fields(p: Parser, given: Mapping[str, tuple[ast.AST, Term]], record: Term) -> Term:
    """Give a record with other fields, each of the type that its class says."""
    of = record.type
    assert isinstance(of, Product)
    cls = p.table.classes[of.name]
    items: list[Term] = [Proj(record, k) for k in range(len(of.fields))]
    for name, (node, term) in given.items():
        own = p.field_types(cls, node)[name]
        items[of.fields.index(name)] = term if own is None else p.coerce(node, term, own)
    each = zip(of.fields, items, strict=True)
    return Tuple(tuple(items), p.table.record(cls, {name: item.type for name, item in each}))


def changing_method(p: Parser, record: object, name: str) -> Any:
    """Give the function that is a method of a record and returns the record that it changes; None for another one."""
    cls = p.table.classes.get(getattr(getattr(record, "type", None), "name", ""))
    found = handing_back(inspect.getattr_static(cls, name, None)) if has_free_fields(cls) else None
    return found[0] if found and found[1].given == found[1].parameters[:1] else None


def call_changing(p: Parser, node: ast.Expr, name: str, method: Any, env: Env, then: Rest) -> Term:
    """``r.move(dt)`` where the method changes only the record: its value is not used."""
    call = node.value
    assert isinstance(call, ast.Call)
    own_or_refuse(p, node, name, call.func)
    found = p.grammar.call_method(p, call, p.callee(method), env[name], env)
    if found.type == NEVER:
        return failing()
    return p.within("t", found, lambda t: p.grammar.bind(p, name, Proj(t, 1), env, then))
