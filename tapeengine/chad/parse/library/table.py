"""The functions that programs may call: Python's own, math's, numpy's on whole arrays, and this package's.

`SPECIAL` holds, by name, those that parse their arguments themselves; `FUNCTIONS` those of terms; `METHODS` the
methods of arrays.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from ...intermediate.operations import OPERATIONS_BY_NAME
from ...language import in_language
from ...language.kinds import ARRAY
from ...language.terms import (
    Build,
    Concatenate,
    Elements,
    Filter,
    Fold,
    For,
    If,
    Index,
    Lambda,
    Let,
    Literal,
    Map,
    Op,
    Scan,
    Size,
    Term,
    Total,
    Var,
    counted,
    lets,
    lit,
    tuple_of,
)
from ...language.types import BOOL, FLOAT, INT, UNIT, ZERO, Array, Named, Product, Sum, numbers_of, show
from ..analyses.lists import Element
from ..expressions.closures import only_called
from ..expressions.fixed_points import settled_step
from ..expressions.parameters import no_other_keywords, of_all, parameters_of, with_args
from ..expressions.rules import as_name, condition, expression, truth
from ..names import syntax
from ..names.callees import CHAIN
from ..names.outside import root
from ..names.syntax import load
from ..operations import arrays, membership, numeric, shapes, whole
from ..operations.functions import Env
from ..operations.shapes import RESHAPING
from ..operations.state import Parser, with_lets
from ..operations.type_tests import tested
from ..operations.whole import array, element, numbers
from . import along, joining, lines, ordering, reductions
from .einsum import einsum
from .iterables import ITERATED, elements, is_iterator
from .options import dtype_of, keyword, of_wider, with_options
from .reductions import (
    REDUCTIONS,
    folded,
    larger,
    method_of,
    operand,
    written_axis,
)

#: Reads a call.
Form = Callable[[Parser, ast.Call, Env], Term]


def opcode(p: Parser, node: ast.AST, name: str, args: list[Term]) -> Term:
    """A scalar operation, element by element on arrays; numpy computes those of bools with 16 bits."""
    numeric.no_conditions(p, node, args)
    scalar = numeric.absolute if name == "abs" else functools.partial(numeric.scalar_op, name=name)
    return numeric.applied(scalar, len(OPERATIONS_BY_NAME[name].takes))(p, node, args)


def of_floats(function: Callable[..., Term]) -> Callable[..., Term]:
    """Make a function of numbers one that takes them as floats, as the functions of `math` do."""
    return lambda p, node, args: function(p, node, [numeric.real(p, node, x) for x in args])


def times(factor: float) -> Callable[..., Term]:
    """Give a function of numpy's that multiplies by a constant."""
    return numeric.applied(lambda p, node, xs: Op("mul", (numeric.real(p, node, xs[0]), lit(factor))), 1, False)


