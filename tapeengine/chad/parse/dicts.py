"""Dicts with fixed texts as keys: records by key. Loops over them are written out, as each key is known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tapeengine.chad.parse.expressions import dict_of, expression, text
from tapeengine.chad.parse.functions import Env
from tapeengine.chad.parse.state import Parser
from tapeengine.chad.parse.texts import MISSING
from tapeengine.chad.parse.whole import array, have_one_type
from tapeengine.chad.terms import Index, Proj, Term, Tuple, lit
from tapeengine.chad.types import Product, Text, show


def is_dict(term: Any) -> bool:
    """Tell whether something is a dict."""
    return getattr(getattr(term, "type", None), "name", "") == "dict"


def items_of(term: Term) -> dict[str, Term]:
    """Give the values of a dict by key."""
    assert isinstance(term.type, Product)
    return {key: Proj(term, k) for k, key in enumerate(term.type.fields)}


def called(p: Parser, node: ast.Call, env: Env) -> Term:
    """``dict(a=x, **d)``, ``dict(d)``."""
    spread: list[tuple[ast.expr | None, ast.expr]] = [(None, a) for a in node.args]
    named = [(None if k.arg is None else ast.Constant(k.arg), k.value) for k in node.keywords]
    keys, values = zip(*spread, *named, strict=True) if spread or named else ((), ())
    return expression(p, ast.copy_location(ast.Dict(list(keys), list(values)), node), env)


def method(p: Parser, node: ast.Call, receiver: Term, name: str, env: Env) -> Term:
    """``d.get(key, default)``, ``d.items()``, ``d.keys()``, ``d.values()``, ``d.copy()``."""

    def of_variable(d: Term) -> Term:
        items = items_of(d)
        match name, node.args:
            case "get", [key, *default] if len(default) < 2:
                found = p.known(key, env)
                if found in items:
                    return items[found]
                return expression(p, default[0], env) if default else Tuple(())
            case "items", []:
                return Tuple(tuple(Tuple((text(p, key), x)) for key, x in items.items()))
            case "keys", []:
                return Tuple(tuple(text(p, key) for key in items))
            case "values", []:
                return Tuple(tuple(items.values()))
            case "copy", []:
                return d
        p.error(node, f"{name} of a dict", "use d[key], d.get(key), d.items(), d.keys(), d.values() or d.copy()")

    return p.let("d", receiver, of_variable)


def replaced(p: Parser, node: ast.Subscript, term: Term, key: Any, new: Term) -> Term:
    """``d[key] = x``: a dict with another value, or one more."""
    if not isinstance(key, str):
        p.error(node.slice, "a key of a dict is a text that is written out, or known when it is read", "write d['a']")
    return dict_of(p, {**items_of(term), key: new})


def written_out(p: Parser, node: ast.expr, env: Env) -> Sequence[Term] | None:
    """Give the items that a loop is written out for: the keys of a dict, and parts of a tuple of several types."""
    if isinstance(node, ast.Call) and (called := p.static(node.func, env)) in (zip, enumerate) and node.args:
        return side_by_side(p, node, called is zip, env)
    if not may_be_written_out(p, node, env):
        return None
    term = expression(p, node, env)
    if isinstance(term.type, Text):
        return [text(p, part) for part in term.type.value]
    if is_dict(term):
        return [text(p, key) for key in items_of(term)]
    if not isinstance(term.type, Product) or not term.type.items or have_one_type(p, term.type.items):
        return None
    if not p.is_sequence(term.type):
        p.error(node, f"a loop runs over a range or an array, not over {show(term.type)}", "use range(...)")
    return term.items if isinstance(term, Tuple) else [Proj(term, k) for k in range(len(term.type.items))]


def side_by_side(p: Parser, node: ast.Call, is_zip: bool, env: Env) -> Sequence[Term] | None:
    """Give the items of a zip, or of enumerate, of what is written out; arrays are as long, or a run fails."""
    each = [written_out(p, a, env) for a in node.args]
    known = [items for items in each if items is not None]
    if not known or node.keywords or (not is_zip and len(each) > 1):
        return None
    count = min(map(len, known))
    if not is_zip:
        return [Tuple((lit(k), item)) for k, item in enumerate(known[0])]
    columns = [items or places(p, node, expression(p, a, env), count) for a, items in zip(node.args, each, strict=True)]
    return [Tuple(items) for items in zip(*columns, strict=False)]


def places(p: Parser, node: ast.AST, term: Term, count: int) -> list[Term]:
    """Give the first items of an array, or all of a tuple."""
    if isinstance(term.type, Product):
        return [Proj(term, k) for k in range(len(term.type.items))]
    return [Index(array(p, node, term), lit(k)) for k in range(count)]


def may_be_written_out(p: Parser, node: ast.expr, env: Env) -> bool:
    """Tell whether an expression may be a dict or a tuple, without reading it."""
    match node:
        case ast.Call(func=ast.Attribute(attr="items" | "keys" | "values") as function):
            return p.static(function, env) is MISSING
        case ast.Name(id=name):
            return isinstance(getattr(env.get(name), "type", None), Product)
    return isinstance(node, ast.Attribute | ast.Subscript | ast.Tuple)
