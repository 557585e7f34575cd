"""Calls: of local functions and programs, of Python's, math's and numpy's functions, of this package's own."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

import numpy

from ...._core.tape.table import ROWS
from ....naming import attribute_of
from ...language.errors import ProgramError
from ...language.in_language import WRITTEN
from ...language.signatures import defaults_of, names_of
from ...language.terms import Apply, Call, Elements, Lambda, Let, Op, Proj, Term, Tuple, Var, lets
from ...language.types import (
    BOOL,
    FLOAT,
    INT,
    NEVER,
    UNIT,
    Array,
    Closure,
    Fixed,
    Function,
    Product,
    Type,
    is_choice,
    is_union,
    records_in,
    show,
    spelled,
    with_elements,
)
from ...primitives import REAL
from ...registered import find
from ..expressions import dicts
from ..expressions.closures import (
    call_closure,
    call_lifted,
    call_local,
    closure_of,
    local_of,
    only_called,
    opened,
    value_of,
)
from ..expressions.parameters import (
    arguments,
    check_stars,
    fitting,
    no_other_keywords,
    of_all,
    of_program,
    parameters_of,
    with_args,
)
from ..expressions.rules import (
    COMPARISONS,
    as_name,
    as_names,
    constant,
    dict_of,
    expression,
    fixed,
    item_of,
    of_each_option,
    parts_written_out,
    present,
    read_ahead,
    unnamed,
)
from ..expressions.subscripts import parts_of
from ..library import table as library
from ..names import syntax
from ..names.callees import library_name
from ..names.constants import ATOMS
from ..names.outside import itself, root
from ..names.sizes import Sizes
from ..names.syntax import load
from ..names.texts import MISSING
from ..names.types import GENERATED, class_fields, computes_attributes
from ..names.uses import DUNDERS, defaults, parameters
from ..operations import numeric
from ..operations.functions import Env, Lifted, Local, Parameters
from ..operations.raising import failing
from ..operations.registered import primitive
from ..operations.state import Parser, with_lets
from ..operations.whole import as_numpy, length
from ..rewrites.elements import MODULE
from ..rewrites.own_fields import is_literal
from .fields import with_fields

#: Names under which modules know an opcode.
ALIASES: Mapping[str, str] = {
    **{name: row.name for row in ROWS for name in row.ufuncs.split() if name not in REAL},
    "true_divide": "div",
    "truediv": "div",
    "gammaln": "lgamma",
    "digamma": "polygamma",
}


#: Builtin functions that apply an operator, and so mean something else for lists than for arrays.
OPERATORS = ("builtins.abs", "builtins.pow", "builtins.divmod")
#: The functions of math that take arrays.
OF_ARRAYS = ("math.prod", "math.sumprod", "math.dist")
#: Functions that are refused although the language has a similar one, each with advice.
REFUSED: Mapping[str, str] = {"builtins.type": "write isinstance(x, C)"}


def call_expression(p: Parser, node: ast.Call, env: Env, wanted: Type | None) -> Term:
    """``f(...)``."""
    found = p.static(node.func, env)
    if library_name(found) in library.OF_STARS:
        return library.OF_STARS[library_name(found)](p, node, env)
    if (spread := unnamed([*node.args, *node.keywords])) is not None:
        return with_named(p, node, spread, env, wanted)
    if found is MISSING and isinstance(node.func, ast.Subscript | ast.Call | ast.IfExp | ast.Lambda):
        return call_value(p, node, expression(p, node.func, env), env, wanted)
    if found is dict:
        return dicts.called(p, node, env)
    if found is itself:
        given = env.get(node.args[0].id) if isinstance(node.args[0], ast.Name) else None
        is_whole = isinstance(
            getattr(given, "type", None), Array
        )  # also a grid that is an argument, of which parts change
        return given if is_whole else expression(p, node.args[0], env)  # type: ignore[return-value]
    if is_of_class(found):
        return call_of_class(p, node, found, env)
    if (held := held_by_object(found)) is not None:
        return call_held(p, node, held, env, wanted)
    for star in (a for a in node.args if isinstance(a, ast.Starred)):
        if isinstance(read_ahead(p, star.value, env).type, Array):
            return with_named(p, node, star, env, wanted)
    node = without_stars(p, node, env)
    if any(k.arg == "out" for k in node.keywords) and library_name(found).startswith("numpy."):
        p.error(node, "out= inside an expression", "call it in a statement of its own, or assign the result: y = ...")
    if found is not MISSING:
        node, dtype = library.with_dtype(p, node, library_name(found), env)
        if dtype is not None:
            return library.of_dtype(p, node, dtype, call_expression(p, node, env, wanted), env)
        form = library.SPECIAL.get(library_name(found))
        if form is not None:
            fitting(p, node, found)
            if found is not functools.partial:
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
        if not p.is_reached(receiver):
            return failing()
        if dicts.is_dict(receiver):
            return dicts.method(p, node, receiver, node.func.attr, env)
        if (function := function_in(p, node.func, receiver, env)) is not None:
            return call_value(p, node, function, env, wanted)
        if node.func.attr == "_replace" and not node.args:
            return replaced(p, node, receiver, env)
        if p.table.options(receiver.type) is not None:
            return of_each_option(p, node, receiver, lambda own: called_on(p, node, own, env))
        own = p.method_of(receiver, node.func.attr)
        found_by_class = inspect.getattr_static(p.class_of(receiver), node.func.attr, None)
        if is_of_class(own) or isinstance(found_by_class, staticmethod):
            return call_of_class(p, node, own, env)
        if own is not MISSING:
            return call_method(p, node, own, receiver, env)
        method = library.METHODS.get(node.func.attr)
        is_tuple = isinstance(receiver.type, Product) and p.is_sequence(receiver.type)
        if node.func.attr in ("count", "index") and isinstance(receiver.type, Array):
            p.no_array(node.func.value)
        elif is_tuple and method is not None and node.func.attr not in ("count", "index"):
            p.error(node, f"a tuple has no method {node.func.attr}", "make an array: np.array(...)")
        if method is not None:
            if receiver.type in (FLOAT, INT, BOOL):
                p.of_numpy(node, node.func)
            no_other_keywords(p, node, library.OF_ARRAYS.get(node.func.attr, (None, ()))[1])
            if node.func.attr not in library.OF_LISTS or node.func.attr == "tolist":
                p.operated(node, [(node.func.value, receiver)])
            return of_all(p, node, node.args, lambda args: method(p, with_args(node, args), receiver, env))
        if isinstance(receiver.type, Array) and node.func.attr in library.AS_FUNCTIONS:
            return as_function_of_numpy(p, node, receiver, env)
    of = parameters_of(p, node.func, env)
    if of is not None:
        return apply_to(p, node, node.func, arguments(p, node, of, env), env)
    node = by_position(node, found)
    if node.keywords:
        return registered_call(p, node, found, env)
    types = parameter_types(p, node.func, env)
    if types is not None and len(types) == len(node.args):
        args = [p.coerce(a, expression(p, a, env, t), t) for a, t in zip(node.args, types, strict=True)]
    else:
        args = [expression(p, a, env) for a in node.args]
    return apply_to(p, node, node.func, args, env)


def call_value(p: Parser, node: ast.Call, f: Term, env: Env, wanted: Type | None) -> Term:
    """Call the function that an expression gives: ``fs[0](x)``, ``make(a)(x)``, ``model.activation(x)``."""
    if isinstance(f.type, Fixed | Closure):  # its parameters have no types yet

        def called(named: ast.expr, env: Env) -> Term:
            whole = ast.copy_location(ast.Call(named, node.args, node.keywords), node)
            return call_expression(p, whole, env, wanted)

        return as_name(p, "f", node.func, f, env, called)
    node = without_stars(p, node, env)
    if node.keywords:
        return registered_call(p, node, MISSING, env)
    return apply_value(p, node, f, [expression(p, a, env) for a in node.args])


def function_in(p: Parser, node: ast.Attribute, record: Term, env: Env) -> Term | None:
    """Give the function in a field of a record that was read before; None if the field is not a function."""
    if not isinstance(record.type, Product) or node.attr not in record.type.fields:
        return None
    if isinstance(node.value, ast.Name):  # may be narrowed
        field = expression(p, node, env)
    else:
        field = Proj(record, record.type.fields.index(node.attr))
    return field if isinstance(field.type, Fixed | Closure | Function) or is_choice(field.type) else None


def with_named(p: Parser, node: ast.Call, spread: ast.Starred | ast.keyword, env: Env, wanted: Type | None) -> Term:
    """``f(*g(x))``, ``f(**d(x))``: bind the tuple or the dict to a name."""

    def called(named: ast.expr, env: Env) -> Term:
        args = [ast.Starred(named, ast.Load()) if a is spread else a for a in node.args]
        keywords = [ast.keyword(None, named) if k is spread else k for k in node.keywords]
        return call_expression(p, ast.copy_location(ast.Call(node.func, args, keywords), node), env, wanted)

    given = expression(p, spread.value, env)
    if isinstance(given.type, Array):
        given = p.within("xs", given, lambda xs: as_arguments(p, node, spread, xs, env))
    return as_name(p, "t", spread.value, given, env, called)


def as_arguments(p: Parser, node: ast.Call, spread: ast.AST, xs: Term, env: Env) -> Term:
    """Give the elements of an array as a tuple, one for each parameter that has no other argument."""
    found, of = p.static(node.func, env), parameters_of(p, node.func, env)
    names = () if of is None else of.names[: len(of.names) - of.by_name]
    places = names if class_fields(found) is None else constructor_of(found)[0]
    count = len(places) or getattr(getattr(found, "ufunc", found), "nin", 0)
    count += 1 - len(node.args) - sum(k.arg in places for k in node.keywords)
    if count < 1 or (of is not None and of.has_stars):
        p.error(spread, f"* of {show(xs.type)} in a call", "give a tuple, or the array as one argument")
    parts = parts_of(p, node, [ast.Name("_")] * count, xs)
    assert parts is not None
    return parts


def without_stars(p: Parser, node: ast.Call, env: Env) -> ast.Call:
    """Replace ``*t`` and ``**d`` in a call by an argument for each part."""
    if not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg for k in node.keywords):
        return node
    args = [part for a in node.args for part in parts_written_out(p, a, env)]
    named = [ast.keyword(k.arg or "**", k.value) for k in node.keywords if k.arg]
    for value in (k.value for k in node.keywords if not k.arg):
        given = read_ahead(p, value, env)
        if not dicts.is_dict(given):
            p.error(value, f"** of {show(given.type)}", "give a dict, or write the arguments out")
        named += [ast.keyword(key, item_of(value, key)) for key in given.type.fields]  # type: ignore[attr-defined]
    return ast.copy_location(ast.Call(node.func, args, named), node)


def as_function_of_numpy(p: Parser, node: ast.Call, receiver: Term, env: Env) -> Term:
    """``xs.std(axis=0)`` as ``np.std(xs, axis=0)``."""
    assert isinstance(node.func, ast.Attribute)
    p.operated(node, [(node.func.value, receiver)])
    p.outer.setdefault(" numpy", numpy)
    function = syntax.expression(f"_.{node.func.attr}", node, _=" numpy")

    def called(own: ast.expr, env: Env) -> Term:
        whole = ast.copy_location(ast.Call(function, [own, *node.args], node.keywords), node)
        return call_expression(p, whole, env, None)

    return as_name(p, "xs", node, receiver, env, called)


def called_on(p: Parser, node: ast.Call, receiver: Term, env: Env) -> Term:
    """Call a method on a member of a union."""
    assert isinstance(node.func, ast.Attribute)
    if isinstance(receiver.type, Fixed):
        return as_name(p, "m", node, receiver, env, lambda name, env: call_of_name(p, node, name, env))
    method = p.method_of(receiver, node.func.attr)
    if method is MISSING:
        p.error(node, f"{show(receiver.type)} has no {node.func.attr}", "give each class of the union this method")
    return call_method(p, node, method, receiver, env)


def call_of_name(p: Parser, node: ast.Call, name: ast.expr, env: Env) -> Term:
    """Call a method of what has a name."""
    function = ast.copy_location(ast.Attribute(name, node.func.attr, ast.Load()), node.func)  # type: ignore[attr-defined]
    return expression(p, ast.copy_location(ast.Call(function, node.args, node.keywords), node), env)


def call_method(p: Parser, node: ast.Call, method: Any, receiver: Term, env: Env) -> Term:
    """Call a method of a record with the record as its first argument."""
    if method is not p.function and not hasattr(type(method), "__tapeengine_signature__"):
        p.error(node, "this method is not in the language", "write it as a def with self in its class")
    of = p.own if method is p.function else of_program(p, node, method)

    def called(own: ast.expr, env: Env) -> Term:
        return apply_object(p, node, method, arguments(p, with_args(node, [own, *node.args]), of, env))

    return as_name(p, "self", node, receiver, env, called)


def is_of_class(found: Any) -> bool:
    """Tell whether something is a method of a class, with the class as its first argument."""
    return isinstance(found, MethodType) and isinstance(found.__self__, type)


def call_of_class(p: Parser, node: ast.Call, found: Any, env: Env) -> Term:
    """Call a method of a class, with the class as its first argument, or a static one."""
    method = found.__func__ if is_of_class(found) else found
    known = {" cls": fixed(p, found.__self__)} if is_of_class(found) else {}
    names: list[ast.expr] = [load(name, node) for name in known]
    function = load(" method", node)
    whole = ast.copy_location(ast.Call(function, [*names, *node.args], node.keywords), node)
    return call_expression(p, whole, {**env, **known, " method": fixed(p, method)}, None)


def held_by_object(found: Any) -> functools.partial[Any] | None:
    """Give the function and the arguments that a partial, a method of an object or a callable record holds."""
    if isinstance(found, functools.partial):
        return found
    if hasattr(type(found), "__tapeengine_signature__") or library_name(found):
        return None
    if isinstance(found, MethodType) and not isinstance(found.__self__, type):
        return functools.partial(found.__func__, found.__self__)
    is_record = callable(found) and class_fields(type(found)) is not None
    return functools.partial(type(found).__call__, found) if is_record else None


def call_held(p: Parser, node: ast.Call, held: functools.partial[Any], env: Env, wanted: Type | None) -> Term:
    """Call a function with the arguments that an object from outside holds, and those of the call."""

    def named(name: str, value: Any) -> ast.expr:
        inner[name] = value if isinstance(value, Term) else constant(p, node, value)
        return load(name, node)

    inner = dict(env)
    given = {k.arg for k in node.keywords}
    args = [named(f" {k}", value) for k, value in enumerate(held.args)]
    keywords = [ast.keyword(k, named(f" {k}", value)) for k, value in held.keywords.items() if k not in given]
    whole = ast.Call(named(" held", fixed(p, held.func)), [*args, *node.args], [*keywords, *node.keywords])
    return call_expression(p, ast.copy_location(whole, node), inner, wanted)


def is_super(p: Parser, node: ast.expr, env: Env) -> bool:
    """Tell whether an expression is ``super()``."""
    return isinstance(node, ast.Call) and not node.args and p.static(node.func, env) is super


def call_super(p: Parser, node: ast.Call, env: Env) -> Term:
    """``super().name(...)``: the method of the class that follows the one of this method for the record's class."""
    assert isinstance(node.func, ast.Attribute)
    found, record, cls = inherited(p, node.func, env)
    if isinstance(found, classmethod | staticmethod):
        return call_of_class(p, node, found.__get__(None, cls), env)
    return call_method(p, node, p.callee(found), record, env)


