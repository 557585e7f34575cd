"""Dicts with fixed texts as keys: records by key. Loops over them are written out, as each key is known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import OnDuals
from ..terms import If, Index, Let, Literal, Op, Proj, Size, Term, Tuple, lit
from ..types import INT, NEVER, UNIT, Fixed, Product, Text, is_choice, is_known, show
from .expressions import constant, dict_of, expression, of_each_option, read_ahead, text
from .functions import Env
from .iterators import VIEWS
from .membership import equal
from .raising import failing
from .state import Parser, with_lets
from .texts import MISSING, is_key
from .whole import array, have_one_type


def is_dict(term: Any) -> bool:
    """Tell whether something is a dict."""
    return getattr(getattr(term, "type", None), "name", "") == "dict"


def items_of(term: Term) -> dict[Any, Term]:
    """Give the values of a dict by key."""
    assert isinstance(term.type, Product)
    parts = term.items if isinstance(term, Tuple) else [Proj(term, k) for k in range(len(term.type.fields))]
    return dict(zip(term.type.fields, parts, strict=True))


def called(p: Parser, node: ast.Call, env: Env) -> Term:
    """``dict(a=x, **d)``, ``dict(d)``."""
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.Call):
        items = written_out(p, node.args[0], env) or ()
        found = [key_and_value(p, item) for item in items]
        if found and None not in found:
            return dict_of(p, dict(filter(None, found)))
    spread: list[tuple[ast.expr | None, ast.expr]] = [(None, a) for a in node.args]
    named = [(None if k.arg is None else ast.Constant(k.arg), k.value) for k in node.keywords]
    keys, values = zip(*spread, *named, strict=True) if spread or named else ((), ())
    return expression(p, ast.copy_location(ast.Dict(list(keys), list(values)), node), env)


def key_and_value(p: Parser, item: Term) -> tuple[Any, Term] | None:
    """Give the key and the value of an item of a dict; None where the key is not known."""
    match item:
        case Tuple(items=(Literal(value=key), value)):
            return key, value
        case Tuple(items=(Term(type=Fixed(value=key)), value)):
            return key, value
    return None


@with_lets
def method(p: Parser, node: ast.Call, receiver: Term, name: str, env: Env) -> Term:
    """``d.get(key, default)``, ``d.items()``, ``d.keys()``, ``d.values()``, ``d.copy()``."""
    if name in VIEWS:
        p.at_once(node, f"{name}() of a dict", OnDuals)
    d = p.bound("d", receiver)
    items = items_of(d)
    match name, node.args:
        case "get", [key, *default] if len(default) < 2:
            other = default_of(p, items, default, env)
            return after(p, other, lambda other: at_key(p, node, d, key, env, other))
        case "items", []:
            return Tuple(tuple(Tuple((constant(p, node, key), x)) for key, x in items.items()))
        case "keys", []:
            return Tuple(tuple(constant(p, node, key) for key in items))
        case "values", []:
            return Tuple(tuple(items.values()))
        case "copy", []:
            return d
    p.on_duals(node, f"{name} of a dict", "use d[key], d.get(key), d.items(), d.keys(), d.values() or d.copy()")


@with_lets
def at_key(p: Parser, node: ast.AST, d: Term, index: ast.expr, env: Env, other: Term) -> Term:
    """``d[key]``: the value of a key that is known; of an integer that a run knows, that of the key it equals.

    `other` is what a dict without the key gives.
    """
    items, key = items_of(d), p.known(index, env)
    if key is not MISSING:
        return items.get(key, other) if is_key(key) or isinstance(key, float) else other
    position = expression(p, index, env)
    if isinstance(position.type, Fixed):
        return items.get(position.type.value, other)
    if is_choice(position.type):
        return of_each_option(p, node, position, lambda own: items.get(own.type.value, other))  # type: ignore[attr-defined]
    at, found = p.bound("key", position), other
    for key, value in items.items():
        test = equal(p, node, at, constant(p, node, key))
        if test == lit(False):
            continue
        of = p.unify(node, value.type, found.type)
        found = If(test, p.coerce(node, value, of), p.coerce(node, found, of))
    return found


def replaced(p: Parser, node: ast.Subscript, term: Term, key: Any, new: Term) -> Term:
    """``d[key] = x``: a dict with another value, or one more."""
    if not is_key(key):
        p.on_duals(node.slice, "a key of a dict is one that is written out, or known when it is read", "write d['a']")
    return dict_of(p, {**items_of(term), key: new})


def updated(p: Parser, node: ast.Call, name: str, env: Env) -> Term:
    """``d.update(e, a=x)``: a dict with more values, or others."""
    whole = [ast.copy_location(ast.Name(name, ast.Load()), node), *node.args]
    named = [ast.keyword(None, each) for each in whole] + node.keywords
    return called(p, ast.copy_location(ast.Call(node.func, [], named), node), env)


def popped(p: Parser, node: ast.AST, d: Term, args: Sequence[ast.expr], env: Env) -> tuple[Term, Term]:
    """``d.pop(key, default)``: the value, and the dict without it."""
    items = items_of(d)
    key = p.known(args[0], env) if 0 < len(args) < 3 else MISSING
    if not is_key(key):
        p.on_duals(node, "a key of a dict is one that is written out, or known when it is read", "write d.pop('a')")
    other = default_of(p, items, args[1:], env) if key in items or args[1:] else failing()
    return after(p, other, lambda other: items.get(key, other)), dict_of(p, {k: items[k] for k in items if k != key})


def after(p: Parser, other: Term, value: Callable[[Term], Term]) -> Term:
    """Give a value that is computed after a default, which Python computes whether or not it is used."""
    if other.type in (NEVER, UNIT):
        return other if other.type == NEVER else value(other)
    return p.let("default", other, value)


def default_of(p: Parser, items: Mapping[Any, Term], default: Sequence[ast.expr], env: Env) -> Term:
    """Give the default for a missing key; an empty list has the type of the dict's values."""
    return expression(p, default[0], env, next((x.type for x in items.values()), None)) if default else Tuple(())


