"""Arithmetic: promotion of integers, and elementwise operations on arrays, with numpy's broadcasting."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Iterator, Sequence

from ...language.in_language import bit_and, bit_or, bit_xor, shift_left, shift_right
from ...language.kinds import ARRAY
from ...language.terms import (
    Build,
    Concatenate,
    Elements,
    If,
    Index,
    Let,
    Literal,
    Map,
    Op,
    Proj,
    Replicate,
    Size,
    Term,
    Total,
    Var,
    counted,
    lets,
    lit,
)
from ...language.traverse import free_variables
from ...language.types import BOOL, FLOAT, INT, NEVER, Array, Named, Product, Sum, Type, numbers_of, show
from ..analyses.lists import shows_lists
from ..analyses.outputs import Extreme
from ..analyses.single_axes import only_item
from .raising import failing
from .state import Parser, with_lets

#: A function of scalar terms.
Scalar = Callable[["Parser", ast.AST, Sequence[Term]], Term]

REAL = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Mod: "mod", ast.Pow: "pow"}
WHOLE = {ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.FloorDiv: "ifloordiv", ast.Mod: "imod"}
BITS = {ast.BitAnd: bit_and, ast.BitOr: bit_or, ast.BitXor: bit_xor, ast.LShift: shift_left, ast.RShift: shift_right}


def real(p: Parser, node: ast.AST, term: Term) -> Term:
    """Make a scalar a float."""
    return p.coerce(node, term, FLOAT, is_operand=True)


def number(p: Parser, node: ast.AST, term: Term) -> Term:
    """Give the operand of an operation of one number; an integer stays one."""
    no_bools(p, node, [term])
    whole = counted(term) if term.type == BOOL else term
    return whole if whole.type == INT else real(p, node, whole)


def no_bools(p: Parser, node: ast.AST, operands: Sequence[Term]) -> None:
    """Refuse arithmetic of bools alone that may be numpy's: its result is a bool, that of Python's a count."""
    nodes: list[ast.expr] = []
    match node:
        case ast.BinOp(left=left, right=right):
            nodes = [left, right]
        case ast.UnaryOp(operand=operand):
            nodes = [operand]
        case ast.Call(func=ast.Name("abs"), args=args) if p.outer["abs"] is abs:
            nodes = args
    if all(t.type == BOOL for t in operands) and not (nodes and p.in_python(*nodes)):
        p.error(node, "arithmetic of bools alone: Python counts, and numpy gives a bool", "write int(x > 0)")


def promoted(p: Parser, node: ast.AST, terms: Sequence[Term]) -> list[Term]:
    """Bring arrays and scalars to numpy's common kind of numbers: bools, integers where one has these, or floats."""
    kinds = {numbers_of(t.type) for t in terms}
    of = FLOAT if FLOAT in kinds else INT if INT in kinds else BOOL
    if not kinds <= {FLOAT, INT, BOOL}:
        wrong = next(t.type for t in terms if numbers_of(t.type) not in (FLOAT, INT, BOOL))
        p.unfit(node, [wrong], f"arithmetic on {show(wrong)}", "use numbers and arrays of numbers")
    return [of_kind(p, node, t, of) for t in terms]


def of_kind(p: Parser, node: ast.AST, term: Term, of: Type) -> Term:
    """Convert the numbers of an array or a scalar to a wider kind."""
    if numbers_of(term.type) == of:
        return term
    if not isinstance(term.type, Array):
        return counted(term) if of == INT else p.coerce(node, term, of, is_operand=True)
    return p.of_each(term, lambda x: of_kind(p, node, x, of), "x")


def added(a: Term, b: Term) -> Term:
    """``a + b`` of two numbers of one kind."""
    return Op("iadd", (a, b), INT) if a.type == INT else Op("add", (a, b))


def multiplied(a: Term, b: Term) -> Term:
    """``a * b`` of two numbers of one kind; of bools whether both are true."""
    return Op({FLOAT: "mul", INT: "imul", BOOL: "and"}[a.type], (a, b), a.type)


def total_of(p: Parser, xs: Term, in_pairs: bool = False) -> Term:
    """The sum of a vector as a product of numpy's adds up: of bools whether one is true."""
    if numbers_of(xs.type) != BOOL:
        return Total(xs, in_pairs=in_pairs)
    x = p.fresh("x", BOOL)
    return Op("lt", (lit(0), Total(Map((x,), counted(x), (xs,)))), BOOL)


