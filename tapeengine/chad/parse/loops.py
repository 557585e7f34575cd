"""Loops and comprehensions. Whatever they run over is a size and, for an index, values for the loop's variables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapeengine.chad.parse.expressions import condition, expression
from tapeengine.chad.parse.names import assigned, returns
from tapeengine.chad.terms import (
    Build,
    Filter,
    For,
    Index,
    Let,
    Literal,
    Map,
    Op,
    Proj,
    Size,
    Term,
    Tuple,
    Var,
    While,
    lit,
)
from tapeengine.chad.types import INT, Array, Product, Type, show

if TYPE_CHECKING:
    from tapeengine.chad.parse.parser import Env, Parser

__all__ = ["comprehension", "for_statement", "iteration", "while_statement"]


@dataclass(frozen=True)
class Iteration:
    """What a loop runs over: `size` steps; `item` gives the value for an index; `lets` are bound around the loop."""

    size: Term
    item: Callable[[Term], Term]
    lets: tuple[tuple[Var, Term], ...] = ()
    counts: bool = False

    def around(self, term: Term) -> Term:
        """Bind what the loop needs around it."""
        for var, bound in reversed(self.lets):
            term = Let(var, bound, term)
        return term


def iteration(p: Parser, node: ast.expr, env: Env) -> Iteration:
    """Parse what stands after ``in``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in env:
        args = node.args
        match node.func.id:
            case "range":
                return _range(p, node, [p.coerce(a, expression(p, a, env), INT) for a in args])
            case "enumerate" if len(args) == 1:
                inner = iteration(p, args[0], env)
                return Iteration(inner.size, lambda i: Tuple((i, inner.item(i))), inner.lets)
            case "zip":
                return _zip([iteration(p, a, env) for a in args])
            case "reversed" if len(args) == 1:
                inner = iteration(p, args[0], env)
                return Iteration(inner.size, lambda i: inner.item(_minus(_minus(inner.size, lit(1)), i)), inner.lets)
    array = expression(p, node, env)
    if not isinstance(array.type, Array):
        p.error(node, f"a loop runs over a range or an array, not over {show(array.type)}", "use range(...)")
    if isinstance(array, Var):
        return Iteration(Size(array), lambda i: Index(array, i))
    var = p.fresh("xs", array.type)
    return Iteration(Size(var), lambda i: Index(var, i), ((var, array),))


def _minus(a: Term, b: Term) -> Term:
    if isinstance(a, Literal) and isinstance(b, Literal):
        return lit(int(a.value - b.value))
    return Op("isub", (a, b), INT)


def _range(p: Parser, node: ast.AST, args: list[Term]) -> Iteration:
    if len(args) == 1:
        return _sized(p, args[0], lambda i: i, counts=True)
    start, stop = args[0], args[1]
    step = args[2] if len(args) == 3 else lit(1)
    if not isinstance(step, Literal) or step.value == 0:
        p.error(node, "the step of a range is a number written out", "write it, or compute the index from a range")
    stride = int(step.value)
    lets: list[tuple[Var, Term]] = []
    if not isinstance(start, Var | Literal):
        var = p.fresh("start", INT)
        lets.append((var, start))
        start = var
    distance = _minus(stop, start) if stride > 0 else _minus(start, stop)
    if abs(stride) > 1:
        distance = Op("ifloordiv", (Op("iadd", (distance, lit(abs(stride) - 1)), INT), lit(abs(stride))), INT)
    positive = isinstance(distance, Literal)
    size = lit(max(int(distance.value), 0)) if positive else Op("imax", (distance, lit(0)), INT)  # type: ignore[attr-defined]

    def item(i: Term) -> Term:
        scaled = i if abs(stride) == 1 else Op("imul", (lit(abs(stride)), i), INT)
        if isinstance(start, Literal) and start.value == 0 and stride > 0:
            return scaled
        return Op("iadd" if stride > 0 else "isub", (start, scaled), INT)

    inner = _sized(p, size, item)
    return Iteration(inner.size, item, (*lets, *inner.lets))


