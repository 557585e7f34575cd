"""Calls: of local functions and programs, of Python's, math's and numpy's functions, of this package's own."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from types import FunctionType, MappingProxyType
from typing import Any

import numpy

from tapeengine.chad.errors import ProgramError
from tapeengine.chad.in_language import WRITTEN
from tapeengine.chad.parse import dicts, library
from tapeengine.chad.parse.callees import library_name
from tapeengine.chad.parse.closures import call_local, value_of
from tapeengine.chad.parse.expressions import constant, expression, item_of, of_each_option, parts_written_out
from tapeengine.chad.parse.functions import Env, Lifted, Local
from tapeengine.chad.parse.parameters import arguments, no_other_keywords, of_all, of_program, parameters_of, with_args
from tapeengine.chad.parse.registered import primitive
from tapeengine.chad.parse.state import Parser
from tapeengine.chad.parse.texts import MISSING
from tapeengine.chad.parse.types import class_fields
from tapeengine.chad.parse.whole import as_numpy
from tapeengine.chad.primitives import REAL
from tapeengine.chad.registered import find
from tapeengine.chad.signatures import names_of
from tapeengine.chad.terms import Apply, Call, Lambda, Let, Proj, Term, Tuple, Var, lets
from tapeengine.chad.types import UNIT, Array, Function, Product, Type, show

#: Names under which modules know an opcode.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arctan2": "atan2",
        "arcsinh": "asinh",
        "arccosh": "acosh",
        "arctanh": "atanh",
        "fabs": "abs",
        "power": "pow",
        "float_power": "pow",
        "multiply": "mul",
        "subtract": "sub",
        "divide": "div",
        "true_divide": "div",
        "truediv": "div",
        "negative": "neg",
        "gammaln": "lgamma",
        "digamma": "polygamma",
    }
)


#: Builtin functions that apply an operator, and so mean something else for lists than for arrays.
OPERATORS = ("builtins.abs", "builtins.pow", "builtins.divmod")
#: The functions of math that take arrays.
OF_ARRAYS = ("math.prod", "math.sumprod", "math.dist")
#: Functions that are refused although the language has a similar one, each with advice.
REFUSED: Mapping[str, str] = MappingProxyType({"builtins.type": "write isinstance(x, C)"})


def call_expression(p: Parser, node: ast.Call, env: Env, wanted: Type | None) -> Term:
    """``f(...)``."""
    found = p.static(node.func, env)
    if found is dict:
        return dicts.called(p, node, env)
    node = without_stars(p, node, env)
    if found is not MISSING:
        node, dtype = library.with_dtype(p, node, library_name(found), env)
        if dtype is not None:
            return library.of_dtype(p, node, dtype, call_expression(p, node, env, wanted), env)
        form = library.SPECIAL.get(library_name(found))
        if form is not None:
            no_other_keywords(p, node, library.KEYWORDS.get(library_name(found), ()))
            return of_all(p, node, node.args, lambda args: form(p, with_args(node, args), env))
        if class_fields(found) is not None:
            return construct(p, node, found, env)
        if found is dataclasses.replace and len(node.args) == 1:
            return replaced(p, node, expression(p, node.args[0], env), env)
    elif isinstance(node.func, ast.Attribute):
        if is_super(p, node.func.value, env):
            return call_super(p, node, env)
        receiver = expression(p, node.func.value, env)
        if dicts.is_dict(receiver):
            return dicts.method(p, node, receiver, node.func.attr, env)
        if node.func.attr == "_replace" and not node.args:
            return replaced(p, node, receiver, env)
        if p.table.options(receiver.type) is not None:
            return of_each_option(p, node, receiver, lambda own: called_on(p, node, own, env))
        own = method_of(p, receiver, node.func.attr)
        if own is not MISSING:
            return call_method(p, node, own, receiver, env)
        method = library.METHODS.get(node.func.attr)
        if method is not None:
            no_other_keywords(p, node, library.METHOD_KEYWORDS.get(node.func.attr, ()))
            if node.func.attr not in library.OF_LISTS or node.func.attr == "tolist":
                p.operated(node, [(node.func.value, receiver)])
            return of_all(p, node, node.args, lambda args: method(p, with_args(node, args), receiver, env))
        if isinstance(receiver.type, Array) and node.func.attr in library.AS_FUNCTIONS:
            return as_function_of_numpy(p, node, receiver, env)
    of = parameters_of(p, node.func, env)
    if of is not None:
        return apply_to(p, node, node.func, arguments(p, node, of, env), env)
    if node.keywords:
        return registered_call(p, node, found, env)
    types = parameter_types(p, node.func, env)
    if types is not None and len(types) == len(node.args):
        args = [p.coerce(a, expression(p, a, env, t), t) for a, t in zip(node.args, types, strict=True)]
    else:
        args = [expression(p, a, env) for a in node.args]
    return apply_to(p, node, node.func, args, env)


def without_stars(p: Parser, node: ast.Call, env: Env) -> ast.Call:
    """Give a call whose arguments are written out where it has the parts of a tuple or a dict."""
    if not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg for k in node.keywords):
        return node
    args = [part for a in node.args for part in parts_written_out(p, a, env)]
    named = [ast.keyword(k.arg or "**", k.value) for k in node.keywords if k.arg]
    for value in (k.value for k in node.keywords if not k.arg):
        given = expression(p, value, env)
        if not dicts.is_dict(given):
            p.error(value, f"** of {show(given.type)}", "give a dict, or write the arguments out")
        named += [ast.keyword(key, item_of(value, key)) for key in given.type.fields]  # type: ignore[attr-defined]
    return ast.copy_location(ast.Call(node.func, args, named), node)


def as_function_of_numpy(p: Parser, node: ast.Call, receiver: Term, env: Env) -> Term:
    """``xs.std(axis=0)`` as ``np.std(xs, axis=0)``."""
    assert isinstance(node.func, ast.Attribute)
    p.operated(node, [(node.func.value, receiver)])
    own = p.fresh("xs", receiver.type)
    names = [ast.copy_location(ast.Name(f" {name}", ast.Load()), node) for name in ("numpy", own.name)]
    called = ast.copy_location(ast.Attribute(names[0], node.func.attr, ast.Load()), node)
    whole = ast.copy_location(ast.Call(called, [names[1], *node.args], node.keywords), node)
    p.outer.setdefault(" numpy", numpy)
    return Let(own, receiver, call_expression(p, whole, {**env, f" {own.name}": own}, None))


def called_on(p: Parser, node: ast.Call, receiver: Term, env: Env) -> Term:
    """Call the method that a member of a union has."""
    assert isinstance(node.func, ast.Attribute)
    method = method_of(p, receiver, node.func.attr)
    if method is MISSING:
        p.error(node, f"{show(receiver.type)} has no {node.func.attr}", "give each class of the union this method")
    return call_method(p, node, method, receiver, env)


def method_of(p: Parser, receiver: Term, name: str) -> Any:
    """Give the program that a method of a record is, MISSING where it has none of that name."""
    if not isinstance(receiver.type, Product) or receiver.type.name not in p.table.classes:
        return MISSING
    return p.callee(getattr(p.table.classes[receiver.type.name], name, MISSING))


def call_method(p: Parser, node: ast.Call, method: Any, receiver: Term, env: Env) -> Term:
    """Call a method of a record with the record as its first argument."""
    if method is not p.function and not hasattr(method, "__tapeengine_signature__"):
        p.error(node, "this method is not in the language", "write it as a def with self in its class")
    own = p.fresh("self", receiver.type)
    self_name = ast.copy_location(ast.Name(f" {own.name}", ast.Load()), node)
    whole = ast.copy_location(ast.Call(node.func, [self_name, *node.args], node.keywords), node)
    of = p.own if method is p.function else of_program(p, node, method)
    args = arguments(p, whole, of, {**env, f" {own.name}": own})
    return Let(own, receiver, apply_object(p, node, method, args))


def is_super(p: Parser, node: ast.expr, env: Env) -> bool:
    """Tell whether an expression is ``super()``."""
    return isinstance(node, ast.Call) and not node.args and p.static(node.func, env) is super


def call_super(p: Parser, node: ast.Call, env: Env) -> Term:
    """``super().name(...)``: the method of the class that follows the one of this method for the record's class."""
    assert isinstance(node.func, ast.Attribute)
    own, parameters = p.outer.get("__class__"), names_of(p.function)
    record = env.get(parameters[0]) if parameters else None
    cls = p.table.classes.get(getattr(getattr(record, "type", None), "name", ""))
    if own is None or record is None or cls is None or not issubclass(cls, own):
        p.error(node, "super outside a method of a record", "name the class: Base.method(self, ...)")
    found = p.callee(getattr(super(own, cls), node.func.attr, MISSING))
    return call_method(p, node, found, record, env)