def rank(type_: Type) -> int:
    """Give the nesting depth of arrays."""
    return 1 + rank(type_.element) if isinstance(type_, Array) else 0


def elementwise(p: Parser, node: ast.AST, scalar: Scalar, args: Sequence[Term], is_row: bool = False) -> Term:
    """Apply a function of scalars to scalars and arrays; lower ranks broadcast along leading axes."""
    top = max(rank(a.type) for a in args)
    if top == 0:
        return scalar(p, node, args)
    singles = [p.single_axes.of(a) for a in args]
    stretched = [rank(a.type) == top and 0 in s for a, s in zip(args, singles, strict=True)]
    if any(rank(a.type) == top and not s for a, s in zip(args, stretched, strict=True)):
        args = [only_item(a) if s else a for a, s in zip(args, stretched, strict=True)]
        lower = [frozenset(axis - 1 for axis in own if axis) for own in singles]
        singles = [low if s else own for low, own, s in zip(lower, singles, stretched, strict=True)]
    if is_row:
        return broadcast(p, node, scalar, args, singles, top)
    hidden, args = shown(p, args, top)
    made = broadcast(p, node, scalar, args, singles, top)
    return lets(hidden, lets(same_sizes(p, args, singles, top), made))


def shown(p: Parser, args: Sequence[Term], top: int) -> tuple[list[tuple[Var, Term]], list[Term]]:
    """Give names to operands whose compared sizes the text does not show; return the names and the renamed operands."""
    hidden, made = list[tuple[Var, Term]](), list(args)
    for k, a in enumerate(args):
        axes = set(range(max(0, rank(a.type) - top + 1), rank(a.type))).difference(p.single_axes.of(a))
        if any(size_along(p, a, axis) is None for axis in axes):
            made[k] = var = p.fresh("s", a.type)
            p.single_axes.note(var.name, a)
            hidden.append((var, a))
    return hidden, made


def same_sizes(
    p: Parser, args: Sequence[Term], singles: Sequence[frozenset[int]], top: int
) -> Iterator[tuple[Var, Term]]:
    """Compare the sizes of inner axes, which no step does where an outer one has no elements."""
    for axis in range(1, top):
        each = [(a, axis - top + rank(a.type), s) for a, s in zip(args, singles, strict=True)]
        sizes = (size_along(p, a, k) for a, k, s in each if k >= 0 and k not in s)
        first, *others = dict.fromkeys(size for size in sizes if size is not None) or [lit(0)]
        for other in others:
            yield p.fresh("n", INT), Op("iequal", (first, other), INT)


def size_along(p: Parser, term: Term, axis: int) -> Term | None:
    """Give the size of an axis of an array; None where the text does not show it outside of loops."""
    found, bound = None, set[str]()
    match term:
        case Var():
            for _ in range(axis):
                term = Index(term, lit(0), measured=True)
            return Size(term)
        case Build(size) | Replicate(size) if not axis:
            return size
        case Map(_, _, arrays) if axis < (rank(arrays[0].type) if term.broadcasts else 1):
            return next((size_along(p, a, axis) for a in arrays if axis not in p.single_axes.of(a)), None)
        case Index(array):
            return size_along(p, array, axis + 1)
        case Elements((item, *_)) | Replicate(_, item) if axis:
            return size_along(p, item, axis - 1)
        case Map(variables, body):
            found, bound = size_along(p, body, axis - 1), {v.name for v in variables}
        case Build(_, var, body):
            found, bound = size_along(p, body, axis - 1), {var.name}
        case Let(var, _, body):
            found, bound = size_along(p, body, axis), {var.name}
    return None if found is None or bound.intersection(free_variables(found)) else found


def wanted(p: Parser, node: ast.AST, args: Sequence[Term | ast.expr], count: int) -> None:
    """Require a number of arguments."""
    if len(args) != count:
        few = "too few arguments: " if len(args) < count else ""
        p.error(node, f"{few}{len(args)} arguments where {count} are wanted", "match the function's parameters")


def of(count: int, make: Callable[..., Term]) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """Turn a function of a number of terms into one of a list of them."""

    def handle(p: Parser, node: ast.AST, args: list[Term]) -> Term:
        wanted(p, node, args, count)
        return make(p, node, *args)

    return handle


def operation(op: ast.operator) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.add(x, y)``: Python's ``x + y``; ``np.remainder`` is its ``%``, unlike ``math.remainder``."""
    return of(2, lambda p, node, a, b: binary(p, node, op, a, b))


