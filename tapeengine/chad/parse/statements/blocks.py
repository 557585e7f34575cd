"""Statements. A block becomes one term: each statement is parsed together with the statements after it."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy

from ....naming import attribute_of
from ...language.errors import OnDuals, ProgramError
from ...language.in_language import WRITTEN
from ...language.nodes import every_node
from ...language.terms import Definition, If, Let, Literal, Op, Proj, Term, Tuple, Update, Var, lets, lit
from ...language.types import BOOL, FLOAT, INT, NEVER, UNIT, Array, Product, Type, show
from ..analyses.liveness import Walk
from ..analyses.rectangles import sharing
from ..expressions.closures import (
    call_lifted,
    captures,
    define,
    held_by,
    is_function,
    joined_held,
    local_of,
    types_of,
    value_of,
)
from ..expressions.dicts import is_dict
from ..expressions.fixed_points import settled
from ..expressions.rules import Member, by_member, case_of, condition, expression, narrowed_first, wanted_or_common
from ..expressions.subscripts import parts_of
from ..names.callees import is_plain, library_name
from ..names.constants import imported, imported_names, imports
from ..names.outside import named_outside, root
from ..names.scopes import original
from ..names.syntax import load
from ..names.texts import MISSING
from ..names.types import class_fields
from ..names.uses import DUNDERS, computed_parts, ends, exchanged, handed, in_all, jumps, parameters, uses
from ..operations import numeric
from ..operations.functions import Env, Lifted, Local, Rest
from ..operations.grids import made as made_grid
from ..operations.raising import failing, guarded, may_be_none, unguarded
from ..operations.state import COPIES, Parser
from ..operations.type_tests import narrowing
from ..operations.whole import in_place_of
from ..rewrites.desugar import loaded
from ..rewrites.procedures import handing_back
from . import in_place
from .fields import field, fields_apart, part_names, with_changes
from .leaving import BREAKS, CONTINUES, FALLS, GIVEN, HAS, RETURNS, WAY, Ends
from .parts import held_type


@dataclass(frozen=True)
class Flow:
    """The targets of jumps out of a block: the terms that return, break and continue lead to."""

    returned: Callable[[ast.AST, Term, Env], Term]
    broken: Rest | None = None
    continued: Rest | None = None


def body(p: Parser, node: ast.FunctionDef, env: Env, result: Type | None) -> Term:
    """Parse the body of a function; the value of the term is the result."""

    def fell_off(env: Env) -> Term:
        if result in (None, UNIT):
            return Tuple(())
        p.error(node, "not every path through this function returns a value", "end each path with return")

    def returned(at: ast.AST, term: Term, env: Env) -> Term:
        p.returned.setdefault(node, []).append(term.type)
        return term if result is None else p.coerce(at, term, result)

    statements = node.body
    if isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    p.results.append(result)
    try:
        term = block(p, statements, env, fell_off, Flow(returned))
    finally:
        p.results.pop()
    return failing(result or UNIT) if term.type == NEVER else term


def block(p: Parser, statements: Sequence[ast.stmt], env: Env, rest: Rest, flow: Flow) -> Term:
    """Parse statements, then the code after them; a statement of which a part always fails is not refused."""
    if not statements:
        return rest(env)
    first, *others = statements
    try:
        return statement(p, first, others, env, rest, flow)
    except ProgramError as error:
        if not error.is_known and always_fails(p, first, env):
            return failing()
        error.is_known = True
        raise


def always_fails(p: Parser, node: ast.stmt, env: Env) -> bool:
    """Tell whether a part of a statement that is always computed, such as a dict's missing key, has no value."""
    for part in computed_parts(node):
        with contextlib.suppress(ProgramError):
            if expression(p, part, env).type == NEVER:
                return True
    return False