def _sized(p: Parser, size: Term, item: Callable[[Term], Term], counts: bool = False) -> Iteration:
    if isinstance(size, Var | Literal) or (isinstance(size, Size) and isinstance(size.array, Var)):
        return Iteration(size, item, counts=counts)
    var = p.fresh("n", INT)
    return Iteration(var, item, ((var, size),), counts)


def _zip(parts: Sequence[Iteration]) -> Iteration:
    size = parts[0].size
    for part in parts[1:]:
        if part.size != size:
            size = Op("imin", (size, part.size), INT)
    lets = tuple(pair for part in parts for pair in part.lets)
    return Iteration(size, lambda i: Tuple(tuple(part.item(i) for part in parts)), lets)


def bind_target(p: Parser, target: ast.expr, item: Term, env: Env, body: Callable[[Env], Term]) -> Term:
    """Bind a loop's variables to its item."""
    from tapeengine.chad.parse.statements import assign_one

    if isinstance(target, ast.Name) and isinstance(item, Var):
        return body({**env, target.id: item})
    if isinstance(target, ast.Tuple) and isinstance(item, Tuple) and len(target.elts) == len(item.items):

        def go(i: int, env: Env) -> Term:
            if i == len(target.elts):
                return body(env)
            return bind_target(p, target.elts[i], item.items[i], env, lambda env: go(i + 1, env))

        return go(0, env)
    return assign_one(p, target, item, env, body)


def index_name(target: ast.expr, over: Iteration) -> str:
    """Choose a name for a loop's index."""
    return target.id if isinstance(target, ast.Name) and over.counts else "i"


def comprehension(p: Parser, node: ast.ListComp | ast.GeneratorExp, env: Env) -> Term:
    """``[e for x in it if c]``: a build, or a map over the indices that pass the filter."""
    if len(node.generators) > 1:
        p.error(node, "two for in one comprehension", "nest two comprehensions, or sum of a sum")
    generator = node.generators[0]
    over = iteration(p, generator.iter, env)
    index = p.fresh(index_name(generator.target, over), INT)

    def body(k: Term) -> Term:
        return bind_target(p, generator.target, over.item(k), env, lambda env: expression(p, node.elt, env))

    if not generator.ifs:
        return over.around(Build(over.size, index, body(index)))
    test = ast.BoolOp(ast.And(), generator.ifs) if len(generator.ifs) > 1 else generator.ifs[0]
    k, j = p.fresh("k", INT), p.fresh("j", INT)
    passes = bind_target(p, generator.target, over.item(k), env, lambda env: condition(p, test, env))
    chosen = Filter(k, passes, Build(over.size, j, j))
    return over.around(Map((index,), body(index), (chosen,)))


def nested_generators(p: Parser, node: ast.GeneratorExp, env: Env, combine: Callable[[Term], Term]) -> Term:
    """A comprehension with several for, combined level by level: the sum of sums."""
    generators = node.generators
    if len(generators) == 1:
        return combine(comprehension(p, node, env))
    inner = ast.copy_location(ast.GeneratorExp(node.elt, generators[1:]), node)
    generator = generators[0]
    over = iteration(p, generator.iter, env)
    index = p.fresh(index_name(generator.target, over), INT)
    if generator.ifs:
        p.error(node, "a filter on the outer for", "put the condition on the inner for, or nest two sums")
    term = bind_target(
        p, generator.target, over.item(index), env, lambda env: nested_generators(p, inner, env, combine)
    )
    return over.around(combine(Build(over.size, index, term)))


Step = Callable[["Env", Callable[["Env"], Term]], Term]


def carried_names(statements: Sequence[ast.stmt], env: Env, node: ast.AST, p: Parser) -> list[str]:
    """Give the variables that a loop's body changes and that exist before it."""
    if returns(statements):
        p.error(node, "a return inside a loop", "carry a flag and the result, and return after the loop")
    return [n for n in assigned(statements) if n in env and isinstance(env[n], Term)]