def operator_of(
    p: Parser, node: ast.expr, op: ast.operator | ast.unaryop, operands: Sequence[Term], env: Env
) -> Term | None:
    """The method of a record that an operator calls, ``__add__`` or ``__radd__``; None if no operand has one."""
    which = METHODS.get(type(op), "")
    for k, name in enumerate((f"__{which}__", f"__r{which}__")[: len(operands)]):
        found = getattr(p.table.classes.get(getattr(operands[k].type, "name", "")), name, None)
        if isinstance(found, FunctionType):
            given = [p.fresh("x", x.type) for x in operands]
            names: list[ast.expr] = [ast.copy_location(ast.Name(f" {x.name}", ast.Load()), node) for x in given]
            call = ast.copy_location(ast.Call(names[k], names[:k] + names[k + 1 :], []), node)
            inside = {**env, **{f" {x.name}": x for x in given}}
            made = call_method(p, call, p.callee(found), given[k], inside)
            for var, term in reversed(list(zip(given, operands, strict=True))):
                made = Let(var, term, made)
            return made
    return None


#: The names of the methods of operators.
METHODS: Mapping[type, str] = dict(
    zip(
        (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.USub, ast.UAdd),
        "add sub mul truediv floordiv mod pow matmul neg pos".split(),
        strict=True,
    )
)