def statement(p: Parser, first: ast.stmt, others: Sequence[ast.stmt], env: Env, rest: Rest, flow: Flow) -> Term:
    """Parse a statement, then those after it."""

    def then(env: Env) -> Term:
        return block(p, others, env, rest, flow)

    p.place = p.place_of(first)
    match first:
        case ast.Return(value=None):
            return flow.returned(first, Tuple(()), env)
        case ast.Return(value=value):
            assert value is not None
            return flow.returned(first, expression(p, value, env, p.results[-1]), env)
        case ast.Break() if flow.broken is not None:
            return flow.broken(env)
        case ast.Continue() if flow.continued is not None:
            return flow.continued(env)
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return then(env)
        case ast.Import() | ast.ImportFrom() if ast.unparse(first) in imports(p.function.__code__):
            return then(env) if imported_names(first) <= imported(p.function).keys() else failing()
        case ast.Raise():
            return failing()
        case ast.Assert(test=test):
            raising = ast.copy_location(ast.Raise(), first)
            otherwise = ast.copy_location(ast.If(test, [ast.copy_location(ast.Pass(), first)], [raising]), first)
            return if_statement(p, otherwise, env, then, flow)
        case ast.Expr(value=ast.Call() as call) if is_for_errors(p, call, env):
            term = expression(p, call, env)
            return failing() if term.type == NEVER else p.within("unused", term, lambda _: then(env))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=args)):
            return in_place.method(p, first, name, method, args, env, then)
        case ast.Assign(
            targets=targets, value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop"), args=args)
        ) if isinstance(getattr(env.get(name), "type", None), Array) or is_dict(env.get(name)):
            return in_place.popped(p, first, name, args, env, lambda x, env: assign(p, targets, x, env, then))
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
            return define(p, value, name, env, then)
        case ast.Assign(value=value) if handed(first):
            check_handed(p, first, env)
            term = expression(p, value, env)
            check_result(p, first, term)
            return assign(p, first.targets, term, env, then)
        case ast.Assign() if is_exchange(p, exchanged(first), env):
            return then({**env, **{name: env[value] for name, value in exchanged(first).items()}})
        case ast.Assign(targets=targets, value=value):
            no_views_among(p, first)
            read = lambda: expression(p, value, env)  # noqa: E731
            return in_place.with_empty(p, read, lambda term: assign(p, targets, term, env, then))
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=None):
            if not p.is_vague(annotation):
                p.declared[name] = p.annotated(annotation, first, name, OnDuals)
            return then(env)
        case ast.AnnAssign(target=target, annotation=annotation, value=value) if value and p.is_vague(annotation):
            made = ast.copy_location(ast.Assign([target], value), first)
            return block(p, [made, *others], env, rest, flow)
        case ast.AnnAssign(target=target, annotation=annotation, value=value) if value is not None:
            of = p.annotated(annotation, target, "this variable", OnDuals)
            return assign(p, [target], p.coerce(value, expression(p, value, env, of), of), env, then)
        case ast.AugAssign(target=target, op=op, value=value):
            return augmented(p, first, target, op, value, env, then)
        case ast.If():
            return if_statement(p, first, env, then, flow)
        case ast.For():
            return p.grammar.for_(p, first, env, then, flow)
        case ast.While():
            return p.grammar.while_(p, first, env, then, flow)
        case ast.FunctionDef():
            return local_function(p, first, env, then)
    refuse(p, first)


def is_for_errors(p: Parser, call: ast.Call, env: Env) -> bool:
    """Tell whether a call whose value is not used is of a function or a method of the user's own that changes nothing.

    It may raise an error.
    """
    found = env.get(getattr(call.func, "id", ""), p.static(call.func, env))
    if found is MISSING and isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") in env:
        found = p.method_of(env[call.func.value.id], call.func.attr)  # type: ignore[attr-defined]
        return hasattr(type(found), "__tapeengine_function__") and not handing_back(found)
    is_own = attribute_of(found, "__tapeengine_function__") not in (None, *WRITTEN)
    return is_own or isinstance(found, Lifted | Local)


def no_views_among(p: Parser, node: ast.Assign) -> None:
    """Refuse ``y[:2], y[2:] = y[2:], y[:2]`` of an array: the parts are views, which the first assignment changes."""
    if not isinstance(node.value, ast.Tuple) or not isinstance(node.targets[0], ast.Tuple):
        return
    changed = [in_place.changed_name(t) for t in node.targets[0].elts]
    for value in node.value.elts:
        of = value.value if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice) else value
        if isinstance(of, ast.Name) and of.id in changed and (of is value or not p.as_list(of)):
            p.error(node, f"{ast.unparse(value)} is a view of what is changed here", "write one assignment for each")


def check_handed(p: Parser, node: ast.Assign, env: Env) -> None:
    """Refuse a call that changes what something else may refer to, or of another method than the text shows."""
    call: Any = node.value
    function: Any = getattr(p.outer.get(call.func.id), "made_of", lambda: None)()
    record = env.get(getattr(call.args[0], "id", "")) if call.args else None
    is_method = "." in getattr(function, "__qualname__", "").rpartition("<locals>.")[2]
    if is_method and inspect.getattr_static(p.class_of(record), function.__name__, None) is not function:
        p.on_duals(node, f"it is not known which {function.__name__} is called here", "call it in a statement")
    for name in handed(node):
        in_place.own_or_refuse(p, node, name)
        if numeric.rank(getattr(env.get(name), "type", UNIT)) < 2:
            continue
        if name in p.views:
            p.error(node, f"{name} is changed by this call, and {p.views[name]}", "copy what is kept: .copy()")
        is_array = p.is_array(load(name, node))
        if not is_array and (why := sharing(p.tree, name)):
            p.on_duals(node, f"{name} is changed by this call, and {why}", "copy the row: list(...)")


