"""Expressions."""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any

import numpy

from ....naming import attribute_of
from ....primitive import is_traced
from ...language.errors import ProgramError
from ...language.strangers import is_strange, named
from ...language.terms import (
    MANY,
    OTHERS,
    Branch,
    Case,
    Elements,
    If,
    Inject,
    Lambda,
    Let,
    Literal,
    Op,
    Size,
    Term,
    Tuple,
    Update,
    Var,
    lets,
    lit,
    parts,
    tuple_of,
)
from ...language.types import (
    BOOL,
    FLOAT,
    INT,
    UNIT,
    Array,
    Fixed,
    Function,
    Product,
    Sum,
    Text,
    Type,
    is_choice,
    is_known,
    numbers_of,
    show,
)
from ..analyses.rectangles import indices
from ..names.constants import DEEPEST, is_deep
from ..names.syntax import load
from ..names.texts import MISSING, is_key
from ..names.types import class_fields
from ..operations import numeric
from ..operations.functions import Env
from ..operations.grids import both, element, rows
from ..operations.membership import equal, membership
from ..operations.raising import failing
from ..operations.shapes import array_attribute
from ..operations.state import COPIES, Parser, with_lets
from ..operations.type_tests import Way, by_type, narrowing, place, presence, tested, ways
from ..operations.whole import array, have_one_type, items_of


def expression(p: Parser, node: ast.expr, env: Env, wanted: Type | None = None) -> Term:
    """Parse an expression; `wanted` helps where the expression alone does not say its type."""
    before = p.ahead.pop((id(node), id(env)), None)
    if before is not None and wanted is None:
        return before[2]
    match node:
        case ast.Constant(value=value):
            return constant(p, node, value)
        case ast.Name():
            return name(p, node, env, wanted)
        case ast.BinOp() | ast.Call() | ast.JoinedStr() if (value := p.known(node, env)) is not MISSING:
            return constant(p, node, value)
        case (
            ast.BinOp()
            | ast.JoinedStr()
            | ast.Subscript()
            | ast.ListComp()
            | ast.DictComp()
            | ast.Call(args=[ast.ListComp() | ast.GeneratorExp(), *_])
        ) if chosen := chosen_text(node, env):
            return of_each_option(p, node, env[chosen], lambda own: expression(p, node, {**env, chosen: own}, wanted))
        case ast.JoinedStr():
            advice = "make it of texts and constants, or outside the program; raise and assert take any text"
            p.error(node, "a text that is known only in a run", advice)
        case ast.BinOp(left=left, op=op, right=right):
            terms = [present(p, node, x) for x in both_parsed(p, left, right, env)]
            joined = p.grammar.operator_of(p, node, op, terms, env) or joined_records(p, node, *terms)
            joined = joined or numeric.of_lists(p, node, *terms)
            if joined is None:
                p.operated(node, list(zip((left, right), terms, strict=True)))
            return joined or numeric.binary(p, node, op, *terms)
        case ast.UnaryOp(op=op, operand=operand):
            return unary(p, node, op, operand, env)
        case ast.Compare():
            return compare(p, node, env)
        case ast.BoolOp(op=op, values=values):
            return either(p, op, values, env, wanted)
        case ast.IfExp():
            return if_expression(p, node, env, wanted)
        case ast.Tuple(elts=elts) if (star := unnamed(elts)) is not None:

            def with_named(named: ast.expr, env: Env) -> Term:
                parts = [ast.Starred(named, ast.Load()) if e is star else e for e in elts]
                return expression(p, ast.copy_location(ast.Tuple(parts, ast.Load()), node), env, wanted)

            return as_name(p, "t", star.value, expression(p, star.value, env), env, with_named)
        case ast.Tuple(elts=elts) if any(isinstance(e, ast.Starred) for e in elts):
            parts = [part for e in elts for part in parts_written_out(p, e, env, or_array=True)]
            if any(isinstance(e, ast.Starred) for e in parts):
                return list_display(p, node, parts, env, None)
            return expression(p, ast.copy_location(ast.Tuple(parts, ast.Load()), node), env, wanted)
        case ast.Tuple(elts=elts):
            items = (
                wanted.items if isinstance(wanted, Product) and len(wanted.items) == len(elts) else [None] * len(elts)
            )
            return tuple_of(expression(p, e, env, w) for e, w in zip(elts, items, strict=True))
        case ast.Dict():
            return dict_display(p, node, env)
        case ast.List(elts=elts):
            return list_display(p, node, elts, env, wanted)
        case ast.Subscript() if (value := p.known(node, env)) is not MISSING:
            return constant(p, node, value)
        case ast.Subscript() if (place_name := place(node, env)) in env:
            return env[place_name]  # type: ignore[no-any-return]
        case ast.Subscript() if (found := cell_of(p, node, env)) is not None:
            return found
        case ast.Subscript(value=ast.Name(id=grid)) if (
            p.is_grid(grid) and grid in env and (found := p.grammar.grid_part(p, node, env[grid], env)) is not None
        ):
            return found
        case ast.Subscript(value=value, slice=index):
            return p.grammar.subscript(p, node, present(p, node, expression(p, value, env)), index, env)
        case ast.Attribute(value=value, attr=attr):
            return attribute(p, node, value, attr, env)
        case ast.Lambda():
            return lambda_(p, node, env, wanted)
        case ast.ListComp() | ast.GeneratorExp():
            return p.grammar.comprehension(p, node, env)
        case ast.DictComp():
            return p.grammar.dict_comprehension(p, node, env)
        case ast.Call():
            return p.grammar.call(p, node, env, wanted)
        case ast.NamedExpr(target=ast.Name(id=bound)):
            p.error(node, f"{bound} is bound in a part that is not always computed", f"assign {bound} before")
    p.error(node, f"{type(node).__name__} is not in the language", "write it with the operations of the language")