def applied(scalar: Scalar, count: int, counts: bool = True) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """Turn a function of scalars into a function of whole arrays; `counts` says whether it takes arrays of bools."""

    def handle(p: Parser, node: ast.AST, args: list[Term]) -> Term:
        wanted(p, node, args, count)
        if not counts:
            no_conditions(p, node, args)
        return elementwise(p, node, scalar, args)

    return handle


def broadcast(
    p: Parser, node: ast.AST, scalar: Scalar, args: Sequence[Term], singles: Sequence[frozenset[int]], top: int
) -> Term:
    """Map over the arguments of the highest rank; those of lower rank are the same for all elements."""
    p.by_numpy = True
    inner: list[Term] = []
    variables: list[Var] = []
    arrays: list[Term] = []
    bound: list[tuple[Var, Term]] = []
    for arg, single in zip(args, singles, strict=True):
        if rank(arg.type) == top:
            assert isinstance(arg.type, Array)
            var = p.fresh("x", arg.type.element)
            p.single_axes[var.name] = frozenset(axis - 1 for axis in single if axis)
            variables.append(var)
            arrays.append(arg)
            inner.append(var)
        elif isinstance(arg, Var | Literal):
            inner.append(arg)
        else:
            bound.append((p.fresh("s", arg.type), arg))
            p.single_axes[bound[-1][0].name] = single
            inner.append(bound[-1][0])
    body = elementwise(p, node, scalar, inner, is_row=True)
    return lets(bound, Map(tuple(variables), body, tuple(arrays), broadcasts=True))


def binary(p: Parser, node: ast.AST, op: ast.operator, left: Term, right: Term, *, opcode: str = "pow") -> Term:
    """``left op right``; the opcode is that of powers of numbers."""
    if isinstance(op, ast.MatMult):
        return p.grammar.matmul(p, node, left, right)
    if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor) and {left.type, right.type} != {INT}:
        return elementwise(p, node, lambda p, node, xs: logical(p, node, op, xs[0], xs[1]), (left, right))
    if type(op) in BITS and left.type == right.type == INT:
        written: Term = p.grammar.apply_written(p, node, p.program_of(BITS[type(op)]), [left, right])
        return written
    if not isinstance(op, ast.Pow | Extreme) and type(op) not in REAL and type(op) not in WHOLE:
        p.error(node, f"{type(op).__name__} is not in the language", "use + - * / // % ** @")
    no_conditions(p, node, (left, right))
    if isinstance(op, ast.Pow):
        no_conditions(p, node, (left,))
        opcode = "np.power.each" if rank(right.type) else "np.power" if rank(left.type) else opcode
    return elementwise(p, node, lambda p, node, xs: _binary(p, node, op, xs[0], xs[1], opcode), (left, right))


def logical(p: Parser, node: ast.AST, op: ast.operator, left: Term, right: Term) -> Term:
    """``left & right``, ``|`` and ``^`` of bools, both of which are computed."""
    if {left.type, right.type} != {BOOL}:
        p.error(node, f"{type(op).__name__} of numbers is not in the language", "use it on conditions")
    if isinstance(op, ast.BitXor):
        return Op("ne", (left, right), BOOL)
    if isinstance(op, ast.BitAnd):
        return Op("and", (left, right), BOOL)
    return Op("not", (Op("and", (Op("not", (left,), BOOL), Op("not", (right,), BOOL)), BOOL),), BOOL)


def no_conditions(p: Parser, node: ast.AST, operands: Sequence[Term]) -> None:
    """Refuse arithmetic of arrays of bools alone, for which numpy's operators are logical, or raise an error."""
    if all(numbers_of(t.type) == BOOL for t in operands) and any(isinstance(t.type, Array) for t in operands):
        p.error(node, "arithmetic of arrays of bools alone: numpy gives bools", "multiply one by 1 to count with it")