def check_result(p: Parser, node: ast.Assign, term: Term) -> None:
    """Refuse a value that may be, or hold, what the call changes."""
    assert isinstance(node.targets[0], ast.Tuple)
    result = node.targets[0].elts[0]
    is_used = isinstance(result, ast.Name) and result.id in p.live_after[node]
    if term.type == UNIT:
        what = "with these arguments this call is not in the language, or always raises an error"
        p.error(node, what, "write a loop")
    of, *changed = term.type.items if isinstance(term.type, Product) and term.type.items else [UNIT]
    is_apart = all(map(p.is_record, changed)) and not p.has_records(of)  # no array in a record is changed in place
    if is_used and of not in (FLOAT, INT, BOOL, UNIT, NEVER) and not is_apart:
        what = f"{', '.join(handed(node))} is changed by this call, and its value may be the same array"
        p.on_duals(node, what, "return numbers, or the changed array itself and nothing else")


def is_exchange(p: Parser, swap: Mapping[str, str], env: Env) -> bool:
    """Tell whether names exchange their values, which have one type."""
    terms = [env.get(name) for name in swap]
    of = {(term.type, p.is_grid(name)) for name, term in zip(swap, terms, strict=True) if isinstance(term, Term)}
    return len(of) == 1 and all(isinstance(term, Term) for term in terms)


ADVICE = {
    ast.Try: "leave the body of a try with finally at its end only, or check arguments outside the program",
    ast.With: "do it outside the program",
    ast.Match: "take mappings and such apart by conditions: if d['kind'] == ...",
    ast.Delete: "leave the variable be, or delete elements of a list",
    ast.Global: "pass the value in and return it",
    ast.Nonlocal: "only call the function, by a name of its own; or pass the value in and return it",
    ast.ClassDef: "define the class outside the program, as a frozen dataclass",
    **dict.fromkeys((ast.Import, ast.ImportFrom), "import at the top of the file, or of the function"),
}


#: What is wrong with an expression that stands alone, and what to write instead.
UNUSED = {
    ast.Call: (
        "the value of this call is not used",
        "assign or return it: a function changes none of its arguments in a program, and print does nothing there",
    ),
    ast.Yield: ("a generator is not in the language", "append to a list, and return it"),
    ast.YieldFrom: ("a generator is not in the language", "extend a list, and return it"),
}


def is_of_part(node: ast.expr) -> bool:
    """Tell whether a call is of a method of a field or of a value of a dict: ``self.items.append(x)``."""
    owner = getattr(node.func, "value", None) if isinstance(node, ast.Call) else None
    is_value = isinstance(owner, ast.Subscript) and isinstance(getattr(owner.slice, "value", None), str)
    is_default = getattr(getattr(owner, "func", None), "attr", "") == "setdefault"
    return is_value or is_default or isinstance(owner, ast.Attribute)


def refuse(p: Parser, node: ast.stmt) -> NoReturn:
    """Refuse a statement."""
    if isinstance(node, ast.Expr):
        if is_of_part(node.value):
            p.on_duals(node, "a method that may change a part of an object", "give the part a name of its own")
        if isinstance(node.value, ast.Call) and root(node.value.func) not in p.local_names:
            found = named_outside(node.value.func, p.outer)
            if callable(found) and not is_plain(found) and not library_name(found).startswith(("builtins.", "math.")):
                p.on_duals(node, "a call of a library's function for what it does", "do it outside the program")
        wrong, advice = UNUSED.get(type(node.value), ("an expression whose value is not used", "assign or return it"))
        p.error(node, wrong, advice)
    kind = "a pattern of this match" if isinstance(node, ast.Match) else type(node).__name__.lower()
    contexts = [item.context_expr for item in node.items] if isinstance(node, ast.With) else [None]
    settings = [
        c.func for c in contexts if isinstance(c, ast.Call) and named_outside(c.func, p.outer) is numpy.errstate
    ]
    refuse = p.on_duals if len(settings) == len(contexts) else p.error
    refuse(node, f"{kind} is not in the language", ADVICE.get(type(node), "write it as assignments and expressions"))