def chosen_text(node: ast.AST, env: Env) -> str:
    """Give the name of an operand, or of what a loop runs over, that is one of several texts; empty if none is.

    It follows sums only as long as they add written texts: sums of numbers are long.
    """
    parts: Sequence[ast.AST] = ()
    match node:
        case ast.Name(id=name) if isinstance(of := getattr(env.get(name), "type", None), Sum):
            return name if all(isinstance(o, Text) for o in of.options) else ""
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            is_text = isinstance(right, ast.JoinedStr) or isinstance(getattr(right, "value", None), str)
            parts = [part for part in (left, right) if is_text or not isinstance(part, ast.BinOp)]
        case ast.JoinedStr(values=parts) | ast.Call(func=ast.Name("enumerate" | "reversed" | "zip"), args=parts):
            pass
        case ast.Call(args=[ast.ListComp() | ast.GeneratorExp(), *_]):
            parts = node.args[:1]
        case ast.ListComp(generators=parts) | ast.DictComp(generators=parts) | ast.GeneratorExp(generators=parts):
            pass
        case ast.For(iter=value) | ast.comprehension(iter=value) | ast.Call(func=ast.Attribute(value=value), args=[]):
            parts = [value]
        case ast.Subscript(value=value) | ast.FormattedValue(value=value):
            parts = [value]
    return next(filter(None, (chosen_text(part, env) for part in parts)), "")


def read_ahead(p: Parser, node: ast.expr, env: Env) -> Term:
    """Parse an expression to see what it is; the next reading of it in this scope gives the same term.

    Reading nested expressions twice at each level would take exponential time.
    """
    term = expression(p, node, env)
    p.ahead[id(node), id(env)] = (node, env, term)
    return term


def as_names(
    p: Parser, hint: str, node: ast.AST, terms: Sequence[Term], env: Env, body: Callable[[list[ast.expr], Env], Term]
) -> Term:
    """Bind terms to variables, and write `body` with the variables' names in place of expressions."""
    variables = [p.fresh(hint, term.type) for term in terms]
    for v, term in zip(variables, terms, strict=True):
        p.single_axes.note(v.name, term)
    named: list[ast.expr] = [load(f" {v.name}", node) for v in variables]
    inside = {**env, **{f" {v.name}": v for v in variables}}
    return lets(zip(variables, terms, strict=True), body(named, inside))


def as_name(p: Parser, hint: str, node: ast.AST, term: Term, env: Env, body: Callable[[ast.expr, Env], Term]) -> Term:
    """Do the same as `as_names` for one term."""
    return as_names(p, hint, node, [term], env, lambda named, env: body(named[0], env))


#: The length of the longest constant: its elements are written out.
LONGEST = 1000


def constant(p: Parser, node: ast.AST, value: Any) -> Term:
    """A Python value known when the program is defined."""
    if value is None:
        return Tuple(())
    if is_strange(value):
        what = f"a constant of type {named(value)}, a class of its own"
        p.on_duals(node, what, "make it a plain number, list or record")
    if isinstance(value, bool | int | float):
        return lit(value)
    if isinstance(value, str):
        return text(p, value)
    if isinstance(value, Enum) or (callable(value) and class_fields(type(value)) is None):
        return fixed(p, value)
    if is_deep(value):
        what = f"a constant of type {type(value).__name__} that contains itself, or has more than {DEEPEST} levels"
        p.error(node, what, "pass the parts that are used as arguments")
    if isinstance(value, dict) and value and all(map(is_key, value)):
        return dict_of(p, {key: constant(p, node, part) for key, part in value.items()})
    dtype = attribute_of(value, "dtype")
    if isinstance(dtype, numpy.dtype) and (dtype.kind == "u" or (dtype.kind == "f" and dtype.itemsize != 8)):
        p.error(node, f"a constant of {dtype}, with which numpy computes otherwise", "make it one of float or int")
    if hasattr(value, "tolist") and not is_traced(value):
        return constant(p, node, value.tolist())
    if class_fields(type(value)) is not None:
        return record(p, node, value)
    if isinstance(value, list | tuple) and len(value) > LONGEST:
        p.error(node, f"a constant of {len(value)} elements is longer than {LONGEST}", "pass it as an argument")
    if isinstance(value, list | tuple) and value:
        items = [constant(p, node, v) for v in value]
        if isinstance(value, tuple) or not have_one_type(p, [item.type for item in items]):
            return Tuple(tuple(items))
        return items_of(p, node, items)
    refuse = p.error if isinstance(value, ModuleType) else p.on_duals
    refuse(node, f"a value of type {type(value).__name__} is not in the language", "pass its parts as arguments")


