"""The forms of `tapeengine.chad.forms`: each call is one constructor."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from tapeengine.chad.parse.expressions import expression
from tapeengine.chad.parse.registered import primitive as call_primitive
from tapeengine.chad.parse.state import Env, Parser
from tapeengine.chad.primitives import DISCRETE, REAL, result_type
from tapeengine.chad.registered import named
from tapeengine.chad.terms import (
    Branch,
    Build,
    Case,
    Concatenate,
    Elements,
    Filter,
    For,
    Inject,
    Lambda,
    Let,
    Map,
    Op,
    Term,
    Total,
    Var,
    While,
)
from tapeengine.chad.types import BOOL, INT, Array, Named, Sum, Type, show

__all__ = ["SPECIAL"]


def binders(p: Parser, node: ast.expr, types: Sequence[Type], env: Env) -> tuple[tuple[Var, ...], Term]:
    """Parse a lambda whose parameters are binders of the given types."""
    if not isinstance(node, ast.Lambda) or len(node.args.args) != len(types):
        p.error(node, f"a lambda of {len(types)} parameters is wanted here", "write lambda ...: ...")
    variables = tuple(p.fresh(a.arg, t) for a, t in zip(node.args.args, types, strict=True))
    inner = {**env, **dict(zip((a.arg for a in node.args.args), variables, strict=True))}
    return variables, expression(p, node.body, inner)


def written(p: Parser, node: ast.expr) -> Type:
    """Parse a type given as an argument."""
    return p.annotated(node, node, "this argument")


def element(p: Parser, node: ast.AST, term: Term) -> Type:
    """Give the element type of an array."""
    if not isinstance(term.type, Array):
        p.error(node, f"an array is wanted here, not {show(term.type)}", "give an array")
    return term.type.element


def let(p: Parser, node: ast.Call, env: Env) -> Term:
    """``let(value, lambda x: body)``."""
    bound = expression(p, node.args[0], env)
    (var,), body = binders(p, node.args[1], (bound.type,), env)
    return Let(var, bound, body)


def op(p: Parser, node: ast.Call, env: Env) -> Term:
    """``op("name", x, ...)``."""
    first = node.args[0]
    if not isinstance(first, ast.Constant) or (first.value not in REAL and first.value not in DISCRETE):
        p.error(first, "this is no scalar operation", "write the name of an opcode")
    name = str(first.value)
    return Op(name, tuple(expression(p, a, env) for a in node.args[1:]), result_type(name))


def primitive(p: Parser, node: ast.Call, env: Env) -> Term:
    """``primitive("family.name", x, ..., static=value)``."""
    first = node.args[0]
    try:
        found = named(str(ast.literal_eval(first)))
        static = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
    except (KeyError, ValueError):
        p.error(first, "this is no primitive of the registry", "write its name and its static parameters out")
    return call_primitive(p, node, found, [expression(p, a, env) for a in node.args[1:]], static)


def inject(p: Parser, node: ast.Call, env: Env) -> Term:
    """``inject(T, k, value)``."""
    of, index = written(p, node.args[0]), node.args[1]
    options = p.table.options(of)
    if options is None or not isinstance(index, ast.Constant) or not isinstance(of, Sum | Named):
        p.error(node, f"{show(of)} is not a sum", "write inject(Sum[...], k, value)")
    k = int(str(index.value))
    return Inject(k, p.coerce(node, expression(p, node.args[2], env, options[k]), options[k]), of)


def case(p: Parser, node: ast.Call, env: Env) -> Term:
    """``case(value, lambda x: ..., lambda y: ...)``."""
    subject = expression(p, node.args[0], env)
    options = p.table.options(subject.type)
    if options is None or len(options) != len(node.args) - 1:
        p.error(node, f"one branch for each option of {show(subject.type)}", "write case(value, lambda x: ..., ...)")
    branches = []
    for option, arm in zip(options, node.args[1:], strict=True):
        (var,), body = binders(p, arm, (option,), env)
        branches.append(Branch(var, body))
    return Case(subject, tuple(branches))


def function(p: Parser, node: ast.Call, env: Env) -> Term:
    """``function((T, ...), lambda x, ...: body)``."""
    types = node.args[0]
    if not isinstance(types, ast.Tuple):
        p.error(node, "the types of the parameters are a tuple", "write function((float,), lambda x: ...)")
    return Lambda(*binders(p, node.args[1], [written(p, t) for t in types.elts], env))


def build(p: Parser, node: ast.Call, env: Env) -> Term:
    """``build(n, lambda i: body)``."""
    size = p.coerce(node, expression(p, node.args[0], env), INT)
    (index,), body = binders(p, node.args[1], (INT,), env)
    return Build(size, index, body)


def elements(p: Parser, node: ast.Call, env: Env) -> Term:
    """``elements(T, x, ...)``."""
    of = written(p, node.args[0])
    return Elements(tuple(p.coerce(a, expression(p, a, env, of), of) for a in node.args[1:]), of)


def map_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``map(lambda x, ...: body, xs, ...)``."""
    arrays = tuple(expression(p, a, env) for a in node.args[1:])
    variables, body = binders(p, node.args[0], [element(p, node, a) for a in arrays], env)
    return Map(variables, body, arrays)


def filter_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``filter(lambda x: condition, xs)``."""
    array = expression(p, node.args[1], env)
    (var,), condition = binders(p, node.args[0], (element(p, node, array),), env)
    return Filter(var, p.coerce(node, condition, BOOL), array)


def loop(p: Parser, node: ast.Call, env: Env) -> Term:
    """``loop(n, init, lambda i, s: body)``."""
    size = p.coerce(node, expression(p, node.args[0], env), INT)
    init = expression(p, node.args[1], env)
    (index, state), body = binders(p, node.args[2], (INT, init.type), env)
    return For(size, index, state, init, p.coerce(node, body, init.type))


def while_loop(p: Parser, node: ast.Call, env: Env) -> Term:
    """``while_loop(init, lambda s: condition, lambda s: body)``."""
    init = expression(p, node.args[0], env)
    (state,), condition = binders(p, node.args[1], (init.type,), env)
    arm = node.args[2]
    if not isinstance(arm, ast.Lambda) or len(arm.args.args) != 1:
        p.error(arm, "a lambda of one parameter is wanted here", "write lambda s: ...")
    body = expression(p, arm.body, {**env, arm.args.args[0].arg: state})
    return While(state, init, p.coerce(node, condition, BOOL), p.coerce(node, body, init.type))


def total(p: Parser, node: ast.Call, env: Env) -> Term:
    """``total(xs)``."""
    return Total(expression(p, node.args[0], env))


def concatenate(p: Parser, node: ast.Call, env: Env) -> Term:
    """``concatenate(xs, ys)``."""
    first = expression(p, node.args[0], env)
    element(p, node, first)
    return Concatenate(first, p.coerce(node, expression(p, node.args[1], env), first.type))


SPECIAL: Mapping[str, Callable[[Parser, ast.Call, Env], Term]] = MappingProxyType(
    {
        "tapeengine.let": let,
        "tapeengine.op": op,
        "tapeengine.primitive": primitive,
        "tapeengine.inject": inject,
        "tapeengine.case": case,
        "tapeengine.function": function,
        "tapeengine.build": build,
        "tapeengine.elements": elements,
        "tapeengine.map": map_,
        "tapeengine.filter": filter_,
        "tapeengine.loop": loop,
        "tapeengine.while_loop": while_loop,
        "tapeengine.total": total,
        "tapeengine.concatenate": concatenate,
    }
)