def bind(p: Parser, name: str, term: Term, env: Env, then: Rest) -> Term:
    """Bind a Python name to a term in the code after it.

    The parts of dicts and records are bound apart, so that another key or field costs one part.
    """
    if (
        isinstance(term, Tuple | Update)
        and getattr(term.type, "name", "") in p.table.classes
        and not is_function(term.type)
    ):
        fields = enumerate(term.type.fields)  # type: ignore[attr-defined]
        items = {field: p.part(term, k) for k, field in fields}
        return apart_by_key(p, name, items, lambda items: record(p, name, term, items, env, then))
    var = p.named(name, term.type, p.place)
    p.single_axes.note(var.name, term)
    if is_function(term.type):
        p.held[var.name] = held_by(p, term, env)
    return Let(var, term, then({**env, name: var}))


def record(p: Parser, name: str, term: Term, items: Mapping[Any, Term], env: Env, then: Rest) -> Term:
    """Bind a name to a record whose parts are bound."""
    var = p.named(name, term.type, p.place)
    p.made[var.name] = tuple(items.values())
    return Let(var, of_parts(term, p.made[var.name]), then({**env, name: var}))


def of_parts(term: Term, items: Sequence[Term]) -> Term:
    """Give a record that is made of other terms for the same parts."""
    match term:
        case Tuple(_, of):
            return Tuple(tuple(items), of)
        case Update(inner, k, _):
            return Update(of_parts(inner, items), k, items[k])
    return term


def apart_by_key(p: Parser, name: str, items: Mapping[Any, Term], then: Callable[[Mapping[Any, Term]], Term]) -> Term:
    """Bind the values of a dict or a record to variables, those that are none yet."""
    found, named = dict(items), list[tuple[Var, Term]]()
    for key, term in items.items():
        if not isinstance(term, Var | Literal) and not (isinstance(term, Proj) and isinstance(term.term, Var)):
            found[key] = var = p.named(f"{name}_{key}", term.type, p.place)
            p.single_axes.note(var.name, term)
            named.append((var, term))
    return lets(named, then(found))


def assign(p: Parser, targets: Sequence[ast.expr], term: Term, env: Env, then: Rest) -> Term:
    """Assign to names or tuples of names."""
    if len(targets) > 1:
        return p.within("t", term, lambda t: in_turn(p, [(target, t) for target in targets], env, then))
    return assign_one(p, targets[0], term, env, then)


def in_turn(p: Parser, pairs: Sequence[tuple[ast.expr, Term]], env: Env, then: Rest) -> Term:
    """Assign values that are known already to targets, one after the other."""
    if not pairs:
        return then(env)
    (target, term), *rest = pairs
    return assign_one(p, target, term, env, lambda env: in_turn(p, rest, env, then))


def assign_one(p: Parser, target: ast.expr, term: Term, env: Env, then: Rest) -> Term:
    """Assign to one target."""
    match target:
        case ast.Name(id=name):
            axes = numeric.rank(term.type)
            if p.is_grid(name) and (axes < 2 or (axes > 2 and not p.is_list(target))):
                p.grids = {**p.grids, name: "it has another number of axes than two"}
            return bind(p, name, made_grid(p, target, term) if p.is_grid(name) else term, env, then)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            if not p.is_reached(term):
                return failing()
            if isinstance(term.type, Product) and not p.is_sequence(term.type):
                p.unfit(target, [term.type], f"cannot take {show(term.type)} apart", "name its fields, or its keys")
            if isinstance(term.type, Array) or any(isinstance(e, ast.Starred) for e in elts):
                return p.within("t", term, lambda t: apart(p, target, elts, t, env, then))
            if not isinstance(term.type, Product) or len(term.type.items) != len(elts):
                p.error(target, f"cannot take {show(term.type)} apart into {len(elts)}", "match the tuple's length")
            if isinstance(term, Tuple) and all(isinstance(e, ast.Name) for e in elts):
                return in_turn(p, list(zip(elts, term.items, strict=True)), env, then)
            return taken_apart(p, elts, term, env, then)
        case ast.Subscript() if in_place.changed_name(target) is not None:
            return in_place.element(p, target, lambda _: term, env, then)
        case ast.Attribute():
            return field(p, target, lambda _: term, env, then)
        case ast.Subscript():
            p.error(target, "this cannot be changed in place", in_place.instead(target))
    p.error(target, "this cannot be assigned to", "assign to a name or a tuple of names")


def apart(p: Parser, target: ast.expr, elts: Sequence[ast.expr], term: Term, env: Env, then: Rest) -> Term:
    """Assign the parts of an array, or of a tuple if one target takes several."""
    parts = parts_of(p, target, elts, term)
    if parts is None:
        p.error(target, f"cannot take {show(term.type)} apart into {len(elts)}", "match the tuple's length")
    plain = [e.value if isinstance(e, ast.Starred) else e for e in elts]
    return taken_apart(p, plain, parts, env, then)


