"""``isinstance(x, C)`` and ``x is None``: the type of x decides them, or which member of a union x is."""

from __future__ import annotations

import ast
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType, UnionType
from typing import Any, Generic, TypeVar

import numpy

from ...language.kinds import ARRAY, COMPUTED, MIXED, Given, ListOf, Steps
from ...language.nodes import every_node
from ...language.terms import If, Inject, Op, Term, Var, lit
from ...language.types import BOOL, FLOAT, INT, NEVER, UNIT, Array, Fixed, Product, Type, show
from ..names.types import Known
from .functions import Env
from .raising import failing, may_be_none, unguarded
from .state import Parser

NONE = (type(None),)
#: Python's classes of numbers, and numpy's.
NUMBERS = {FLOAT: (float, numpy.float64), INT: (int, numpy.int64), BOOL: (bool, numpy.bool_), UNIT: NONE}
#: The classes of numbers that are converted to another type where paths or elements of a list have one type.
CONVERTED: Mapping[Type, tuple[type, ...]] = {FLOAT: (int, bool), INT: (bool,)}


@dataclass(frozen=True)
class Test:
    """The test of a variable, or of a part that has a name in the environment, for classes or for all others."""

    name: str
    node: ast.expr
    classes: tuple[Any, ...]
    positive: bool = True


