"""Functions that programs may call, on terms: those of Python, math and numpy on whole arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from tapeengine.chad.parse import arrays, numeric
from tapeengine.chad.parse.state import Parser
from tapeengine.chad.terms import (
    Build,
    Concatenate,
    Elements,
    Fold,
    Gather,
    If,
    Op,
    Proj,
    Replicate,
    Scan,
    Scatter,
    Size,
    Term,
    Tuple,
    Var,
    counted,
    lit,
)
from tapeengine.chad.types import BOOL, FLOAT, INT, Array, Product, Text, Type, is_addable, numbers_of, show


def array(p: Parser, node: ast.AST, term: Term) -> Term:
    """Require an array; a tuple of items of one type is one."""
    if isinstance(term.type, Product) and term.type.items and p.is_sequence(term.type):
        count = len(term.type.items)
        return p.let("t", term, lambda t: items_of(p, node, [Proj(t, k) for k in range(count)]))
    if not isinstance(term.type, Array):
        p.error(node, f"an array is wanted here, not {show(term.type)}", "give an array or a comprehension")
    return term


def items_of(p: Parser, node: ast.AST, items: Sequence[Term]) -> Elements:
    """Give an array of items, brought to one type."""
    of = items[0].type
    for item in items[1:]:
        of = p.unify(node, of, item.type)
    return Elements(tuple(p.coerce(node, item, of) for item in items), of)


def rectangular(p: Parser, of: Type) -> Type | None:
    """Give the type of the array that numpy makes of numbers in arrays and tuples; None if it makes none."""
    if of in (FLOAT, INT, BOOL):
        return of
    items = of.items if isinstance(of, Product) and p.is_sequence(of) else [of.element] if isinstance(of, Array) else []
    found = [rectangular(p, item) for item in items]
    whole = next((each for each in found if each and all(p.convert(Var("_", t), each) for t in found if t)), None)
    return Array(whole) if whole and None not in found else None


def as_numpy(p: Parser, args: Sequence[Term]) -> list[Term]:
    """Make arrays of the tuples of floats that a function of numpy is given; tuples of integers are shapes."""
    wholes = [rectangular(p, arg.type) for arg in args]
    return [
        arg if whole is None or numbers_of(whole) != FLOAT or (made := p.convert(arg, whole)) is None else made
        for arg, whole in zip(args, wholes, strict=True)
    ]


def have_one_type(p: Parser, items: Sequence[Any]) -> bool:
    """Tell whether values of several types can be converted to one of these."""
    return any(all(p.convert(Var("_", narrow), of) is not None for narrow in items) for of in items)


def element(term: Term) -> Any:
    """Give the element type of an array."""
    assert isinstance(term.type, Array)
    return term.type.element


def numbers(p: Parser, node: ast.AST, term: Term) -> Term:
    """Require an array of numbers; bools become integers."""
    inner = numbers_of(term.type)
    if inner not in (FLOAT, INT, BOOL):
        p.error(node, f"sum of {show(inner)}", "sum numbers")
    return numeric.of_kind(p, node, term, INT) if inner == BOOL else term


def length(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``len(xs)``."""
    if isinstance(args[0].type, Text):
        return lit(len(args[0].type.value))
    if isinstance(args[0].type, Product):
        return lit(len(args[0].type.items))
    return Size(array(p, node, args[0]))