def of_lists(p: Parser, node: ast.BinOp, left: Term, right: Term) -> Term | None:
    """Python's operations on lists: ``xs * n`` repeats and ``xs + ys`` joins; None for another operation."""
    shows = isinstance(node.op, ast.Add) and shows_lists(node)
    records = isinstance(left.type, Array) and isinstance(numbers_of(left.type), Product | Sum | Named)
    joins = p.kinds.shows_lists(node) or (isinstance(node.op, ast.Add) and records)
    is_list = p.as_list if joins else p.is_list
    lists = [isinstance(t.type, Array) and is_list(n) for n, t in ((node.left, left), (node.right, right))]
    if isinstance(node.op, ast.Mult) and lists in ([True, False], [False, True]):
        items, size = (left, right) if lists[0] else (right, left)
        if size.type == INT and p.kinds.of(node) == ARRAY:
            p.on_duals(node, "a list times a number of numpy's", "write int(n)")
        if size.type == INT:
            return repeated(p, items, size)
    if isinstance(node.op, ast.Add) and all(lists):
        if len({getattr(p.kinds.of(n), "made", list) for n in (node.left, node.right)}) > 1:
            p.on_duals(node, "a tuple joined with a list", "make both lists: list(...)")
        return concatenated(p, node, [left, right])
    if shows:
        p.error(node, "+ of a list written out is ambiguous", "write np.concatenate((a, b)), or np.array([...]) + b")
    return None


def concatenated(p: Parser, node: ast.AST, arrays: Sequence[Term]) -> Term:
    """Put arrays after one another."""
    of = p.common(node, [array.type for array in arrays])
    return functools.reduce(Concatenate, [p.coerce(node, array, of) for array in arrays])


@with_lets
def repeated(p: Parser, items: Term, size: Term) -> Term:
    """``xs * n`` of a list, or ``np.tile(xs, n)``: the elements n times over."""
    if isinstance(items, Elements) and len(items.items) == 1:
        return Replicate(size, items.items[0])
    xs, k = p.bound("xs", items), p.fresh("k", INT)
    whole = Op("imul", (Op("imax", (size, lit(0)), INT), Size(xs)), INT)
    return Build(whole, k, Index(xs, Op("imod", (k, Size(xs)), INT)))


def _binary(p: Parser, node: ast.AST, op: ast.operator, left: Term, right: Term, opcode: str) -> Term:
    if NEVER in (left.type, right.type):
        return failing()
    if isinstance(op, Extreme):
        return larger(p, node, op.name, left, right)
    for term in (left, right):
        if term.type not in (INT, FLOAT, BOOL):
            p.unfit(node, [term.type], f"arithmetic on {show(term.type)}", "use numbers and arrays of numbers")
    no_bools(p, node, (left, right))
    left, right = (counted(t) if t.type == BOOL else t for t in (left, right))
    whole = left.type == INT and right.type == INT
    if isinstance(op, ast.Pow):
        return power(p, node, left, right, opcode)
    if whole and type(op) in WHOLE:
        return Op(WHOLE[type(op)], (left, right), INT)
    left, right = real(p, node, left), real(p, node, right)
    if isinstance(op, ast.FloorDiv):
        return floor_division(p, left, right)
    return Op(REAL[type(op)], (left, right))


@with_lets
def floor_division(p: Parser, left: Term, right: Term) -> Term:
    """``x // y`` of floats, as C and Python round it: ``x - fmod(x, y)`` is a multiple of y up to rounding."""
    x, y = p.bound("x", left), p.bound("y", right)
    rest = p.bound("rest", Op("fmod", (x, y)))
    whole = Op("div", (Op("sub", (x, rest)), y))
    signs = [Op("lt", (each, lit(0.0)), BOOL) for each in (y, rest)]
    is_less = If(signs[0], Op("lt", (lit(0.0), rest), BOOL), signs[1])
    q = p.bound("q", If(is_less, Op("sub", (whole, lit(1.0))), whole))
    floor = Op("real", (p.bound("below", Op("floor", (q,), INT)),), FLOAT)
    is_next = Op("lt", (lit(0.5), Op("sub", (q, floor))), BOOL)
    some = If(is_next, Op("add", (floor, lit(1.0))), floor)
    return If(Op("eq", (q, lit(0.0)), BOOL), Op("copysign", (lit(0.0), Op("div", (x, y)))), some)


def power(p: Parser, node: ast.AST, left: Term, right: Term, opcode: str = "pow") -> Term:
    """``left ** right``; squares are products."""
    if left.type == INT and right.type == INT:
        if isinstance(right, Literal) and right.value < 0:
            whole = node.left if isinstance(node, ast.BinOp) else node.args[0] if isinstance(node, ast.Call) else None
            if opcode != "pow" or (whole is not None and not p.in_python(whole)):
                p.on_duals(node, "a negative power of integers that may be numpy's", "write a power of floats")
            return Op(opcode, (real(p, node, left), real(p, node, right)))
        return Op("ipow", (left, right), INT)
    base = real(p, node, left)
    if isinstance(right, Literal) and right.value == 2:
        return p.within("x", base, lambda x: Op("mul", (x, x)))
    if isinstance(right, Literal) and right.value == 1:
        return base
    return Op(opcode, (base, real(p, node, right)))


