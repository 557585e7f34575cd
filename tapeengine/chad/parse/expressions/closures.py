"""Local functions, which capture variables and not their values.

A call of a local function uses the bindings of its variables at the time of the call. If they are the same as at the
definition, one function value serves all calls. If a variable has been rebound, the function's source is parsed again
with the present bindings. A function that is used as a value (in a tuple, under another name, as a result) cannot be
parsed again: using it after one of its variables was rebound is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from ...language.nodes import every_node
from ...language.terms import Apply, Call, Inject, Lambda, Let, Literal, Proj, Term, Tuple, Var, lets
from ...language.traverse import children, free_variables
from ...language.types import NEVER, Closure, Type, has_functions, parts_of, with_elements
from ..names.scopes import original, parameter_names
from ..names.uses import defaults, parameters, uses
from ..operations.functions import Env, Held, Lifted, Local, Parameters, Rest
from ..operations.raising import failing
from ..operations.state import Parser
from .rules import expression

#: What to write instead of local functions that call one another.
ADVICE = "make each a function of the module, or a te.program, with the type of its result: def f(n, x) -> float"
#: How many functions may be read within one another.
NESTED = 100


def define(p: Parser, node: ast.FunctionDef | ast.Lambda, name: str, env: Env, then: Rest) -> Term:
    """Define a local function for the following statements, around which its instances are bound."""
    local, own = local_of(p, node, name, env)
    if not local.missing and None not in local.parameters.types:
        instance(p, local, tuple(t for t in local.parameters.types if t is not None))
    term = then({**env, name: local})
    return lets([*own, *local.instances.values()], term)


def local_of(
    p: Parser, node: ast.FunctionDef | ast.Lambda, name: str, env: Env
) -> tuple[Local, list[tuple[Var, Term]]]:
    """Give what is known about a local function where it is defined, and the bindings of its defaults."""
    parameters, own = own_parameters(p, node, env)
    result = None
    if isinstance(node, ast.FunctionDef):
        result = p.result_type(node)
    used = uses(node.body if isinstance(node, ast.FunctionDef) else [node.body])
    local_names = _own_names(node)
    captured = captures(used, env, local_names)
    missing = {n for n in used if n in p.local_names and n not in env and n not in local_names}
    missing.update(n for other in captured.values() if isinstance(other, Local) for n in other.missing if n not in env)
    return Local(name, node, env, parameters, result, captured, frozenset(missing), p), own


def _own_names(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Give the names bound inside a function and its inner scopes; names are unique."""
    inside = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    found = {*(a.arg for a in parameters(node.args))}
    for statement in inside:
        for part in every_node(statement):
            match part:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                    found.add(name)
    return found


def own_parameters(
    p: Parser, node: ast.FunctionDef | ast.Lambda, env: Env
) -> tuple[Parameters, list[tuple[Var, Term]]]:
    """Give the parameters of a local function, and the defaults, which are bound at its definition."""
    given = list(zip(parameters(node.args), defaults(node.args), strict=True))
    types: list[Type | None] = [
        None
        if p.is_vague(a.annotation) or (isinstance(default, ast.Constant) and default.value is None)
        else p.annotated(a.annotation, a, f"the parameter {a.arg}")
        for a, default in given
    ]
    found: list[Term | None] = []
    own: list[tuple[Var, Term]] = []
    for (a, default), wanted in zip(given, types, strict=True):
        term = None if default is None else expression(p, default, env, wanted)
        if default is not None and term is not None and wanted is not None:
            term = p.coerce(default, term, wanted)
        if not isinstance(term, Literal | Var | None):
            own.append((p.named(a.arg, term.type), term))
            term = own[-1][0]
        found.append(term)
    by_name, has_stars = len(node.args.kwonlyargs), getattr(node, "has_stars", False)
    return Parameters(parameter_names(node.args), tuple(types), tuple(found), by_name, has_stars, node), own


def captures(used: Sequence[str], env: Env, own: Collection[str] = ()) -> dict[str, Any]:
    """Give the values of names, and the captures of the local functions among them, except parameters of its own."""
    found: dict[str, Any] = {}
    pending = [n for n in used if n in env]
    while pending:
        name = pending.pop()
        if name in found or name in own:
            continue
        found[name] = env[name]
        if isinstance(env[name], Local | Lifted):
            pending += [n for n in env[name].captured if n in env]
    return found