def taken_apart(p: Parser, elts: Sequence[ast.expr], term: Term, env: Env, then: Rest) -> Term:
    """Assign the parts of a tuple."""
    if not isinstance(term, Var):
        t = p.fresh("t", term.type)
        p.held[t.name] = held_by(p, term, env)
        return Let(t, term, taken_apart(p, elts, t, env, then))
    return in_turn(p, [(e, Proj(term, i)) for i, e in enumerate(elts)], env, then)


def augmented(
    p: Parser, node: ast.AugAssign, target: ast.expr, op: ast.operator, value: ast.expr, env: Env, then: Rest
) -> Term:
    """``x += e`` is ``x = x + e``."""

    def plus(old: Any) -> Term:
        if hasattr(p.class_of(old), f"__i{DUNDERS.get(type(op), '')}__"):
            p.error(node, f"{ast.unparse(target)} has a method for this operator that may change it", "write x = x + y")
        return expression(p, ast.copy_location(ast.BinOp(loaded(target), op, value), node), env)

    if isinstance(target, ast.Subscript) and in_place.changed_name(target) is not None:

        def changed(old: Term) -> Term:
            if p.class_of(old) is not None:
                return plus(old)
            given = expression(p, value, env)
            operand = in_place_of(p, old, given)
            if isinstance(old.type, Array):
                p.operated(node, [(target, old), (value, given)])  # of which a tuple is no array
            return numeric.binary(p, node, op, old, operand)

        return in_place.element(p, target, changed, env, then, op, value)
    if isinstance(target, ast.Attribute):
        return field(p, target, plus, env, then, is_augmented=True)
    if not isinstance(target, ast.Name):
        p.error(target, "this cannot be changed in place", in_place.instead(target, op, value))
    if isinstance(getattr(env.get(target.id), "type", None), Array):
        in_place.own_or_refuse(p, node, target.id, target)
        in_place.no_views(p, node, target.id, env[target.id])
    variable, before = load(target.id, target), env.get(target.id)
    new = plus(before)
    if isinstance(before, Term) and isinstance(before.type, Array):
        held_type(p, node, variable, before.type, new.type)
        if not p.as_list(target) and p.single_axes.of(before) - p.single_axes.of(new):
            p.error(node, f"{target.id} would get another shape", "write x = x + y")
    return bind(p, target.id, new, env, then)


@dataclass(frozen=True)
class Arm:
    """One arm of a statement that branches: its statements, and the variables at its start."""

    statements: Sequence[ast.stmt]
    env: Env

    @property
    def changed(self) -> list[str]:
        """The variables that have another value after it on some path."""
        return in_place.changed(self.statements)


def same_type(p: Parser, node: ast.AST, terms: list[Term]) -> list[Term]:
    """Convert terms to a type that suits them all; those that raise have any type."""
    of = wanted_or_common(p, node, terms, None)
    return [p.coerce(node, term, of) for term in terms]


def branching(
    p: Parser, node: ast.stmt, arms: list[Arm], combine: Callable[[list[Term]], Term], env: Env, then: Rest, flow: Flow
) -> Term:
    """Parse a statement that branches: the arms join in the variables that they change, unless one of them jumps."""
    if any(jumps(arm.statements) for arm in arms):
        changed = [n for arm in arms for n in arm.changed]
        falling = sum(ends(arm.statements) for arm in arms)

        def read(then: Rest, flow: Flow) -> Term:
            return combine(same_type(p, node, [block(p, arm.statements, arm.env, then, flow) for arm in arms]))

        return followed(p, node, changed, falling, read, env, then, flow)
    every = [arm for arm in arms if ends(arm.statements)]
    names = list(dict.fromkeys(n for arm in every for n in arm.changed))
    sure = in_all([arm.statements for arm in every]) if any(n not in env for n in names) else []
    known = [n for n in names if n in env or n in sure]
    names = [n for n in names if n in env or n in p.live_after[node]]
    late = {n: may_be_none(env[n]) for n in names if n in env and unguarded(env[n])}
    names += [HAS + n for n in late]
    optional = [n for n in names if n not in known]
    fields = fields_apart(p, [s for arm in every for s in arm.statements], names, env)
    names = part_names(names, fields)

    def after(env: Env) -> Term:
        env = {**env, **{n: guarded(env[HAS + n], env[n], late[n]) for n in late}}
        return with_changes(p, node, fields, env, then)

    joining = Joining(p, node, names, optional=optional)
    terms = joining.read(arms, flow)
    if joining.missing:
        names = [n for n in names if n not in joining.missing]
        joining = Joining(p, node, names)
        terms = joining.read(arms, flow)
    if not joining.types:
        return combine(terms)
    types = joining.common()
    if any(found != types for found in joining.types):
        joining = Joining(p, node, names, types)
        terms = joining.read(arms, flow)
    held = [joining.held(env, i) for i in range(len(names))]
    return joined(p, names, combine(same_type(p, node, terms)), held, env, after)