def logarithm(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``math.log(x)``, ``math.log(x, base)``: a quotient of two logarithms, as Python computes it."""
    if len(args) != 2:
        return opcode(p, node, "log", args)
    return numeric.binary(p, node, ast.Div(), *(opcode(p, node, "log", [x]) for x in args))


def args_of(p: Parser, node: ast.Call, env: Env) -> list[Term]:
    """Parse the positional arguments."""
    return [expression(p, a, env) for a in node.args]


# ---------------------------------------------------------------- functions that parse their arguments


def sum_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``sum(xs)``, ``sum(xs, start)``; comprehensions with several for."""
    first, start = node.args[0], keyword(node, "start", 1)
    if isinstance(first, ast.GeneratorExp) and len(first.generators) > 1:
        before = lit(0) if start is None else expression(p, start, env)
        if (total := p.grammar.sum_in_order(p, first, env, before)) is not None:
            return total
    xs = array(p, node, expression(p, first, env))
    if isinstance(element(xs), Product | Sum | Named):
        return added_up(p, node, xs, None if start is None else expression(p, start, env), env)
    if isinstance(element(xs), Array) and start is None:
        p.operated(node, [(Element(first), Index(xs, lit(0)))])
        some = whole.some(p, xs)  # Python gives 0 if there are none
        return p.within("rows", some, lambda xs: arrays.summed(p, node, numbers(p, node, xs), 0))
    term = numbers(p, node, xs)
    p.chooses |= ZERO * (numbers_of(term.type) == FLOAT)  # an empty sum is an integer
    if numeric.rank(term.type) != 1:
        p.error(node, "Python's sum of an array of arrays", "use np.sum")
    return Total(term) if start is None else added_from(p, node, expression(p, start, env), Total(term))


@with_lets
def added_up(p: Parser, node: ast.AST, xs: Term, start: Term | None, env: Env) -> Term:
    """``sum(ps)``, ``sum(ps, start)`` of records, which have a method for ``+``; Python adds the first one to 0."""

    def plus(a: Term, b: Term) -> Term:
        found = p.grammar.operator_of(p, node, ast.Add(), [a, b], env)
        return found or p.error(node, f"sum of {show(element(xs))}", "sum numbers, or records with __add__")

    ys = p.bound("xs", xs)
    first = plus(lit(0), Index(ys, lit(0))) if start is None else start
    state, k = p.fresh("total", first.type), p.fresh("k", INT)
    skipped = lit(1 if start is None else 0)
    body = p.coerce(node, plus(state, Index(ys, Op("iadd", (k, skipped), INT))), first.type)
    return For(Op("isub", (Size(ys), skipped), INT), k, state, first, body)


def added_from(p: Parser, node: ast.AST, start: Term, total: Term) -> Term:
    """``sum(xs, start)``: the start is the first summand."""
    if not isinstance(total, Total) or start.type not in (INT, FLOAT):
        return numeric.binary(p, node, ast.Add(), start, total)
    of = p.unify(node, start.type, total.type)
    first = Elements((p.coerce(node, start, of),), of)
    return Total(Concatenate(first, p.coerce(node, total.array, Array(of))))


def along_axis(p: Parser, node: ast.Call, xs: Term, env: Env, change: arrays.Combine, default: int | None) -> Term:
    """``np.cumsum(xs, axis)`` and the like: other vectors along an axis, or of all numbers in a row."""
    p.by_numpy = True
    found = keyword(node, "axis")
    axis = default if found is None else written_axis(p, found, env)
    xs = of_wider(p, node, array(p, node, xs), env)
    if axis is None and numeric.rank(xs.type) > 1 and default == 0:  # of ufuncs
        p.on_duals(node, "all axes, along which a ufunc does not accumulate", "write np.cumsum, or one axis")
    if axis is None and numeric.rank(xs.type) > 1:
        xs = shapes.flattened(p, node, xs)
    return arrays.along(p, node, change, xs, axis or 0)


def function_along(handle: Callable[..., Term]) -> Callable[..., Term]:
    """``np.sum(xs, axis)``, ``np.cumsum(xs, axis)`` and the like, which are methods as well."""
    return lambda p, node, env: handle(p, node, operand(p, node.args[0], env), env)


def extreme(p: Parser, node: ast.Call, env: Env, which: str) -> Term:
    """``max`` and ``min``, of several arguments or of an array, with a default for an empty one."""
    key = keyword(node, "key")

    def by_key(p: Parser, node: ast.Call, xs: Term, axis: int | None) -> Term:
        assert key is not None
        return ordering.best(p, node, "gt" if which == "max" else "lt", key, xs, env)

    if len(node.args) == 1:
        xs = listed(p, node, env)
        if isinstance(element(xs), Array) and key is None:
            p.error(node, f"Python's {which} of rows", f"write np.{which}")
        default = keyword(node, "default")
        largest = folded(numeric.maximum, which) if key is None else by_key
        if default is None:
            return largest(p, node, xs, None)
        start = p.coerce(default, expression(p, default, env, element(xs)), element(xs))
        return p.within("xs", xs, lambda xs: unless_empty(p, xs, start, largest(p, node, xs, None)))
    if keyword(node, "default") is not None:
        p.on_duals(node, f"{which} of several arguments with a default", "leave the default out")
    terms = args_of(p, node, env)
    if key is not None:
        return by_key(p, node, whole.items_of(p, node, terms), None)
    result = terms[0]
    for term in terms[1:]:
        result = numeric.maximum(p, node, which, result, term)
    return result


def unless_empty(p: Parser, xs: Term, start: Term, some: Term) -> Term:
    """Choose by whether an array has elements; Python computes the start, whether or not it is used."""
    return p.within("start", start, lambda start: If(Op("eq", (Size(xs), lit(0)), BOOL), start, some))


def exists(p: Parser, node: ast.Call, env: Env, which: str) -> Term:
    """``any`` and ``all`` of an array; all its elements are computed."""
    xs = array(p, node, expression(p, node.args[0], env))
    x = p.fresh("x", element(xs))
    test = truth(p, node, x)
    test = test if which == "any" else Op("not", (test,), BOOL)
    found = Op("lt", (lit(0), Total(Map((x,), counted(test), (xs,)))), BOOL)
    return found if which == "any" else Op("not", (found,), BOOL)


@with_lets
def fold(p: Parser, node: ast.Call, env: Env) -> Term:
    """``te.fold(f, xs)`` and ``te.fold(f, xs, init)``, with an associative f."""
    xs = array(p, node, expression(p, node.args[1], env))
    left, right = p.fresh("a", element(xs)), p.fresh("b", element(xs))
    body = p.coerce(node, p.grammar.apply(p, node.args[0], node.args[0], (left, right), env), element(xs))
    if len(node.args) == 2:
        return Fold(left, right, body, xs)
    ys = p.bound("xs", xs)
    init = p.bound("init", p.coerce(node, expression(p, node.args[2], env, element(xs)), element(xs)))
    total = p.fresh("a", element(xs))
    again = p.grammar.apply(p, node.args[0], node.args[0], (init, total), env)
    some = Let(total, Fold(left, right, body, ys), p.coerce(node, again, element(xs)))
    return unless_empty(p, ys, init, some)


@with_lets
def reduce(p: Parser, node: ast.Call, env: Env) -> Term:
    """``functools.reduce(f, xs)`` and with a start: a loop from the left."""
    ys = p.bound("xs", array(p, node, expression(p, node.args[1], env)))
    first = Index(ys, lit(0)) if len(node.args) == 2 else expression(p, node.args[2], env)
    skip = 1 if len(node.args) == 2 else 0
    k, x = p.fresh("k", INT), p.fresh("x", element(ys))
    at: Term = k if skip == 0 else Op("iadd", (k, lit(skip)), INT)
    of, state, body = settled_step(
        p, node, first, lambda state: p.grammar.apply(p, node.args[0], node.args[0], (state, x), env)
    )
    size: Term = Size(ys) if skip == 0 else Op("isub", (Size(ys), lit(skip)), INT)
    return For(size, k, state, p.coerce(node, first, of), Let(x, Index(ys, at), p.coerce(node, body, of)))


def scan(p: Parser, node: ast.Call, env: Env) -> Term:
    """``te.scan(f, xs, init)``: all states after the first."""
    xs = array(p, node, expression(p, node.args[1], env))
    init = expression(p, node.args[2], env)
    x = p.fresh("x", element(xs))
    of, state, body = settled_step(
        p, node, init, lambda state: p.grammar.apply(p, node.args[0], node.args[0], (state, x), env)
    )
    return Scan(state, x, p.coerce(node, init, of), p.coerce(node, body, of), xs)


def map_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``map(f, xs, ...)``."""
    p.at_once(node, "map(...)")
    return fork_map(p, node, env, is_parallel=False)


def fork_map(p: Parser, node: ast.Call, env: Env, is_parallel: bool = True) -> Term:
    """``te.fork_map(f, xs, ...)``: a map whose steps may run on threads."""
    xss = [array(p, node, expression(p, a, env)) for a in node.args[1:]]
    variables = tuple(p.fresh("x", element(xs)) for xs in xss)
    body = p.grammar.apply(p, node.args[0], node.args[0], variables, env)
    return Map(variables, body, tuple(xss), is_parallel=is_parallel)


def filter_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``filter(f, xs)``."""
    p.at_once(node, "filter(...)")
    xs = array(p, node, expression(p, node.args[1], env))
    x = p.fresh("x", element(xs))
    is_own = isinstance(node.args[0], ast.Constant) and node.args[0].value is None
    kept = x if is_own else p.grammar.apply(p, node.args[0], node.args[0], (x,), env)
    return Filter(x, p.coerce(node, kept, BOOL) if isinstance(kept.type, Array) else truth(p, node, kept), xs)


def with_others(p: Parser, node: ast.Call, env: Env) -> tuple[ast.Lambda, Env]:
    """Write a partial application as a lambda of the parameters that are left; arguments by name become defaults."""
    of = parameters_of(p, node.args[0], env)
    if of is None:
        p.error(node, "partial of a function whose parameters are not known", "write a def around it")
    fixed = dict(zip(of.names, node.args[1:], strict=False))
    named = {str(k.arg): k.value for k in node.keywords}
    inside = {**env, **{f" {n}=": d for n, d in zip(of.names, of.defaults, strict=True) if d is not None}}
    inside |= {f" {n}=": expression(p, e, env) for n, e in (*fixed.items(), *named.items())}
    rest = [n for n in of.names if n not in fixed]
    by_place = list(takewhile(lambda n: n not in named, rest[: max(len(rest) - of.by_name, 0)]))
    by_name = [n for n in rest if n not in by_place]

    def defaults(names: Sequence[str]) -> list[ast.expr | None]:
        return [load(f" {n}=", node) if f" {n}=" in inside else None for n in names]

    def params(names: Sequence[str]) -> list[ast.arg]:
        return [ast.copy_location(ast.arg(n), node) for n in names]

    places = [d for d in defaults(by_place) if d is not None]
    args = ast.arguments([], params(by_place), None, params(by_name), defaults(by_name), None, places)
    loads = [ast.keyword(n, load(f" {n}=" if n in fixed else n, node)) for n in of.names]
    body = ast.copy_location(ast.Call(node.args[0], [], loads), node)
    return ast.copy_location(ast.Lambda(args, body), node), inside


def partial(p: Parser, node: ast.Call, env: Env) -> Term:
    """``functools.partial(f, a, ...)``: a function that captures its first arguments."""
    if isinstance(node.args[0], ast.Lambda | ast.Call | ast.Subscript | ast.IfExp):

        def of_named(named: ast.expr, env: Env) -> Term:
            return partial(p, with_args(node, [named, *node.args[1:]]), env)

        return as_name(p, "f", node.args[0], expression(p, node.args[0], env), env, of_named)
    only_called(p, node, env.get(getattr(node.args[0], "id", "")))
    types = p.grammar.parameter_types(p, node.args[0], env)
    if types is None or node.keywords:
        return p.grammar.as_function(p, *with_others(p, node, env))
    given = [p.coerce(a, expression(p, a, env, t), t) for a, t in zip(node.args[1:], types, strict=False)]
    bound = [p.fresh("a", g.type) for g in given]
    rest = tuple(p.fresh("x", t) for t in types[len(given) :])
    whole = Lambda(rest, p.grammar.apply(p, node, node.args[0], (*bound, *rest), env))
    return lets(zip(bound, given, strict=True), whole)


def listed(p: Parser, node: ast.Call, env: Env) -> Term:
    """``list(xs)``: the array itself."""
    return array(p, node, expression(p, node.args[0], env))


def array_of(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.array(xs)``: the array itself; of a list without rows numpy makes a vector, so that a run fails."""
    if (copy := keyword(node, "copy")) is not None and p.known(copy, env) is not True:
        p.error(copy, "np.array with copy=False may return its argument", "write np.asarray(xs)")
    (found,) = whole.as_numpy(p, node.args[:1], [listed(p, node, env)])
    if numeric.rank(found.type) < 2 or isinstance(found, Elements) or p.kinds.of(node.args[0]) == ARRAY:
        return found
    return whole.some(p, found)


def tuple_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``tuple(xs)``: a tuple itself; an array stands for a tuple of any length."""
    if isinstance(node.args[0], ast.List | ast.Tuple):
        return tuple_of(expression(p, item, env) for item in node.args[0].elts)
    found = expression(p, node.args[0], env)
    return found if isinstance(found.type, Product) and p.is_sequence(found.type) else array(p, node, found)


def chained(p: Parser, node: ast.Call, env: Env) -> Term:
    """``itertools.chain(xs, ys, ...)``."""
    p.at_once(node, "itertools.chain(...)")
    parts = [
        chained_rows(p, with_args(node, [a.value]), env)
        if isinstance(a, ast.Starred)
        else array(p, node, expression(p, a, env))
        for a in node.args
    ]
    no_other_keywords(p, node, ())
    return numeric.concatenated(p, node, parts or p.error(node, "chain without arguments", "leave it out"))


def chained_rows(p: Parser, node: ast.Call, env: Env) -> Term:
    """``itertools.chain.from_iterable(rows)``."""
    p.at_once(node, "itertools.chain(...)")
    return expression(p, syntax.expression("[x for row in rows for x in row]", node, rows=node.args[0]), env)


@with_lets
def next_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``next(x for x in xs if c)``, ``next(..., default)``: the first element; a run fails if there is none."""
    if not is_iterator(p, node.args[0], env):
        p.on_duals(node, "next of something other than an iterator written out", "write next(x for x in xs if ...)")
    found = expression(p, node.args[0], env)
    if len(node.args) == 1:
        return Index(found, lit(0))
    of = element(found)
    default = expression(p, node.args[1], env, of)
    of = p.unify(node, of, default.type)
    xs = p.bound("xs", p.coerce(node, found, Array(of)))
    return unless_empty(p, xs, p.coerce(node, default, of), Index(xs, lit(0)))


def float_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``float(x)``, ``float("inf")``."""
    if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
        try:
            return lit(float(node.args[0].value))
        except ValueError:
            p.error(node.args[0], "this text is no number", 'write float("inf") or float("nan")')
    return whole.to_float(p, node, [expression(p, node.args[0], env)])


def round_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``round(x)``, ``round(x, digits)``."""
    x, digits = expression(p, node.args[0], env), [expression(p, a, env) for a in node.args[1:2]]
    if not digits or digits[0].type == UNIT:
        return whole.to_int(p, node, [x], "round")
    if digits[0].type != INT:
        p.error(node.args[1], f"{show(digits[0].type)} as a number of digits", "give an int")
    if x.type == INT and isinstance(digits[0], Literal) and digits[0].value >= 0:
        return x
    if x.type == BOOL:
        p.error(node, "round of a condition", "write int(x)")
    if not p.in_python(node.args[0]):
        p.on_duals(node, "round to digits of a number that may be numpy's, which scales it", "write round(float(x), n)")
    made = p.grammar.apply_written(p, node, p.program_of(in_language.rounded), [p.coerce(node, x, FLOAT), digits[0]])
    return whole.to_int(p, node, [made], "round") if x.type == INT else made


@with_lets
def accumulated(p: Parser, node: ast.Call, env: Env) -> Term:
    """``itertools.accumulate(xs, f, initial=x)``: the first state and those of a scan after it."""
    p.at_once(node, "itertools.accumulate(...)")
    xs = array(p, node, expression(p, node.args[0], env))
    f = keyword(node, "func", 1)
    initial = keyword(node, "initial")

    def states(first: Term, rest: Term) -> Term:
        x = p.fresh("x", element(rest))

        def step(state: Var) -> Term:
            return (
                numeric.binary(p, node, ast.Add(), state, x) if f is None else p.grammar.apply(p, f, f, (state, x), env)
            )

        of, state, body = settled_step(p, node, first, step)
        first = p.coerce(node, first, of)
        return p.within("first", first, lambda s: started(s, Scan(state, x, s, p.coerce(node, body, of), rest)))

    def started(first: Term, rest: Term) -> Term:
        return Concatenate(Elements((first,), first.type), rest)

    if initial is not None:
        return states(expression(p, initial, env), xs)
    xs, i = p.bound("xs", xs), p.fresh("i", INT)
    rest = Build(Op("isub", (Size(xs), lit(1)), INT), i, Index(xs, Op("iadd", (i, lit(1)), INT)))
    some = states(Index(xs, lit(0)), rest)
    return unless_empty(p, xs, Elements((), element(some)), some)


def iterate(p: Parser, node: ast.Call, env: Env) -> Term:
    """``te.iterate(step, n, x)``: a loop that carries x."""
    size = arrays.counted(p, p.coerce(node, expression(p, node.args[1], env), INT))
    init = expression(p, node.args[2], env)
    k, state = p.fresh("k", INT), p.fresh("x", init.type)
    return For(
        size, k, state, init, p.coerce(node, p.grammar.apply(p, node.args[0], node.args[0], (state,), env), init.type)
    )


def select(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.select([c, d], [a, b], default)``, written out: the first choice whose condition holds."""
    given = [a.elts if isinstance(a, ast.List | ast.Tuple) else [] for a in node.args[:2]]
    if len(given) < 2 or not given[0] or len(given[0]) != len(given[1]):
        p.error(
            node, "np.select takes a list of conditions and one of choices, written out", "write np.select([c], [a])"
        )
    default = keyword(node, "default", 2)
    found: Term = lit(0) if default is None else expression(p, default, env)
    for test, choice in zip(reversed(given[0]), reversed(given[1]), strict=True):
        holds = expression(p, test, env)
        if numbers_of(holds.type) != BOOL:
            p.error(test, f"a condition of type {show(holds.type)}", "compare: xs > 0")
        found = whole.where(p, node, [holds, expression(p, choice, env), found])
    return found


def isinstance_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``isinstance(x, C)`` as a bool."""
    if tested(p, node, env) is not None:
        return condition(p, node, env)
    if len(node.args) != 2 or isinstance(node.args[0], ast.Name):
        p.error(node, "this use of isinstance", "test a variable: isinstance(x, C)")

    def called(x: ast.expr, env: Env) -> Term:
        return isinstance_(p, with_args(node, [x, node.args[1]]), env)

    return as_name(p, "x", node, expression(p, node.args[0], env), env, called)


#: The place of ``dtype=`` among the arguments of the functions that take it.
DTYPE_AT = {
    **{f"numpy.{name}": 1 for name in ("array", "asarray", "zeros", "ones", "empty", "zeros_like", "ones_like")},
    "numpy.fromiter": 1,
    **dict.fromkeys(("numpy.full", "numpy.full_like"), 2),
    **dict.fromkeys(("numpy.arange", "numpy.linspace", "numpy.eye"), 9),
}


def with_dtype(p: Parser, node: ast.Call, name: str, env: Env) -> tuple[ast.Call, ast.expr | None]:
    """Take ``dtype=`` from the arguments of a function that makes an array."""
    at = DTYPE_AT.get(name)
    dtype = None if at is None else keyword(node, "dtype", at)
    if dtype is None:
        return node, None
    args = [a for a in node.args if a is not dtype]
    named = [k for k in node.keywords if k.value is not dtype]
    return ast.copy_location(ast.Call(node.func, args, named), node), dtype


def of_dtype(p: Parser, node: ast.AST, dtype: ast.expr, made: Term, env: Env) -> Term:
    """Convert the numbers of an array to a type that is written out."""
    of = dtype_of(p, dtype, env)
    if of is None:
        p.error(dtype, "a dtype other than float, int and bool", "write dtype=float")
    known, convert = {FLOAT: (float, whole.to_float), INT: (int, whole.to_int), BOOL: (bool, whole.to_bool)}[of]

    def each(p: Parser, node: ast.AST, xs: Sequence[Term]) -> Term:
        return lit(known(xs[0].value)) if isinstance(xs[0], Literal) else convert(p, node, list(xs))

    return numeric.elementwise(p, node, each, (made,))


def diff(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.diff(xs, n, axis)``."""
    times = keyword(node, "n")
    count = 1 if times is None else p.known(times, env)
    if type(count) is not int or count < 1:
        p.error(node, "differences of order 0, or of one that is not written out", "write np.diff(xs, n=2)")
    found, axis = operand(p, node.args[0], env), joining.one_axis(p, keyword(node, "axis") or ast.Constant(-1), env)
    for _ in range(count):
        found = along_axis(p, node, found, env, along.differences, axis)
    return found


def clip(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.clip(xs, low, high)``; an end may be None, and a method may leave it out."""
    xs, ends = operand(p, node.args[0], env), dict[str, Term]()
    given = [keyword(node, name, at) is not None for at, name in enumerate(("a_min", "a_max"), 1)]
    by_name = any(keyword(node, name) for name in ("min", "max"))
    if root(node.func) != " numpy" and (given[0] != given[1] or (given[0] and by_name)):
        p.error(node, "np.clip with one end", "write np.clip(xs, low, None)")
    for at, (which, name) in enumerate((("maximum", "min"), ("minimum", "max")), 1):
        end = keyword(node, f"a_{name}", at) or keyword(node, name)
        if end is not None and p.known(end, env) is not None:
            ends[which] = expression(p, end, env)

    def clipped(p: Parser, node: ast.AST, given: Sequence[Term]) -> Term:
        x = given[0]
        for which, end in zip(ends, given[1:], strict=True):
            x = numeric.larger(p, node, which, x, end)
        return x

    return numeric.applied(clipped, 1 + len(ends))(p, node, [xs, *ends.values()])


def sort(p: Parser, node: ast.Call, env: Env) -> Term:
    """``np.sort(xs, axis)``; numbers are the same in each order of equals."""
    kind = keyword(node, "kind")
    if kind is not None and p.known(kind, env) not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        p.on_duals(kind, "an algorithm that is not written out", "leave it out")
    return function_along(ALONG["sort"])(p, node, env)


def full(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.full(shape, x)``."""
    if isinstance(args[1].type, Array):
        return along.in_shape(p, node, args[1], args[0])
    if args[1].type not in (FLOAT, INT, BOOL):
        p.error(node, "np.full of an array", "write np.zeros(shape) + xs")
    return arrays.filled(p, node, args[0], args[1])


def method(function: Callable[..., Term]) -> Callable[..., Term]:
    """Make a method of a function of terms."""

    def handle(p: Parser, node: ast.Call, receiver: Term, env: Env) -> Term:
        return of_all(p, node, [receiver, *args_of(p, node, env)], lambda args: function(p, node, args))

    return handle


#: numpy's parameters in order, of functions that are also methods.
ORDERS: Mapping[str, str] = {
    **dict.fromkeys(("sum", "prod"), "a axis dtype out keepdims initial where"),
    **dict.fromkeys(("max", "min"), "a axis out keepdims initial where"),
    "mean": "a axis dtype out keepdims",
    **dict.fromkeys(("cumsum", "cumprod"), "a axis dtype out"),
    "quantile": "a q axis out overwrite_input method keepdims",
}
SUMS_SO_FAR = functools.partial(whole.so_far, combine=numeric.added, start=0)
PRODUCTS_SO_FAR = functools.partial(whole.so_far, combine=numeric.multiplied, start=1)
#: Functions from vectors to vectors, which run along an axis.
ALONG: Mapping[str, Callable[..., Term]] = {
    "cumsum": functools.partial(along_axis, change=SUMS_SO_FAR, default=None),
    "cumprod": functools.partial(along_axis, change=PRODUCTS_SO_FAR, default=None),
    "sort": functools.partial(along_axis, change=along.sort, default=-1),
}

#: The operators of ufuncs that have an `outer` in the language.
OUTER: Mapping[str, Callable[[Parser, ast.AST, list[Term]], Term]] = {
    "add": numeric.operation(ast.Add()),
    "subtract": numeric.operation(ast.Sub()),
    "multiply": numeric.operation(ast.Mult()),
    "remainder": numeric.operation(ast.Mod()),
    "divide": numeric.operation(ast.Div()),
    **{name: numeric.applied(larger(name), 2) for name in ("maximum", "minimum")},
}
#: Reductions and functions of vectors as methods of ufuncs.
OF_UFUNCS: Mapping[str, tuple[str, arrays.Combine]] = {
    "add": ("sum", SUMS_SO_FAR),
    "multiply": ("prod", PRODUCTS_SO_FAR),
    "maximum": ("max", lines.of_line(in_language.largest_so_far)),
    "minimum": ("min", lines.of_line(in_language.smallest_so_far)),
}
KEEPS = ("axis", "keepdims")
SUMS = (*reductions.KEYWORDS, "dtype")
READS: Mapping[str, Sequence[str]] = {
    **{name: SUMS if "dtype" in order else reductions.KEYWORDS for name, order in ORDERS.items()},
    "mean": (*KEEPS, "where", "dtype"),
}
#: What is said below of running totals.
SO_FAR = (ORDERS["cumsum"], 1, ("axis", "dtype"))
#: Functions of numpy with options: the form, numpy's parameters in order, how many are operands, and the options read.
WITH_OPTIONS: Mapping[str, tuple[Callable[..., Term], str, int, Sequence[str]]] = {
    **{
        name: (function_along(method_of(REDUCTIONS[of])), ORDERS[of], 1, READS[of])
        for name, of in (*((of, of) for of in REDUCTIONS), ("amax", "max"), ("amin", "min"))
    },
    **{name: (function_along(ALONG[name]), *SO_FAR) for name in ("cumsum", "cumprod")},
    **{
        f"{u}.reduce": (function_along(method_of(REDUCTIONS[r], 0)), ORDERS["sum"], 1, SUMS)
        for u, (r, _) in OF_UFUNCS.items()
    },
    **{
        f"{u}.accumulate": (function_along(functools.partial(along_axis, change=change, default=0)), *SO_FAR)
        for u, (_, change) in OF_UFUNCS.items()
    },
    **{f"{name}.outer": (functools.partial(along.outer, combine=made), "A B", 2, ()) for name, made in OUTER.items()},
    "sort": (sort, "a axis kind order", 1, ("axis", "kind", "stable")),
    "diff": (diff, "a n axis prepend append", 1, ("n", "axis")),
    "roll": (along.roll, "a shift axis", 2, ("axis",)),
    "flip": (along.flip, "m axis", 1, ("axis",)),
    "rot90": (along.rot90, "m k axes", 1, ("k", "axes")),
    "repeat": (along.repeat, "a repeats axis", 2, ("axis",)),
    "take": (along.take, "a indices axis out mode", 2, ("axis", "mode")),
    "tile": (along.tile, "A reps", 2, ()),
    "broadcast_to": (along.broadcast_to, "array shape subok", 2, ()),
    "quantile": (lines.quantile, ORDERS["quantile"], 2, KEEPS),
    "percentile": (functools.partial(lines.quantile, scale=100.0), ORDERS["quantile"], 2, KEEPS),
    "median": (
        functools.partial(lines.statistic, function=in_language.median_of),
        "a axis out overwrite_input keepdims",
        1,
        KEEPS,
    ),
    "ptp": (functools.partial(lines.statistic, function=in_language.span), "a axis out keepdims", 1, KEEPS),
    "average": (lines.average, "a axis weights returned", 1, (*KEEPS, "weights")),
    **dict.fromkeys(("trapezoid", "trapz"), (lines.trapezoid, "y x dx axis", 1, ("x", "dx", "axis"))),
    "norm": (lines.norm, "x ord axis keepdims", 1, (*KEEPS, "ord")),
    "vector_norm": (lines.vector_norm, "x", 1, (*KEEPS, "ord")),
    **{name: (getattr(joining, name), "arrays axis out", 1, ("axis",)) for name in ("concatenate", "stack")},
    **{name: (getattr(joining, name), "tup", 1, ()) for name in ("hstack", "vstack", "column_stack")},
    "append": (joining.append, "arr values axis", 2, ("axis",)),
    "split": (joining.split, "ary indices_or_sections axis", 2, ("axis",)),
}
#: The methods of arrays with options, and the names of their arguments.
OF_ARRAYS: Mapping[str, tuple[Callable[..., Term], tuple[str, ...]]] = {
    name: (with_options(form, ORDERS[name].split(), 1, reads), (*ORDERS[name].split()[1:], *reads))
    for name, form, reads in (
        *((name, method_of(made), READS[name]) for name, made in REDUCTIONS.items()),
        *((name, ALONG[name], ("axis", "dtype")) for name in ("cumsum", "cumprod")),
    )
}

#: Functions of which an argument may be ``*rows`` for any number of rows.
OF_STARS: Mapping[str, Form] = {**dict.fromkeys(ITERATED, elements), "itertools.chain": chained}

SPECIAL: Mapping[str, Form] = {
    **OF_STARS,
    **dict.fromkeys(("builtins.sum", "tapeengine.sum"), sum_),
    "numpy.clip": clip,
    **{
        f"numpy.{name}": with_options(form, order.split(), count, reads)
        for name, (form, order, count, reads) in WITH_OPTIONS.items()
    },
    "numpy.einsum": einsum,
    **{f"builtins.{which}": functools.partial(extreme, which=which) for which in ("max", "min")},
    "builtins.sorted": ordering.sorted_,
    **{f"builtins.{which}": functools.partial(exists, which=which) for which in ("any", "all")},
    "builtins.map": map_,
    "builtins.filter": filter_,
    "builtins.list": listed,
    "builtins.tuple": tuple_,
    CHAIN: chained_rows,
    **dict.fromkeys(("builtins.float", "numpy.float64"), float_),
    "builtins.round": round_,
    "builtins.next": next_,
    "itertools.accumulate": accumulated,
    "tapeengine.iterate": iterate,
    "tapeengine.fork_map": fork_map,
    **{f"numpy.{n}": array_of for n in ("array", "asarray", "asanyarray", "ascontiguousarray", "fromiter")},
    "numpy.select": select,
    "numpy.block": joining.block,
    "numpy.c_": joining.columns,
    "numpy.r_": joining.rows,
    "builtins.isinstance": isinstance_,
    "functools.reduce": reduce,
    "functools.partial": partial,
    "tapeengine.fold": fold,
    "tapeengine.scan": scan,
}

#: The arguments by name that the functions of `SPECIAL` take; the others take none.
KEYWORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("builtins.sum", "tapeengine.sum"), ("start",)),
    **{f"numpy.{n}": (*order.split(), *reads, "dtype") for n, (_, order, _, reads) in WITH_OPTIONS.items()},
    "numpy.einsum": ("optimize",),
    "numpy.array": ("copy",),
    "numpy.clip": ("a_min", "a_max", "min", "max"),
    "numpy.select": ("default",),
    "itertools.accumulate": ("func", "initial"),
    "tapeengine.iterate": ("checkpoints",),
    **dict.fromkeys(("builtins.max", "builtins.min"), ("default", "key")),
    "builtins.sorted": ("key", "reverse"),
}
#: The methods that lists have too.
OF_LISTS: Mapping[str, Callable[[Parser, ast.AST, list[Term]], Term]] = {
    **dict.fromkeys(("copy", "tolist"), lambda p, node, args: whole.array(p, node, args[0])),
    "count": lambda p, node, args: membership.count_of(p, node, [whole.array(p, node, args[0]), args[1]]),
    "index": lambda p, node, args: membership.index_of(p, node, [whole.array(p, node, args[0]), args[1]]),
}

#: The functions of `operator`, and their operators.
NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift")
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, *numeric.BITS)