def _plain(p: Parser, value: Any) -> Any:
    """Give the value of a variable before it was narrowed to an option of its union."""
    value = value.term if isinstance(value, Inject) else value
    while isinstance(value, Var) and value.name in p.narrowed:
        value = p.narrowed[value.name]
    return value


def is_unchanged(p: Parser, captured: Held, env: Env) -> bool:
    """Tell whether the bindings of variables are unchanged."""
    return all(_plain(p, env.get(n)) is _plain(p, value) for n, value in captured.items())


def instance(p: Parser, local: Local, types: tuple[Type, ...]) -> Var:
    """Give the function value for calls with arguments of these types."""
    if types not in local.instances:
        made = function_at(p, local, types, local.env)
        var = p.fresh(local.name, made.type)
        p.held[var.name] = {n: v for n, v in local.captured.items() if isinstance(v, Term)}
        local.instances[types] = var, made
    return local.instances[types][0]


def function_at(p: Parser, local: Local, types: tuple[Type, ...], env: Env) -> Lambda:
    """Parse a local function with the bindings of an environment."""
    node = local.node
    reading = node, types, tuple(getattr(env.get(n), "type", None) for n in local.captured)
    if reading in p.open or len(p.open) > NESTED:
        p.error(node, f"{original(local.name)} calls itself through another local function", ADVICE)
    args = parameters(node.args)
    params = tuple(p.named(a.arg, t) for a, t in zip(args, types, strict=True))
    inner = {**env, **{a.arg: v for a, v in zip(args, params, strict=True)}}
    p.open.append(reading)
    place = p.place
    try:
        if isinstance(node, ast.FunctionDef):
            return Lambda(params, p.grammar.body(p, node, inner, local.result))
        return Lambda(params, expression(p, node.body, inner))
    finally:
        p.open.pop()
        p.place = place


def call_local(p: Parser, node: ast.AST, local: Local, args: Sequence[Term], env: Env) -> Term:
    """Call a local function."""
    if local.is_recursive:
        return p.grammar.recursive(p, node, local, args, env)
    if waits(p, local, args):
        return failing()
    types = types_of(args, local)
    given = tuple(p.coerce(node, a, t) for a, t in zip(args, types, strict=True))
    return Apply(value_of(p, local, types, env), given)


def waits(p: Parser, local: Local, args: Sequence[Term]) -> bool:
    """Tell whether a call gets an element of a list that begins empty before its type is known."""
    return any(t is None and p.is_undecided(a.type) for a, t in zip(args, local.parameters.types, strict=True))


def types_of(args: Sequence[Term], local: Local) -> tuple[Type, ...]:
    """Give the types of a local function's parameters: as annotated, or those of arguments."""
    each = zip(args, local.parameters.types, strict=True)
    return tuple(with_elements(a.type) if t is None else t for a, t in each)


def call_lifted(p: Parser, node: ast.AST, found: Lifted, args: Sequence[Term], env: Env) -> Term:
    """Call a local function that calls itself, with the values of its captured variables."""
    if found.result == NEVER:
        return failing()
    captured = [p.grammar.value_at(p, node, n, env) for n in found.captured]
    given = [p.coerce(node, a, t) for a, t in zip(args, found.params, strict=True)]
    return Call(found.name, (*captured, *given), found.result)


def value_of(p: Parser, local: Local, types: tuple[Type, ...], env: Env) -> Term:
    """Give a local function as a value, with the bindings at its use."""
    if not local.missing and is_unchanged(p, local.captured, env):
        return instance(p, local, types)
    return function_at(p, local, types, env)


def only_called(p: Parser, node: ast.AST, found: Any) -> None:
    """Refuse to use a local function as a value that changes variables around it: its calls are statements."""
    if isinstance(found, Local) and getattr(found.node, "hands_back", False):
        what = f"{original(found.name)} changes variables around it, and is used as a value"
        p.error(node, what, "only call it, by its own name; or pass the values in and return them")


