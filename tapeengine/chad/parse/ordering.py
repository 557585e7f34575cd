"""``sorted`` and the largest by a key: indices are found first, which are discrete, and elements are taken there."""

from __future__ import annotations

import ast

import numpy

from tapeengine.chad.parse.iterables import elements_of
from tapeengine.chad.parse.registered import primitive
from tapeengine.chad.parse.state import Env, Parser
from tapeengine.chad.parse.whole import element
from tapeengine.chad.terms import For, Gather, If, Index, Map, Op, Size, Term, counted, lit
from tapeengine.chad.types import BOOL, FLOAT, INT, show


def keys_of(p: Parser, node: ast.AST, key: ast.expr | None, xs: Term, env: Env) -> Term:
    """Give the number by which each element is ordered."""
    if key is None or (isinstance(key, ast.Constant) and key.value is None):
        keys = xs
    else:
        x = p.fresh("x", element(xs))
        keys = Map((x,), p.grammar.apply(p, key, key, (x,), env), (xs,))
    if element(keys) == BOOL:
        b = p.fresh("b", BOOL)
        keys = Map((b,), counted(b), (keys,))
    if element(keys) not in (INT, FLOAT):
        p.error(key or node, f"an order of {show(element(keys))}", "order by numbers, with key=")
    return keys


def sorted_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``sorted(xs, key=f, reverse=True)``: equals stay in their order, in reverse as well."""
    given = {k.arg: k.value for k in node.keywords}
    falling = given.get("reverse")
    if falling is not None and not (isinstance(falling, ast.Constant) and isinstance(falling.value, bool)):
        p.error(falling, "reverse is True or False written out", "write reverse=True")

    def ordered(xs: Term) -> Term:
        keys = keys_of(p, node, given.get("key"), xs, env)
        if falling is not None and falling.value:
            k = p.fresh("k", element(keys))
            opposite = Op("ineg", (k,), INT) if k.type == INT else Op("neg", (k,))
            keys = Map((k,), opposite, (keys,))
        return Gather(xs, primitive(p, node, numpy.argsort, [keys], {"kind": "stable"}))

    return p.let("xs", elements_of(p, node.args[0], env), ordered)


def best(p: Parser, node: ast.Call, test: str, key: ast.expr, xs: Term, env: Env) -> Term:
    """``max(xs, key=f)``, ``min(xs, key=f)``: the first element with the largest or smallest key."""

    def at(xs: Term, keys: Term) -> Term:
        i, found = p.fresh("i", INT), p.fresh("best", INT)
        better = Op(test, (Index(keys, i), Index(keys, found)), BOOL)
        return Index(xs, For(Size(keys), i, found, lit(0), If(better, i, found)))

    def chosen(xs: Term) -> Term:
        return p.let("keys", keys_of(p, node, key, xs, env), lambda keys: at(xs, keys))

    return p.let("xs", xs, chosen)
