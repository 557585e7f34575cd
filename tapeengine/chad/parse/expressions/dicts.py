"""Dicts with fixed texts as keys: records by key. Loops over them are written out, as each key is known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...language.errors import OnDuals
from ...language.terms import If, Literal, Term, Tuple, lit, tuple_of
from ...language.types import NEVER, UNIT, Fixed, is_choice
from ..analyses.iterators import VIEWS
from ..names.syntax import load
from ..names.texts import MISSING, is_key
from ..operations.functions import Env
from ..operations.membership import equal
from ..operations.raising import failing
from ..operations.state import Parser, with_lets
from .parameters import no_other_keywords
from .rules import constant, dict_of, expression, of_each_option, values


def is_dict(term: Any) -> bool:
    """Tell whether something is a dict."""
    return getattr(getattr(term, "type", None), "name", "") == "dict"


def called(p: Parser, node: ast.Call, env: Env) -> Term:
    """``dict(a=x, **d)``, ``dict(d)``, ``dict([("a", x)])``."""
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.Call):
        over = p.grammar.iteration(p, node.args[0], env)
        found = [key_and_value(p, item) for item in over.items or ()]
        if found and None not in found:
            return over.around(dict_of(p, dict(filter(None, found))))  # type: ignore[no-any-return]
    spread = [pair for a in node.args for pair in pairs_written_out(a)]
    named = [(None if k.arg is None else ast.Constant(k.arg), k.value) for k in node.keywords]
    keys, values = zip(*spread, *named, strict=True) if spread or named else ((), ())
    return expression(p, ast.copy_location(ast.Dict(list(keys), list(values)), node), env)


def pairs_written_out(given: ast.expr) -> list[tuple[ast.expr | None, ast.expr]]:
    """Give the keys and values of a display of pairs; anything else is a dict, without a key."""
    match given:
        case ast.List(elts) | ast.Tuple(elts):
            pairs = [pair.elts for pair in elts if isinstance(pair, ast.Tuple | ast.List)]
            if len(pairs) == len(elts) and all(len(pair) == 2 for pair in pairs):
                return [(key, value) for key, value in pairs]
    return [(None, given)]


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
    no_other_keywords(p, node, ())
    d = p.bound("d", receiver)
    items = values(p, d)
    match name, node.args:
        case "get", [key, *default] if len(default) < 2:
            other = default_of(p, items, default, env)
            return after(p, other, lambda other: at_key(p, node, d, key, env, other))
        case "items", []:
            return tuple_of(Tuple((constant(p, node, key), x)) for key, x in items.items())
        case "keys", []:
            return tuple_of(constant(p, node, key) for key in items)
        case "values", []:
            return tuple_of(items.values())
        case "copy", []:
            return d
    p.on_duals(node, f"{name} of a dict", "use d[key], d.get(key), d.items(), d.keys(), d.values() or d.copy()")


@with_lets
def at_key(p: Parser, node: ast.AST, d: Term, index: ast.expr, env: Env, other: Term) -> Term:
    """``d[key]``: the value of a key that is known; of an integer that a run knows, that of the key it equals.

    `other` is what a dict without the key gives.
    """
    key = p.known(index, env)
    items = values(p, p.settled(d))
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
    return dict_of(p, {key: new}, term)


def updated(p: Parser, node: ast.Call, name: str, env: Env) -> Term:
    """``d.update(e, a=x)``: a dict with more values, or others."""
    whole = ast.Call(node.func, [load(name, node), *node.args], node.keywords)
    return called(p, ast.copy_location(whole, node), env)


def popped(p: Parser, node: ast.AST, d: Term, args: Sequence[ast.expr], env: Env) -> tuple[Term, Term]:
    """``d.pop(key, default)``: the value, and the dict without it."""
    items = values(p, d)
    key = p.known(args[0], env) if 0 < len(args) < 3 else MISSING
    if not is_key(key):
        p.on_duals(node, "a key of a dict is one that is written out, or known when it is read", "write d.pop('a')")
    other = default_of(p, items, args[1:], env) if key in items or args[1:] else failing()
    return after(p, other, lambda other: items.get(key, other)), dict_of(p, {k: items[k] for k in items if k != key})


def after(p: Parser, other: Term, value: Callable[[Term], Term]) -> Term:
    """Give a value that is computed after a default, which Python computes whether or not it is used."""
    if other.type in (NEVER, UNIT):
        return other if other.type == NEVER else value(other)
    return p.within("default", other, value)


def default_of(p: Parser, items: Mapping[Any, Term], default: Sequence[ast.expr], env: Env) -> Term:
    """Give the default for a missing key; an empty list has the type of the dict's values."""
    return expression(p, default[0], env, next((x.type for x in items.values()), None)) if default else Tuple(())