def loop(
    p: Parser,
    node: ast.stmt,
    names: list[str],
    env: Env,
    make: Callable[[Var, Term, Callable[[Env], Term], Env], Term],
    after: Callable[[Env], Term],
) -> Term:
    """Build a loop over the carried variables; their types grow until the body keeps them."""
    from tapeengine.chad.parse.statements import assign_one

    types: list[Type] = [env[n].type for n in names]
    while True:
        found: list[Type] = []

        def pack(inner: Env, found: list[Type] = found, types: list[Type] = types) -> Term:
            values = [inner[n] for n in names]
            found[:] = [v.type for v in values]
            kept = [p.convert(v, t) or v for v, t in zip(values, types, strict=True)]
            return kept[0] if len(names) == 1 else Tuple(tuple(kept))

        one = len(names) == 1
        state = p.fresh(names[0] if one else "state", types[0] if one else Product(tuple(types)))
        parts = {n: state if one else p.fresh(n, t) for n, t in zip(names, types, strict=True)}
        starts = [p.coerce(node, env[n], t) for n, t in zip(names, types, strict=True)]
        term = make(state, starts[0] if one else Tuple(tuple(starts)), pack, {**env, **parts})
        wider = [p.unify(node, a, b) for a, b in zip(types, found, strict=True)]
        if wider == types:
            break
        types = wider
    if one:
        var = p.fresh(names[0], types[0])
        return Let(var, term, after({**env, names[0]: var}))
    target = ast.Tuple([ast.copy_location(ast.Name(n, ast.Store()), node) for n in names], ast.Store())
    return assign_one(p, ast.copy_location(target, node), term, env, after)


def unpacked(state: Var, names: list[str], env: Env, body: Term) -> Term:
    """Bind the carried variables to the components of the state around a loop's body."""
    if len(names) == 1:
        return body
    for i, n in reversed(list(enumerate(names))):
        body = Let(env[n], Proj(state, i), body)
    return body


def for_statement(p: Parser, node: ast.For, env: Env, after: Callable[[Env], Term]) -> Term:
    """``for x in it: ...`` with carried variables."""
    from tapeengine.chad.parse.statements import block

    if node.orelse:
        p.error(node.orelse[0], "else on a loop", "put it after the loop")
    names = carried_names(node.body, env, node, p)
    if not names:
        p.error(node, "this loop changes no variable that exists before it", "give its variables values before it")
    over = iteration(p, node.iter, env)

    def make(state: Var, init: Term, pack: Callable[[Env], Term], inner: Env) -> Term:
        index = p.fresh(index_name(node.target, over), INT)
        body = bind_target(
            p, node.target, over.item(index), inner, lambda env: block(p, node.body, env, pack, _no_return)
        )
        return For(over.size, index, state, init, unpacked(state, names, inner, body))

    return over.around(loop(p, node, names, env, make, after))


def _no_return(node: ast.AST, term: Term) -> Term:
    raise AssertionError("loops with return are refused before")


def while_statement(p: Parser, node: ast.While, env: Env, after: Callable[[Env], Term]) -> Term:
    """``while c: ...`` with carried variables."""
    from tapeengine.chad.parse.statements import block

    if node.orelse:
        p.error(node.orelse[0], "else on a loop", "put it after the loop")
    names = carried_names(node.body, env, node, p)
    if not names:
        p.error(node, "this loop changes no variable that exists before it", "give its variables values before it")

    def make(state: Var, init: Term, pack: Callable[[Env], Term], inner: Env) -> Term:
        test = unpacked(state, names, inner, condition(p, node.test, inner))
        copies = {n: p.names.var(inner[n]) for n in names} if len(names) > 1 else {}
        again = {**inner, **copies}
        body = block(p, node.body, again, pack, _no_return)
        return While(state, init, test, unpacked(state, names, again, body))

    return loop(p, node, names, env, make, after)
