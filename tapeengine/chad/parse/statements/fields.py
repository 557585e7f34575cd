"""``r.x = v`` and ``r.x += v``: another record under the same name, if nothing else refers to the record."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ...language.nodes import every_node
from ...language.terms import MANY, Term, Tuple, Update, Var
from ...language.types import Array, Product, parts_of
from ..analyses.ownership import changed_in
from ..expressions.closures import is_function
from ..names.outside import named_outside
from ..names.types import has_free_fields
from ..operations.functions import Env, Rest
from ..operations.state import Parser
from .in_place import instead, own_or_refuse


def field(
    p: Parser, node: ast.Attribute, value: Callable[[Term], Term], env: Env, then: Rest, is_augmented: bool = False
) -> Term:
    """``r.x = v``; `value` maps the old field to the new one."""
    record, name = env.get(getattr(node.value, "id", "")), getattr(node.value, "id", "")
    of = getattr(record, "type", None)
    cls = p.class_of(record)
    if (
        not isinstance(record, Term)
        or not isinstance(of, Product)
        or not has_free_fields(cls)
        or node.attr not in of.fields
    ):
        refuse = p.error if isinstance(node.value, ast.Name) else p.on_duals
        refuse(node, "this cannot be changed in place", instead(node))
    if name not in p.shared and getattr(cls, p.function.__name__, None) is p.function:
        p.on_duals(node, f"a method that changes {name} is called inside an expression", "call it in a statement")
    own_or_refuse(p, node, name, node)
    old = p.part(record, of.fields.index(node.attr))
    if is_augmented and isinstance(old.type, Array):
        own = ast.unparse(node)
        p.error(node, f"another name may hold the array {own}", f"write {own} = {own} ... without the =")
    return p.grammar.bind(p, name, with_fields(p, {node.attr: (node, value(old))}, record), env, then)


def with_fields(p: Parser, given: Mapping[str, tuple[ast.AST, Term]], record: Term) -> Term:
    """Give a record with other fields, each of the type that its class says."""
    of = record.type
    assert isinstance(of, Product)
    cls = p.table.classes[of.name]
    for name, (node, term) in given.items():
        own = p.field_types(cls, node)[name]
        record = Update(record, of.fields.index(name), term if own is None else p.element_of(node, term, own))
    if len(of.fields) >= MANY:
        return record
    return Tuple(tuple(p.part(record, k) for k in range(len(of.fields))), record.type)  # type: ignore[arg-type]


def changed_fields(p: Parser, statements: Sequence[ast.stmt], env: Env) -> dict[str, dict[str, None]]:
    """For each variable of which statements change only fields, give these fields."""
    nodes = [n for s in statements for n in every_node(s)]
    bound = [n for n in nodes if isinstance(getattr(n, "ctx", n), ast.Store | ast.FunctionDef)]
    names = [getattr(n, "id", getattr(n, "name", "")) for n in bound]
    others, found = Counter([*changed_in(statements), *names]), defaultdict[str, dict[str, None]](dict)
    for n in nodes:
        match n:
            case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()):
                fields = [attr]
            case ast.Assign([ast.Name(name)], ast.Call(func, [ast.Name(of)], keywords)) if name == of:
                cls: Any = p.table.classes.get(getattr(getattr(env.get(name), "type", None), "name", ""))
                is_made = dataclasses.is_dataclass(cls) and named_outside(func, p.outer) is dataclasses.replace
                reset = [f.name for f in dataclasses.fields(cls) if not f.init] if is_made else []
                fields = [*(str(k.arg) for k in keywords), *reset] if is_made else []
            case _:
                continue
        others[name] -= bool(fields)
        found[name].update(dict.fromkeys(fields))
    return {name: fields for name, fields in found.items() if not others[name]}


def fields_apart(
    p: Parser, statements: Sequence[ast.stmt], names: Sequence[str], env: Env
) -> Mapping[str, Collection[str]]:
    """For each record of which statements change only some fields, give these fields."""
    given = {n: env[n].type for n in names if isinstance(env.get(n), Var)}
    of = {n: dict(zip(t.fields, parts_of(t), strict=False)) for n, t in given.items() if getattr(t, "fields", ())}
    found = changed_fields(p, statements, env) if of else {}
    return {
        n: found[n] for n, t in of.items() if n in found and all(f in t and not is_function(t[f]) for f in found[n])
    }


def part_names(names: Iterable[str], fields: Mapping[str, Collection[str]]) -> list[str]:
    """Give names; a record of which only fields change is replaced by names of these fields, which are not Python's."""
    return [part for n in names for part in ([f"{n}.{field}" for field in fields[n]] if n in fields else [n])]


def with_changes(p: Parser, node: ast.AST, each: Mapping[str, Collection[str]], env: Env, then: Rest) -> Term:
    """Change the fields of records that have other values after a statement."""
    if not each:
        return then(env)
    (name, fields), *others = each.items()
    given = {field: (node, env[f"{name}.{field}"]) for field in fields}
    record = with_fields(p, given, env[name])
    return p.grammar.bind(p, name, record, env, lambda env: with_changes(p, node, dict(others), env, then))