def closure_of(p: Parser, local: Local, env: Env) -> Term:
    """Give a local function as a value whose parameters have no types yet: a record of what it has captured."""
    captured = {n: env.get(n, v) for n, v in local.captured.items()}
    fields = {n: v for n, v in captured.items() if isinstance(v, Term)}
    defaults = zip(local.parameters.names, local.parameters.defaults, strict=True)
    fields.update({f" {n}": v for n, v in defaults if v is not None})
    p.table.classes["function"] = FunctionType
    of = Closure(tuple(v.type for v in fields.values()), "function", tuple(fields), local)
    return Tuple(tuple(fields.values()), of)


def opened(f: Term) -> Local:
    """Give the local function of a function value; the parts of the value are its captured variables.

    The local functions among these are read again where they are called, as their variables may be out of scope.
    """
    assert isinstance(f.type, Closure)
    local: Local = f.type.code
    fields = {n: Proj(f, k) for k, n in enumerate(f.type.fields)}
    env = {n: again(v) if isinstance(v, Local) else v for n, v in local.env.items()}
    defaults = tuple(fields.get(f" {n}") for n in local.parameters.names)
    return replace(local, env={**env, **fields}, parameters=replace(local.parameters, defaults=defaults))


def again(local: Local) -> Local:
    """Give a copy of a local function whose text is read again at each call."""
    return replace(local, missing=local.missing | {" its place"}, instances={})


def call_closure(p: Parser, node: ast.AST, f: Term, args: Sequence[Term]) -> Term:
    """Call a local function that is a value: its text is read with the types of the arguments."""
    local = opened(f)
    if waits(p, local, args):
        return failing()
    types = tuple(a.type if t is None else t for a, t in zip(args, local.parameters.types, strict=True))
    given = [p.coerce(node, a, t) for a, t in zip(args, types, strict=True)]
    reader = p.reading(local.reader)
    made = function_at(reader, local, types, local.env)
    p.by_numpy = p.by_numpy or reader.by_numpy
    return lets(list(zip(made.params, given, strict=True)), made.body)


def is_function(of: Type) -> bool:
    """Tell whether values of a type have functions as parts that have captured variables."""
    return has_functions(of) or isinstance(of, Closure) or any(map(is_function, parts_of(of)))


def captured_in(of: Type) -> set[str]:
    """Give the names of the variables that functions in a value have captured."""
    own = of.fields if isinstance(of, Closure) else ()
    return {*own, *(name for part in parts_of(of) for name in captured_in(part))}


def held_by(p: Parser, term: Term, env: Env) -> dict[str, Any]:
    """Give the variables in scope that the functions in a value have captured."""
    if not is_function(term.type):
        return {}
    match term:
        case Var(name):
            return dict(p.held.get(name, {}))
        case Tuple(type=Closure(fields=fields)):
            return {n: env[n] for n in fields if n in env}
        case Lambda():
            names = {v.name: n for n, v in env.items() if isinstance(v, Var)}
            found: dict[str, Any] = {}
            for var in free_variables(term).values():
                found.update(p.held.get(var.name, {}))
                if var.name in names:
                    found[names[var.name]] = env[names[var.name]]
            return found
        case Let(var, value, body):
            p.held.setdefault(var.name, held_by(p, value, env))
            return held_by(p, body, env)
    return joined_held([held_by(p, child, env) for child, _ in children(term)])


def joined_held(each: Sequence[Held]) -> dict[str, Any]:
    """Give the union of the captures of several values."""
    found: dict[str, Any] = {}
    for held in each:
        for name, value in held.items():
            found[name] = value if found.get(name, value) is value else None
    return found


def check_use(p: Parser, node: ast.AST, name: str, var: Var, env: Env) -> None:
    """Refuse a function value whose captured variables have been rebound since."""
    for captured, value in p.held.get(var.name, {}).items():
        if captured in env and _plain(p, env[captured]) is not _plain(p, value):
            what = f"{name} has captured {captured}, which has been given another value since"
            advice = f"pass {captured} as an argument, or give the new value another name"
            p.error(node, what, f"a call sees the new value: {advice}")