def text(p: Parser, value: str) -> Term:
    """A text: its type is its value."""
    of = p.translated(Text(value=value), p.tree, "a text")
    assert isinstance(of, Product)
    return Tuple((), of)


def record(p: Parser, node: ast.AST, value: Any) -> Term:
    """A dataclass or NamedTuple that is known when the program is defined."""
    types = p.field_types(type(value), node)
    items = {field: constant(p, node, getattr(value, field)) for field in types}
    items = {f: x if (of := types[f]) is None else p.element_of(node, x, of) for f, x in items.items()}
    return Tuple(tuple(items.values()), p.table.record(type(value), {field: x.type for field, x in items.items()}))


def fixed(p: Parser, value: Any) -> Term:
    """A function, a class or a member of an enumeration: each has a type of its own."""
    value = attribute_of(value, "__tapeengine_function__", value)
    of = p.translated(Fixed(name=type(value).__name__, value=value), p.tree, "a value")
    assert isinstance(of, Product)
    return Tuple((), of)


def dict_of(p: Parser, items: Mapping[Any, Term], d: Term | None = None) -> Term:
    """Make a dict; with the items of another one as well, if there is one."""
    fields: tuple[Any, ...] = () if d is None else d.type.fields  # type: ignore[attr-defined]
    if d is not None and len(fields) >= MANY and items.keys() <= set(fields):
        return functools.reduce(lambda d, item: Update(d, fields.index(item[0]), item[1]), items.items(), d)
    items = {**({} if d is None else values(p, d)), **items}
    return Tuple(tuple(items.values()), p.table.record(dict, {key: x.type for key, x in items.items()}))


@with_lets
def dict_display(p: Parser, node: ast.Dict, env: Env) -> Term:
    """``{"a": x, **d}``."""
    items: dict[Any, Term] = {}
    first: Term | None = None
    for key, value in zip(node.keys, node.values, strict=True):
        found = expression(p, value, env)
        if key is None:
            d = p.bound("d", found)
            if not isinstance(d.type, Product) or d.type.name != "dict":
                p.error(value, f"** of {show(d.type)}", "give a dict")
            if value is node.values[0]:
                first = d
            replace(p, items, {} if first is d else values(p, d))
            continue
        known = p.known(key, env)
        if not is_key(known):
            p.on_duals(key, "a dict whose keys are not known when it is read", "use a list, or keys written out")
        replace(p, items, {known: found})
    return dict_of(p, items, first)


def replace(p: Parser, items: dict[Any, Term], more: Mapping[Any, Term]) -> None:
    """Put more values into those of a dict; Python computes the values that they replace as well."""
    for key, value in more.items():
        if key in items:
            p.bound("replaced", items[key])
        items[key] = value


def name(p: Parser, node: ast.Name, env: Env, wanted: Type | None = None) -> Term:
    """A variable, a function of the language as a value, or a constant from outside."""
    value = env.get(node.id, MISSING)
    if isinstance(value, Term):
        if isinstance(value, Var) and value.name in p.held:
            p.grammar.check_use(p, node, node.id, value, env)
        return rows(p, value) if p.is_grid(node.id) else value
    found = value if value is not MISSING else p.object(node, env)
    if (callable(found) and class_fields(type(found)) is None) or value is not MISSING:
        return p.grammar.as_function(p, node, env, wanted)
    return constant(p, node, found)


def unary(p: Parser, node: ast.AST, op: ast.unaryop, operand: ast.expr, env: Env) -> Term:
    """``-x``, ``+x``, ``not x``."""
    if isinstance(op, ast.Not):
        test = condition(p, operand, env)
        return lit(not test.value) if isinstance(test, Literal) else Op("not", (test,), BOOL)
    term = present(p, node, expression(p, operand, env))
    if (made := p.grammar.operator_of(p, node, op, [term], env)) is not None:
        return made
    p.operated(node, [(operand, term)])
    match op:
        case ast.UAdd():
            numeric.no_conditions(p, node, (term,))
            return numeric.elementwise(p, node, lambda p, node, xs: numeric.number(p, node, xs[0]), (term,))
        case ast.USub():
            if isinstance(term, Literal):
                return lit(-term.value)
            numeric.no_conditions(p, node, (term,))
            return numeric.elementwise(p, node, numeric.negative, (term,))
    if isinstance(term.type, Array) and numbers_of(term.type) == BOOL:
        return numeric.elementwise(p, node, lambda p, node, xs: Op("not", (xs[0],), BOOL), (term,))
    if term.type == INT:
        return Op("isub", (lit(-1), term), INT)
    p.error(node, "~ of other values than integers and arrays of conditions is not in the language", "use not")


COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


def compare(p: Parser, node: ast.Compare, env: Env) -> Term:
    """Comparisons, also chained; ``is None`` on a union."""
    fixed = decided_before(p, node, env)
    if fixed is not None:
        return fixed
    if isinstance(node.ops[0], ast.Is | ast.IsNot) and tested(p, node, env) is not None:
        return condition(p, node, env)
    if (same := same_bool(node)) is not None:
        left = expression(p, node.left, env)
        if left.type != BOOL:
            return p.by_type(left, lit(isinstance(node.ops[0], ast.IsNot)))
        if p.in_python(node.left):
            return expression(p, same, env)
        p.on_duals(node, "a bool that may be numpy's, which is neither True nor False", "use ==, or bool(x)")
    left_node, left = node.left, expression(p, node.left, env)
    match node:
        case ast.Compare(ast.Call() | ast.Subscript(), [ast.Is() | ast.IsNot()], [ast.Constant(value=None)]):

            def of_name(x: ast.expr, env: Env) -> Term:
                return compare(p, ast.copy_location(ast.Compare(x, node.ops, node.comparators), node), env)

            return as_name(p, "x", node, left, env, of_name)
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        others = options(p, node.comparators[0], env)
        if is_known(left.type) and (items := known_items(p, node, others)) is not None:
            found = known_equals(p, node, node.ops[0], left, items)
            return p.by_type(others, found) if isinstance(others, Term) else found
        if isinstance(others, Term) and getattr(others.type, "name", "") == "dict":
            return p.within("d", others, lambda d: membership(p, node, left, known_items(p, node, d) or []))
        return membership(p, node, left, others)
    tests = []
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        if type(op) not in COMPARISONS and not (is_known(left.type) and type(op) in KNOWN):
            if isinstance(op, ast.Is | ast.IsNot):
                p.error(node, "`is` of values that only a run knows", "use ==")
            p.error(node, "`in` in a chain of comparisons is not in the language", "write two comparisons with and")
        right = expression(p, right_node, env)
        if type(op) in ORDERED:
            left, right = present(p, node, left), present(p, node, right)
        own = p.grammar.comparison_of(p, node, op, left, right)
        if own is not None and own.type != BOOL:
            p.error(node, f"a comparison that gives {show(own.type)}", "call a method by its name")
        p.operated(node, [(left_node, left), (right_node, right)])
        if own is None and is_known(left.type) and len(node.ops) == 1 and type(op) in KNOWN:
            return known_equals(p, node, op, left, [right])
        if own is None and UNIT in (left.type, right.type) and type(op) in (ast.Eq, ast.NotEq):
            own = equal(p, node, left, right)
            own = own if isinstance(op, ast.Eq) else Op("not", (own,), BOOL)
        tests.append(own or numeric.comparison(p, node, COMPARISONS[type(op)], left, right))
        left_node, left = right_node, right
    return both(tests)


#: The comparisons that None does not have.
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def present(p: Parser, node: ast.AST, term: Term) -> Term:
    """Give the operand of an operator; a run fails where it is None."""
    options = p.table.options(term.type) or ()
    if len(options) != 2 or UNIT not in options:
        return term
    return of_each_option(p, node, term, lambda own: own)


def same_bool(node: ast.Compare) -> ast.expr | None:
    """Give ``x`` or ``not x`` for ``x is True``, ``x is not True`` and the like; None for another comparison."""
    match node:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=bool(value))]):
            is_same = value == isinstance(op, ast.Is)
            return left if is_same else ast.copy_location(ast.UnaryOp(ast.Not(), left), node)
    return None


#: The results of comparisons with known values, if one of the values is equal.
KNOWN = {ast.Eq: True, ast.NotEq: False, ast.Is: True, ast.IsNot: False, ast.In: True, ast.NotIn: False}


def known_items(p: Parser, node: ast.AST, options: list[Term] | Term) -> list[Term] | None:
    """Give the items of a display, a tuple, or the keys of a dict; None for those of an array."""
    if isinstance(options, list):
        return options
    of = options.type
    if isinstance(of, Product) and of.name == "dict":
        return [constant(p, node, key) for key in of.fields]
    return list(parts(options)) if isinstance(of, Product) and not isinstance(of, Fixed) and p.is_sequence(of) else None


def known_equals(p: Parser, node: ast.AST, op: ast.cmpop, left: Term, others: Sequence[Term]) -> Term:
    """Compare a value that the parser knows, or one of several of these, with others."""
    return of_each_option(p, node, left, lambda own: decided_by_type(p, node, op, own, others))