def to_float(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``float(x)`` of a number."""
    return p.coerce(node, args[0], FLOAT)


def to_int(op: str) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``int``, ``math.floor``, ``math.ceil``, ``round``: discrete."""

    def handle(p: Parser, node: ast.AST, args: list[Term]) -> Term:
        if len(args) != 1:
            p.error(node, "a base is not in the language", "leave it out")
        if args[0].type == BOOL:
            return counted(args[0])
        return args[0] if args[0].type == INT else Op(op, (args[0],), INT)

    return handle


def dimensions(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.ndim(x)``, also of tuples."""

    def of(t: Any) -> int:
        return 1 + of(t.items[0]) if isinstance(t, Product) and t.items else numeric.rank(t)

    return lit(of(args[0].type))


def to_bool(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``bool(x)``."""
    return args[0] if args[0].type == BOOL else Op("ne", (args[0], lit(0) if args[0].type == INT else lit(0.0)), BOOL)


def test(op: str) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``math.isnan`` and the like."""
    return lambda p, node, args: Op(op, (p.coerce(node, args[0], FLOAT),), BOOL)


def power(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``pow(x, y)``."""
    return numeric.binary(p, node, ast.Pow(), args[0], args[1])


def dot(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.dot(a, b)``, which multiplies where one of them is a number."""
    numeric.wanted(p, node, args, 2)
    if 0 in map(numeric.rank, (args[0].type, args[1].type)):
        return numeric.binary(p, node, ast.Mult(), *args)
    return arrays.matmul(p, node, args[0], args[1])


def matmul(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.matmul(a, b)``."""
    numeric.wanted(p, node, args, 2)
    return arrays.matmul(p, node, args[0], args[1])


def concatenate(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.concatenate((a, b, ...))``."""
    parts = args[0].items if isinstance(args[0], Tuple | Elements) else None
    if not parts:
        p.error(node, "concatenate takes the arrays written out", "write np.concatenate((a, b))")
    result, *others = numeric.promoted(p, node, [array(p, node, part) for part in parts])
    for part in others:
        result = Concatenate(result, p.coerce(node, part, result.type))
    return result


def is_infinite(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``math.isinf(x)``."""

    def tested(x: Term) -> Term:
        return If(Op("isfinite", (x,), BOOL), lit(False), Op("not", (Op("isnan", (x,), BOOL),), BOOL))

    return p.let("x", p.coerce(node, args[0], FLOAT), tested)


def clipped(p: Parser, node: ast.AST, xs: Any) -> Term:
    """``np.clip(x, low, high)``."""
    return numeric.larger(p, node, "minimum", numeric.larger(p, node, "maximum", xs[0], xs[1]), xs[2])


def quotient_and_rest(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``divmod(a, b)``."""
    numeric.wanted(p, node, args, 2)

    def both(a: Term, b: Term) -> Term:
        ops = (ast.FloorDiv(), ast.Mod())
        return Tuple(tuple(numeric.binary(p, node, op, a, b) for op in ops))

    return p.let("a", args[0], lambda a: p.let("b", args[1], lambda b: both(a, b)))


def product(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``math.prod(xs)``, ``np.prod(xs)``."""
    whole = numbers(p, node, array(p, node, args[0]))
    of = element(whole)
    if isinstance(of, Array):
        p.error(node, "the product of rows", "use np.prod")
    one = lit(1) if of == INT else lit(1.0)

    def guarded(xs: Term) -> Term:
        a, b = p.fresh("a", of), p.fresh("b", of)
        some = Fold(a, b, numeric.multiplied(a, b), xs)
        return If(Op("eq", (Size(xs), lit(0)), BOOL), one, some)

    return p.let("xs", whole, guarded)


def so_far(combine: Callable[[Term, Term], Term], start: int) -> Callable[[Parser, ast.AST, Term], Term]:
    """``np.cumsum``, ``np.cumprod`` of a vector; bools are counted."""

    def scanned(p: Parser, node: ast.AST, xs: Term) -> Term:
        xs = numbers(p, node, xs)
        a, b = p.fresh("a", element(xs)), p.fresh("b", element(xs))
        return Scan(a, b, lit(start if a.type == INT else float(start)), combine(a, b), xs)

    return scanned


def chosen(p: Parser, node: ast.AST, xs: Any) -> Term:
    """``np.where(c, a, b)`` of an element."""
    return If(to_bool(p, node, [xs[0]]), *numeric.promoted(p, node, xs[1:]))


def filled(value: float) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.zeros(n)``, ``np.ones(n)``."""
    return lambda p, node, args: arrays.filled(p, node, args[0], lit(value))


def full(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.full(n, x)``."""
    if isinstance(args[1].type, Array):
        p.error(node, "np.full of an array", "write np.zeros(shape) + xs")
    return arrays.filled(p, node, args[0], args[1])


def replicate(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``te.replicate(n, x)``."""
    numeric.wanted(p, node, args, 2)
    return Replicate(p.coerce(node, args[0], INT), args[1])


def like(value: float) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.zeros_like(xs)``."""
    made = {FLOAT: value, INT: int(value), BOOL: bool(value)}
    return numeric.applied(lambda p, node, xs: lit(made[xs[0].type]), 1)


def arange(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.arange(n)``, ``np.arange(start, stop, step)``; numbers of elements are rounded up."""
    start, stop, step = (lit(0), args[0], lit(1)) if len(args) < 2 else (*args[:3], lit(1))[:3]
    of = INT if {start.type, stop.type, step.type} == {INT} else FLOAT
    first, last, by = (p.coerce(node, x, of) for x in (start, stop, step))
    i = p.fresh("i", INT)

    def between(first: Term, by: Term) -> Term:
        if of == INT:
            count: Term = Op("ineg", (Op("ifloordiv", (Op("isub", (first, last), INT), by), INT),), INT)
            at: Term = Op("iadd", (first, Op("imul", (i, by), INT)), INT)
        else:
            count = Op("ceil", (Op("div", (Op("sub", (last, first)), by)),), INT)
            delta = Op("sub", (Op("add", (first, by)), first))
            at = Op("add", (first, Op("mul", (Op("real", (i,), FLOAT), delta))))
        return Build(Op("imax", (count, lit(0)), INT), i, at)

    if len(args) == 1 and of == INT:
        return Build(last, i, i)
    return p.let("start", first, lambda first: p.let("step", by, lambda by: between(first, by)))


def gather(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``te.gather(xs, indices)``."""
    return Gather(array(p, node, args[0]), p.coerce(node, args[1], Array(INT)))


def taken(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.take(xs, indices)`` of a vector; of a matrix it would be of all numbers in a row."""
    if numeric.rank(args[0].type) > 1:
        p.error(node, "take of an array of rank above 1", "write xs[indices] for rows, or np.ravel(xs)[indices]")
    return gather(p, node, args)


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
    """``np.transpose(xs)``."""
    return arrays.transpose(p, node, array(p, node, args[0]))


def norm(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.linalg.norm(xs)`` of a vector."""
    return p.let("xs", p.coerce(node, args[0], Array(FLOAT)), lambda xs: Op("sqrt", (arrays.dot(p, xs, xs),)))