#: Reads a statement, with what follows it and the targets of its jumps.
Read = Callable[[Rest, Flow], Term]


def followed(
    p: Parser, node: ast.stmt, changed: Iterable[str], falling: int, read: Read, env: Env, then: Rest, flow: Flow
) -> Term:
    """Read a statement that jumps may leave, with what follows it in each of its `falling` arms, or once for all."""
    if falling < 2:
        return read(then, flow)
    if p.repeated * falling > COPIES:
        with contextlib.suppress(ProgramError):  # a function that is defined in an arm, or a narrower type after it
            return followed_once(p, node, changed, read, env, then, flow)

    def again(env: Env) -> Term:
        p.repeated *= falling
        try:
            return then(env)
        finally:
            p.repeated //= falling

    return read(again, flow)


def followed_once(
    p: Parser, node: ast.stmt, changed: Iterable[str], read: Read, env: Env, then: Rest, flow: Flow
) -> Term:
    """Read a statement whose paths end with a number that says where the program goes on; then these places."""
    way = Ends(p, node, env, dict.fromkeys(changed))
    inside = Flow(way.returned, flow.broken and way.end(BREAKS), flow.continued and way.end(CONTINUES))
    whole = way.read(lambda: read(way.end(FALLS), inside))

    def goes_on(k: int, parts: Env) -> Term:
        inner = way.after(k, parts)
        if k == RETURNS:
            return flow.returned(node, parts[GIVEN], inner)
        place = {BREAKS: flow.broken, CONTINUES: flow.continued}.get(k, then)
        assert place is not None
        return place(inner)

    def rest(parts: Env) -> Term:
        reached = sorted({k for k, _ in way.found})
        *terms, found = same_type(p, node, [goes_on(k, parts) for k in reached])
        for k, term in reversed(list(zip(reached[:-1], terms, strict=True))):
            found = If(Op("eq", (parts[WAY], lit(k)), BOOL), term, found)
        return found

    return joined(p, way.parts, whole, [way.held(n) for n in way.parts], env, rest)


class Joining:
    """The results of the arms of a branching statement: the values of the variables that they change.

    `missing` are those of the `optional` ones that have no value after some arm.
    """

    def __init__(
        self, p: Parser, node: ast.AST, names: list[str], wanted: Sequence[Type] = (), optional: Sequence[str] = ()
    ) -> None:
        self.p, self.optional = p, optional
        self.missing: set[str] = set()
        self.node = node
        self.names = names
        self.wanted = wanted
        self.types: list[list[Type]] = []
        self.ends: list[tuple[Env, list[Term]]] = []

    def __call__(self, env: Env) -> Term:
        """Give the values at the end of an arm."""
        values = [self.value(n, env) for n in self.names]
        self.types.append([v.type for v in values])
        self.ends.append((env, values))
        if self.wanted:
            values = [self.p.coerce(self.node, v, t) for v, t in zip(values, self.wanted, strict=True)]
        return packed(values or [lit(True)])

    def read(self, arms: Iterable[Arm], flow: Flow) -> list[Term]:
        """Read the arms; the last end of each counts, as those before it were read to find a type."""
        terms = []
        for arm in arms:
            count = len(self.types)
            terms.append(block(self.p, arm.statements, arm.env, self, flow))
            del self.types[count:-1], self.ends[count:-1]
        return terms

    def value(self, n: str, env: Env) -> Term:
        """Give the value of a variable, or whether it has one."""
        name = n.removeprefix(HAS)
        if n in self.optional and n not in env:  # Python's text does not show that all paths assign it
            self.missing.add(n)
            return lit(True)
        maybe = unguarded(env.get(name)) if HAS + name in self.names else None
        if n != name:
            return maybe[0] if maybe else lit(True)
        return maybe[1] if maybe else value_at(self.p, self.node, n, env)

    def common(self) -> list[Type]:
        """Give types that suit all arms."""
        first, *others = self.types
        for other in others:
            known, each = self.p.declared, zip(self.names, first, other, strict=True)
            first = [known[n] if a != b and n in known else self.p.joined(self.node, [a, b]) for n, a, b in each]
        return first

    def held(self, env: Env, i: int) -> dict[str, Any]:
        """Give the captures of the functions in a variable; None for those that an arm has bound."""
        each = [held_by(self.p, values[i], inner) for inner, values in self.ends]
        return {n: v if env.get(n) is v else None for n, v in joined_held(each).items()}