def inherited(p: Parser, node: ast.Attribute, env: Env) -> tuple[Any, Term, type]:
    """Give what ``super().name`` finds in a class, the record or class of this method, and its class."""
    own, parameters = p.outer.get("__class__"), names_of(p.function)
    record = env.get(parameters[0]) if parameters else None
    cls = p.known_object(record)
    if cls is MISSING:
        cls = p.class_of(record)
    if own is None or record is None or not isinstance(cls, type) or not issubclass(cls, own):
        p.error(node, "super outside a method of a record", "name the class: Base.method(self, ...)")
    following = cls.__mro__[cls.__mro__.index(own) + 1 :]
    return next((vars(c)[node.attr] for c in following if node.attr in vars(c)), MISSING), record, cls


def of_super(p: Parser, node: ast.Attribute, env: Env) -> Term | None:
    """Give the value of ``super().name`` for a property; None for another expression."""
    if not is_super(p, node.value, env):
        return None
    found, record, _ = inherited(p, node, env)
    if not isinstance(found, property):
        p.error(node, f"super().{node.attr} is no property", "call a method where it stands, and read a field of self")
    return apply_object(p, node, p.callee(found.fget), [record])


def operator_of(
    p: Parser, node: ast.expr, op: ast.operator | ast.unaryop, operands: Sequence[Term], env: Env
) -> Term | None:
    """The method of a record that an operator calls, ``__add__`` or ``__radd__``; None if no operand has one."""
    which = DUNDERS.get(type(op), "")
    ways = list(enumerate((f"__{which}__", f"__r{which}__")[: len(operands)]))
    for k, name in reversed(ways) if overrides(p, operands, f"__r{which}__") else ways:
        found = getattr(p.class_of(operands[k]), name, None)
        if isinstance(found, FunctionType):
            method = p.callee(found)

            def called(names: list[ast.expr], env: Env, k: int = k, method: Any = method) -> Term:
                call = ast.copy_location(ast.Call(names[k], names[:k] + names[k + 1 :], []), node)
                return call_method(p, call, method, expression(p, names[k], env), env)

            return as_names(p, "x", node, operands, env, called)
    return None