def decided_by_type(p: Parser, node: ast.AST, op: ast.cmpop, own: Term, others: Sequence[Term]) -> Term:
    """Decide whether a value that the parser knows is one of several."""
    if isinstance(op, ast.Is | ast.IsNot) and not all(isinstance(x.type, Fixed) or is_choice(x.type) for x in others):
        p.error(node, "`is` of values that only a run knows", "use ==")

    def is_equal(other: Term) -> Term:
        return equal(p, node, own, other)

    found: Term = lit(False)
    for other in reversed(others):
        test = of_each_option(p, node, other, is_equal) if is_choice(other.type) else is_equal(other)
        found = lit(True) if test == lit(True) else found if test == lit(False) else If(test, lit(True), found)
    if KNOWN[type(op)]:
        return found
    return lit(not found.value) if isinstance(found, Literal) else Op("not", (found,), BOOL)


def decided_before(p: Parser, node: ast.Compare, env: Env) -> Term | None:
    """Decide a comparison with None, or whether a text has a part, of values known when the program is defined."""
    if len(node.ops) != 1:
        return None
    (op,), (right,) = node.ops, node.comparators
    left = p.known(node.left, env)
    if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
        return None if left is MISSING else lit((left is None) == isinstance(op, ast.Is))
    whole = p.known(right, env) if isinstance(left, str) and isinstance(op, ast.In | ast.NotIn) else MISSING
    return lit((left in whole) == isinstance(op, ast.In)) if isinstance(whole, str) else None


