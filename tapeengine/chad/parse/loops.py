"""Loops and comprehensions. Whatever they run over is a size and, for an index, values for the loop's variables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapeengine.chad.parse.expressions import condition, expression
from tapeengine.chad.parse.names import assigned, returns, uses
from tapeengine.chad.terms import (
    Build,
    Concatenate,
    Elements,
    Filter,
    Fold,
    For,
    If,
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
from tapeengine.chad.types import BOOL, INT, Array, Product, Type, show

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
            case "enumerate" if len(args) in (1, 2):
                return _enumerate(p, node, env)
            case "zip":
                for keyword in node.keywords:
                    if keyword.arg != "strict" or not isinstance(keyword.value, ast.Constant) or keyword.value.value:
                        p.error(keyword.value, "zip with strict", "leave it out: a loop ends with the shortest array")
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


def _enumerate(p: Parser, node: ast.Call, env: Env) -> Iteration:
    """``enumerate(xs, start)``."""
    inner = iteration(p, node.args[0], env)
    start = node.args[1] if len(node.args) == 2 else next((k.value for k in node.keywords if k.arg == "start"), None)
    if start is None:
        return Iteration(inner.size, lambda i: Tuple((i, inner.item(i))), inner.lets)
    first = p.coerce(start, expression(p, start, env), INT)
    var = p.fresh("start", INT)
    counted = lambda i: Tuple((Op("iadd", (var, i), INT), inner.item(i)))  # noqa: E731
    return Iteration(inner.size, counted, (*inner.lets, (var, first)))


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
        return pairs(p, node, env)
    generator = node.generators[0]
    over = iteration(p, generator.iter, env)
    index = p.fresh(index_name(generator.target, over), INT)

    def within(k: Term, body: Callable[[Env], Term]) -> Term:
        return bind_target(p, generator.target, over.item(k), env, body)

    return over.around(_filtered(p, over.size, index, generator.ifs, within, node.elt))


def pairs(p: Parser, node: ast.ListComp | ast.GeneratorExp, env: Env) -> Term:
    """``[e for x in xs for y in ys if c]``: one build over all pairs; rows put together where the second depends."""
    others = node.generators[1:]
    targets = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    if any(targets.intersection(uses([g.iter])) for g in others):
        return joined_rows(p, node, env)
    overs = [iteration(p, g.iter, env) for g in node.generators]
    sizes: list[Term] = [over.size for over in overs]
    total: Term = sizes[0]
    for size in sizes[1:]:
        total = Op("imul", (total, size), INT)
    index = p.fresh("k", INT)

    def within(k: Term, body: Callable[[Env], Term]) -> Term:
        places: list[Term] = []
        for size in reversed(sizes[1:]):
            places.append(Op("imod", (k, size), INT))
            k = Op("ifloordiv", (k, size), INT)
        return _bind_all(p, list(zip(node.generators, overs, [k, *reversed(places)], strict=True)), env, body)

    tests = [test for g in node.generators for test in g.ifs]
    made = _filtered(p, total, index, tests, within, node.elt)
    for over in reversed(overs):
        made = over.around(made)
    return made


def _bind_all(
    p: Parser, each: list[tuple[ast.comprehension, Iteration, Term]], env: Env, body: Callable[[Env], Term]
) -> Term:
    if not each:
        return body(env)
    generator, over, k = each[0]
    return bind_target(p, generator.target, over.item(k), env, lambda env: _bind_all(p, each[1:], env, body))


def _filtered(
    p: Parser,
    size: Term,
    index: Var,
    tests: list[ast.expr],
    within: Callable[[Term, Callable[[Env], Term]], Term],
    element: ast.expr,
) -> Term:
    """Build over all indices, or over those that pass tests."""
    body = within(index, lambda env: expression(p, element, env))
    if not tests:
        return Build(size, index, body)
    test = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0]
    k, j = p.fresh("k", INT), p.fresh("j", INT)
    chosen = Filter(k, within(k, lambda env: condition(p, test, env)), Build(size, j, j))
    return Map((index,), body, (chosen,))


def joined_rows(p: Parser, node: ast.ListComp | ast.GeneratorExp, env: Env) -> Term:
    """A comprehension whose inner range depends on the outer variable: rows, put together."""
    inner = ast.copy_location(ast.ListComp(node.elt, node.generators[1:]), node)
    rows = comprehension(p, ast.copy_location(ast.ListComp(inner, node.generators[:1]), node), env)
    assert isinstance(rows.type, Array)
    of = rows.type.element
    assert isinstance(of, Array)
    a, b = p.fresh("a", of), p.fresh("b", of)
    empty = Elements((), of.element)

    def flat(rows: Term) -> Term:
        some = Fold(a, b, Concatenate(a, b), rows)
        return If(Op("eq", (Size(rows), lit(0)), BOOL), empty, some)

    return p.let("rows", rows, flat)


def nested_generators(p: Parser, node: ast.GeneratorExp, env: Env, combine: Callable[[Term], Term]) -> Term:
    """A comprehension with several for, combined level by level: the sum of sums."""
    generators = node.generators
    if len(generators) == 1:
        return combine(comprehension(p, node, env))
    inner = ast.copy_location(ast.GeneratorExp(node.elt, generators[1:]), node)
    generator = generators[0]
    over = iteration(p, generator.iter, env)
    index = p.fresh(index_name(generator.target, over), INT)

    def body(env: Env) -> Term:
        term = nested_generators(p, inner, env, combine)
        if not generator.ifs:
            return term
        test = ast.BoolOp(ast.And(), generator.ifs) if len(generator.ifs) > 1 else generator.ifs[0]
        return If(condition(p, test, env), term, lit(0) if term.type == INT else lit(0.0))

    term = bind_target(p, generator.target, over.item(index), env, body)
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
