"""What loops run over: an iterable is a number of steps, and a function from an index to the element of a step.

Each of them is also an expression, the array of its elements, so that whatever takes elements takes all of them.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import EnumType
from typing import Any

from ...language.terms import Build, If, Index, Literal, Map, Op, Proj, Size, Term, Tuple, Var, lets, lit, opened, parts
from ...language.types import BOOL, FLOAT, INT, Array, Fixed, Product, Text, is_known, show
from ..expressions.closures import held_by
from ..expressions.parameters import no_other_keywords, of_all, with_args
from ..expressions.rules import constant, expression, text
from ..names import syntax
from ..names.callees import CHAIN, library_name
from ..operations.arrays import axes, digits, product, row, sizes_of
from ..operations.functions import Env
from ..operations.numeric import rank
from ..operations.raising import failing
from ..operations.state import Parser, with_lets
from ..operations.whole import array as as_array
from ..operations.whole import element, have_one_type, items_of, rectangle, some


@dataclass(frozen=True)
class Iteration:
    """An iterable: `size` steps; `item` gives the value for an index; `lets` are bound around the loop.

    `items` are those of an iterable for which a loop is written out: the keys of a dict, the letters of a text, the
    parts of a tuple of several types.
    """

    size: Term
    item: Callable[[Term], Term]
    lets: tuple[tuple[Var, Term], ...] = ()
    counts: bool = False
    items: Sequence[Term] | None = None

    def around(self, term: Term) -> Term:
        """Put the bindings that the loop needs around a term."""
        return lets(self.lets, term)

    def first(self, count: int) -> Sequence[Term]:
        """Give the first items."""
        return [self.item(lit(k)) for k in range(count)] if self.items is None else self.items[:count]


def written_out(items: Sequence[Term], lets: tuple[tuple[Var, Term], ...] = ()) -> Iteration:
    """Give an iterable whose items are known one by one."""
    return Iteration(lit(len(items)), lambda i: items[i.value], lets, items=items)  # type: ignore[attr-defined]


def iteration(p: Parser, node: ast.expr, env: Env) -> Iteration:
    """Parse the iterable of a loop."""
    if isinstance(node, ast.Call) and (name := library_name(p.static(node.func, env))) in ITERATED:
        no_other_keywords(p, node, KEYWORDS.get(name, ()))
        made: Any = lambda args: ITERATED[name](p, with_args(node, args), env)  # noqa: E731
        return of_all(p, node, node.args, made)  # type: ignore[return-value]
    own, found = opened(expression(p, node, env))
    of = found.type
    if isinstance(of, Text):
        return written_out([text(p, part) for part in of.value], tuple(own))
    if isinstance(of, Fixed) and isinstance(of.value, EnumType):
        return written_out([constant(p, node, member) for member in list[Any](of.value)], tuple(own))
    if isinstance(of, Product) and of.name == "dict":
        return written_out([constant(p, node, key) for key in of.fields], tuple(own))
    if not isinstance(of, Array) and not (isinstance(of, Product) and p.is_sequence(of)):
        p.unfit(node, [of], f"a loop runs over a range or an array, not over {show(of)}", "use range(...)")
    is_several = isinstance(of, Product) and (is_known(of) or not have_one_type(p, of.items))
    if is_several and isinstance(found, Tuple):
        return written_out(found.items, tuple(own))
    array = found if is_several else as_array(p, node, found)
    var = array if isinstance(array, Var) else p.fresh("t" if is_several else "xs", array.type)
    bound = (*own, *([] if var is array else [(var, array)]))
    if isinstance(var.of, Product):
        p.held.setdefault(var.name, held_by(p, array, env))
        return written_out(parts(var), bound)
    return Iteration(Size(var), lambda i: Index(var, i), bound)


def in_steps(p: Parser, node: ast.expr, env: Env) -> Iteration:
    """Parse an iterable whose items have one type."""
    over = iteration(p, node, env)
    if over.items is None:
        return over
    if not over.items:
        p.error(node, "a loop over nothing", "leave it out")
    xs = items_of(p, node, over.items)
    var = p.fresh("xs", xs.type)
    return Iteration(Size(var), lambda i: Index(var, i), (*over.lets, (var, xs)))


def elements(p: Parser, node: ast.Call, env: Env) -> Term:
    """``zip(xs, ys)`` and the like as a value: the array of its elements."""
    if is_iterator(p, node, env):
        p.at_once(node, f"{ast.unparse(node.func)}(...)")
    if isinstance(star := node.args[0] if node.args else node, ast.Starred) and len(node.args) == 1:
        rows = as_array(p, star, expression(p, star.value, env))
        if isinstance(of := element(rows), Product) and p.is_sequence(of):
            return p.within("rows", some(p, rows), parts_of_all)
    over, i = in_steps(p, node, env), p.fresh("i", INT)
    if over.size is ENDLESS:
        p.error(node, "an iterator without end", "take as many elements as are wanted: zip(range(n), ...)")
    return over.around(Build(over.size, i, over.item(i)))


#: The number of steps of what never ends: a loop over it is left before.
ENDLESS = lit(2**62)
#: The arguments of ``itertools.count``.
COUNT = [ast.Constant(0), ast.Constant(1)]


def parts_of_all(rows: Term) -> Term:
    """``zip(*rows)`` of tuples: for each part an array."""
    row = Var("row", element(rows))
    return Tuple(tuple(Map((row,), Proj(row, k), (rows,)) for k in range(len(row.of.items))))  # type: ignore[attr-defined]


def _chosen(p: Parser, node: ast.Call, env: Env) -> Iteration:
    """``permutations(xs, r)`` and the like: a comprehension with a loop for each of r places."""
    name = library_name(p.static(node.func, env)).removeprefix("itertools.")
    xs, shown = node.args[0], node.args[1:]
    if name == "combinations" and shown and p.known(shown[0], env) == 2:
        return _combinations(p, in_steps(p, xs, env))
    if not shown and isinstance(xs, ast.Call) and p.static(xs.func, env) is range:
        shown = xs.args
    count = p.known(shown[0], env) if len(shown) == 1 else None
    if type(count) is not int or not 0 < count < 10:
        p.error(node, f"{name} needs a number from 1 to 9, written out", f"write {name}(xs, 2)")
    places = [f"i{k}" for k in range(count)]
    loops = []
    for k, i in enumerate(places):
        first = {"combinations": f"i{k - 1} + 1", "permutations": "0"}.get(name, f"i{k - 1}") if k else "0"
        loops.append(f"for {i} in range({first}, len(xs))")
        loops += [f"if {i} != {j}" for j in places[:k] if name == "permutations"]
    text = f"[({', '.join(f'xs[{i}]' for i in places)},) for xs in [tuple(of)] {' '.join(loops)}]"
    own = {name: f" {name}" for name in ("len", "range", "tuple")}  # which a program cannot bind
    return iteration(p, syntax.expression(text, node, of=xs, **own), env)


def _indices(p: Parser, sizes: Sequence[Term]) -> Iteration:
    """``np.ndindex(n, m)``: the indices of all places of an array with these sizes."""
    return _product([_range(p, p.tree, [p.coerce(p.tree, size, INT)]) for size in sizes])


def _numbered(p: Parser, array: Term) -> Iteration:
    """``np.ndenumerate(xs)``: the indices of all places of an array, each with the number there."""
    var = p.fresh("xs", array.type)
    inner = _indices(p, axes(var))
    return Iteration(inner.size, lambda i: Tuple((inner.item(i), at(var, inner.item(i)))), ((var, array), *inner.lets))


def at(array: Term, index: Term) -> Term:
    """Give the number at a tuple of indices."""
    for k in range(rank(array.type)):
        array = Index(array, Proj(index, k))
    return array


def _enumerate(p: Parser, node: ast.Call, env: Env) -> Iteration:
    """``enumerate(xs, start)``."""
    inner = iteration(p, node.args[0], env)
    named = [k.value for k in node.keywords]
    start = next(iter((*node.args[1:2], *named)), None)
    first = p.coerce(start, expression(p, start, env), INT) if start else lit(0)
    var = p.fresh("start", INT)
    known = first.value if isinstance(first, Literal) else None

    def counted(i: Term) -> Term:
        if known is not None and (not known or isinstance(i, Literal)):
            return Tuple((lit(int(known + i.value)) if isinstance(i, Literal) else i, inner.item(i)))
        return Tuple((Op("iadd", (var, i), INT), inner.item(i)))

    items = inner.items and [counted(lit(k)) for k in range(len(inner.items))]
    return Iteration(inner.size, counted, inner.lets if known == 0 else (*inner.lets, (var, first)), items=items)


def _minus(a: Term, b: Term) -> Term:
    if isinstance(a, Literal) and isinstance(b, Literal):
        return lit(int(a.value - b.value))
    return Op("isub", (a, b), INT)


def _range(p: Parser, node: ast.AST, args: Sequence[Term]) -> Iteration:
    if len(args) == 1:
        return _sized(p, args[0], lambda i: i, counts=True)
    if len(args) not in (2, 3):
        p.on_duals(node, f"a range of {len(args)} arguments", "give a start, a stop and a step")
    start, stop = args[0], args[1]
    step = args[2] if len(args) == 3 else lit(1)
    if not isinstance(step, Literal):
        return _strided(p, start, stop, step)
    if step.value == 0:
        p.error(node, "a range with step 0", "give another step")
    stride = int(step.value)
    own: list[tuple[Var, Term]] = []
    if not isinstance(start, Var | Literal):
        var = p.fresh("start", INT)
        own.append((var, start))
        start = var
    distance = _minus(stop, start) if stride > 0 else _minus(start, stop)
    if abs(stride) > 1:
        distance = Op("ifloordiv", (Op("iadd", (distance, lit(abs(stride) - 1)), INT), lit(abs(stride))), INT)
    positive = isinstance(distance, Literal)
    size = lit(max(int(distance.value), 0)) if positive else Op("imax", (distance, lit(0)), INT)  # type: ignore[attr-defined]

    def item(i: Term) -> Term:
        scaled = i if abs(stride) == 1 else Op("imul", (lit(abs(stride)), i), INT)
        if isinstance(start, Literal) and start.value == 0 and stride > 0:
            return scaled
        return Op("iadd" if stride > 0 else "isub", (start, scaled), INT)

    inner = _sized(p, size, item)
    return Iteration(inner.size, item, (*own, *inner.lets))


def _strided(p: Parser, start: Term, stop: Term, step: Term) -> Iteration:
    """A range whose step is computed; the quotient that counts its steps raises at step 0."""
    first, by = p.fresh("start", INT), p.fresh("step", INT)
    steps = Op("ineg", (Op("ifloordiv", (Op("isub", (first, stop), INT), by), INT),), INT)
    inner = _sized(p, Op("imax", (steps, lit(0)), INT), lambda i: Op("iadd", (first, Op("imul", (by, i), INT)), INT))
    return Iteration(inner.size, inner.item, ((first, start), (by, step), *inner.lets))


def _sized(p: Parser, size: Term, item: Callable[[Term], Term], counts: bool = False) -> Iteration:
    if isinstance(size, Var | Literal) or (isinstance(size, Size) and isinstance(size.array, Var)):
        return Iteration(size, item, counts=counts)
    var = p.fresh("n", INT)
    return Iteration(var, item, ((var, size),), counts)


def _zip(p: Parser, node: ast.Call, env: Env) -> Iteration:
    """``zip(xs, ys)``, ``zip(xs, ys, strict=True)``, ``zip(*rows)``."""
    is_strict = next((p.known(k.value, env) for k in node.keywords), False)
    if not isinstance(is_strict, bool):
        p.error(node, "zip takes strict=True or strict=False written out", "write zip(a, b, strict=True)")
    if len(node.args) == 1 and isinstance(star := node.args[0], ast.Starred):
        rows = as_array(p, star, expression(p, star.value, env))
        return _columns(p, rectangle(p, rows) if is_strict else rows)
    parts = [iteration(p, a, env) for a in node.args]
    if known := [part for part in parts if part.items is not None]:
        return side_by_side(p, parts, {len(part.items or ()) for part in known}, is_strict)
    sizes = [part.size for part in parts if part.size is not ENDLESS or is_strict] or [ENDLESS]
    size: Term = sizes[0]
    for other in sizes[1:]:
        if other != size:
            size = Op("iequal" if is_strict else "imin", (size, other), INT)
    every = tuple(pair for part in parts for pair in part.lets)
    return Iteration(size, lambda i: Tuple(tuple(part.item(i) for part in parts)), every)


def side_by_side(p: Parser, parts: Sequence[Iteration], counts: set[int], is_strict: bool) -> Iteration:
    """Give the items of a zip of which some parts are written out; a run fails where an array has another size."""
    count, own = min(counts), [pair for part in parts for pair in part.lets]
    if is_strict and len(counts) > 1:
        return written_out([failing()], tuple(own))
    sizes = [part.size for part in parts if is_strict and part.items is None]
    own += [(p.fresh("n", INT), Op("iequal", (size, lit(count)), INT)) for size in sizes]
    return written_out(list(map(Tuple, zip(*(part.first(count) for part in parts), strict=True))), tuple(own))


def _columns(p: Parser, rows: Term) -> Iteration:
    """``zip(*rows)``: as many columns as the first row has elements; a run fails where another row has fewer."""
    var, of = p.fresh("rows", rows.type), element(rows)
    if not isinstance(of, Array):
        p.error(p.tree, f"zip of the parts of {show(rows.type)}", "give zip the arrays one by one")
    r = p.fresh("row", of)
    n = p.fresh("n", INT)
    size = If(Op("lt", (lit(0), Size(var)), BOOL), Size(row(var)), lit(0))
    return Iteration(n, lambda i: Map((r,), Index(r, i), (var,)), ((var, rows), (n, size)))


def _pairwise(of: Iteration) -> Iteration:
    """``itertools.pairwise(xs)``."""
    size = Op("imax", (_minus(of.size, lit(1)), lit(0)), INT)
    return Iteration(size, lambda i: Tuple((of.item(i), of.item(_plus(i, 1)))), of.lets)


def _repeated(p: Parser, node: ast.Call, env: Env) -> Iteration:
    """``itertools.product(xs, ys, ..., repeat=n)``."""
    count = next((p.known(k.value, env) for k in node.keywords), 1)
    if type(count) is not int or count < 1:
        p.error(node, "repeat= of product is a positive number, written out", "write product(xs, repeat=2)")
    return _product([in_steps(p, a, env) for _ in range(count) for a in node.args])


def _product(parts: Sequence[Iteration]) -> Iteration:
    """The places of several iterables: the last one runs fastest."""
    sizes = [part.size for part in parts]

    def item(k: Term) -> Term:
        return Tuple(tuple(part.item(i) for part, i in zip(parts, digits(sizes, k), strict=True)))

    return Iteration(product(sizes), item, tuple(pair for part in parts for pair in part.lets))


def _plus(a: Term, b: int) -> Term:
    return Op("iadd", (a, lit(b)), INT)


def _combinations(p: Parser, of: Iteration) -> Iteration:
    """``itertools.combinations(xs, 2)``: pairs i < j; the root that gives j for a place is exact below 2 ** 50."""
    n = of.size
    size = Op("ifloordiv", (Op("imul", (n, _minus(n, lit(1))), INT), lit(2)), INT)

    @with_lets
    def item(p: Parser, k: Term) -> Term:
        """Count from the last pair backwards: row r from the end has r + 1 pairs."""
        back = Op("real", (_minus(_minus(size, lit(1)), k),), FLOAT)
        root = Op("sqrt", (Op("add", (Op("mul", (lit(8.0), back)), lit(1.0))),))
        r = p.bound("row", Op("trunc", (Op("div", (Op("sub", (root, lit(1.0))), lit(2.0))),), INT))
        after = Op("ifloordiv", (Op("imul", (r, _plus(r, 1)), INT), lit(2)), INT)
        i = _minus(_minus(n, lit(2)), r)
        j = Op("iadd", (_minus(k, _minus(_minus(size, _plus(r, 1)), after)), _plus(i, 1)), INT)
        return Tuple((of.item(i), of.item(j)))

    return Iteration(size, functools.partial(item, p), of.lets)


def _reversed(p: Parser, node: ast.Call, env: Env) -> Iteration:
    """``reversed(xs)``."""
    over = node.args[0]
    if is_iterator(p, over, env):
        p.error(over, "an iterator has no last element to begin with", "make it a list: reversed(list(...))")
    inner = iteration(p, over, env)
    backwards = lambda i: inner.item(_minus(_minus(inner.size, lit(1)), i))  # noqa: E731
    return Iteration(inner.size, backwards, inner.lets, items=inner.items and inner.items[::-1])


def _count(p: Parser, node: ast.Call, env: Env) -> Iteration:
    """``itertools.count(start, step)``."""
    start, step = (p.coerce(node, expression(p, a, env), INT) for a in [*node.args, *COUNT[len(node.args) :]])
    return Iteration(ENDLESS, lambda i: Op("iadd", (start, Op("imul", (step, i), INT)), INT))


#: What makes an iterable, by the name of the function that a program calls.
ITERATED: Mapping[str, Callable[[Parser, ast.Call, Env], Iteration]] = {
    "builtins.range": lambda p, node, env: _range(
        p, node, [p.coerce(a, expression(p, a, env), INT) for a in node.args]
    ),
    "builtins.enumerate": _enumerate,
    "builtins.reversed": _reversed,
    "builtins.zip": _zip,
    "itertools.count": _count,
    "itertools.pairwise": lambda p, node, env: _pairwise(in_steps(p, node.args[0], env)),
    "itertools.product": _repeated,
    **{f"itertools.{name}": _chosen for name in ("combinations", "combinations_with_replacement", "permutations")},
    "numpy.ndindex": lambda p, node, env: _indices(
        p, [n for a in node.args for n in sizes_of(p, node, expression(p, a, env))]
    ),
    "numpy.ndenumerate": lambda p, node, env: _numbered(p, as_array(p, node, expression(p, node.args[0], env))),
}
#: Their arguments by name.
KEYWORDS = {"builtins.zip": ("strict",), "builtins.enumerate": ("start",), "itertools.product": ("repeat",)}
#: Functions of Python's that give iterators.
ITERATORS = {*ITERATED, "builtins.map", "builtins.filter", "itertools.chain", CHAIN, "itertools.accumulate"} - {
    "builtins.range"
}


def is_iterator(p: Parser, node: ast.expr, env: Env) -> bool:
    """Tell whether an expression gives its elements once, from the first to the last."""
    is_call = isinstance(node, ast.Call) and library_name(p.static(node.func, env)) in ITERATORS
    return is_call or isinstance(node, ast.GeneratorExp)
