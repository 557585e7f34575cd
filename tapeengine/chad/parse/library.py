"""The functions that programs may call: Python's own, math's, numpy's on whole arrays, and this package's.

`SPECIAL` holds those that look at how their arguments are written, by name; `FUNCTIONS` those of terms; `METHODS` the
methods of arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad.parse import arrays, numeric
from tapeengine.chad.parse.expressions import condition, expression
from tapeengine.chad.terms import (
    Build,
    Concatenate,
    Filter,
    Fold,
    For,
    Gather,
    If,
    Index,
    Lambda,
    Let,
    Map,
    Op,
    Scan,
    Scatter,
    Size,
    Term,
    Total,
    Tuple,
    Var,
    lit,
)
from tapeengine.chad.types import BOOL, FLOAT, INT, Array, Product, show

if TYPE_CHECKING:
    from tapeengine.chad.parse.parser import Env, Parser

__all__ = ["FUNCTIONS", "METHODS", "SPECIAL", "opcode", "registered"]


def opcode(p: Parser, node: ast.AST, name: str, args: list[Term]) -> Term:
    """A scalar operation, element by element on arrays."""
    from tapeengine.reference.ops import OPERATIONS

    wanted = len(OPERATIONS[name].partials)
    if len(args) != wanted:
        p.error(node, f"{len(args)} arguments where {wanted} are wanted", "match the function's parameters")
    if name == "abs":
        return numeric.elementwise(p, node, numeric.absolute, args)
    return numeric.elementwise(p, node, numeric.scalar_op(name), args)


def registered(p: Parser, node: ast.AST, found: Any, args: list[Term]) -> Term:
    """A primitive of the registry."""
    from tapeengine.chad.parse.registered import primitive

    return primitive(p, node, found, args)


def args_of(p: Parser, node: ast.Call, env: Env) -> list[Term]:
    """Parse the positional arguments."""
    return [expression(p, a, env) for a in node.args]


def array(p: Parser, node: ast.AST, term: Term) -> Term:
    """Insist on an array."""
    if not isinstance(term.type, Array):
        p.error(node, f"an array is wanted here, not {show(term.type)}", "give an array or a comprehension")
    return term


def element(term: Term) -> Any:
    """Give the element type of an array."""
    assert isinstance(term.type, Array)
    return term.type.element


# ---------------------------------------------------------------- looking at how arguments are written


def sum_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``sum(xs)``, ``sum(xs, start)``, ``np.sum(xs, axis=0)``; comprehensions with several for."""
    from tapeengine.chad.parse.loops import nested_generators

    axis = next((k.value for k in node.keywords if k.arg == "axis"), None)
    numpy = isinstance(node.func, ast.Attribute)
    if numpy and axis is None and len(node.args) == 2:
        axis = node.args[1]
    first = node.args[0]
    if isinstance(first, ast.GeneratorExp):
        term = nested_generators(p, first, env, lambda t: Total(_numbers(p, node, t)))
    else:
        term = _numbers(p, node, array(p, node, expression(p, first, env)))
        term = arrays.summed(p, node, term, _whole(p, axis)) if numpy or numeric.rank(term.type) == 1 else _bad(p, node)
    start = node.args[1] if len(node.args) == 2 and not numpy else None
    if start is None:
        return term
    return numeric.binary(p, node, ast.Add(), expression(p, start, env), term)


def _bad(p: Parser, node: ast.AST) -> Term:
    p.error(node, "Python's sum of an array of arrays", "use np.sum")


def _whole(p: Parser, node: ast.expr | None) -> int | None:
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return None
    try:
        return int(ast.literal_eval(node))
    except (ValueError, TypeError):
        p.error(node, "an axis is a number written out", "write axis=0 or axis=1")


def _numbers(p: Parser, node: ast.AST, term: Term) -> Term:
    inner: Any = term.type
    while isinstance(inner, Array):
        inner = inner.element
    if inner == BOOL and isinstance(term.type, Array):
        x = p.fresh("x", term.type.element)
        return Map((x,), Op("trunc", (x,), INT), (term,))
    if inner not in (FLOAT, INT):
        p.error(node, f"sum of {show(inner)}", "sum numbers")
    return term


def extreme(which: str) -> Callable[[Parser, ast.Call, Env], Term]:
    """``max`` and ``min``, of several arguments or of an array."""

    def handle(p: Parser, node: ast.Call, env: Env) -> Term:
        if len(node.args) == 1:
            return folded(p, node, array(p, node, expression(p, node.args[0], env)))
        terms = args_of(p, node, env)
        result = terms[0]
        for term in terms[1:]:
            result = numeric.maximum(p, node, which, result, term)
        return result

    def folded(p: Parser, node: ast.AST, xs: Term) -> Term:
        if isinstance(element(xs), Array):
            row = p.fresh("row", element(xs))
            xs = Map((row,), folded(p, node, row), (xs,))
        left, right = p.fresh("a", element(xs)), p.fresh("b", element(xs))
        return Fold(left, right, numeric.maximum(p, node, which, left, right), xs)

    return handle