FUNCTIONS: Mapping[str, Callable[[Parser, ast.AST, list[Term]], Term]] = {
    "builtins.len": whole.length,
    "builtins.int": whole.to_int,
    "builtins.bool": whole.to_bool,
    **dict.fromkeys(("builtins.abs", "numpy.absolute"), numeric.applied(numeric.absolute, 1, False)),
    **dict.fromkeys(("builtins.pow", "operator.pow"), numeric.of(2, whole.power)),
    **{f"operator.{name}": numeric.operation(op()) for name, op in zip(NAMES, OPERATORS, strict=True)},
    "operator.neg": numeric.applied(numeric.negative, 1, False),
    "math.pow": of_floats(numeric.of(2, whole.power)),
    **dict.fromkeys(("math.fabs", "numpy.fabs"), numeric.applied(of_floats(numeric.absolute), 1, False)),
    "numpy.power": numeric.of(2, functools.partial(whole.power, opcode="np.power")),
    "math.log": logarithm,
    **{f"math.{name}": functools.partial(whole.to_int, op=name) for name in ("floor", "ceil", "trunc")},
    **{f"math.{name}": whole.test(name) for name in ("isnan", "isfinite")},
    "math.prod": whole.product,
    "math.isinf": whole.is_infinite,
    "numpy.ndim": shapes.dimensions,
    "numpy.shape": shapes.shape,
    "numpy.size": shapes.size,
    "numpy.copy": OF_LISTS["copy"],
    "numpy.square": numeric.applied(numeric.square, 1, False),
    **dict.fromkeys(("numpy.radians", "numpy.deg2rad"), times(math.pi / 180)),
    **dict.fromkeys(("numpy.degrees", "numpy.rad2deg"), times(180 / math.pi)),
    "numpy.sign": numeric.applied(whole.sign, 1, False),
    "numpy.negative": numeric.applied(numeric.negative, 1, False),
    "builtins.divmod": numeric.of(2, whole.quotient_and_rest),
    "numpy.dot": numeric.of(2, whole.dot),
    "numpy.matmul": numeric.of(2, arrays.matmul),
    "numpy.where": whole.where,
    "numpy.ix_": whole.open_grid,
    **dict.fromkeys(("numpy.zeros", "numpy.empty"), whole.filled(0.0)),
    "numpy.ones": whole.filled(1.0),
    "numpy.full_like": numeric.of(2, whole.full_like),
    "numpy.full": full,
    **dict.fromkeys(("numpy.zeros_like", "numpy.empty_like"), whole.like(0.0)),
    "numpy.ones_like": whole.like(1.0),
    "numpy.arange": whole.arange,
    "numpy.transpose": whole.transpose,
    "numpy.outer": numeric.of(2, shapes.outer),
    "numpy.reshape": shapes.reshaped,
    "numpy.ravel": RESHAPING["ravel"],
    **{f"numpy.{name}": OUTER[name] for name in ("add", "subtract", "multiply", "remainder", "maximum", "minimum")},
    "numpy.vdot": numeric.of(2, shapes.flat_inner),
    "numpy.inner": numeric.of(2, whole.inner),
    "numpy.squeeze": along.squeezed,
    "numpy.expand_dims": numeric.of(2, along.with_axis),
    "numpy.swapaxes": numeric.of(3, along.axes_exchanged),
    "tapeengine.gather": whole.gather,
    "tapeengine.scatter": whole.scatter,
    "tapeengine.replicate": numeric.of(2, whole.replicate),
}

#: The methods of arrays that do what numpy's function of the same name does.
AS_FUNCTIONS = (
    *("std", "var", "argmax", "argmin", "argsort", "clip", "trace", "diagonal", "any", "all", "round", "repeat"),
    *("squeeze", "swapaxes", "nonzero", "searchsorted", "conj", "take"),
)

METHODS: Mapping[str, Callable[..., Term]] = {
    **{name: form for name, (form, _) in OF_ARRAYS.items()},
    "dot": method(numeric.of(2, whole.dot)),
    "transpose": method(whole.transpose),
    "astype": lambda p, node, xs, env: of_dtype(p, node, node.args[0], xs, env),
    **{name: method(function) for name, function in OF_LISTS.items()},
    **{name: method(function) for name, function in RESHAPING.items()},
}