def tested(p: Parser, node: ast.expr, env: Env) -> Test | None:
    """Recognise ``isinstance(x, C)`` and ``x is None`` on a variable or a part of one."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = tested(p, operand, env)
            return inner and Test(inner.name, inner.node, inner.classes, not inner.positive)
        case ast.Call(func=callee, args=[part, cls]) if p.static(callee, env) is isinstance:
            name = named(p, part, env)
            return Test(name, part, classes_in(p, cls, env)) if name in env else None
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
            name = named(p, left, env)
            return Test(name, left, NONE, isinstance(op, ast.Is)) if name else None
    return None


def classes_in(p: Parser, node: ast.expr, env: Env) -> tuple[Any, ...]:
    """Give the classes that ``isinstance`` tests for: by their names, or those that were given to parameters."""
    given = {n.id: p.known_object(env[n.id]) for n in every_node(node) if isinstance(n, ast.Name) and n.id in env}
    found = flat(p.annotation_object(node, "the class", **given))
    for name in given:
        if not isinstance(given[name], type):
            p.error(node, f"isinstance with the variable {name} as the class", "write the class itself by its name")
    has_texts = any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in every_node(node))
    if has_texts or not all(isinstance(cls, type) for cls in found):
        p.error(node, f"isinstance with {ast.unparse(node)}, which is no class", "write a class, or a tuple of classes")
    return found


def flat(found: Any) -> tuple[Any, ...]:
    """Give the classes of a class, a union or a tuple of these."""
    parts = found if isinstance(found, tuple) else typing.get_args(found) if isinstance(found, UnionType) else None
    if parts is None:
        return NONE if found is None else (found,)
    return tuple(cls for part in parts for cls in flat(part))


def named(p: Parser, node: ast.expr, env: Env) -> str:
    """Give the name of a variable, or of a part of one, which gets a name in the environment; else an empty one."""
    if isinstance(node, ast.Name):
        return node.id
    name = place(node, env) or ""
    if name and name not in env:
        env[name] = p.grammar.expression(p, node, env)
    return name


def place(node: ast.expr, env: Env) -> str | None:
    """Give the name under which an environment may have a field of a variable; None for another expression.

    The name says which variable it is, so that it means nothing once the variable's name has another value.
    """
    way: tuple[str, ...] = ()
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=value, attr=part) | ast.Subscript(value=value, slice=ast.Constant(value=part)):
                node, way = value, (str(part), *way)
            case _:
                return None
    root = env.get(node.id)
    root = root.term if isinstance(root, Inject) else root
    return "->".join((root.name, *way)) if way and isinstance(root, Var) else None


def fits(p: Parser, test: Test, of: Type) -> bool:
    """Tell whether a value of a type is of one of the classes that a test names."""
    found = {issubclass(cls, test.classes) for cls in classes_of(p, test, of)}
    if len(found) > 1 and isinstance(of, Array) and p.as_array(test.node):
        found = {issubclass(numpy.ndarray, test.classes)}
    elif len(found) > 1 and isinstance(of, Array) and p.as_list(test.node):
        found = {issubclass(list, test.classes)}
    if len(found) > 1 and of in NUMBERS:
        if not p.in_python(test.node):
            what = f"{ast.unparse(test.node)} may be a number of Python's or of numpy's here"
            p.on_duals(test.node, what, "test for both")
        found = {issubclass(NUMBERS[of][0], test.classes)}
    if len(found) > 1:
        what = f"{ast.unparse(test.node)} may be of several classes of Python or numpy here"
        p.error(test.node, what, "test for all of them, or do it outside the program")
    others = {issubclass(cls, test.classes) for cls in CONVERTED.get(of, ())}
    if not others <= found and not is_unconverted(p, test.node, of):
        what = f"{ast.unparse(test.node)} is {show(of)} here, and may be another number in Python"
        p.on_duals(test.node, what, "do it outside the program")
    return found.pop()


def is_unconverted(p: Parser, node: ast.expr, of: Type, seen: frozenset[str] = frozenset()) -> bool:
    """Tell whether the text shows that a number of a type was none of the numbers that are converted to that type."""
    kind = p.kinds.of(node)
    if isinstance(kind, Given) and not (kind.is_mixed or kind.or_list or kind.held):
        return p.kinds.outside.type_of(kind) == of and not any(is_converted(p, *place) for place in kind.places)
    match node:
        case ast.Constant(value=value):
            return type(value) is NUMBERS[of][0]
        case ast.BinOp(op=ast.Div()):
            return True
        case ast.BinOp(left=left, right=right) if of == FLOAT:
            return any(is_unconverted(p, part, of, seen) for part in (left, right))
        case ast.Call(func=ast.Name("float")):
            return of == FLOAT and p.outer["float"] is float
        case ast.Name(id=name):
            bound = p.kinds.bound.get(name, ())
            is_sure = is_given_as(p, name, of) if name in p.kinds.own else bool(bound)
            return name in seen or (is_sure and all(is_unconverted(p, b, of, seen | {name}) for b in bound))
        case ast.IfExp(body=left, orelse=right):
            return is_unconverted(p, left, of, seen) and is_unconverted(p, right, of, seen)
        case ast.UnaryOp(operand=part) | ast.NamedExpr(value=part):
            return is_unconverted(p, part, of, seen)
    return False


def is_given_as(p: Parser, name: str, of: Type) -> bool:
    """Tell whether a parameter has numbers of one class: by its annotation, or by the argument of a call."""
    cls = NUMBERS[of][0]
    if p.function.__annotations__.get(name) in (cls, cls.__name__):
        return True
    return not is_converted(p, name, ()) and (p.kinds.outside.types or {}).get(name) == of


def is_converted(p: Parser, name: str, steps: Steps) -> bool:
    """Tell whether a part of an argument may be a converted number; one that has the annotated type is none."""
    return isinstance(p.given.get(name), Known) or (name in p.given and bool(steps))


def classes_of(p: Parser, test: Test, of: Type) -> tuple[Any, ...]:
    """Give the classes that a value may have, numbers those of Python and numpy."""
    is_rectangle = isinstance(test.node, ast.Name) and p.is_grid(test.node.id)
    kind = p.kinds.of(test.node)
    match Array(of) if is_rectangle else of:
        case Array() | Product(name="") if isinstance(kind, ListOf) and kind.made is not None:
            return (kind.made,)
        case Array():
            return (numpy.ndarray,) if kind in (ARRAY, COMPUTED) else (list, numpy.ndarray)
        case Product(name="") if kind in (MIXED, None) and of != UNIT:
            return (list, tuple)
        case Fixed(value=value):
            return (type(value),)
        case Product(name=name) if of != UNIT:
            return (p.table.classes[name] if name else tuple,)
    return NUMBERS.get(of, (FunctionType,))


def by_type(p: Parser, node: ast.expr, env: Env) -> bool | None:
    """Give the result of a test where the type alone decides it."""
    test = tested(p, node, env)
    if test is None:
        return None
    if test.name not in env and test.name in p.outer and test.classes == NONE:
        return (p.outer[test.name] is None) == test.positive
    found = env.get(test.name)
    if not isinstance(found, Term) or found.type == NEVER or unguarded(found) or p.is_undecided(found.type):
        return None
    own = found.term if isinstance(found, Inject) else found
    each = {fits(p, test, of) for of in (p.possible(own) or {0: own.type}).values()}
    return None if len(each) > 1 else each.pop() == test.positive


def presence(p: Parser, node: ast.expr, env: Env) -> Term | None:
    """Recognise ``x is None`` on a variable that was None before a loop or a branch which gives it values."""
    test = tested(p, node, env)
    found = env.get(test.name) if test is not None else None
    if test is None or not isinstance(found, Term):
        return None
    if found.type == NEVER:
        return failing(BOOL)
    maybe = unguarded(found) if test.classes == NONE else None
    if maybe and not may_be_none(found):
        return If(maybe[0], lit(not test.positive), failing(BOOL))
    return maybe and (Op("not", (maybe[0],), BOOL) if test.positive else maybe[0])


def narrowing(p: Parser, node: ast.expr, env: Env) -> str | None:
    """Recognise a test that depends on which member of a union a variable is, and give its name."""
    test = tested(p, node, env)
    if test is None or by_type(p, node, env) is not None or presence(p, node, env) is not None:
        return None
    if p.possible(env.get(test.name)) is None:
        p.error(node, f"the class of {test.name} is not known here", "give it a union type")
    return test.name


#: An arm of an if, or an expression.
W = TypeVar("W")


@dataclass(frozen=True)
class Way(Generic[W]):
    """What a program does for some options of a union."""

    options: Mapping[int, Type]
    arm: W


def ways(p: Parser, name: str, node: ast.If | ast.IfExp, env: Env) -> list[Way[Any]]:
    """Take an if apart, with each ``elif`` that tests the same variable: the ways of the options of its union."""
    found, left = list[Way[Any]](), p.possible(env[name]) or {}
    rest: Any = node
    while isinstance(rest, ast.If | ast.IfExp) and left and (test := tested(p, rest.test, env)) and test.name == name:
        passing = {i: of for i, of in left.items() if fits(p, test, of) == test.positive}
        left = {i: of for i, of in left.items() if i not in passing}
        found += [Way(passing, rest.body), Way(left, rest.orelse)]
        rest = rest.orelse[0] if isinstance(rest.orelse, list) and len(rest.orelse) == 1 else rest.orelse
    return [way for way in (*found[::2], found[-1]) if way.options]
