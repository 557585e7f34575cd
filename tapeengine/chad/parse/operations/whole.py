"""Functions that programs may call, on terms: those of Python, math and numpy on whole arrays."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from enum import EnumType
from typing import Any

import numpy as np

from ...language.in_language import WRITTEN
from ...language.kinds import Given, ListOf
from ...language.terms import (
    Build,
    Concatenate,
    Elements,
    Fold,
    For,
    Gather,
    If,
    Index,
    Let,
    Literal,
    Map,
    Op,
    Replicate,
    Scan,
    Scatter,
    Size,
    Term,
    Total,
    Tuple,
    Var,
    counted,
    lets,
    lit,
    parts,
)
from ...language.types import (
    BOOL,
    FLOAT,
    INT,
    NEVER,
    ONE,
    UNIT,
    Array,
    Fixed,
    Product,
    Type,
    is_addable,
    numbers_of,
    show,
)
from . import arrays, numeric
from .registered import primitive
from .state import Parser, with_lets


def array(p: Parser, node: ast.AST, term: Term) -> Term:
    """Require an array; a tuple of items of one type is one."""
    if isinstance(term.type, Product) and p.is_sequence(term.type):
        return p.within("t", term, lambda t: items_of(p, node, parts(t)))
    if not isinstance(term.type, Array):
        if term.type in (FLOAT, INT, BOOL):  # of which numpy makes an array
            p.on_duals(node, "an array is wanted here, not a number", "give an array or a comprehension")
        p.unfit(
            node, [term.type], f"an array is wanted here, not {show(term.type)}", "give an array or a comprehension"
        )
    return term


def items_of(p: Parser, node: ast.AST, items: Sequence[Term]) -> Elements:
    """Give an array of items, brought to one type."""
    of = p.common(node, [item.type for item in items])
    return Elements(tuple(p.element_of(node, item, of) for item in items), of)


def rectangular(p: Parser, of: Type) -> Type | None:
    """Give the type of the array that numpy makes of numbers in arrays and tuples; None if it makes none."""
    if of in (FLOAT, INT, BOOL):
        return of
    items = of.items if isinstance(of, Product) and p.is_sequence(of) else [of.element] if isinstance(of, Array) else []
    found = [rectangular(p, item) for item in items]
    whole = next((each for each in found if each and all(p.convert(Var("_", t), each) for t in found if t)), None)
    return Array(whole) if whole and None not in found else None


def in_place_of(p: Parser, old: Term, new: Term) -> Term:
    """Make an array of tuples that replace numbers, or arrays of them, or are added to these."""
    return made_array(p, new) if numbers_of(old.type) in (FLOAT, INT, BOOL) else new


def made_array(p: Parser, term: Term) -> Term:
    """Make an array of numbers in tuples, as numpy does; another term is unchanged."""
    whole = rectangular(p, term.type)
    return (whole and p.convert(term, whole)) or term


def as_numpy(p: Parser, given: Sequence[ast.expr], args: Sequence[Term]) -> list[Term]:
    """Make arrays of the tuples that a function of numpy is given; behind the first, integers are shapes or axes."""

    def is_shape(of: Type) -> bool:
        return isinstance(of, Product) and (whole := rectangular(p, of)) is not None and numbers_of(whole) != FLOAT

    made = [arg if k and is_shape(arg.type) else made_array(p, arg) for k, arg in enumerate(args)]
    by_position = list(itertools.takewhile(lambda a: not isinstance(a, ast.Starred), given))
    return [*(of_numpy(p, *pair) for pair in zip(by_position, made, strict=False)), *made[len(by_position) :]]


def of_numpy(p: Parser, given: ast.expr, term: Term) -> Term:
    """Give an argument of a function of numpy, which makes an array of a list; a run fails where its rows differ."""
    if isinstance(term, Elements):
        return of_one_size(p, term)
    items = term.type.items if isinstance(term.type, Product) and p.is_sequence(term.type) else ()
    if any(isinstance(item, Array) for item in items):
        if rectangular(p, term.type) is None:
            p.error(given, f"an array of {show(term.type)}", "give arrays of one rank")
        return p.within("t", term, lambda t: of_one_size(p, items_of(p, given, parts(t))))
    may_be_list = isinstance(p.kinds.of(given), Given | ListOf) and p.function not in WRITTEN
    if not may_be_list or numeric.rank(term.type) < 2:
        return term
    return rectangle(p, some(p, term))  # numpy makes a vector of a list without rows


def of_one_size(p: Parser, rows: Elements) -> Term:
    """Give rows that are written out; a run fails where they differ in size."""
    if numeric.rank(rows.type) < 2 or not rows.items:
        return rows
    named = [p.fresh("row", item.type) for item in rows.items]
    sizes = [
        lit(len(row.items)) if isinstance(row, Elements) else Size(v) for row, v in zip(rows.items, named, strict=True)
    ]
    if all(size == sizes[0] for size in sizes):
        return rows
    made: Term = Elements(tuple(named), rows.of)
    for size in sizes[1:]:
        made = Let(p.fresh("n", INT), Op("iequal", (sizes[0], size), INT), made)
    return lets(zip(named, rows.items, strict=True), made)


@with_lets
def rectangle(p: Parser, rows: Term) -> Term:
    """Give an array of arrays; a run fails where these differ in size."""
    if numeric.rank(rows.type) < 2:
        return rows
    xs = p.bound("rows", rows)
    row = p.fresh("row", element(xs))
    p.bound("n", Total(Map((row,), Op("iequal", (Size(arrays.row(xs)), Size(row)), INT), (xs,))))
    return xs


def in_a_row(p: Parser, rows: Term) -> Term:
    """Put the numbers of rows after one another, by loops that append, which take time for each number only once."""
    k, whole, row = p.fresh("k", INT), p.fresh("whole", element(rows)), p.fresh("row", element(rows))
    inner = Let(row, Index(rows, k), appended(p, whole, row))
    return For(Size(rows), k, whole, Elements((), element(row)), inner)


def appended(p: Parser, first: Term, second: Term) -> Term:
    """Append the numbers of a second array to a first one, which a loop around it then need not copy in each step."""
    j, more = p.fresh("j", INT), p.fresh("more", first.type)
    longer = Concatenate(more, Elements((Index(second, j),), element(second)))
    return For(Size(second), j, more, first, longer)


@with_lets
def some(p: Parser, xs: Term) -> Term:
    """Give an array; a run fails where it is empty."""
    xs = p.bound("xs", xs)
    p.bound("n", Op("iequal", (Size(xs), Op("imax", (Size(xs), lit(1)), INT)), INT))
    return xs


def have_one_type(p: Parser, items: Sequence[Any]) -> bool:
    """Tell whether values of several types can be converted to one of these."""
    return any(all(p.convert(Var("_", narrow), of) is not None for narrow in items) for of in items)


def element(term: Term) -> Any:
    """Give the element type of an array."""
    assert isinstance(term.type, Array)
    return term.type.element


def numbers(p: Parser, node: ast.AST, term: Term) -> Term:
    """Require an array of numbers; bools become integers."""
    term = p.coerce(node, term, Array(FLOAT)) if term.type == Array(NEVER) else term
    inner = numbers_of(term.type)
    if inner not in (FLOAT, INT, BOOL):
        p.error(node, f"sum of {show(inner)}", "sum numbers")
    return numeric.of_kind(p, node, term, INT) if inner == BOOL else term


def length(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``len(xs)``."""
    if isinstance(args[0].type, Fixed) and isinstance(args[0].type.value, str | EnumType):
        return lit(len(args[0].type.value))
    if (found := p.grammar.special(p, node, "__len__", args)) is not None:
        return p.coerce(node, found, INT)
    if isinstance(args[0].type, Product) and (p.is_sequence(args[0].type) or args[0].type.name == "dict"):
        return p.by_type(args[0], lit(len(args[0].type.items)))
    return Size(array(p, node, args[0]))


