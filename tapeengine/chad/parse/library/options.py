"""The options of numpy's functions: by place as by name, and those that say nothing left out.

A form of the language reads its operands by place and its options by name. What it does not read it does not ignore:
the program runs on dual numbers then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from ...language.terms import Term
from ...language.types import BOOL, FLOAT, INT, Array, Type, numbers_of
from ..expressions.parameters import no_other_keywords
from ..expressions.rules import expression
from ..operations import numeric
from ..operations.functions import Env
from ..operations.state import Parser

#: What stands for the three types of numbers.
DTYPES: Mapping[Any, Type] = {
    **dict.fromkeys((float, numpy.float64, "float", "float64", "d", "f8"), FLOAT),
    **dict.fromkeys((int, numpy.int64, "int", "int64", "i8"), INT),
    **dict.fromkeys((bool, numpy.bool_, "bool"), BOOL),
}


def keyword(node: ast.Call, name: str, position: int = -1) -> ast.expr | None:
    """Give an argument by name or, if it has one, by position."""
    if 0 <= position < len(node.args):
        return node.args[position]
    return next((k.value for k in node.keywords if k.arg == name), None)


def dtype_of(p: Parser, dtype: ast.expr, env: Env) -> Type | None:
    """Give the type of numbers that a dtype names, or of those of an array: ``xs.dtype``."""
    if isinstance(dtype, ast.Attribute) and dtype.attr == "dtype" and not p.is_module(dtype.value):
        given = expression(p, dtype.value, env)
        p.operated(dtype, [(dtype.value, given)])
        if isinstance(given.type, Array):
            return numbers_of(given.type)
    return DTYPES.get(p.known(dtype, env))


def of_wider(p: Parser, node: ast.Call, xs: Term, env: Env) -> Term:
    """Convert the numbers that a function adds or multiplies to its ``dtype=``, which holds them all."""
    dtype = keyword(node, "dtype")
    if dtype is None:
        return xs
    of = dtype_of(p, dtype, env)
    if of != FLOAT and (of != INT or numbers_of(xs.type) == FLOAT):
        p.on_duals(dtype, "a dtype that does not hold the numbers", "write dtype=float")
    return numeric.of_kind(p, node, xs, of)


def with_options(form: Callable[..., Term], order: Sequence[str], count: int, reads: Sequence[str]) -> Any:
    """Make a form that reads options by name one that takes numpy's parameters, of which the first are operands.

    A form of a method has the array before the environment.
    """

    def handle(p: Parser, node: ast.Call, *rest: Any) -> Term:
        node = arranged(p, node, order[len(rest) - 1 :], count + 1 - len(rest))
        no_other_keywords(p, node, reads)
        return form(p, node, *rest)

    return handle


def arranged(p: Parser, node: ast.Call, order: Sequence[str], count: int) -> ast.Call:
    """Give a call with its operands by place and its options by name."""
    by_name = {str(k.arg): k.value for k in node.keywords}
    by_place = dict(zip(order, node.args, strict=False))
    if len(node.args) > len(order) or by_name.keys() & by_place:
        p.error(node, "more arguments than the function has", "match its parameters")
    given = {**by_place, **by_name}
    args = [given.pop(name) for name in order[:count] if name in given]
    options = [ast.keyword(name, value) for name, value in given.items() if not says_nothing(name, value)]
    if any(option.arg == "out" for option in options):
        p.error(node, "out= inside an expression", "assign the result: y = ...")
    return ast.copy_location(ast.Call(node.func, args, options), node)


#: The values of options that have no effect.
DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(("out", "dtype", "order"), None),
    **dict.fromkeys(("overwrite_input", "returned", "subok"), False),
    "method": "linear",
}


def says_nothing(name: str, value: ast.expr) -> bool:
    """Tell whether an option has the value that numpy takes where it is not given."""
    return name in DEFAULTS and isinstance(value, ast.Constant) and value.value == DEFAULTS[name]