def value_at(p: Parser, node: ast.AST, name: str, env: Env) -> Term:
    """Give a variable's value, or that of a field, where paths join; a local function becomes a value there."""
    name, _, part = name.partition(".")
    if name not in env:
        p.error(node, f"{name} has no value on every path to here", "give it a value before the branch or loop")
    found = env[name]
    if isinstance(found, Local) and None not in found.parameters.types:
        return value_of(p, found, tuple(t for t in found.parameters.types if t is not None), env)
    if not isinstance(found, Term):
        p.on_duals(node, f"{name} is another function on another path", "give the functions different names")
    return p.part(found, found.type.fields.index(part)) if part else found  # type: ignore[attr-defined]


def packed(values: list[Term]) -> Term:
    """Give one value itself, several as a tuple."""
    return values[0] if len(values) == 1 else Tuple(tuple(values))


def hint_of(name: str) -> str:
    """Give the name of a variable for one of Python, or for one that a loop carries in addition."""
    return name.strip().replace(" ", "_").replace(".", "_")


def joined(p: Parser, names: list[str], whole: Term, held: list[Any], env: Env, then: Rest) -> Term:
    """Bind variables to the parts of a result of `packed`."""
    hints = [hint_of(n) for n in names]
    is_one = len(names) == 1
    whole_var = p.named(hints[0] if is_one else "t", whole.type, parts=() if is_one else tuple(hints))
    parts = [whole_var] if is_one else [p.named(n, whole.type.items[i]) for i, n in enumerate(hints)]  # type: ignore[attr-defined]
    for part, captured in zip(parts, held, strict=True):
        p.held[part.name] = captured
    term = then({**env, **dict(zip(names, parts, strict=True))})
    each = [(part, Proj(whole_var, i)) for i, part in enumerate(parts)] if len(names) != 1 else []
    return lets([(whole_var, whole), *each], term)


def if_statement(p: Parser, node: ast.If, env: Env, then: Rest, flow: Flow) -> Term:
    """``if``, also on a sum with isinstance."""
    name = narrowing(p, node.test, env)
    if name is None and (other := nested(p, node, env)) is not None:
        return if_statement(p, other, env, then, flow)
    if name is None:
        return chain(p, node, env, then, flow)
    no_unbound(p, node)
    union = env[name]

    def read(each: list[Member], copies: int) -> Term:
        def rest(env: Env) -> Term:
            with p.in_copies(1 / copies):
                return then(env)

        arms = [Arm(member.arm, member.env) for member in each]
        return branching(p, node, arms, functools.partial(case_of, p, union, each), env, rest, flow)

    return by_member(p, name, node, env, read)


def chain(p: Parser, node: ast.If, env: Env, then: Rest, flow: Flow) -> Term:
    """``if``, and each ``elif`` after it, as one statement with several arms: reading each arm takes its time once."""
    tests: list[Term] = []
    arms: list[Arm] = []
    rest: list[ast.stmt] = [node]
    is_flat = not jumps(rest)
    while not tests or (is_flat and is_elif(p, rest, env)):
        (one,) = rest
        assert isinstance(one, ast.If)
        no_unbound(p, one)
        test = condition(p, one.test, env)
        if isinstance(test, Literal):
            rest = one.body if test.value else one.orelse
            break
        tests.append(test)
        arms.append(Arm(one.body, env))
        rest = one.orelse
    if not tests:
        return block(p, rest, env, then, flow)

    def combine(terms: list[Term]) -> Term:
        *others, found = terms
        for test, term in zip(reversed(tests), reversed(others), strict=True):
            found = If(test, term, found)
        return found

    return branching(p, node, [*arms, Arm(rest, env)], combine, env, then, flow)


def is_elif(p: Parser, rest: Sequence[ast.stmt], env: Env) -> bool:
    """Tell whether the rest of a chain is an ``if`` that says nothing about types."""
    match rest:
        case [ast.If(test=test)]:
            return narrowing(p, test, env) is None and narrowed_first(p, test, env) is None
    return False


def no_unbound(p: Parser, node: ast.If) -> None:
    """Refuse a use of a name that Python binds before the condition of a case fails."""
    names: frozenset[str] = getattr(node, "unbound", frozenset())
    if names and (used := names & Walk().block(node.orelse, p.live_after[node])):
        what = f"{min(used)} may have a value from a case whose condition fails"
        p.error(node, what, "give it another name, or a value before")


#: The most parts of the syntax of statements that may stand twice, and of the cases of a match.
SHORT, CASES = 200, 4000