def function_body(p: Parser, node: ast.expr, variables: tuple[Var, ...], env: Env) -> Term:
    """Apply what an argument stands for to variables."""
    from tapeengine.chad.parse.calls import apply_to

    return apply_to(p, node, node, variables, env)


def fold(p: Parser, node: ast.Call, env: Env) -> Term:
    """``te.fold(f, xs)`` and ``te.fold(f, xs, init)``, with an associative f."""
    xs = array(p, node, expression(p, node.args[1], env))
    left, right = p.fresh("a", element(xs)), p.fresh("b", element(xs))
    body = p.coerce(node, function_body(p, node.args[0], (left, right), env), element(xs))
    if len(node.args) == 2:
        return Fold(left, right, body, xs)

    def guarded(ys: Term) -> Term:
        start = p.coerce(node, expression(p, node.args[2], env, element(xs)), element(xs))
        total = p.fresh("a", element(xs))
        again = function_body(p, node.args[0], (init, total), env)
        some = Let(total, Fold(left, right, body, ys), p.coerce(node, again, element(xs)))
        return Let(init, start, If(Op("eq", (Size(ys), lit(0)), BOOL), init, some))

    init = p.fresh("init", element(xs))
    return p.let("xs", xs, guarded)


def reduce(p: Parser, node: ast.Call, env: Env) -> Term:
    """``functools.reduce(f, xs)`` and with a start: a loop from the left."""
    xs = array(p, node, expression(p, node.args[1], env))

    def loop(ys: Term) -> Term:
        first = Index(ys, lit(0)) if len(node.args) == 2 else expression(p, node.args[2], env)
        skip = 1 if len(node.args) == 2 else 0
        return _accumulate(p, node, ys, first, skip, env)

    return p.let("xs", xs, loop)


def _accumulate(p: Parser, node: ast.Call, ys: Term, first: Term, skip: int, env: Env) -> Term:
    of = first.type
    while True:
        state, k = p.fresh("acc", of), p.fresh("k", INT)
        at: Term = k if skip == 0 else Op("iadd", (k, lit(skip)), INT)
        x = p.fresh("x", element(ys))
        body = function_body(p, node.args[0], (state, x), env)
        wider = p.unify(node, of, body.type)
        if wider == of:
            break
        of = wider
    size: Term = Size(ys) if skip == 0 else Op("isub", (Size(ys), lit(skip)), INT)
    return For(size, k, state, p.coerce(node, first, of), Let(x, Index(ys, at), p.coerce(node, body, of)))


def scan(p: Parser, node: ast.Call, env: Env) -> Term:
    """``te.scan(f, xs, init)``: all states after the first."""
    xs = array(p, node, expression(p, node.args[1], env))
    init = expression(p, node.args[2], env)
    of = init.type
    while True:
        state, x = p.fresh("state", of), p.fresh("x", element(xs))
        body = function_body(p, node.args[0], (state, x), env)
        wider = p.unify(node, of, body.type)
        if wider == of:
            return Scan(state, x, p.coerce(node, init, of), p.coerce(node, body, of), xs)
        of = wider


def map_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``map(f, xs, ...)``."""
    xss = [array(p, node, expression(p, a, env)) for a in node.args[1:]]
    variables = tuple(p.fresh("x", element(xs)) for xs in xss)
    return Map(variables, function_body(p, node.args[0], variables, env), tuple(xss))


def filter_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``filter(f, xs)``."""
    xs = array(p, node, expression(p, node.args[1], env))
    x = p.fresh("x", element(xs))
    return Filter(x, p.coerce(node, function_body(p, node.args[0], (x,), env), BOOL), xs)


def partial(p: Parser, node: ast.Call, env: Env) -> Term:
    """``functools.partial(f, a, ...)``: a function that captures its first arguments."""
    from tapeengine.chad.parse.calls import apply_to, parameter_types

    types = parameter_types(p, node.args[0], env)
    if types is None:
        p.error(node, "partial of a function whose parameter types are not known", "write a def around it")
    given = [p.coerce(a, expression(p, a, env, t), t) for a, t in zip(node.args[1:], types, strict=False)]
    bound = [p.fresh("a", g.type) for g in given]
    rest = tuple(p.fresh("x", t) for t in types[len(given) :])
    term: Term = Lambda(rest, apply_to(p, node, node.args[0], (*bound, *rest), env))
    for var, arg in reversed(list(zip(bound, given, strict=True))):
        term = Let(var, arg, term)
    return term