def property_of(p: Parser, node: ast.AST, record: Term, name: str) -> Term | None:
    """Give the value of a property of a record; None where it has none of that name."""
    found = getattr(p.table.classes.get(getattr(record.type, "name", "")), name, None)
    if not isinstance(found, property):
        return None
    return apply_object(p, node, p.callee(found.fget), [record])


def replaced(p: Parser, node: ast.Call, record: Term, env: Env) -> Term:
    """``dataclasses.replace(r, x=...)``, ``r._replace(x=...)``: a record with other fields."""
    of = record.type
    given = {k.arg: k.value for k in node.keywords}
    if not isinstance(of, Product) or not of.name or not set(given).issubset(of.fields):
        p.error(node, f"these are no fields of {show(of)}", "name fields of a dataclass or NamedTuple")

    def with_others(r: Term) -> Term:
        each = enumerate(zip(of.fields, of.items, strict=True))
        fields = ((given.get(name), k, t) for k, (name, t) in each)
        items = (Proj(r, k) if e is None else p.coerce(e, expression(p, e, env, t), t) for e, k, t in fields)
        return Tuple(tuple(items), of)

    return p.let("r", record, with_others)


def registered_call(p: Parser, node: ast.Call, found: Any, env: Env) -> Term:
    """A call with arguments by name: a registry primitive with static parameters written out."""
    if find(found) is None:
        p.error(node, "arguments by name", "give them by position")
    static = {}
    for keyword in node.keywords:
        try:
            static[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except ValueError:
            p.error(keyword.value, f"the parameter {keyword.arg} is not differentiated", "write its value out")
    return primitive(p, node, found, as_numpy(p, [expression(p, a, env) for a in node.args]), static)


def parameter_types(p: Parser, node: ast.expr, env: Env) -> tuple[Type, ...] | None:
    """Give the parameter types of a callee; None if they are not known."""
    found: Any = env.get(node.id) if isinstance(node, ast.Name) and node.id in env else p.static(node, env)
    if isinstance(found, Lifted):
        return found.params
    if isinstance(found, Local):
        types = found.parameters.types
        return None if None in types else tuple(t for t in types if t is not None)
    if isinstance(found, Term):
        return found.type.params if isinstance(found.type, Function) else None
    if found is p.function or getattr(found, "__tapeengine_function__", None) is p.function:
        return tuple(v.of for v in p.definitions[p.symbol].params) if p.symbol in p.definitions else None
    if found is not MISSING and hasattr(found, "__tapeengine_signature__") and not found.inferred:
        return tuple(found.__tapeengine_signature__()[1])
    return None


def apply_to(p: Parser, node: ast.AST, function: ast.expr, args: Sequence[Term], env: Env) -> Term:
    """Apply the callee that an expression denotes to arguments."""
    if isinstance(function, ast.Lambda):
        return apply_lambda(p, function, args, env)
    found: Any = env.get(function.id) if isinstance(function, ast.Name) and function.id in env else MISSING
    if isinstance(found, Lifted):
        _count(p, node, args, found.params)
        captured = tuple(p.grammar.value_at(p, node, n, env) for n in found.captured)
        return Call(found.name, (*captured, *coerced(p, node, args, found.params)), found.result)
    if isinstance(found, Local):
        _count(p, node, args, found.parameters.types)
        return call_local(p, node, found, args, env)
    if found is MISSING:
        found = p.static(function, env)
    if found is not MISSING and not isinstance(found, Term):
        return apply_object(p, node, found, args)
    term = expression(p, function, env)
    if not isinstance(term.type, Function):
        p.error(node, f"{show(term.type)} is not a function", "call a function")
    _count(p, node, args, term.type.params)
    return Apply(term, coerced(p, node, args, term.type.params))


def _count(p: Parser, node: ast.AST, args: Sequence[Term], params: Sequence[Type | None]) -> None:
    if len(args) != len(params):
        p.error(node, f"{len(args)} arguments where {len(params)} are wanted", "match the function's parameters")


def coerced(p: Parser, node: ast.AST, args: Sequence[Term], params: Sequence[Type]) -> tuple[Term, ...]:
    """Bring arguments to the types of parameters."""
    return tuple(p.coerce(node, a, t) for a, t in zip(args, params, strict=True))


def apply_lambda(p: Parser, node: ast.Lambda, args: Sequence[Term], env: Env) -> Term:
    """Apply a lambda where it stands: its parameters are bound to the arguments."""
    params = [a.arg for a in node.args.args]
    if len(params) != len(args):
        p.error(node, f"a lambda of {len(params)} parameters where {len(args)} are wanted", "match them")
    inner = dict(env)
    bound = []
    for param, arg in zip(params, args, strict=True):
        var = arg if isinstance(arg, Var) else p.fresh(param, arg.type)
        if var is not arg:
            bound.append((var, arg))
        inner[param] = var
    return lets(bound, expression(p, node.body, inner))


def apply_object(p: Parser, node: ast.AST, found: Any, args: Sequence[Term]) -> Term:
    """Apply a Python object: this function itself, another program, or a function of the library."""
    if found is p.function or getattr(found, "__tapeengine_function__", None) is p.function:
        if p.symbol not in p.definitions:
            p.error(node, "a recursive function needs the type of its result", "write -> float, or what it gives")
        own = p.definitions[p.symbol]
        params = tuple(v.of for v in own.params)
        _count(p, node, args, params)
        return Call(p.symbol, coerced(p, node, args, params), own.result)
    name = library_name(found)
    is_written = getattr(found, "__tapeengine_function__", None) in WRITTEN
    if is_written or name.startswith("numpy."):
        args = as_numpy(p, args)
    if is_written:
        return apply_written(p, node, found, args)
    if getattr(found, "inferred", ()):
        found = instance_for(p, node, found, args)
    if hasattr(found, "__tapeengine_signature__"):
        return apply_program(p, node, found, args)
    if name in REFUSED:
        p.error(node, f"{name.removeprefix('builtins.')} is not in the language", REFUSED[name])
    if name in OPERATORS:
        given = node.args if isinstance(node, ast.Call) else []
        p.operated(node, list(zip(given, args, strict=False)))
    if name.startswith("math.") and name not in OF_ARRAYS and any(isinstance(a.type, Array) for a in args):
        p.error(node, f"{name} takes numbers, not arrays", f"write np.{name[5:]}, or a comprehension")
    if name.startswith("numpy.") and any(isinstance(a.type, Array) for a in args):
        p.by_numpy = True
    function = library.FUNCTIONS.get(name)
    if function is not None:
        return of_all(p, node, args, lambda given: function(p, node, given))
    last = name.split(".")[-1]
    if ALIASES.get(last, last) in REAL:
        return library.opcode(p, node, ALIASES.get(last, last), list(args))
    if callable(found):
        return primitive(p, node, found, list(args), {})
    p.error(node, f"{name or found!r} is not a function of the language", "write it as a te.program")


def apply_program(p: Parser, node: ast.AST, program: Any, args: Sequence[Term]) -> Term:
    """Apply another program."""
    symbol, params, result = program.__tapeengine_signature__()
    _count(p, node, args, params)
    p.programs[symbol] = program
    p.passes(program, *arguments_of(p, node, program))
    return Call(symbol, coerced(p, node, args, params), result)


def apply_written(p: Parser, node: ast.AST, program: Any, args: Sequence[Term]) -> Term:
    """Apply a function that is written in the language; what it refuses is refused where it is called."""
    try:
        found = apply_program(p, node, instance_for(p, node, program, args), args)
    except ProgramError as error:
        p.error(node, f"{program.__name__}: {error.message}", error.advice)
    if found.type in (UNIT, Array(UNIT)):
        p.error(node, f"{program.__name__} with these arguments", "write it with other functions")
    return found


def arguments_of(p: Parser, node: ast.AST, program: Any) -> tuple[list[str], list[ast.expr]]:
    """Give the names of a program's parameters and the expressions of the arguments of a call, as far as it has any."""
    names = list(program.positional((), {})[0])
    if isinstance(node, ast.Attribute):
        return names, [node.value]
    if not isinstance(node, ast.Call):
        return names, []
    args = list(node.args)
    if isinstance(node.func, ast.Attribute) and not p.is_module(node.func.value):
        args.insert(0, node.func.value)
    named = [(str(k.arg), k.value) for k in node.keywords if k.arg in names]
    return names[: len(args)] + [n for n, _ in named], args + [value for _, value in named]


def instance_for(p: Parser, node: ast.AST, program: Any, args: Sequence[Term]) -> Any:
    """Give a program whose parameters have no annotations for the types of arguments."""
    names = program.positional((None,) * program.arity, {})[0]
    _count(p, node, args, [a.type for a in args][: len(names)] or [])
    given = {n: p.table.known(a.type) for n, a in zip(names, args, strict=True) if n in program.inferred}
    return program.for_types(given, tuple(show(known.of) for known in given.values()))


def construct(p: Parser, node: ast.Call, cls: Any, env: Env) -> Term:
    """Make a dataclass or NamedTuple."""
    of = p.translated(cls, node, cls.__name__)
    assert isinstance(of, Product)
    given: dict[str, ast.expr] = dict(zip(of.fields, node.args, strict=False))
    given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    defaults = field_defaults(cls)
    if not set(given) <= set(of.fields) <= {*given, *defaults} or len(node.args) > len(of.fields):
        p.error(node, f"{of.name} has the fields {', '.join(of.fields)}", "give each of them once")
    items = []
    for field, item in zip(of.fields, of.items, strict=True):
        at = given.get(field, node)
        term = expression(p, given[field], env, item) if field in given else constant(p, node, defaults[field])
        items.append(p.coerce(at, term, item))
    return Tuple(tuple(items), of)


def field_defaults(cls: Any) -> dict[str, Any]:
    """Give the defaults of the fields of a dataclass or NamedTuple."""
    if not dataclasses.is_dataclass(cls):
        return dict(cls._field_defaults)
    return {f.name: f.default for f in dataclasses.fields(cls) if f.default is not dataclasses.MISSING}


def as_function(p: Parser, node: ast.expr, env: Env, wanted: Type | None = None) -> Term:
    """Make a function value of a program or a local function."""
    types = parameter_types(p, node, env)
    if types is None and isinstance(wanted, Function):
        types = wanted.params
    if types is None:
        p.error(node, "this function as a value has no parameter types", "write a def with annotated parameters")
    found = env.get(node.id) if isinstance(node, ast.Name) else None
    if isinstance(found, Local):
        return value_of(p, found, types, env)
    params = tuple(p.fresh("x", t) for t in types)
    return Lambda(params, apply_to(p, node, node, params, env))