def nested(p: Parser, node: ast.If, env: Env) -> ast.If | None:
    """Write ``if x is not None and c`` as an if in an if, so that x is narrowed in the body; None for another if."""
    parts = narrowed_first(p, node.test, env)
    if parts is None:
        return None
    first, rest, is_or = parts
    twice, limit = node.body if is_or else node.orelse, CASES if hasattr(node, "is_case") else SHORT
    if sum(1 for each in twice for _ in every_node(each)) > limit:
        return None
    inner = like(p, node, ast.If(rest, node.body, node.orelse))
    return like(p, node, ast.If(first, *((node.body, [inner]) if is_or else ([inner], node.orelse))))


def like(p: Parser, node: ast.If, made: ast.If) -> ast.If:
    """Give a branch of an if what its condition tells."""
    p.live_after[made] = p.live_after[node]
    made.__dict__.update({name: value for name, value in vars(node).items() if name not in node._fields})
    return made


def local_function(p: Parser, node: ast.FunctionDef, env: Env, then: Rest) -> Term:
    """A def inside a program: a function value, or a definition of its own if it is recursive."""
    if node.decorator_list:
        p.on_duals(node.decorator_list[0], "a local function has no decorator", "leave it out")
    if node.name in uses(node.body):
        return _recursive(p, node, env, then)
    return define(p, node, node.name, env, then)


def _recursive(p: Parser, node: ast.FunctionDef, env: Env, then: Rest) -> Term:
    """Define a local function that calls itself: at once if its types are annotated, otherwise at its calls."""
    local, own = local_of(p, node, node.name, env)
    local.missing -= {node.name}
    types = tuple(t for t in local.parameters.types if t is not None)
    is_annotated = local.result is not None and len(types) == len(local.parameters.types)
    found = lifted(p, local, types, env) if is_annotated else local
    return lets(own, then({**env, node.name: found}))


def call_recursive(p: Parser, node: ast.AST, local: Local, args: Sequence[Term], env: Env) -> Term:
    """Call a local function that calls itself; the arguments determine its types."""
    types = types_of(args, local)
    captured = captures(uses(local.node.body), env)  # type: ignore[arg-type]
    key = types, tuple(v.type for v in captured.values() if isinstance(v, Term))
    if key not in local.lifted:
        local.lifted[key] = lifted(p, local, types, env)
    return call_lifted(p, node, local.lifted[key], args, env)


def lifted(p: Parser, local: Local, types: tuple[Type, ...], env: Env) -> Lifted:
    """Make a local function that calls itself a definition, for arguments of these types."""
    node = local.node
    assert isinstance(node, ast.FunctionDef)
    found = captures([n for n in uses(node.body) if n != node.name], env)
    without_types = {n: v for n, v in found.items() if isinstance(v, Local) and None in v.parameters.types}
    read_again = {n: replace(v, missing=frozenset({n})) for n, v in without_types.items()}
    captured = tuple(n for n, v in found.items() if not isinstance(v, Lifted) and n not in read_again)
    name = p.names(original(f"{p.symbol}_{node.name}"))
    params = tuple(p.named(a.arg, t) for a, t in zip(parameters(node.args), types, strict=True))
    extra = tuple(p.named(n, value_at(p, node, n, env).type) for n in captured)
    own = zip((*captured, *(a.arg for a in parameters(node.args))), (*extra, *params), strict=True)
    inner = {**{n: v for n, v in env.items() if isinstance(v, Lifted)}, **read_again, **dict(own)}

    def of(result: Type) -> Lifted:
        return Lifted(name, captured, types, result, local.parameters)

    def guessing(guess: Type) -> Term:
        return body(p, node, {**inner, node.name: of(guess)}, None)

    result = inferred_result(p, node, guessing) if local.result is None else local.result
    term = body(p, node, {**inner, node.name: of(result)}, result)
    p.definitions[name] = Definition(name, (*extra, *params), result, term)
    p.note_copies(node, result)
    return of(result)


def inferred_result(p: Parser, node: ast.FunctionDef, read: Callable[[Type], Term]) -> Type:
    """Infer the type of the result of a function that calls itself.

    At first its calls of itself count as if they raised, so that only the other paths say what it gives. `read` reads
    the function with a guess.
    """

    def found(guess: Type) -> tuple[Type, None]:
        p.returned[node] = []
        try:
            found = read(guess).type
        except ProgramError:
            if guess != NEVER:
                raise
            found = next((of for of in p.returned[node] if of != NEVER), NEVER)
        if found == NEVER or (p.returned[node] and set(p.returned[node]) == {NEVER}):
            refuse = p.on_duals if any(map(class_fields, p.table.classes.values())) else p.error
            refuse(node, "a recursive function needs the type of its result", "write -> float, or what it gives")
        return found, None

    return settled(p, node, NEVER, found)[0]