def to_float(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``float(x)`` of a number."""
    return numeric.real(p, node, args[0])


def to_int(p: Parser, node: ast.AST, args: list[Term], op: str = "trunc") -> Term:
    """``int``, ``math.floor``, ``math.ceil``, ``round``: discrete."""
    if len(args) != 1:
        p.error(node, "a base is not in the language", "leave it out")
    if args[0].type == BOOL:
        return counted(args[0])
    return args[0] if args[0].type == INT else Op(op, (args[0],), INT)


def to_bool(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``bool(x)``."""
    return args[0] if args[0].type == BOOL else Op("ne", (args[0], lit(0) if args[0].type == INT else lit(0.0)), BOOL)


def test(op: str) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``math.isnan`` and the like."""
    return lambda p, node, args: Op(op, (numeric.real(p, node, args[0]),), BOOL)


def power(p: Parser, node: ast.AST, x: Term, y: Term, opcode: str = "pow") -> Term:
    """``pow(x, y)``."""
    return numeric.binary(p, node, ast.Pow(), x, y, opcode=opcode)


def dot(p: Parser, node: ast.AST, a: Term, b: Term) -> Term:
    """``np.dot(a, b)``, which multiplies where one of them is a number."""
    if 0 in map(numeric.rank, (a.type, b.type)):
        return numeric.binary(p, node, ast.Mult(), a, b)
    return arrays.matmul(p, node, a, b)


def inner(p: Parser, node: ast.AST, a: Term, b: Term) -> Term:
    """``np.inner(a, b)``: the sums of products along the last axes."""
    is_product = numeric.rank(a.type) == 0  # a number times an array
    return dot(p, node, a, b if is_product else arrays.transpose(p, node, b))


@with_lets
def is_infinite(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``math.isinf(x)``."""
    x = p.bound("x", numeric.real(p, node, args[0]))
    return If(Op("isfinite", (x,), BOOL), lit(False), Op("not", (Op("isnan", (x,), BOOL),), BOOL))


@with_lets
def quotient_and_rest(p: Parser, node: ast.AST, a: Term, b: Term) -> Term:
    """``divmod(a, b)``."""
    a, b = p.bound("a", a), p.bound("b", b)
    return Tuple(tuple(numeric.binary(p, node, op, a, b) for op in (ast.FloorDiv(), ast.Mod())))


@with_lets
def product(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``math.prod(xs)``, ``np.prod(xs)``."""
    whole = numbers(p, node, array(p, node, args[0]))
    of = element(whole)
    if isinstance(of, Array):
        p.error(node, "the product of rows", "use np.prod")
    xs, a, b = p.bound("xs", whole), p.fresh("a", of), p.fresh("b", of)
    some = Fold(a, b, numeric.multiplied(a, b), xs)
    p.chooses |= ONE * (of == FLOAT)  # Python's product of nothing is an integer
    return If(Op("eq", (Size(xs), lit(0)), BOOL), lit(1) if of == INT else lit(1.0), some)


def so_far(p: Parser, node: ast.AST, xs: Term, combine: Callable[[Term, Term], Term], start: int) -> Term:
    """``np.cumsum``, ``np.cumprod`` of a vector; bools are counted."""
    xs = numbers(p, node, xs)
    a, b = p.fresh("a", element(xs)), p.fresh("b", element(xs))
    return Scan(a, b, lit(start if a.type == INT else float(start)), combine(a, b), xs)


def where(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.where(c, a, b)``, element by element; ``np.where(c)``: the places where a condition holds."""
    if len(args) == 1:
        return primitive(p, node, np.nonzero, args, {})
    return numeric.applied(chosen, 3)(p, node, args)


def chosen(p: Parser, node: ast.AST, xs: Any) -> Term:
    """``np.where(c, a, b)`` of an element."""
    test, *either = xs
    return p.scoped(  # type: ignore[no-any-return]
        lambda: If(to_bool(p, node, [test]), *numeric.promoted(p, node, [p.bound("x", x) for x in either]))
    )


def open_grid(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.ix_(i, j)``: each array of indices with an axis of its own."""

    def along(k: int) -> Term:
        made = p.coerce(node, args[k], Array(INT))
        for axis in range(len(args)):
            made = made if axis == k else arrays.expanded(p, made, axis)
        return made

    return Tuple(tuple(map(along, range(len(args)))))


def filled(value: float) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.zeros(n)``, ``np.ones(n)``."""
    return lambda p, node, args: arrays.filled(p, node, args[0], lit(value))


def replicate(p: Parser, node: ast.AST, n: Term, x: Term) -> Term:
    """``te.replicate(n, x)``."""
    return Replicate(p.coerce(node, n, INT), x)


def like(value: float) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.zeros_like(xs)``."""
    made = {FLOAT: value, INT: int(value), BOOL: bool(value)}

    def number(p: Parser, node: ast.AST, xs: Sequence[Term]) -> Term:
        if xs[0].type not in made:
            p.error(node, f"an array like {show(xs[0].type)}", "give an array of numbers")
        return lit(made[xs[0].type])

    return numeric.applied(number, 1)


def full_like(p: Parser, node: ast.AST, xs: Term, value: Term) -> Term:
    """``np.full_like(xs, value)``."""
    if numeric.rank(value.type) > numeric.rank(xs.type):
        p.error(node, "a value of more axes than the array", "give a number")
    return numeric.elementwise(p, node, lambda p, node, pair: p.coerce(node, pair[1], pair[0].type), (xs, value))


@with_lets
def arange(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.arange(n)``, ``np.arange(start, stop, step)``; numbers of elements are rounded up."""
    is_stop = len(args) < 2 or args[1].type == UNIT
    start, stop, step = (lit(0), args[0], (*args, lit(1), lit(1))[2]) if is_stop else (*args[:3], lit(1))[:3]
    of = INT if {start.type, stop.type, step.type} == {INT} else FLOAT
    first, last, by = (p.coerce(node, x, of) for x in (start, stop, step))
    i = p.fresh("i", INT)
    if len(args) == 1 and of == INT:
        return Build(last, i, i)
    first, by = p.bound("start", first), p.bound("step", by)
    if of == INT:
        count: Term = Op("ineg", (Op("ifloordiv", (Op("isub", (first, last), INT), by), INT),), INT)
        at: Term = Op("iadd", (first, Op("imul", (i, by), INT)), INT)
    else:
        count = Op("ceil", (Op("div", (Op("sub", (last, first)), by)),), INT)
        delta = Op("sub", (Op("add", (first, by)), first))
        at = Op("add", (first, Op("mul", (Op("real", (i,), FLOAT), delta))))
    return Build(Op("imax", (count, lit(0)), INT), i, at)


def gather(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``te.gather(xs, indices)``."""
    return Gather(array(p, node, args[0]), p.coerce(node, args[1], Array(INT)))


def sign(p: Parser, node: ast.AST, xs: Sequence[Term]) -> Term:
    """``np.sign(x)``."""
    x = numeric.number(p, node, xs[0])
    if x.type == FLOAT:
        return Op("sign", (x,))
    above, below = (Op("lt", pair, BOOL) for pair in ((lit(0), x), (x, lit(0))))
    return If(above, lit(1), If(below, lit(-1), lit(0)))


def scatter(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``te.scatter(xs, indices, values)``."""
    of = element(array(p, node, args[0]))
    if not is_addable(of):
        p.error(node, f"values of type {show(of)} cannot be added", "scatter numbers, or rows and tuples of them")
    xs = p.convert(args[0], Array(FLOAT)) if of == INT else args[0]
    assert xs is not None
    return Scatter(xs, p.coerce(node, args[1], Array(INT)), p.coerce(node, args[2], xs.type))


def transpose(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.transpose(xs)``, ``np.transpose(xs, (1, 0))``, ``xs.transpose(1, 0)``."""
    xs = array(p, node, args[0])
    given = [part for arg in args[1:] for part in (arg.items if isinstance(arg, Tuple) else (arg,))]
    n = numeric.rank(xs.type)
    if not given and len(args) > 1:
        p.on_duals(node, "a transpose with no axes", "leave the argument out")
    if not given:
        return arrays.transpose(p, node, xs)
    written = [int(axis.value) for axis in given if isinstance(axis, Literal) and axis.type == INT]
    order = [arrays.counted_axis(p, node, axis, n) for axis in written]
    if sorted(order) != list(range(n)) or len(given) != n:
        p.error(node, "these are not the axes of the array", f"write each of 0 to {n - 1} once, as a number")
    return arrays.permuted(p, xs, order)
