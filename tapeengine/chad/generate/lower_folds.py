"""Sums, folds and scans: contractions of products and reductions along an axis, or loops."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate.lower_arrays import at, counter, size_of, where
from tapeengine.chad.generate.lower_control import counted
from tapeengine.chad.generate.rows import narrowed, validity
from tapeengine.chad.generate.values import Along, Boxed, Items, NotWhole, Pending, Value
from tapeengine.chad.imperative import Const, Operand, Ref, renamed
from tapeengine.chad.types import INT

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["RULES"]


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
    for arg in made.args:
        factor = renamed(arg, made.out.axes, x.axes)
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
FOLDS: Mapping[str, str] = MappingProxyType(
    {"maximum": "most", "minimum": "least", "gt": "largest", "lt": "smallest", "mul": "prod"}
)


def fold(L: Lower, t: S.Fold, scope: Scope) -> Value:
    array = L(t.array, scope)
    if isinstance(array, Boxed):
        return fold_loop(L, t, array, scope)
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
    element = L.force(array.element) if is_number(array.element) else array.element
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


#: What folding with an operation leaves as it is.
NEUTRAL: Mapping[str, float] = MappingProxyType(
    {"maximum": -inf, "minimum": inf, "gt": -inf, "lt": inf, "mul": 1.0, "add": 0.0}
)


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
                return op
    return None


def is_number(value: Value) -> bool:
    """Tell whether a value is one scalar or array, or the read of one."""
    return isinstance(value, Const | Ref | Pending)


def fold_loop(L: Lower, t: S.Fold, array: Along | Boxed, scope: Scope) -> Value:
    """Fold step by step."""
    first = at(L, array, Const(0), scope)
    count = L.b.plus(size_of(L, array), Const(-1))

    def step(i: Operand, state: Value, inner: Scope) -> Value:
        right = at(L, array, L.b.plus(i, Const(1)), inner)
        return L(t.body, inner.bind(**{t.left.name: state, t.right.name: right}))

    return counted(L, count, first, step, scope)[0]


def scan(L: Lower, t: S.Scan, scope: Scope) -> Value:
    array = L.stacked(L(t.array, scope))
    assert isinstance(array, Along | Boxed)
    init = L(t.init, scope)
    match t.body, array:
        case S.Op("add", (S.Var(a), S.Var(b))), Along() if {a, b} == {t.state.name, t.var.name}:
            xs = L.force(array.element) if is_number(array.element) else None
            if isinstance(xs, Ref) and array.axis in xs.axes:
                sums = L.b.emit("cumsum", (xs,), (xs.axes.index(array.axis),), axes=xs.axes)
                return Along(array.axis, L.b.emit("add", (L.force(init), sums)), array.sizes)
    if isinstance(array, Along) and array.sizes is not None:
        raise NotWhole("a scan of rows of different sizes")

    def step(i: Operand, state: Value, inner: Scope) -> Value:
        x = at(L, array, i, inner)
        return L(t.body, inner.bind(**{t.state.name: state, t.var.name: x}))

    return counted(L, size_of(L, array), init, step, scope, collect=True)[1]


RULES: Mapping[type[S.Term], Any] = MappingProxyType({S.Total: total, S.Fold: fold, S.Scan: scan})