def listed(p: Parser, node: ast.Call, env: Env) -> Term:
    """``list(xs)``, ``np.array(xs)``, ``np.asarray(xs)``: the array itself."""
    from tapeengine.chad.parse.loops import iteration

    first = node.args[0]
    lazy = ("range", "zip", "enumerate", "reversed")
    if isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id in lazy:
        over = iteration(p, first, env)
        i = p.fresh("i", INT)
        return over.around(Build(over.size, i, over.item(i)))
    return array(p, node, expression(p, first, env))


def isinstance_(p: Parser, node: ast.Call, env: Env) -> Term:
    """``isinstance(x, C)`` as a bool."""
    return condition(p, node, env)


# ---------------------------------------------------------------- functions of terms


def length(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``len(xs)``."""
    if isinstance(args[0].type, Product):
        return lit(len(args[0].type.items))
    return Size(array(p, node, args[0]))


def to_float(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``float(x)`` of a number."""
    return p.coerce(node, args[0], FLOAT)


def to_int(op: str) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``int``, ``math.floor``, ``math.ceil``, ``round``: discrete."""

    def handle(p: Parser, node: ast.AST, args: list[Term]) -> Term:
        return args[0] if args[0].type == INT else Op(op, (args[0],), INT)

    return handle


def to_bool(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``bool(x)``."""
    return args[0] if args[0].type == BOOL else Op("ne", (args[0], lit(0) if args[0].type == INT else lit(0.0)), BOOL)


def test(op: str) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``math.isnan`` and the like."""
    return lambda p, node, args: Op(op, (p.coerce(node, args[0], FLOAT),), BOOL)


def absolute(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``abs(x)``."""
    return numeric.elementwise(p, node, numeric.absolute, args)


def power(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``pow(x, y)``."""
    return numeric.binary(p, node, ast.Pow(), args[0], args[1])


def square(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.square(x)``."""
    return numeric.elementwise(p, node, numeric.square, args)


def dot(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.dot(a, b)``."""
    return arrays.matmul(p, node, args[0], args[1])


def concatenate(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.concatenate((a, b, ...))``."""
    from tapeengine.chad.terms import Elements

    parts = args[0].items if isinstance(args[0], Tuple | Elements) else None
    if not parts:
        p.error(node, "concatenate takes the arrays written out", "write np.concatenate((a, b))")
    result = array(p, node, parts[0])
    for part in parts[1:]:
        result = Concatenate(result, p.coerce(node, part, result.type))
    return result


def mean(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.mean(xs)`` of a vector."""

    def divided(xs: Term) -> Term:
        return Op("div", (p.coerce(node, Total(xs), FLOAT), Op("real", (Size(xs),), FLOAT)))

    return p.let("xs", _numbers(p, node, array(p, node, args[0])), divided)


def product(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``math.prod(xs)``, ``np.prod(xs)``."""
    of = element(array(p, node, args[0]))
    one = lit(1) if of == INT else lit(1.0)

    def guarded(xs: Term) -> Term:
        a, b = p.fresh("a", of), p.fresh("b", of)
        whole = Fold(a, b, Op("imul" if of == INT else "mul", (a, b), of), xs)
        return If(Op("eq", (Size(xs), lit(0)), BOOL), one, whole)

    return p.let("xs", args[0], guarded)


def cumsum(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.cumsum(xs)``."""
    of = element(array(p, node, args[0]))
    a, b = p.fresh("a", of), p.fresh("b", of)
    zero: Term = lit(0) if of == INT else lit(0.0)
    return Scan(a, b, zero, Op("iadd" if of == INT else "add", (a, b), of), args[0])


def where(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.where(c, a, b)``, element by element."""

    def chosen(p: Parser, node: ast.AST, xs: Any) -> Term:
        of = p.unify(node, xs[1].type, xs[2].type)
        return If(xs[0], p.coerce(node, xs[1], of), p.coerce(node, xs[2], of))

    return numeric.elementwise(p, node, chosen, args)


def larger(which: str) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.maximum(a, b)``: a tie is shared equally, as in the opcode table."""
    return lambda p, node, args: numeric.elementwise(p, node, numeric.scalar_op(which), args)


def filled(value: float) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.zeros(n)``, ``np.ones(n)``."""
    return lambda p, node, args: arrays.filled(p, node, args[0], lit(value))


def full(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.full(n, x)``, ``te.replicate(n, x)``."""
    return arrays.filled(p, node, args[0], args[1])


def like(value: float) -> Callable[[Parser, ast.AST, list[Term]], Term]:
    """``np.zeros_like(xs)``."""

    def handle(p: Parser, node: ast.AST, args: list[Term]) -> Term:
        def constant(p: Parser, node: ast.AST, xs: Any) -> Term:
            return lit(value)

        return numeric.elementwise(p, node, constant, args)

    return handle


def arange(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.arange(n)``."""
    i = p.fresh("i", INT)
    return Build(p.coerce(node, args[0], INT), i, i)


def gather(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``te.gather(xs, indices)``, ``np.take(xs, indices)``."""
    return Gather(array(p, node, args[0]), p.coerce(node, args[1], Array(INT)))


def scatter(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``te.scatter(xs, indices, values)``."""
    xs = p.convert(args[0], Array(FLOAT)) if element(array(p, node, args[0])) == INT else args[0]
    assert xs is not None
    return Scatter(xs, p.coerce(node, args[1], Array(INT)), p.coerce(node, args[2], xs.type))


def transpose(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.transpose(xs)``."""
    return arrays.transpose(p, node, array(p, node, args[0]))


def norm(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.linalg.norm(xs)`` of a vector."""
    return p.let("xs", p.coerce(node, args[0], Array(FLOAT)), lambda xs: Op("sqrt", (arrays.dot(p, xs, xs),)))


def outer(p: Parser, node: ast.AST, args: list[Term]) -> Term:
    """``np.outer(a, b)``."""
    x = p.fresh("x", FLOAT)
    b = p.coerce(node, args[1], Array(FLOAT))

    def rows(b: Term) -> Term:
        y = p.fresh("y", FLOAT)
        return Map((x,), Map((y,), Op("mul", (x, y)), (b,)), (p.coerce(node, args[0], Array(FLOAT)),))

    return p.let("b", b, rows)


def method(function: Callable[..., Term]) -> Callable[..., Term]:
    """Make a method of a function of terms."""
    return lambda p, node, receiver, env: function(p, node, [receiver, *args_of(p, node, env)])


def sum_method(p: Parser, node: ast.Call, receiver: Term, env: Env) -> Term:
    """``xs.sum(axis)``."""
    axis = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "axis"), None)
    return arrays.summed(p, node, _numbers(p, node, array(p, node, receiver)), _whole(p, axis))


SPECIAL: Mapping[str, Callable[[Parser, ast.Call, Env], Term]] = MappingProxyType(
    {
        "builtins.sum": sum_,
        "numpy.sum": sum_,
        "tapeengine.sum": sum_,
        "builtins.max": extreme("max"),
        "builtins.min": extreme("min"),
        "numpy.max": extreme("max"),
        "numpy.amax": extreme("max"),
        "numpy.min": extreme("min"),
        "numpy.amin": extreme("min"),
        "builtins.map": map_,
        "builtins.filter": filter_,
        "builtins.list": listed,
        "numpy.array": listed,
        "numpy.asarray": listed,
        "builtins.isinstance": isinstance_,
        "functools.reduce": reduce,
        "functools.partial": partial,
        "tapeengine.fold": fold,
        "tapeengine.scan": scan,
    }
)

FUNCTIONS: Mapping[str, Callable[[Parser, ast.AST, list[Term]], Term]] = MappingProxyType(
    {
        "builtins.len": length,
        "builtins.float": to_float,
        "builtins.int": to_int("trunc"),
        "builtins.round": to_int("round"),
        "builtins.bool": to_bool,
        "builtins.abs": absolute,
        "numpy.absolute": absolute,
        "builtins.pow": power,
        "math.pow": power,
        "numpy.power": power,
        "operator.pow": power,
        "math.floor": to_int("floor"),
        "math.ceil": to_int("ceil"),
        "math.trunc": to_int("trunc"),
        "math.isnan": test("isnan"),
        "math.isfinite": test("isfinite"),
        "math.prod": product,
        "numpy.prod": product,
        "numpy.square": square,
        "numpy.dot": dot,
        "numpy.matmul": dot,
        "numpy.concatenate": concatenate,
        "numpy.mean": mean,
        "numpy.cumsum": cumsum,
        "numpy.where": where,
        "numpy.maximum": larger("maximum"),
        "numpy.minimum": larger("minimum"),
        "numpy.zeros": filled(0.0),
        "numpy.ones": filled(1.0),
        "numpy.full": full,
        "numpy.zeros_like": like(0.0),
        "numpy.ones_like": like(1.0),
        "numpy.arange": arange,
        "numpy.take": gather,
        "numpy.transpose": transpose,
        "numpy.outer": outer,
        "numpy.norm": norm,
        "tapeengine.gather": gather,
        "tapeengine.scatter": scatter,
        "tapeengine.replicate": full,
    }
)

METHODS: Mapping[str, Callable[..., Term]] = MappingProxyType(
    {
        "sum": sum_method,
        "dot": method(dot),
        "mean": method(mean),
        "cumsum": method(cumsum),
        "transpose": method(transpose),
        "take": method(gather),
    }
)