def options(p: Parser, node: ast.expr, env: Env) -> list[Term] | Term:
    """Parse the right operand of ``in``: a display, whose items may differ in type, or an array."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [expression(p, item, env) for item in node.elts]
    known = p.known(node, env) if isinstance(node, ast.Name | ast.Attribute) else None
    if isinstance(known, set | frozenset) and len(known) <= 100 and all(isinstance(k, int | str) for k in known):
        return [constant(p, node, item) for item in known]
    return expression(p, node, env)


def either(p: Parser, op: ast.boolop, values: list[ast.expr], env: Env, wanted: Type | None) -> Term:
    """``and``, ``or`` as values: the first operand that decides, itself."""
    while (known := by_type(p, values[0], env)) is not None:
        if known == isinstance(op, ast.Or) or len(values) == 1:
            return lit(known)
        values = values[1:]
    if len(values) == 1:
        return expression(p, values[0], env, wanted)
    if any(narrowing(p, v, env) is not None for v in values):
        return bool_op(p, op, values, env)
    first, *others = (expression(p, v, env, wanted) for v in values)
    if first.type == UNIT:
        return first if isinstance(op, ast.And) else either(p, op, values[1:], env, wanted)
    if {first.type, *(t.type for t in others)} == {BOOL}:
        return bool_op(p, op, values, env)
    term = others.pop()
    for node, before in reversed([*zip(values, [first, *others], strict=False)]):
        term = decided(p, node, op, before, term)
    return term


@with_lets
def decided(p: Parser, node: ast.expr, op: ast.boolop, first: Term, rest: Term) -> Term:
    """``first and rest``, ``first or rest``."""
    if (first.type == BOOL) != (rest.type == BOOL):
        message = f"this is {show(first.type)} in one case and {show(rest.type)} in another"
        p.unfit(node, [first.type, rest.type], message, "write a if c else b")
    of, x = p.unify(node, first.type, rest.type), p.bound("x", first)
    test, own, other = truth(p, node, x), p.coerce(node, x, of), p.coerce(node, rest, of)
    return If(test, other, own) if isinstance(op, ast.And) else If(test, own, other)


def bool_op(p: Parser, op: ast.boolop, values: list[ast.expr], env: Env) -> Term:
    """``and``, ``or``: the right side is evaluated only if need be, with what the left one says about unions."""
    if (parts := narrowed_first(p, ast.BoolOp(op, values), env)) is not None:
        first, rest, is_or = parts
        arms = (ast.Constant(True), rest) if is_or else (rest, ast.Constant(False))
        chosen = if_expression(p, ast.copy_location(ast.IfExp(first, *arms), first), env, None)
        return truth(p, values[0], chosen)
    tests: list[Term] = []
    for value in values:
        test = condition(p, value, env)
        ends = isinstance(test, Literal) and test.value == isinstance(op, ast.Or)
        tests += [test] if ends or not isinstance(test, Literal) else []
        if ends:
            break
    if not tests:
        return lit(isinstance(op, ast.And))
    if isinstance(op, ast.And):
        return both(tests)
    result = tests[-1]
    for test in reversed(tests[:-1]):
        result = If(test, lit(True), result)
    return result


def cell_of(p: Parser, node: ast.Subscript, env: Env) -> Term | None:
    """Give the element of a grid that a subscript reads; None for another subscript."""
    cell = indices(node)
    if cell is None or not p.is_grid(cell[0]) or cell[0] not in env:
        return None
    at = [expression(p, i, env) for i in cell[1:]]
    if any(isinstance(term.type, Array) for term in at):
        return None
    return element(p, env[cell[0]], *(p.coerce(i, term, INT) for i, term in zip(cell[1:], at, strict=True)))


def condition(p: Parser, node: ast.expr, env: Env) -> Term:
    """Parse a condition: a bool, or a test of which member of a union something is."""
    if (has := presence(p, node, env)) is not None:
        return has
    if (known := by_type(p, node, env)) is not None:
        return lit(known)
    if narrowing(p, node, env) is not None:
        test = ast.IfExp(node, ast.Constant(True), ast.Constant(False))
        return if_expression(p, ast.copy_location(test, node), env, BOOL)
    if isinstance(node, ast.BoolOp):
        return bool_op(p, node.op, node.values, env)
    return truth(p, node, expression(p, node, env))


def truth(p: Parser, node: ast.AST, term: Term) -> Term:
    """Give the truth value of a bool, a number or a list, as `bool` does."""
    if term.type == BOOL:
        return term
    if not p.is_reached(term):
        return failing(BOOL)
    if term.type in (INT, FLOAT):
        return Op("ne", (term, lit(0) if term.type == INT else lit(0.0)), BOOL)
    if isinstance(term.type, Array) and isinstance(node, ast.expr) and p.as_list(node):
        return Op("lt", (lit(0), Size(term)), BOOL)
    if isinstance(term.type, Text) or term.type == UNIT:
        return p.by_type(term, lit(bool(getattr(term.type, "value", None))))
    advice = "write is not None" if p.table.options(term.type) else "compare with something"
    p.unfit(node, [term.type], f"a condition is a bool, not {show(term.type)}", advice)


def narrowed_first(p: Parser, test: ast.expr, env: Env) -> tuple[ast.expr, ast.expr, bool] | None:
    """Take ``x is not None and c`` apart, so that x is narrowed in c: both parts, and whether it is an ``or``."""
    if not isinstance(test, ast.BoolOp):
        return None
    is_or, values = isinstance(test.op, ast.Or), test.values
    while values and by_type(p, values[0], env) is (not is_or):  # it decides nothing
        values = values[1:]
    if not values or narrowing(p, values[0], env) is None:
        return None
    first, others = values[0], values[1:] or [ast.copy_location(ast.Constant(not is_or), test)]
    return first, others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(test.op, others), first), is_or


@dataclass(frozen=True)
class Member:
    """A branch of a case on a variable: its option, or `OTHERS`, its variable, and what is read, with its variables."""

    option: int
    var: Var
    env: Env
    arm: Any


def members(p: Parser, name: str, each: Sequence[Way[Any]], env: Env, shares: bool) -> list[Member]:
    """Give a branch for each option of a variable's union, or one for all options of the way that has most.

    In an arm for one member alone the variable has that member's type.
    """
    union, found = env[name], list[Member]()
    largest = max(each, key=lambda way: len(way.options)) if shares else None
    for way in each:
        for i, option in way.options.items() if way is not largest else ():
            var = p.narrowing(name, option, union)
            own = var if len(way.options) == 1 else Inject(i, var, union.type)
            found.append(Member(i, var, {**env, name: own}, way.arm))
    found.sort(key=lambda member: member.option)
    if largest is not None:
        var = p.narrowing(name, union.type, union)
        p.left[var.name] = largest.options
        found.append(Member(OTHERS, var, {**env, name: var}, largest.arm))
    return found


def case_of(p: Parser, union: Term, each: Sequence[Member], terms: Sequence[Term]) -> Term:
    """Make a case of the terms for members of a union."""
    found = {}
    for member, term in zip(each, terms, strict=True):
        is_other = member.option == OTHERS
        term = Let(member.var, union, term) if is_other else term
        found[member.option] = Branch(p.fresh("_", UNIT) if is_other else member.var, term)
    return matched(p, union, found)


def matched(p: Parser, union: Term, branches: Mapping[int, Branch]) -> Case:
    """Make a case of branches by their options."""
    every = range(len(p.table.options(union.type) or ()))
    return Case(union, tuple(branches.values()), () if list(branches) == list(every) else tuple(branches))


def by_member(p: Parser, name: str, node: Any, env: Env, read: Callable[[list[Member], int], Term]) -> Term:
    """Read what depends on the option of a variable, where the text would stand often, once for most of the options."""
    each = ways(p, name, node, env)
    most = max(len(way.options) for way in each)
    if most > 1 and most * p.repeated > COPIES:
        with contextlib.suppress(ProgramError):  # which holds for some of the options, or reads an option's own fields
            return read(members(p, name, each, env, shares=True), 1)
    with p.in_copies(most):
        return read(members(p, name, each, env, shares=False), most)


def if_expression(p: Parser, node: ast.IfExp, env: Env, wanted: Type | None) -> Term:
    """``a if c else b``, also on a sum."""
    name = narrowing(p, node.test, env)
    if name is None and (parts := narrowed_first(p, node.test, env)) is not None:
        first, rest, is_or = parts
        second = ast.copy_location(ast.IfExp(rest, node.body, node.orelse), node)
        arms = (node.body, second) if is_or else (second, node.orelse)
        return if_expression(p, ast.copy_location(ast.IfExp(first, *arms), node), env, wanted)
    if name is None:
        test = condition(p, node.test, env)
        if isinstance(test, Literal):
            return expression(p, node.body if test.value else node.orelse, env, wanted)
        terms = both_parsed(p, node.body, node.orelse, env, wanted)
        of = wanted_or_common(p, node, terms, wanted)
        return If(test, p.element_of(node, terms[0], of), p.element_of(node, terms[1], of))
    union = env[name]

    def read(each: list[Member], copies: int) -> Term:
        given = [expression(p, member.arm, member.env, wanted) for member in each]
        of = wanted_or_common(p, node, given, wanted)
        return case_of(p, union, each, [p.coerce(node, term, of) for term in given])

    return by_member(p, name, node, env, read)


def both_parsed(p: Parser, a: ast.expr, b: ast.expr, env: Env, wanted: Type | None = None) -> tuple[Term, Term]:
    """Parse two expressions; an empty list has the type of the other one."""
    if isinstance(a, ast.List) and not a.elts and wanted is None:
        second = expression(p, b, env)
        return expression(p, a, env, second.type), second
    first = expression(p, a, env, wanted)
    is_empty = isinstance(b, ast.List) and not b.elts
    return first, expression(p, b, env, first.type if is_empty and wanted is None else wanted)


def wanted_or_common(p: Parser, node: ast.AST, terms: Sequence[Term], wanted: Type | None) -> Type:
    """Give the type of a choice: the wanted type if all values convert to it, otherwise a common one."""
    if wanted is not None and all(p.convert(term, wanted) is not None for term in terms):
        return wanted
    return p.joined(node, [term.type for term in terms])


def list_display(p: Parser, node: ast.AST, elts: list[ast.expr], env: Env, wanted: Type | None) -> Term:
    """``[a, b, c]``."""
    inner = wanted.element if isinstance(wanted, Array) else None
    if any(isinstance(e, ast.Starred) for e in elts):
        return joined_display(p, node, elts, env, wanted)
    if not elts:
        return Elements((), inner or p.of_empty)
    full = [e for e in elts if not isinstance(e, ast.List) or e.elts]
    if inner is None and 0 < len(full) < len(elts):  # the others give the type of elements of the empty ones
        inner = items_of(p, node, [expression(p, e, env) for e in full]).of
    items = [expression(p, e, env, inner) for e in elts]
    if inner is not None:
        return Elements(tuple(p.element_of(node, item, inner) for item in items), inner)
    if any(is_known(item.type) for item in items) and not have_one_type(p, [item.type for item in items]):
        return Tuple(tuple(items))
    return items_of(p, node, items)


def joined_display(p: Parser, node: ast.AST, elts: Sequence[ast.expr], env: Env, wanted: Type | None) -> Term:
    """``[a, *xs, b]``: what stands between arrays is an array, too."""
    parts: list[Term] = []
    for starred, group in itertools.groupby(elts, lambda e: isinstance(e, ast.Starred)):
        if starred:
            parts += [array(p, node, expression(p, e.value, env)) for e in group if isinstance(e, ast.Starred)]
        else:
            parts.append(list_display(p, node, list(group), env, wanted))
    return numeric.concatenated(p, node, parts)


@with_lets
def joined_records(p: Parser, node: ast.BinOp, left: Term, right: Term) -> Term | None:
    """``t + u`` and ``t * 2`` of tuples, ``d | e`` of dicts; None for another operation."""
    if not isinstance(left.type, Product) or not left.type.items:
        return None
    if isinstance(node.op, ast.BitOr) and {left.type.name, getattr(right.type, "name", "")} == {"dict"}:
        d, e = p.bound("d", left), p.bound("e", right)
        return dict_of(p, values(p, e), d)
    if not p.is_sequence(left.type):
        return None
    if isinstance(node.op, ast.Mult) and isinstance(right, Literal) and right.type == INT:
        return tuple_of(parts(p.bound("t", left)) * int(right.value))
    if isinstance(node.op, ast.Add) and isinstance(right.type, Product) and p.is_sequence(right.type):
        return Tuple((*parts(p.bound("t", left)), *parts(p.bound("u", right))))
    return None


def values(p: Parser, d: Term) -> dict[Any, Term]:
    """Give the values of a dict by key."""
    return {key: p.part(d, k) for k, key in enumerate(d.type.fields)}  # type: ignore[attr-defined]


def unnamed(parts: Iterable[ast.AST]) -> ast.Starred | ast.keyword | None:
    """Give the first ``*t`` or ``**d`` that has to be computed: it is read once for each of its parts."""
    spread = (a for a in parts if isinstance(a, ast.Starred) or (isinstance(a, ast.keyword) and a.arg is None))
    return next((a for a in spread if not isinstance(a.value, ast.Name | ast.Tuple)), None)


def parts_written_out(p: Parser, node: ast.expr, env: Env, or_array: bool = False) -> list[ast.expr]:
    """Give the parts of ``*t`` as expressions, where t is a tuple; anything else itself."""
    if not isinstance(node, ast.Starred):
        return [node]
    if isinstance(node.value, ast.Tuple):
        return [part for e in node.value.elts for part in parts_written_out(p, e, env, or_array)]
    of = read_ahead(p, node.value, env).type
    if isinstance(of, Product) and p.is_sequence(of):
        return [item_of(node.value, k) for k in range(len(of.items))]
    if not or_array:
        p.unfit(node, [of], f"* of {show(of)} in a call", "give a tuple, or the array as one argument")
    return [node]


def item_of(node: ast.expr, key: int | str) -> ast.expr:
    """Write ``t[key]``."""
    return ast.copy_location(ast.Subscript(node, ast.copy_location(ast.Constant(key), node), ast.Load()), node)


def attribute(p: Parser, node: ast.Attribute, value: ast.expr, attr: str, env: Env) -> Term:
    """Fields of dataclasses; constants and functions of modules; ``size``, ``shape`` and ``T`` of arrays."""
    if (name := place(node, env)) in env:
        return env[name]  # type: ignore[no-any-return]
    found = p.static(node, env)
    if found is not MISSING:
        return p.grammar.as_function(p, node, env) if callable(found) else constant(p, node, found)
    if (inherited := p.grammar.of_super(p, node, env)) is not None:
        return inherited
    term = expression(p, value, env)
    if not p.is_reached(term):
        return failing()
    if isinstance(term.type, Array):
        if attr != "pop":
            p.operated(node, [(value, term)])
        return array_attribute(p, node, term, attr)
    if p.table.options(term.type) is not None:
        return of_each_option(p, node, term, lambda own: member_of(p, node, own, attr, env))
    return member_of(p, node, term, attr, env)


def member_of(p: Parser, node: ast.Attribute, term: Term, attr: str, env: Env) -> Term:
    """Give an attribute of a record, or of a value that is known when the program is read."""
    if type(term.type) is not Fixed or not hasattr(term.type.value, attr):
        return field_of(p, node, term, attr)

    def of_name(name: ast.expr, env: Env) -> Term:
        return attribute(p, ast.copy_location(ast.Attribute(name, attr, ast.Load()), node), name, attr, env)

    return as_name(p, "m", node, term, env, of_name)


def field_of(p: Parser, node: ast.AST, record: Term, attr: str) -> Term:
    """Give a field or a property of a record."""
    if record.type in (FLOAT, INT) and attr in ("real", "imag"):
        return record if attr == "real" else p.by_type(record, lit(0.0 if record.type == FLOAT else 0))
    if isinstance(record.type, Product) and attr in record.type.fields:
        place = record.type.fields.index(attr)
        return p.scoped(lambda: p.part(p.settled(record), place))  # type: ignore[no-any-return]
    found: Term | None = p.grammar.property_of(p, node, record, attr)
    if found is None and (value := p.class_attribute(record, attr)) is not MISSING:
        found = constant(p, node, value)
    return found or p.error(node, f"{show(record.type)} has no {attr}", "use a field of a dataclass or NamedTuple")


@with_lets
def of_each_option(p: Parser, node: ast.AST, union: Term, make: Callable[[Term], Term]) -> Term:
    """Make a term for each member of a union; None has no attributes, so a run fails there."""
    if isinstance(union, Inject):
        return make(union.term)
    if p.possible(union) is None:
        return make(union)
    subject = p.bound("s", union)
    options = p.possible(subject) or {}
    variables = [p.fresh("m", option) for option in options.values()]
    terms = [failing() if v.type == UNIT else make(v) for v in variables]
    of = wanted_or_common(p, node, terms, None)
    branches = (Branch(v, p.coerce(node, t, of)) for v, t in zip(variables, terms, strict=True))
    return matched(p, subject, dict(zip(options, branches, strict=True)))


def lambda_(p: Parser, node: ast.Lambda, env: Env, wanted: Type | None) -> Term:
    """``lambda x: e``; where it is used tells the types of its parameters."""
    if not isinstance(wanted, Function) or len(wanted.params) != len(node.args.args):
        return p.grammar.as_function(p, node, env)
    params = tuple(p.named(a.arg, t) for a, t in zip(node.args.args, wanted.params, strict=True))
    inner = {**env, **dict(zip((a.arg for a in node.args.args), params, strict=True))}
    return Lambda(params, p.coerce(node, expression(p, node.body, inner, wanted.result), wanted.result))
