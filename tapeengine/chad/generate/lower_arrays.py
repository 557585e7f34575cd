"""Arrays as whole-array operations: builds and maps become axes, sums of products contractions, reads gathers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate.lower_control import UNKNOWN, counted, measure
from tapeengine.chad.generate.rows import evened, narrowed, validity, within
from tapeengine.chad.generate.values import Along, Items, NotGenerated, NotWhole, Tup, Value
from tapeengine.chad.imperative import Const, Loop, Operand, Ref
from tapeengine.chad.types import INT

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["RULES"]

#: Builds of at most this many elements, where the number is a literal, are written item by item.
UNROLLED = 8


def build(L: Lower, t: S.Build, scope: Scope) -> Value:
    size = L.number(t.size, scope)
    return build_over(L, size, lambda i, inner: L(t.body, inner.bind(**{t.index.name: i})), scope)


Body = Callable[[Operand, "Scope"], Value]


# EC section 7: build n (i. t)
def build_over(L: Lower, size: Operand, body: Body, scope: Scope) -> Value:
    """Build an array: item by item where it is short, at once where that is possible, else in a loop."""
    if isinstance(size, Const) and 0 < size.value <= UNROLLED:
        return Items(tuple(body(Const(i), scope) for i in range(int(size.value))))
    if size.axes:
        return ragged(L, size, body, scope)
    size = natural(L, size)
    mark = L.b.mark()
    try:
        axis = L.axes.fresh(size)
        return Along(axis, body(counter(L, axis), replace(scope, is_whole=True)))
    except NotWhole:
        if scope.is_whole:
            raise
        L.b.rewind(mark)
        return build_loop(L, size, body, scope)


def natural(L: Lower, size: Operand) -> Operand:
    """Take a negative size as zero."""
    if isinstance(size, Const):
        return Const(max(0, size.value))
    along = L.index_of(size)
    if along is not None and isinstance(along[1], Const) and along[1].value >= 0:
        return size
    made = L.b.made.get(size.name)
    if (made is not None and made.op in ("size", "imax")) or size.name in L.naturals:
        return size
    return L.b.emit("imax", (size, Const(0)))


def counter(L: Lower, axis: str) -> Ref:
    """Give the indices along an axis."""
    return L.b.emit("arange", (L.size_of(axis),), (), axes=(axis,), kind="int")


def ragged(L: Lower, size: Operand, body: Body, scope: Scope) -> Value:
    """Build rows of different sizes in rows of the largest size, with a mask of what exists."""
    axis = L.axes.fresh(bound(L, size))
    index = counter(L, axis)
    valid: Operand = L.b.emit("lt", (index, size))
    mask = valid if scope.mask is None else L.b.emit("and", (scope.mask, valid), kind="bool")
    for n in (size, natural(L, size)):
        if isinstance(n, Ref):
            L.bounds.setdefault(n.name, L.size_of(axis))
    return Along(axis, body(index, replace(scope, mask=mask, is_whole=True)), natural(L, size))


def bound(L: Lower, size: Operand) -> Operand:
    """Give a number that none of some sizes exceeds: for a triangle, the side of the square around it."""
    if isinstance(size, Ref) and size.name in L.bounds:
        return L.bounds[size.name]
    along = L.index_of(size)
    if along is not None and isinstance(along[1], Const):
        return L.b.plus(L.size_of(along[0]), Const(max(0, along[1].value)))
    return L.b.emit("largest", (size,), (), axes=(), kind="int")


def build_loop(L: Lower, size: Operand, body: Body, scope: Scope) -> Value:
    """Build an array step by step."""
    level = L.b.level
    with L.b.inner() as block:
        index = L.b.fresh("i", (), "int")
        made = L.settled(L.stacked(L.all_forced(body(index, scope))))
    axis = L.axes.fresh(size)
    loop = Loop(block, index, size)
    to = {a: L.axes.fresh(UNKNOWN) for a in L.all_axes(made) if depends(L, a, level)}

    def collect(x: Any) -> Ref:
        out = L.b.fresh("xs", (axis, *(to.get(a, a) for a in x.axes)), x.kind)
        loop.collected.append((out, x))
        return out

    result = Along(axis, collected_rows(L, made, to, collect))
    L.b.block.append(loop)
    measure(L, result)
    remember(L, result)
    return result


def remember(L: Lower, value: Value) -> None:
    """Remember that no row is longer than the axis that rows of different sizes lie along."""
    match value:
        case Tup(items) | Items(items):
            for item in items:
                remember(L, item)
        case Along(axis, element, sizes):
            if isinstance(sizes, Ref):
                L.bounds[sizes.name] = L.size_of(axis)
            remember(L, element)


def collected_rows(L: Lower, value: Value, to: Mapping[str, str], collect: Callable[[Any], Ref]) -> Value:
    """Give what a loop collects; arrays whose size is known in its steps only are collected with their sizes."""
    match value:
        case Tup(items):
            return Tup(tuple(collected_rows(L, item, to, collect) for item in items))
        case Items(items):
            return Items(tuple(collected_rows(L, item, to, collect) for item in items))
        case Along(axis, element, sizes) if axis in to:
            made = collected_rows(L, element, to, collect)
            each = collect(L.size_of(axis) if sizes is None else sizes)
            L.naturals.add(each.name)
            return Along(to[axis], made, each)
        case Along(axis, element, sizes):
            made = collected_rows(L, element, to, collect)
            return Along(axis, made, None if sizes is None else collect(sizes))
    return collect(value)


def depends(L: Lower, axis: str, level: int) -> bool:
    """Tell whether the size of an axis is only known in a block deeper than a level."""
    size = L.size_of(axis)
    return isinstance(size, Ref) and L.b.is_inside(size.name, level)


def elements(L: Lower, t: S.Elements, scope: Scope) -> Value:
    if not t.items:
        return L.empty(t.type)
    return Items(tuple(L(item, scope) for item in t.items))


def index(L: Lower, t: S.Index, scope: Scope) -> Value:
    return at(L, L(t.array, scope), L.number(t.index, scope), scope)


def at(L: Lower, array: Value, i: Operand, scope: Scope, is_within: bool = False) -> Value:
    """Read an array; ``is_within`` says that an index is known not to be out of range."""
    if isinstance(array, Items):
        if isinstance(i, Const) and -len(array.items) <= i.value < len(array.items):
            return array.items[int(i.value)]
        array = L.stacked(array)
    assert isinstance(array, Along)
    if array.sizes is not None and not is_within:
        i = within(L, i, L.force(array.sizes), scope)
    return narrowed(L, L.at(array.element, array.axis, i, scope))


def size(L: Lower, t: S.Size, scope: Scope) -> Value:
    return size_of(L, L(t.array, scope))


def size_of(L: Lower, array: Value) -> Operand:
    """Give the size of an array."""
    if isinstance(array, Items):
        return Const(len(array.items))
    assert isinstance(array, Along)
    return L.size_of(array.axis) if array.sizes is None else L.force(array.sizes)


def map_(L: Lower, t: S.Map, scope: Scope) -> Value:
    arrays, n = matching(L, [L(a, scope) for a in t.arrays])

    def body(i: Operand, inner: Scope) -> Value:
        unmasked = replace(inner, mask=None)
        items = {v.name: at(L, a, i, unmasked, is_within=True) for v, a in zip(t.vars, arrays, strict=True)}
        return L(t.body, inner.bind(**items))

    if isinstance(n, Ref):
        L.naturals.add(n.name)
    return build_over(L, n, body, scope)


def matching(L: Lower, arrays: list[Value]) -> tuple[list[Value], Operand]:
    """Give arrays that run side by side, and the size of the shortest.

    Where that is not known they are taken to be of one size, which is checked when the program runs; the general form
    takes the smallest size.
    """
    sizes = list(dict.fromkeys(size_of(L, a) for a in arrays))
    if len(sizes) == 1:
        return arrays, sizes[0]
    if all(isinstance(n, Const) for n in sizes):
        return arrays, Const(min(n.value for n in sizes if isinstance(n, Const)))
    stacked = [a if isinstance(a, Along) else L.stacked(a) for a in arrays]
    rows = [a for a in stacked if isinstance(a, Along)]
    if L.general or any(r.sizes is not None for r in rows):
        for n in sizes[1:]:
            sizes[0] = L.b.emit("imin", (sizes[0], n))
        return list(rows), sizes[0]
    even = [Along(rows[0].axis, L.matched(a.element, a.axis, rows[0].axis)) for a in rows]
    return list(even), L.size_of(rows[0].axis)


def total(L: Lower, t: S.Total, scope: Scope) -> Value:
    return total_of(L, L(t.array, scope), 0 if t.type == INT else 0.0)


def total_of(L: Lower, array: Value, nothing: float) -> Operand:
    """Add up an array: item by item, or as a contraction of the product that its elements are."""
    if isinstance(array, Items):
        result: Operand = Const(nothing)
        for position, item in enumerate(array.items):
            x = L.force(item)
            result = L.b.emit("iadd" if x.kind == "int" else "add", (result, x)) if position else x
        return result
    assert isinstance(array, Along)
    element = L.force(array.element)
    factors = [element] if element.kind == "int" else product(L, element, array.axis)
    if array.sizes is not None:
        factors = masked(L, factors, validity(L, array))
    return contract(L, factors, array.axis)


def contract(L: Lower, factors: list[Operand], axis: str) -> Operand:
    """Sum a product along an axis."""
    if not any(axis in f.axes for f in factors):
        kind = factors[0].kind
        count = L.size_of(axis) if kind == "int" else L.b.emit("real", (L.size_of(axis),))
        whole = L.b.product(factors)
        return L.b.emit("imul" if kind == "int" else "mul", (count, whole))
    union = L.axes.union(*factors)
    out = tuple(a for a in union if a != axis)
    return L.b.contract(factors, out)


def product(L: Lower, x: Operand, axis: str) -> list[Operand]:
    """Give the factors of a product whose sum along an axis needs no array of the products."""
    made = L.b.made.get(x.name) if isinstance(x, Ref) else None
    if L.exact or not isinstance(x, Ref) or made is None or made.op != "mul":
        return [x]
    result: list[Operand] = []
    to = dict(zip(made.out.axes, x.axes, strict=True))
    for arg in made.args:
        factor = Ref(arg.name, tuple(to[a] for a in arg.axes), arg.kind) if isinstance(arg, Ref) else arg
        inner = L.b.made.get(factor.name) if isinstance(factor, Ref) else None
        smaller = inner is not None and any(len(a.axes) < len(factor.axes) for a in inner.args)
        result += product(L, factor, axis) if smaller else [factor]
    return result if len(result) <= 3 else [x]


def masked(L: Lower, factors: list[Operand], valid: Operand) -> list[Operand]:
    """Make a product zero where it does not count, at its smallest factor."""
    fits = [f for f in factors if set(valid.axes) <= set(f.axes)]
    if not fits or L.exact:
        whole = L.b.product(factors)
        return [L.b.emit("where", (valid, whole, Const(0.0)), kind=whole.kind)]
    chosen = min(fits, key=lambda f: len(f.axes))
    zero = L.b.emit("where", (valid, chosen, Const(0 if chosen.kind == "int" else 0.0)), kind=chosen.kind)
    return [zero if f is chosen else f for f in factors]


#: Scalar operations whose fold is a whole-array operation.
FOLDS: Mapping[str, str] = MappingProxyType({"maximum": "largest", "minimum": "smallest", "mul": "prod"})


def fold(L: Lower, t: S.Fold, scope: Scope) -> Value:
    array = L(t.array, scope)
    if isinstance(array, Items) and array.items:
        state = array.items[0]
        for item in array.items[1:]:
            state = L(t.body, scope.bind(**{t.left.name: state, t.right.name: item}))
        return state
    array = narrowed(L, L.stacked(array))
    assert isinstance(array, Along)
    if isinstance(array.element, Along) and puts_together(t):
        return flat(L, array, array.element, scope)
    which = folded_operation(t)
    element = array.element if isinstance(array.element, Tup | Items | Along) else L.force(array.element)
    if which is not None and isinstance(element, Ref) and array.axis in element.axes and element.kind == "float":
        if array.sizes is not None:
            element = neutral(L, array, element, which, scope)
        rest = tuple(a for a in element.axes if a != array.axis)
        if which == "add":
            checked = L.b.emit("nonempty", (element,), (element.axes.index(array.axis),), axes=element.axes)
            return L.b.emit("contract", (checked,), (), axes=rest)
        return L.b.emit(FOLDS[which], (element,), (element.axes.index(array.axis),), axes=rest)
    if array.sizes is not None:
        raise NotWhole("a fold of rows of different sizes")
    return fold_loop(L, t, array, scope)


def puts_together(t: S.Fold) -> bool:
    """Recognise a fold that puts rows together in their order."""
    match t.body:
        case S.Concatenate(S.Var(a), S.Var(b)):
            return (a, b) == (t.left.name, t.right.name)
    return False


def flat(L: Lower, array: Along, row: Along, scope: Scope) -> Value:
    """Put rows together: one axis over all positions that exist, read at the row and the place in it."""
    if scope.is_whole:
        raise NotWhole("rows put together inside a build")
    width = L.size_of(row.axis)
    if row.sizes is None:
        axis = L.axes.fresh(L.b.emit("imul", (L.size_of(array.axis), width)))
        k = counter(L, axis)
    else:
        k, axis = where(L, L.spread(validity(L, row), (array.axis, row.axis)))
    width = L.b.emit("imax", (width, Const(1)))
    i, j = L.b.emit("ifloordiv", (k, width)), L.b.emit("imod", (k, width))
    inside = L.at(row.element, array.axis, i, scope)
    return Along(axis, L.all_forced(L.at(inside, row.axis, j, scope)))


def where(L: Lower, test: Operand) -> tuple[Ref, str]:
    """Give the positions where a condition holds, counted through all its axes, along an axis of their own."""
    indices = L.b.emit("nonzero", (test,), (), axes=("?",), kind="int")
    axis = L.axes.fresh(L.b.emit("size", (indices,), (0,), axes=(), kind="int"))
    return Ref(indices.name, (axis,), "int"), axis


#: What folding with an operation leaves as it is.
NEUTRAL: Mapping[str, float] = MappingProxyType({"maximum": -inf, "minimum": inf, "mul": 1.0, "add": 0.0})


def neutral(L: Lower, array: Along, element: Ref, which: str, scope: Scope) -> Ref:
    """Fill rows up with what folding leaves as it is; where a row counts, it has to have a first element."""
    sizes = L.force(array.sizes) if array.sizes is not None else Const(1)
    mask = () if scope.mask is None else (scope.mask,)
    checked = L.b.emit("nonempty_rows", (element, sizes, *mask), (), axes=element.axes)
    return L.b.emit("where", (validity(L, array), checked, Const(NEUTRAL[which])), axes=element.axes)


def folded_operation(t: S.Fold) -> str | None:
    """Recognise the operation of a fold: ``left op right`` or a choice of the larger or smaller one."""
    body, names = t.body, {t.left.name: "left", t.right.name: "right"}
    while isinstance(body, S.Let) and isinstance(body.bound, S.Var):
        names[body.var.name] = names.get(body.bound.name, "")
        body = body.body

    def side(x: S.Term) -> str:
        return names.get(x.name, "") if isinstance(x, S.Var) else ""

    match body:
        case S.Op(op, (a, b)) if {side(a), side(b)} == {"left", "right"} and (op in FOLDS or op == "add"):
            return op
        case S.If(S.Op("gt" | "lt" as op, (a, b)), then, orelse) if {side(a), side(b)} == {"left", "right"}:
            if (side(a), side(b)) == (side(then), side(orelse)) == ("right", "left"):
                return "maximum" if op == "gt" else "minimum"
    return None


def fold_loop(L: Lower, t: S.Fold, array: Along, scope: Scope) -> Value:
    """Fold step by step."""
    first = L.at(array.element, array.axis, Const(0), scope)
    count = L.b.plus(L.size_of(array.axis), Const(-1))

    def step(i: Operand, state: Value, inner: Scope) -> Value:
        right = L.at(array.element, array.axis, L.b.plus(i, Const(1)), inner)
        return L(t.body, inner.bind(**{t.left.name: state, t.right.name: right}))

    return counted(L, count, first, step, scope)[0]


def scan(L: Lower, t: S.Scan, scope: Scope) -> Value:
    array = L.stacked(L(t.array, scope))
    assert isinstance(array, Along)
    init = L(t.init, scope)
    element = array.element
    match t.body:
        case S.Op("add", (S.Var(a), S.Var(b))) if {a, b} == {t.state.name, t.var.name}:
            xs = L.force(element) if not isinstance(element, Tup | Items | Along) else None
            if isinstance(xs, Ref) and array.axis in xs.axes:
                sums = L.b.emit("cumsum", (xs,), (xs.axes.index(array.axis),), axes=xs.axes)
                return Along(array.axis, L.b.emit("add", (L.force(init), sums)), array.sizes)
    if array.sizes is not None:
        raise NotWhole("a scan of rows of different sizes")

    def step(i: Operand, state: Value, inner: Scope) -> Value:
        x = L.at(element, array.axis, i, inner)
        return L(t.body, inner.bind(**{t.state.name: state, t.var.name: x}))

    return counted(L, L.size_of(array.axis), init, step, scope, collect=True)[1]


def gather(L: Lower, t: S.Gather, scope: Scope) -> Value:
    array, indices = L.stacked(L(t.array, scope)), L.stacked(L(t.indices, scope))
    assert isinstance(array, Along)
    assert isinstance(indices, Along)
    i = L.force(indices.element)
    if array.sizes is not None:
        i = within(L, i, L.force(array.sizes), scope)
    return Along(indices.axis, L.at(array.element, array.axis, i, scope), indices.sizes)


def scatter(L: Lower, t: S.Scatter, scope: Scope) -> Value:
    array, indices = L.stacked(L(t.array, scope)), L.stacked(L(t.indices, scope))
    values = L.stacked(L(t.values, scope))
    assert isinstance(array, Along)
    assert isinstance(indices, Along)
    assert isinstance(values, Along)
    if scope.is_whole:
        raise NotWhole("a scatter inside a build")
    if array.sizes is not None:
        raise NotGenerated("a scatter into rows of different sizes")
    moved = L.renamed(values.element, values.axis, indices.axis)
    return Along(array.axis, scattered(L, array.element, L.force(indices.element), moved, (array.axis, indices.axis)))


def scattered(L: Lower, base: Value, where: Operand, values: Value, axes: tuple[str, str]) -> Value:
    """Add values, whose axis is the second one, into an array along the first one."""
    match base, values:
        case Tup(xs), Tup(ys):
            return Tup(tuple(scattered(L, x, where, y, axes) for x, y in zip(xs, ys, strict=True)))
        case (Items(), _) | (_, Items()):
            return scattered(L, L.stacked(base), where, L.stacked(values), axes)
        case Along(axis, element, None), Along(other, added, None):
            return Along(axis, scattered(L, element, where, L.matched(added, other, axis), axes))
        case Along(), Along():
            raise NotGenerated("a scatter of rows of different sizes")
    x, y = L.force(base), L.force(values)
    rest = tuple(a for a in L.axes.union(x, y) if a not in axes)
    parts = (L.spread(x, (axes[0], *rest)), where, L.spread(y, (axes[1], *rest)))
    return L.b.emit("scatter", parts, (), axes=(axes[0], *rest), kind=x.kind)


def replicate(L: Lower, t: S.Replicate, scope: Scope) -> Value:
    n = L.number(t.size, scope)
    if n.axes:
        raise NotWhole("an array whose size depends on an index")
    return Along(L.axes.fresh(natural(L, n)), L.all_forced(L(t.term, scope)))


def filter_(L: Lower, t: S.Filter, scope: Scope) -> Value:
    if scope.is_whole:
        raise NotWhole("a filter inside a build")
    array = L.stacked(L(t.array, scope))
    assert isinstance(array, Along)
    inner = replace(scope, is_whole=True)
    # the elements carry the array's own axis already, so the condition is computed for all of them at once
    test = L.number(t.condition, inner.bind(**{t.var.name: array.element}))
    chosen, axis = where(L, L.spread(test, (array.axis,)))
    return Along(axis, L.all_forced(L.at(array.element, array.axis, chosen, scope)))


def concatenate(L: Lower, t: S.Concatenate, scope: Scope) -> Value:
    first, second = L(t.first, scope), L(t.second, scope)
    if isinstance(first, Items) and isinstance(second, Items):
        return Items((*first.items, *second.items))
    first, second = L.stacked(first), L.stacked(second)
    assert isinstance(first, Along)
    assert isinstance(second, Along)
    if first.sizes is not None or second.sizes is not None:
        raise NotWhole("rows of different sizes are put together")
    axis = L.axes.fresh(L.b.plus(L.size_of(first.axis), L.size_of(second.axis)))
    return Along(axis, joined(L, first.element, second.element, first.axis, second.axis, axis))


def joined(L: Lower, a: Value, b: Value, axis_a: str, axis_b: str, axis: str) -> Value:
    """Put two values one after the other along an axis."""
    match a, b:
        case Tup(xs), Tup(ys):
            return Tup(tuple(joined(L, x, y, axis_a, axis_b, axis) for x, y in zip(xs, ys, strict=True)))
        case Along(), Along():
            a, b = evened(L, [a, b])
            both = None if a.sizes is None or b.sizes is None else joined(L, a.sizes, b.sizes, axis_a, axis_b, axis)
            assert both is None or isinstance(both, Ref)
            return Along(a.axis, joined(L, a.element, b.element, axis_a, axis_b, axis), both)
    x, y = L.force(a), L.force(b)
    rest = tuple(n for n in L.axes.union(x, y) if n not in (axis_a, axis_b))
    parts = (L.spread(x, (*rest, axis_a)), L.spread(y, (*rest, axis_b)))
    sizes = (L.size_of(axis_a), L.size_of(axis_b))
    return L.b.emit("concatenate", (*parts, *sizes), (), axes=(*rest, axis), kind=x.kind)


RULES: Mapping[type[S.Term], Any] = MappingProxyType(
    {
        S.Build: build,
        S.Elements: elements,
        S.Index: index,
        S.Size: size,
        S.Map: map_,
        S.Total: total,
        S.Fold: fold,
        S.Scan: scan,
        S.Gather: gather,
        S.Scatter: scatter,
        S.Replicate: replicate,
        S.Filter: filter_,
        S.Concatenate: concatenate,
    }
)