def written_out(p: Parser, node: ast.expr, env: Env) -> Sequence[Term] | None:
    """Give the items that a loop is written out for: letters, keys of a dict, and parts of a tuple of several types."""
    if isinstance(known := p.known(node, env), str):
        return [text(p, part) for part in known]
    if isinstance(node, ast.Call) and p.static(node.func, env) is reversed and len(node.args) == 1:
        items = written_out(p, node.args[0], env)
        return items and items[::-1]
    if isinstance(node, ast.Call) and (called := p.static(node.func, env)) in (zip, enumerate) and node.args:
        return side_by_side(p, node, called is zip, env)
    if not may_be_written_out(p, node, env):
        return None
    of = read_ahead(p, node, env).type
    if isinstance(of, Text):
        return [text(p, part) for part in of.value]
    if not isinstance(of, Product) or not of.items:
        return [] if getattr(of, "name", "") == "dict" else None
    if have_one_type(p, of.items) and not is_known(of) and of.name != "dict":
        return None
    term = expression(p, node, env)
    if is_dict(term):
        return [constant(p, node, key) for key in items_of(term)]
    if not p.is_sequence(of):
        p.error(node, f"a loop runs over a range or an array, not over {show(of)}", "use range(...)")
    return term.items if isinstance(term, Tuple) else [Proj(term, k) for k in range(len(of.items))]


def side_by_side(p: Parser, node: ast.Call, is_zip: bool, env: Env) -> Sequence[Term] | None:
    """Give the items of a zip or enumerate that is written out; a run fails if an array has another size."""
    each = [written_out(p, a, env) for a in node.args]
    known = [items for items in each if items is not None]
    is_strict = is_zip and [(k.arg, p.known(k.value, env)) for k in node.keywords] == [("strict", True)]
    count = min(map(len, known), default=0)
    if not known or (node.keywords and not is_strict) or (not is_zip and len(each) > 1):
        return None
    if is_strict and len(set(map(len, known))) > 1:
        return [failing()]
    if not is_zip:
        return [Tuple((lit(k), item)) for k, item in enumerate(known[0])]
    rest = [Tuple(()) if items else expression(p, a, env) for a, items in zip(node.args, each, strict=True)]
    columns = [
        items or places(p, node, of_size(p, array(p, node, x), count) if is_strict else x, count)
        for items, x in zip(each, rest, strict=True)
    ]
    return [Tuple(items) for items in zip(*columns, strict=False)]


def of_size(p: Parser, xs: Term, count: int) -> Term:
    """Give an array, or fail where it has another number of elements."""
    return p.let("xs", xs, lambda xs: Let(p.fresh("n", INT), Op("iequal", (Size(xs), lit(count)), INT), xs))


def places(p: Parser, node: ast.AST, term: Term, count: int) -> list[Term]:
    """Give the first items of an array, or all of a tuple."""
    if isinstance(term.type, Product) and p.is_sequence(term.type):
        return [Proj(term, k) for k in range(len(term.type.items))]
    return [Index(array(p, node, term), lit(k)) for k in range(count)]


def may_be_written_out(p: Parser, node: ast.expr, env: Env) -> bool:
    """Tell whether an expression may be a dict or a tuple, without reading it."""
    match node:
        case ast.Call(func=ast.Attribute(attr="items" | "keys" | "values") as function):
            return p.static(function, env) is MISSING
        case ast.Name(id=name):
            return isinstance(getattr(env.get(name), "type", None), Product) or isinstance(p.known(node, env), dict)
    return isinstance(node, ast.Attribute | ast.Subscript | ast.Tuple | ast.List)
