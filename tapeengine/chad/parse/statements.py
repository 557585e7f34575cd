"""Statements. A block becomes one term: each statement is parsed with what follows it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeengine.chad.parse.expressions import condition, expression, narrowing
from tapeengine.chad.parse.names import assigned, returns, uses
from tapeengine.chad.parse.parameters import Parameters, bound, parameter_names, with_defaults
from tapeengine.chad.terms import Branch, Case, Definition, If, Inject, Lambda, Let, Literal, Proj, Term, Tuple, Var
from tapeengine.chad.types import UNIT, Array, Product, Type, show

if TYPE_CHECKING:
    from tapeengine.chad.parse.parser import Env, Parser

__all__ = ["block", "body"]

#: What follows a block that ends without a return.
Rest = Callable[["Env"], Term]


def body(p: Parser, node: ast.FunctionDef, env: Env, result: Type | None) -> Term:
    """Parse the body of a function; its value is what it returns."""

    def fell_off(env: Env) -> Term:
        if result in (None, UNIT):
            return Tuple(())
        p.error(node, "not every path through this function returns a value", "end each path with return")

    def returned(at: ast.AST, term: Term) -> Term:
        return term if result is None else p.coerce(at, term, result)

    statements = node.body
    if isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    p.results.append(result)
    try:
        return block(p, statements, env, fell_off, returned)
    finally:
        p.results.pop()


Returned = Callable[[ast.AST, Term], Term]


def block(p: Parser, statements: Sequence[ast.stmt], env: Env, rest: Rest, returned: Returned) -> Term:
    """Parse statements, then what follows them."""
    if not statements:
        return rest(env)
    first, *others = statements

    def then(env: Env) -> Term:
        return block(p, others, env, rest, returned)

    match first:
        case ast.Return(value=None):
            return returned(first, Tuple(()))
        case ast.Return(value=value):
            assert value is not None
            return returned(first, expression(p, value, env, p.results[-1]))
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return then(env)
        case ast.Assign(targets=targets, value=value):
            return assign(p, targets, expression(p, value, env), env, then)
        case ast.AnnAssign(target=target, annotation=annotation, value=value) if value is not None:
            of = p.annotated(annotation, target, "this variable")
            return assign(p, [target], p.coerce(value, expression(p, value, env, of), of), env, then)
        case ast.AugAssign(target=target, op=op, value=value):
            return augmented(p, first, target, op, value, env, then)
        case ast.If():
            return if_statement(p, first, env, then, returned)
        case ast.Match():
            return match_statement(p, first, env, then, returned)
        case ast.For():
            from tapeengine.chad.parse.loops import for_statement

            return for_statement(p, first, env, then)
        case ast.While():
            from tapeengine.chad.parse.loops import while_statement

            return while_statement(p, first, env, then)
        case ast.FunctionDef():
            return local_function(p, first, env, then)
    refuse(p, first)
    raise AssertionError


ADVICE = {
    ast.Break: "write the loop as while with the condition to go on",
    ast.Continue: "put the rest of the loop's body under an if",
    ast.Raise: "check arguments outside the program",
    ast.Assert: "check arguments outside the program",
    ast.Try: "check arguments outside the program",
    ast.With: "do it outside the program",
    ast.Delete: "leave the variable be",
    ast.Global: "pass the value in and return it",
    ast.Nonlocal: "pass the value in and return it",
    ast.ClassDef: "define the class outside the program, as a frozen dataclass",
    ast.Expr: "a statement here assigns or returns; values are not changed in place",
    ast.Import: "import at the top of the file",
    ast.ImportFrom: "import at the top of the file",
}


def refuse(p: Parser, node: ast.stmt) -> None:
    """Refuse a statement."""
    kind = type(node).__name__.lower()
    p.error(node, f"{kind} is not in the language", ADVICE.get(type(node), "write it as assignments and expressions"))


def bind(p: Parser, name: str, term: Term, env: Env, then: Rest) -> Term:
    """Bind a Python name to a term for what follows."""
    var = p.fresh(name, term.type)
    return Let(var, term, then({**env, name: var}))


def assign(p: Parser, targets: Sequence[ast.expr], term: Term, env: Env, then: Rest) -> Term:
    """Assign to names or tuples of names."""
    if len(targets) > 1:
        return p.let("t", term, lambda t: _assign_each(p, targets, t, env, then))
    return assign_one(p, targets[0], term, env, then)


def _assign_each(p: Parser, targets: Sequence[ast.expr], term: Term, env: Env, then: Rest) -> Term:
    if not targets:
        return then(env)
    return assign_one(p, targets[0], term, env, lambda env: _assign_each(p, targets[1:], term, env, then))


def assign_one(p: Parser, target: ast.expr, term: Term, env: Env, then: Rest) -> Term:
    """Assign to one target."""
    match target:
        case ast.Name(id=name):
            return bind(p, name, term, env, then)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            if isinstance(term.type, Array):
                name = ast.unparse(target)
                p.error(target, "an array taken apart", f"write {name} = xs[0], xs[1], ..., or give a tuple")
            if not isinstance(term.type, Product) or len(term.type.items) != len(elts):
                p.error(target, f"cannot take {show(term.type)} apart into {len(elts)}", "match the tuple's length")
            if isinstance(term, Tuple) and all(isinstance(e, ast.Name) for e in elts):
                return _simultaneous(p, elts, term.items, env, then)
            return p.let("t", term, lambda t: _unpack(p, elts, t, 0, env, then))
        case ast.Subscript() | ast.Attribute():
            p.error(target, "values are not changed in place", instead(target))
        case ast.Starred():
            p.error(target, "* in an assignment", "write the parts out, or use slices")
    p.error(target, "this cannot be assigned to", "assign to a name or a tuple of names")


def instead(target: ast.expr, op: ast.operator | None = None, value: ast.expr | None = None) -> str:
    """Say what to write instead of an assignment to an element or a field."""
    if isinstance(target, ast.Attribute):
        return f"make a new {ast.unparse(target.value)} with the field changed"
    assert isinstance(target, ast.Subscript)
    xs, at = ast.unparse(target.value), ast.unparse(target.slice)
    if isinstance(op, ast.Add | ast.Sub) and value is not None and not isinstance(target.slice, ast.Slice | ast.Tuple):
        sign = "" if isinstance(op, ast.Add) else "-"
        return f"write {xs} = te.scatter({xs}, [{at}], [{sign}{ast.unparse(value)}])"
    return f"build a new array: {xs} = [... if k == {at} else {xs}[k] for k in range(len({xs}))], or use te.scatter"


def _simultaneous(p: Parser, elts: Sequence[ast.expr], items: Sequence[Term], env: Env, then: Rest) -> Term:
    bound = [(p.fresh(e.id, item.type), item) for e, item in zip(elts, items, strict=True) if isinstance(e, ast.Name)]
    names = {e.id: v for e, (v, _) in zip(elts, bound, strict=True) if isinstance(e, ast.Name)}
    term = then({**env, **names})
    for var, item in reversed(bound):
        term = Let(var, item, term)
    return term


def _unpack(p: Parser, elts: Sequence[ast.expr], term: Term, i: int, env: Env, then: Rest) -> Term:
    if i == len(elts):
        return then(env)
    return assign_one(p, elts[i], Proj(term, i), env, lambda env: _unpack(p, elts, term, i + 1, env, then))


def augmented(
    p: Parser, node: ast.AugAssign, target: ast.expr, op: ast.operator, value: ast.expr, env: Env, then: Rest
) -> Term:
    """``x += e`` is ``x = x + e``."""
    if not isinstance(target, ast.Name):
        p.error(target, "values are not changed in place", instead(target, op, value))
    load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    binop = ast.copy_location(ast.BinOp(load, op, value), node)
    return bind(p, target.id, expression(p, binop, env), env, then)


Arm = tuple[Sequence[ast.stmt], "Env"]


def arms(p: Parser, node: ast.stmt, each: list[Arm], env: Env, then: Rest, returned: Returned) -> list[Term]:
    """Parse the arms of a branching statement so that all give the same: what follows, or the variables they assign."""
    if any(returns(statements) for statements, _ in each):
        return same_type(p, node, [block(p, statements, inner, then, returned) for statements, inner in each])
    raise AssertionError("joined elsewhere")


def same_type(p: Parser, node: ast.AST, terms: list[Term]) -> list[Term]:
    """Convert terms to a type that suits them all."""
    of = terms[0].type
    for term in terms[1:]:
        of = p.unify(node, of, term.type)
    return [p.coerce(node, term, of) for term in terms]


def branching(
    p: Parser,
    node: ast.stmt,
    each: list[Arm],
    combine: Callable[[list[Term]], Term],
    env: Env,
    then: Rest,
    returned: Returned,
) -> Term:
    """Parse a statement that branches: the arms join in the variables that they assign, unless one returns."""
    if any(returns(statements) for statements, _ in each):
        return combine(arms(p, node, each, env, then, returned))
    every = [assigned(statements) for statements, _ in each]
    names = [n for n in dict.fromkeys(n for names in every for n in names) if n in env or all(n in a for a in every)]
    if not names:
        for statements, inner in each:
            block(p, statements, inner, lambda _: Tuple(()), returned)
        return then(env)
    found: list[list[Type]] = []

    def joined(types: list[Type] | None) -> Rest:
        def rest(inner: Env) -> Term:
            values = [inner[n] for n in names]
            found.append([v.type for v in values])
            if types is not None:
                values = [p.coerce(node, v, t) for v, t in zip(values, types, strict=True)]
            return values[0] if len(names) == 1 else Tuple(tuple(values))

        return rest

    terms = [block(p, statements, inner, joined(None), returned) for statements, inner in each]
    types = found[0]
    for other in found[1:]:
        types = [p.unify(node, a, b) for a, b in zip(types, other, strict=True)]
    if any(other != types for other in found):
        terms = [block(p, statements, inner, joined(types), returned) for statements, inner in each]
    whole = combine(terms)
    if len(names) == 1:
        return bind(p, names[0], whole, env, then)
    target = ast.Tuple([ast.copy_location(ast.Name(n, ast.Store()), node) for n in names], ast.Store())
    return assign_one(p, ast.copy_location(target, node), whole, env, then)


def if_statement(p: Parser, node: ast.If, env: Env, then: Rest, returned: Returned) -> Term:
    """``if``, also on a sum with isinstance."""
    narrowed = narrowing(p, node.test, env)
    if narrowed is None:
        test = condition(p, node.test, env)
        if isinstance(test, Literal):
            return block(p, node.body if test.value else node.orelse, env, then, returned)
        each: list[Arm] = [(node.body, env), (node.orelse, env)]
        return branching(p, node, each, lambda ts: If(test, ts[0], ts[1]), env, then, returned)
    name, chosen, positive = narrowed
    subject = env[name]
    options = p.table.options(subject.type)
    assert options is not None
    variables = [p.fresh(name, option) for option in options]
    each = []
    for i, var in enumerate(variables):
        alone = i == chosen or len(options) == 2
        inner = {**env, name: var if alone else Inject(i, var, subject.type)}
        each.append((node.body if (i == chosen) == positive else node.orelse, inner))

    def combine(terms: list[Term]) -> Term:
        return Case(subject, tuple(Branch(v, t) for v, t in zip(variables, terms, strict=True)))

    return branching(p, node, each, combine, env, then, returned)


def match_statement(p: Parser, node: ast.Match, env: Env, then: Rest, returned: Returned) -> Term:
    """``match`` on a sum, by class patterns."""
    subject = expression(p, node.subject, env)
    options = p.table.options(subject.type)
    if options is None:
        p.error(node.subject, f"match is on a union, not on {show(subject.type)}", "use if")
    each: list[Arm] = []
    variables = []
    for option in options:
        var = p.fresh("m", option)
        variables.append(var)
        chosen = next((c for c in node.cases if _fits(p, c, option)), None)
        if chosen is None:
            p.error(node, f"no case for {show(option)}", "add one, or case _")
        each.append((chosen.body, _captures(p, chosen.pattern, var, subject, env)))

    def combine(terms: list[Term]) -> Term:
        return Case(subject, tuple(Branch(v, t) for v, t in zip(variables, terms, strict=True)))

    return branching(p, node, each, combine, env, then, returned)


def _fits(p: Parser, case: ast.match_case, option: Type) -> bool:
    if case.guard is not None:
        p.error(case.guard, "a case with a condition is not in the language", "put an if into the case")
    match case.pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchSingleton(value=None):
            return option == UNIT
        case ast.MatchClass(cls=cls):
            return p.table(p.annotation_object(cls)) == option
    p.error(case.pattern, "this pattern is not in the language", "write case Class(name, ...), case None or case _")


def _captures(p: Parser, pattern: ast.pattern, var: Var, subject: Term, env: Env) -> Env:
    bound: dict[str, Any] = {}
    if isinstance(pattern, ast.MatchAs) and pattern.name is not None:
        bound[pattern.name] = subject
    if isinstance(pattern, ast.MatchClass):
        assert isinstance(var.of, Product)
        fields = [*var.of.fields[: len(pattern.patterns)], *pattern.kwd_attrs]
        for field, sub in zip(fields, [*pattern.patterns, *pattern.kwd_patterns], strict=True):
            if not isinstance(sub, ast.MatchAs) or sub.pattern is not None:
                p.error(sub, "a pattern inside a pattern is not in the language", "bind a name and match on it")
            if sub.name is not None:
                bound[sub.name] = Proj(var, var.of.fields.index(field))
    return {**env, **bound}


def local_function(p: Parser, node: ast.FunctionDef, env: Env, then: Rest) -> Term:
    """A def inside a program: a function value, or a definition of its own if it is recursive."""
    if node.decorator_list:
        p.error(node.decorator_list[0], "a local function has no decorator", "leave it out")
    params, result = p.signature(node)
    named = dict(zip(parameter_names(node.args), params, strict=True))
    of, lets = with_defaults(p, node, params, env)
    if node.name in uses(node.body):
        return bound(lets, _recursive(p, node, params, result, env, then, of))
    function = Lambda(params, body(p, node, {**env, **named}, result))
    var = p.fresh(node.name, function.type)
    p.parameters[var.name] = of
    return bound(lets, Let(var, function, then({**env, node.name: var})))


def _recursive(
    p: Parser,
    node: ast.FunctionDef,
    params: tuple[Var, ...],
    result: Type | None,
    env: Env,
    then: Rest,
    of: Parameters,
) -> Term:
    from tapeengine.chad.parse.parser import Lifted

    if result is None:
        p.error(node, "a recursive function needs the type of its result", "write -> float, or what it gives")
    own = {*of.names} | set(assigned(node.body))
    captured = tuple(n for n in uses(node.body) if n in env and n not in own and isinstance(env[n], Term))
    name = p.names(f"{p.symbol}_{node.name}")
    lifted = Lifted(name, captured, tuple(v.of for v in params), result, of)
    extra = tuple(p.fresh(n, env[n].type) for n in captured)
    inner = {
        **{n: v for n, v in env.items() if isinstance(v, Lifted)},
        **dict(zip(captured, extra, strict=True)),
        **dict(zip(of.names, params, strict=True)),
        node.name: lifted,
    }
    p.definitions[name] = Definition(name, (*extra, *params), result, body(p, node, inner, result))
    return then({**env, node.name: lifted})