def overrides(p: Parser, operands: Sequence[Term], name: str = "") -> bool:
    """Tell whether the right operand's class is derived from the left one's, and has another method of this name.

    Python then asks the right operand first; without a name, for any method.
    """
    left, *right = map(p.class_of, operands)
    if left is None or right in ([], [left]) or not isinstance(right[0], type) or not issubclass(right[0], left):
        return False
    return not name or getattr(right[0], name, None) is not getattr(left, name, None)


def comparison_of(p: Parser, node: ast.AST, op: ast.cmpop, left: Term, right: Term) -> Term | None:
    """Compare by a method of a record, ``__lt__`` or the right operand's ``__gt__``; None where there is none."""
    name = COMPARISONS.get(type(op), "")
    mirrored = name.translate(str.maketrans("lg", "gl"))  # less and greater exchanged
    ways = [(f"__{name}__", [left, right]), (f"__{mirrored}__", [right, left])]
    for method, operands in reversed(ways) if overrides(p, [left, right]) else ways:
        if (found := special(p, node, method, operands)) is not None:
            return found
        if method == "__ne__" and (same := special(p, node, "__eq__", operands)) is not None:
            return Op("not", (same,), BOOL) if same.type == BOOL else same
        if issubclass(p.class_of(operands[0]) or object, tuple):
            return None  # tuples compare their items, and ask no other
    return None