def of_number(p: Parser, node: ast.AST, xs: Sequence[Term], name: str) -> Term:
    """Apply the function of an opcode for one number, which has one for integers, too: ``-x``, ``abs(x)``."""
    x = number(p, node, xs[0])
    return Op(f"i{name}", (x,), INT) if x.type == INT else Op(name, (x,))


negative, absolute = (functools.partial(of_number, name=name) for name in ("neg", "abs"))


def comparison(p: Parser, node: ast.AST, op: str, left: Term, right: Term) -> Term:
    """``left < right`` and the like, on numbers or bools."""
    if isinstance(left.type, Array) or isinstance(right.type, Array):
        return elementwise(p, node, lambda p, node, xs: comparison(p, node, op, xs[0], xs[1]), (left, right))
    if NEVER in (left.type, right.type):
        return failing(BOOL)
    if isinstance(left.type, Product) and isinstance(right.type, Product) and left.type.items and right.type.items:
        return p.within("a", left, lambda a: p.within("b", right, lambda b: in_order(p, node, op, a, b, 0)))
    if isinstance(left, Literal) and isinstance(right, Literal):
        return lit(bool(getattr(operator, op)(left.value, right.value)))
    if left.type != right.type:
        left, right = real(p, node, left), real(p, node, right)
    if left.type not in (INT, FLOAT, BOOL):
        p.error(node, f"comparison of {show(left.type)}", "compare numbers")
    return Op(op, (left, right), BOOL)


def in_order(p: Parser, node: ast.AST, op: str, left: Term, right: Term, k: int) -> Term:
    """Compare two tuples from an item on: the first items that differ decide."""
    sizes = [len(t.type.items) for t in (left, right)]  # type: ignore[attr-defined]
    if not (p.is_compared(left.type) and p.is_compared(right.type)):  # type: ignore[arg-type]
        p.on_duals(node, f"comparison of {show(left.type)}", "compare its fields")
    if k == min(sizes):
        return lit(bool(getattr(operator, op)(*sizes)))
    items = Proj(left, k), Proj(right, k)
    rest = in_order(p, node, op, left, right, k + 1)
    if op == "ne":
        return If(comparison(p, node, "ne", *items), lit(True), rest)
    here = lit(False) if op == "eq" else comparison(p, node, op[0] + "t", *items)
    return If(comparison(p, node, "eq", *items), rest, here)


def maximum(p: Parser, node: ast.AST, op: str, left: Term, right: Term) -> Term:
    """Python's ``max(left, right)`` or ``min``: the first of two equals."""
    if left.type == INT and right.type == INT:
        return Op("i" + op, (left, right), INT)
    if isinstance(left.type, Array) or isinstance(right.type, Array):
        p.error(node, f"Python's {op} of arrays", f"write np.{op} for all numbers, np.{op}imum for those of each place")
    of = p.unify(node, left.type, right.type)
    left, right = p.element_of(node, left, of), p.element_of(node, right, of)
    test = "gt" if op == "max" else "lt"
    return p.within("a", left, lambda a: p.within("b", right, lambda b: If(comparison(p, node, test, b, a), b, a)))


def larger(p: Parser, node: ast.AST, op: str, left: Term, right: Term) -> Term:
    """numpy's ``maximum(left, right)`` or ``minimum``: equals share the cotangent, and a NaN is both."""
    left, right = promoted(p, node, (left, right))
    if left.type == BOOL:
        return logical(p, node, ast.BitOr() if op == "maximum" else ast.BitAnd(), left, right)
    if left.type == INT:
        return Op("imax" if op == "maximum" else "imin", (left, right), INT)
    return Op(op, (left, right))


def scalar_op(p: Parser, node: ast.AST, xs: Sequence[Term], name: str) -> Term:
    """Apply the function of an opcode to scalar terms."""
    return Op(name, tuple(real(p, node, x) for x in xs))


def square(p: Parser, node: ast.AST, xs: Sequence[Term]) -> Term:
    """``x * x``."""
    return power(p, node, xs[0], lit(2))
