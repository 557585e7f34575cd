"""``sorted`` and the largest by a key: the indices, which are discrete, are found first, then the elements are read."""

from __future__ import annotations

import ast
from operator import itemgetter

import numpy

from ...language.terms import (
    For,
    Gather,
    If,
    Index,
    Map,
    Op,
    Proj,
    Size,
    Term,
    Total,
    Tuple,
    counted,
    lit,
    tuple_of,
)
from ...language.types import BOOL, FLOAT, INT, Product, Type, show
from ..expressions.dicts import is_dict
from ..expressions.rules import constant, expression, values
from ..operations import numeric
from ..operations.functions import Env
from ..operations.registered import primitive
from ..operations.state import Parser, with_lets
from ..operations.whole import array, element


def keys_of(p: Parser, node: ast.AST, key: ast.expr | None, xs: Term, env: Env) -> Term:
    """Give the number, or the tuple of numbers, by which each element is ordered."""
    if key is None or (isinstance(key, ast.Constant) and key.value is None):
        keys = xs
    else:
        keys = p.of_each(xs, lambda x: p.grammar.apply(p, key, key, (x,), env), "x")
    if not is_ordered(p, element(keys)):
        p.unfit(key or node, [element(keys)], f"an order of {show(element(keys))}", "order by numbers, with key=")
    return keys


def is_ordered(p: Parser, of: Type) -> bool:
    """Tell whether values of a type are ordered: numbers, and tuples of these."""
    if isinstance(of, Product) and of.items and p.is_compared(of):
        return all(is_ordered(p, item) for item in of.items)
    return of in (INT, FLOAT, BOOL)


def columns(p: Parser, keys: Term) -> list[Term]:
    """Give the numbers of tuples as arrays, those that decide first at the beginning."""
    x = p.fresh("k", element(keys))
    if isinstance(x.of, Product):
        items = range(len(x.of.items))
        return [column for i in items for column in columns(p, Map((x,), Proj(x, i), (keys,)))]
    return [Map((x,), counted(x), (keys,)) if x.of == BOOL else keys]


@with_lets
def sorted_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``sorted(xs, key=f, reverse=True)``: equals stay in their order, in reverse as well.

    A run fails where a key is NaN: the order then depends on Python's algorithm.
    """
    given = {k.arg: k.value for k in node.keywords}
    falling = given.get("reverse")
    if falling is not None and not (isinstance(falling, ast.Constant) and isinstance(falling.value, bool)):
        p.on_duals(falling, "reverse is True or False written out", "write reverse=True")
    is_falling = falling is not None and falling.value is True
    over = node.args[0]
    of, has_values = viewed(over)
    xs = expression(p, of, env)
    if "key" not in given and is_dict(xs) and len(set(map(type, xs.type.fields))) == 1:  # type: ignore[attr-defined]
        return by_keys(p, over, p.bound("d", xs), has_values, is_falling)
    xs = p.bound("xs", array(p, node, xs if of is over else expression(p, over, env)))
    keys = p.bound("keys", keys_of(p, node, given.get("key"), xs, env))
    order: Term | None = None
    for key in columns(p, keys)[::-1]:  # the one that decides first last, with equals in the order before
        k = p.fresh("k", element(key))
        if k.type == FLOAT:
            p.bound("n", Op("iequal", (Total(Map((k,), counted(Op("isnan", (k,), BOOL)), (key,))), lit(0)), INT))
        if is_falling:
            key = Map((k,), Op("ineg", (k,), INT) if k.type == INT else Op("neg", (k,)), (key,))
        at = primitive(p, node, numpy.argsort, [key if order is None else Gather(key, order)], {"kind": "stable"})
        order = p.bound("order", at if order is None else Gather(order, at))
    assert order is not None
    return Gather(xs, order)


def viewed(over: ast.expr) -> tuple[ast.expr, bool]:
    """Give what may be a dict that is ordered by its keys, and whether its items are wanted."""
    match over:
        case ast.Call(func=ast.Attribute(value=inner, attr="items" | "keys" as view), args=[], keywords=[]):
            return inner, view == "items"
    return over, False


def by_keys(p: Parser, node: ast.expr, d: Term, has_values: bool, falling: bool) -> Term:
    """Give the keys of a dict, or its items, in the order of the keys, which are known when the program is read."""
    items = [(constant(p, node, key), x) for key, x in sorted(values(p, d).items(), key=itemgetter(0), reverse=falling)]
    return tuple_of(Tuple(item) if has_values else item[0] for item in items)


@with_lets
def best(p: Parser, node: ast.Call, test: str, key: ast.expr, xs: Term, env: Env) -> Term:
    """``max(xs, key=f)``, ``min(xs, key=f)``: the first element with the largest or smallest key."""
    xs = p.bound("xs", xs)
    keys = p.bound("keys", keys_of(p, node, key, xs, env))
    i, found = p.fresh("i", INT), p.fresh("best", INT)
    better = numeric.comparison(p, node, test, Index(keys, i), Index(keys, found))
    return Index(xs, For(Size(keys), i, found, lit(0), If(better, i, found)))