def property_of(p: Parser, node: ast.AST, record: Term, name: str) -> Term | None:
    """Give the value of a property of a record; None if it has no property of that name."""
    found = getattr(p.class_of(record), name, None)
    if not isinstance(found, property):
        return None
    return apply_object(p, node, p.callee(found.fget), [record])


def special(p: Parser, node: ast.AST, name: str, operands: Sequence[Term]) -> Term | None:
    """Call the method of a record with which Python computes ``len(r)``, ``r[i]`` and the like; None if it has none."""
    found = getattr(p.class_of(operands[0]), name, None)
    if not isinstance(found, FunctionType) or found.__code__.co_filename == GENERATED:
        return None
    return apply_object(p, node, p.callee(found), operands)


@with_lets
def replaced(p: Parser, node: ast.Call, record: Term, env: Env) -> Term:
    """``dataclasses.replace(r, x=...)``, ``r._replace(x=...)``: a record with other fields, made by the constructor."""
    of = record.type
    given = {str(k.arg): k.value for k in node.keywords}
    if root(node.func) == MODULE:  # a copy of an element that changes, or a record with fields that changed
        return with_fields(p, {n: (e, expression(p, e, env)) for n, e in given.items()}, p.bound("r", record))
    cls = p.table.classes.get(getattr(of, "name", ""))
    is_made = dataclasses.is_dataclass(cls)
    names = makeable(p, node, cls)[1] if is_made else getattr(of, "fields", ())
    if cls is None or not set(given).issubset(names):
        p.error(node, f"these are no fields of {show(of)}", "name fields of a dataclass or NamedTuple")
    r, types = p.bound("r", record), p.field_types(cls, node)
    others = {name: (e, expression(p, e, env, types[name])) for name, e in given.items()}
    others |= {name: (node, default_of(p, node, cls, name)) for name in types if name not in names}
    return validated(p, node, cls, with_fields(p, others, r))


def by_position(node: ast.Call, found: Any) -> ast.Call:
    """Give a call of a function of the library with its arguments by position, and defaults between them."""
    if not node.keywords or library_name(found) not in library.FUNCTIONS:
        return node
    try:
        known = inspect.signature(getattr(found, "function", found)).parameters.values()
    except (TypeError, ValueError):  # a function of numpy's written in C
        return node
    rest = [q for q in known if q.kind in (q.POSITIONAL_ONLY, q.POSITIONAL_OR_KEYWORD)][len(node.args) :]
    given = {k.arg: k.value for k in node.keywords}
    last = max((k + 1 for k, q in enumerate(rest) if q.name in given), default=0)
    if not set(given).issubset(q.name for q in rest if q.kind is not q.POSITIONAL_ONLY):
        return node
    args = [given.get(q.name, ast.copy_location(ast.Constant(q.default), node)) for q in rest[:last]]
    if any(isinstance(a, ast.Constant) and not isinstance(a.value, ATOMS) for a in args):
        return node
    return ast.copy_location(ast.Call(node.func, [*node.args, *args], []), node)


def registered_call(p: Parser, node: ast.Call, found: Any, env: Env) -> Term:
    """A call with arguments by name: a registry primitive with static parameters written out."""
    if find(found) is None:
        p.beyond(node, found, "arguments by name", "give them by position")
    static = {}
    for keyword in node.keywords:
        try:
            static[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except ValueError:
            p.beyond(keyword.value, found, f"the parameter {keyword.arg} is not differentiated", "write its value out")
    return primitive(p, node, found, as_numpy(p, node.args, [expression(p, a, env) for a in node.args]), static)


def parameter_types(p: Parser, node: ast.expr, env: Env) -> tuple[Type, ...] | None:
    """Give the parameter types of a callee; None if they are not known."""
    found: Any = env.get(node.id) if isinstance(node, ast.Name) and node.id in env else p.static(node, env)
    if isinstance(found, Lifted):
        return found.params
    if isinstance(found, Term) and isinstance(found.type, Fixed):
        found = p.known_object(found)
    if isinstance(found, Local):
        types = found.parameters.types
        return None if None in types else tuple(t for t in types if t is not None)
    if isinstance(found, Term):
        return found.type.params if isinstance(found.type, Function) else None
    if found is p.function or attribute_of(found, "__tapeengine_function__") is p.function:
        return tuple(v.of for v in p.definitions[p.symbol].params) if p.symbol in p.definitions else None
    if found is not MISSING and hasattr(type(found), "__tapeengine_signature__") and not found.inferred:
        return tuple(found.__tapeengine_signature__()[1])
    return None


def apply_to(p: Parser, node: ast.AST, function: ast.expr, args: Sequence[Term], env: Env) -> Term:
    """Apply the callee that an expression denotes to arguments."""
    if isinstance(function, ast.Lambda):
        return apply_lambda(p, function, args, env)
    check_stars(p, node, parameters_of(p, function, env))
    found: Any = env.get(function.id) if isinstance(function, ast.Name) and function.id in env else MISSING
    if isinstance(found, Lifted | Local):
        args = with_defaults(args, found.parameters)
    if isinstance(found, Lifted):
        numeric.wanted(p, node, args, len(found.params))
        return call_lifted(p, node, found, args, env)
    if isinstance(found, Local):
        if len(args) != len(found.parameters.types):
            only_called(p, node, found)
        numeric.wanted(p, node, args, len(found.parameters.types))
        return call_local(p, node, found, args, env)
    if found is MISSING or isinstance(getattr(found, "type", None), Fixed):
        found = p.static(function, env)
    if found is not MISSING and not isinstance(found, Term):
        return apply_object(p, node, found, args)
    return apply_value(p, node, expression(p, function, env), args)


def apply_value(p: Parser, node: ast.AST, f: Term, args: Sequence[Term]) -> Term:
    """Apply a function value to arguments."""
    if f.type == NEVER:
        return f
    if isinstance(f.type, Fixed):
        return apply_object(p, node, p.known_object(f), args)
    if isinstance(f.type, Closure):
        of_variable = p.fresh("f", f.type)
        check_stars(p, node, opened(of_variable).parameters)
        args = with_defaults(args, opened(of_variable).parameters)
        numeric.wanted(p, node, args, len(f.type.code.parameters.types))
        return Let(of_variable, f, call_closure(p, node, of_variable, args))
    if is_choice(f.type) or p.table.options(f.type) is not None:
        given = [p.fresh("x", a.type) for a in args]
        chosen = of_each_option(p, node, f, lambda own: apply_value(p, node, own, given))
        return lets(zip(given, args, strict=True), chosen)
    if not isinstance(f.type, Function):
        found = special(p, node, "__call__", [f, *args])
        return found or p.error(node, f"{show(f.type)} is not a function", "call a function")
    numeric.wanted(p, node, args, len(f.type.params))
    return Apply(f, coerced(p, node, args, f.type.params))


def with_defaults(args: Sequence[Term], of: Parameters) -> Sequence[Term]:
    """Give arguments with the defaults of the parameters that they leave out."""
    rest = of.defaults[len(args) :]
    return args if None in rest else [*args, *(x for x in rest if x is not None)]


def coerced(p: Parser, node: ast.AST, args: Sequence[Term], params: Sequence[Type]) -> tuple[Term, ...]:
    """Bring arguments to the types of parameters."""
    return tuple(p.coerce(node, a, t) for a, t in zip(args, params, strict=True))


def apply_lambda(p: Parser, node: ast.Lambda, args: Sequence[Term], env: Env) -> Term:
    """Apply a lambda where it stands: its parameters are bound to the arguments."""
    params = [a.arg for a in parameters(node.args)]
    if getattr(node, "has_stars", False):
        p.error(node, "a lambda with * parameters", "give its parameters names")
    rest = defaults(node.args)[len(args) :]
    if None not in rest and len(rest) >= len(node.args.kwonlyargs):
        args = [*args, *(expression(p, e, env) for e in rest if e)]
    if len(params) != len(args) or len(rest) < len(node.args.kwonlyargs):
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
    if any(a.type == NEVER for a in args):
        return failing()
    if found is p.function or attribute_of(found, "__tapeengine_function__") is p.function:
        if p.symbol not in p.definitions:
            p.error(node, "a recursive function needs the type of its result", "write -> float, or what it gives")
        own = p.definitions[p.symbol]
        if own.result == NEVER:
            return failing()
        params = tuple(v.of for v in own.params)
        numeric.wanted(p, node, args, len(params))
        return Call(p.symbol, coerced(p, node, args, params), own.result)
    if any(p.is_undecided(a.type) for a in args) and getattr(found, "inferred", True):
        return failing()
    name = library_name(found)
    if name.partition(".")[0] in ("math", "numpy"):
        args = [present(p, node, a) for a in args]
    if name in library.SPECIAL or class_fields(found) is not None or is_of_class(found) or held_by_object(found):
        return called_by_name(p, node, found, args)
    is_written = attribute_of(found, "__tapeengine_function__") in WRITTEN
    if is_written or (name.startswith("numpy.") and name != "numpy.ndim"):  # whose branches the reader decides
        args = as_numpy(p, node.args if isinstance(node, ast.Call) else (), args)
        not_of_bools(p, node, found, args)
    if is_written:
        return apply_written(p, node, found, args)
    if hasattr(type(found), "__tapeengine_signature__") and len(args) < found.arity:
        args = with_defaults(args, of_program(p, node, found))
    if hasattr(type(found), "__tapeengine_signature__") and found.inferred:
        found = instance_for(p, node, found, args)
    if hasattr(type(found), "__tapeengine_signature__"):
        return apply_program(p, node, found, args)
    if name in REFUSED:
        p.error(node, f"{name.removeprefix('builtins.')} is not in the language", REFUSED[name])
    if name.startswith("operator.") and any(isinstance(a.type, Array) for a in args):
        p.on_duals(node, f"{name} of lists or arrays", "write the operator itself")
    if name in OPERATORS:
        given = node.args if isinstance(node, ast.Call) else []
        p.operated(node, list(zip(given, args, strict=False)))
    if name.startswith("math.") and name not in OF_ARRAYS and any(isinstance(a.type, Array) for a in args):
        p.error(node, f"{name} takes numbers, not arrays", f"write np.{name[5:]}, or a comprehension")
    if name.startswith("numpy.") and any(isinstance(a.type, Array) for a in args):
        p.by_numpy = True
    function = library.FUNCTIONS.get(name)
    if function is length and p.table.options(args[0].type) is not None:
        return of_each_option(p, node, args[0], lambda own: length(p, node, [own]))
    if function is not None:
        return of_all(p, node, args, lambda given: function(p, node, given))
    last = name.split(".")[-1]
    opcode = f"np.{last}" if name == f"numpy.{last}" and f"np.{last}" in REAL else ALIASES.get(last, last)
    if opcode in REAL:
        return library.opcode(p, node, opcode, list(args))
    if callable(found):
        return primitive(p, node, found, list(args), {})
    p.error(node, f"{name or found!r} is not a function of the language", "write it as a te.program")


def not_of_bools(p: Parser, node: ast.AST, found: Any, args: Sequence[Term]) -> None:
    """Refuse a function of numpy's of bools alone if its result has fewer than 64 bits, with which numpy goes on."""
    of = getattr(found, "ufunc", found)
    if not isinstance(of, numpy.ufunc) or len(args) != of.nin or any(a.type != BOOL for a in args):
        return
    try:
        dtype = numpy.asarray(of(*[numpy.True_] * of.nin)).dtype
    except TypeError:  # which a run raises
        return
    if dtype.kind in "fi" and dtype.itemsize < 8:
        p.error(node, f"np.{of.__name__} of bools alone gives a {dtype}", "make one a float: float(x > 0)")


def called_by_name(p: Parser, node: ast.AST, found: Any, args: Sequence[Term]) -> Term:
    """Apply a class, or a function that parses its arguments itself, to terms, which are bound to variables."""

    def called(names: list[ast.expr], env: Env) -> Term:
        call = ast.copy_location(ast.Call(load(" f", node), names, []), node)
        if is_of_class(found):
            return call_of_class(p, call, found, env)
        return call_expression(p, call, {**env, " f": fixed(p, found)}, None)

    return as_names(p, "x", node, args, {}, called)


def apply_program(p: Parser, node: ast.AST, program: Any, args: Sequence[Term]) -> Term:
    """Apply another program."""
    symbol, params, result = program.__tapeengine_signature__()
    if result == NEVER:  # it calls this program
        return failing()
    p.table.learn(*program.named_types())
    numeric.wanted(p, node, args, len(params))
    p.programs[symbol] = program
    p.passes(program, *arguments_of(p, node, program))
    p.unions.update(filter(is_union, (result, *params)))
    return Call(symbol, coerced(p, node, args, params), result)


def apply_written(p: Parser, node: ast.AST, program: Any, args: Sequence[Term]) -> Term:
    """Apply a function that is written in the language; with arguments that its text refuses, the plain one runs."""
    given = [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
    if any(isinstance(a, ast.Tuple) and not a.elts for a in given):  # whose type is that of None
        p.on_duals(node, f"{program.__name__} of an empty tuple", "write the axes, or leave the argument out")
    try:
        args = with_defaults(args, of_program(p, node, program)) if len(args) < program.arity else args
        found = apply_program(p, node, instance_for(p, node, program, args), args)
    except ProgramError as error:
        p.on_duals(node, f"{program.__name__}: {error.message}", error.advice)
    if found.type in (UNIT, Array(UNIT)):
        p.on_duals(node, f"{program.__name__} with these arguments", "write it with other functions")
    return present(p, node, found)


def arguments_of(p: Parser, node: ast.AST, program: Any) -> tuple[list[str], list[ast.expr]]:
    """Give the names of a program's parameters and the expressions of a call's arguments, if there are any."""
    names = list(program.names)
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
    numeric.wanted(p, node, args, len(program.names))
    types = {n: with_elements(a.type) for n, a in zip(program.names, args, strict=True) if n in program.inferred}
    given = {n: p.table.known(of) for n, of in types.items()}
    ones = {n: axes for n, a in zip(program.names, args, strict=True) if (axes := p.single_axes.of(a))}
    names = set[str]().union(*map(records_in, (*types.values(), *p.table.named.values())))
    classes = {n: p.table.classes.get(n) for n in sorted(names)}  # their names alone are in the types
    return program.for_types(given, tuple(map(spelled, types.values())), Sizes(ones, p.by_blas), classes.values())


def construct(p: Parser, node: ast.Call, cls: Any, env: Env) -> Term:
    """Make a dataclass or NamedTuple."""
    types = p.field_types(cls, node)
    places, names = makeable(p, node, cls)
    given: dict[str, ast.expr] = dict(zip(places, node.args, strict=False))
    given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    defaults = field_defaults(p, cls)
    made = factories(cls)
    if not set(given) <= set(names) or not set(types) <= {*given, *defaults, *made} or len(node.args) > len(places):
        p.error(node, f"{cls.__name__} has the fields {', '.join(names)}", "give each of them once")
    items = {}
    for field, of in types.items():
        if field in given:
            term = expression(p, given[field], env, of)
        else:
            term = default_of(p, node, cls, field)
        items[field] = term if of is None else p.element_of(given.get(field, node), term, of)
    record = Tuple(tuple(items.values()), p.table.record(cls, {field: item.type for field, item in items.items()}))
    return validated(p, node, cls, record)


def makeable(p: Parser, node: ast.AST, cls: Any) -> tuple[list[str], list[str]]:
    """Give what `constructor_of` gives; refuse a class whose constructor does more than set fields."""
    codes = [getattr(getattr(cls, name), "__code__", None) for name in ("__init__", "__new__")]
    own = {getattr(code, "co_filename", None) for code in codes} != {GENERATED, None}
    if own or type(cls).__call__ is not type.__call__ or computes_attributes(cls):  # which may set other fields
        p.error(node, f"{cls.__name__} makes records by code of its own", "write a function that gives the record")
    made = getattr(cls, "__init__" if dataclasses.is_dataclass(cls) else "__new__")
    if set(names_of(made)[1:]) != set(constructor_of(cls)[1]):
        p.on_duals(node, f"{cls.__name__} has variables of its constructor that are no fields", "make them fields")
    return constructor_of(cls)


def constructor_of(cls: Any) -> tuple[list[str], list[str]]:
    """Give the fields that a record's constructor takes by position, and all that it takes."""
    if not dataclasses.is_dataclass(cls):
        return list(cls._fields), list(cls._fields)
    taken = [f for f in dataclasses.fields(cls) if f.init]
    return [f.name for f in taken if not f.kw_only], [f.name for f in taken]


@with_lets
def validated(p: Parser, node: ast.AST, cls: Any, record: Term) -> Term:
    """Give a new record after its ``__post_init__``, which may raise an error."""
    look = getattr(cls, "__post_init__", None) if dataclasses.is_dataclass(cls) else None
    if look is None:
        return record
    record = p.bound("record", record)
    p.bound("looked", apply_object(p, node, p.callee(look), [record]))
    return record


def factories(cls: Any) -> dict[str, Any]:
    """Give the functions that make the defaults of the fields of a dataclass."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {f.name: f.default_factory for f in fields if f.default_factory is not dataclasses.MISSING}


def default_of(p: Parser, node: ast.AST, cls: Any, name: str) -> Term:
    """Give the default of a field of a new record."""
    defaults, made = field_defaults(p, cls), factories(cls)
    if name not in defaults and name not in made:
        p.error(node, f"the constructor of {cls.__name__} does not set {name}", "give this field a default")
    return constant(p, node, defaults[name]) if name in defaults else new_default(p, node, made[name])


def new_default(p: Parser, node: ast.AST, factory: Any) -> Term:
    """Call a factory of defaults: `list`, a record's class, a function, or a lambda that names nothing."""
    if factory is list:
        return Elements((), p.of_empty)
    if factory is dict:
        return dict_of(p, {})
    if factory in ATOMS or (getattr(factory, "__name__", "") == "<lambda>" and is_literal(factory)):
        return constant(p, node, factory())
    return called_by_name(p, node, p.callee(factory), [])


def field_defaults(p: Parser, cls: Any) -> dict[str, Any]:
    """Give the defaults of the fields of a dataclass or NamedTuple, which are those of its constructor."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    made = getattr(cls, "__init__" if dataclasses.is_dataclass(cls) else "__new__")
    p.constants.note_defaults(made)
    given = {name: value for name, value in defaults_of(made).items() if name not in factories(cls)}
    return {f.name: f.default for f in fields if not f.init and f.default is not dataclasses.MISSING} | given


def as_function(p: Parser, node: ast.expr, env: Env, wanted: Type | None = None) -> Term:
    """Make a function value of a program or a local function."""
    types = parameter_types(p, node, env)
    if types is None and isinstance(wanted, Function):
        types = wanted.params
    found = env.get(node.id) if isinstance(node, ast.Name) else None
    only_called(p, node, found)
    if isinstance(node, ast.Lambda):
        local, own = local_of(p, node, "lambda", env)
        return lets(own, closure_of(p, local, env))
    if types is None:
        return closure_of(p, found, env) if isinstance(found, Local) else fixed(p, p.static(node, env))
    if isinstance(found, Local):
        return value_of(p, found, types, env)
    params = tuple(p.fresh("x", t) for t in types)
    return Lambda(params, apply_to(p, node, node, params, env))
