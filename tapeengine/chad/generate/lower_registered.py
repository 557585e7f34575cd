"""Registry primitives: one operation on whole values, or element by element where a primitive is elementwise."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate.values import Along, Items, NotGenerated, NotWhole, Tup, Value, leaves
from tapeengine.chad.imperative import Const, Operand, Ref
from tapeengine.chad.registered import is_elementwise
from tapeengine.chad.types import Array, Bool, Float, Int, Product, Type

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["RULES"]


def primitive(L: Lower, t: S.Primitive, scope: Scope) -> Value:
    found = L.primitives.get(t.name)
    if found is None:
        raise NotGenerated(f"the primitive {t.name} is not at hand")
    args = [argument(L, L(a, scope)) for a in t.args]
    ranks = [rank(a.type) for a in t.args]
    axes: tuple[str, ...] = ()
    if scope.mask is not None or any(len(x.axes) > n for x, n in zip(args, ranks, strict=True)):
        if not is_elementwise(found, [a.type for a in t.args], dict(t.static)):
            raise NotWhole(f"{t.name} inside a build")
        axes = L.axes.union(*args)
        args = [L.spread(x, axes) for x in args]
    keep_spaces(L, found, args)
    return result(L, t.of, "primitive", args, (t.name, t.static), axes)


def argument(L: Lower, value: Value) -> Operand:
    """Give a number or an array as one operand with all its axes."""
    (operand,) = leaves(L.settled(stacked(L, L.all_forced(value))))
    assert isinstance(operand, Const | Ref)
    return operand


def stacked(L: Lower, value: Value) -> Value:
    """Stack whatever is known item by item; tuples have no form as one array."""
    match value:
        case Items():
            return stacked(L, L.stacked(value))
        case Along(axis, element, None):
            return Along(axis, stacked(L, element))
        case Tup() | Along():
            raise NotGenerated("a primitive of tuples or of rows of different sizes")
    return value


def rank(of: Type) -> int:
    """Give how deeply arrays are nested."""
    return 1 + rank(of.element) if isinstance(of, Array) else 0


def keep_spaces(L: Lower, found: Any, args: list[Operand]) -> None:
    """Write down the spaces of arguments that rules ask for, so that they need not keep the arguments."""
    for kind, key in (need for rule in found.vjp_rules if rule is not None for need in rule.needs):
        for x in args if kind == "all_spaces" else [args[key]] if kind == "space" else []:
            L.b.emit("space", (x,), (), axes=(), kind="space")


def result(L: Lower, of: Type, op: str, args: list[Operand], params: tuple[Any, ...], outer: tuple[str, ...]) -> Value:
    """Write an operation whose result is of some type, with axes for the dimensions of its arrays."""
    if isinstance(of, Product):
        whole = L.b.emit(op, args, params, axes=(), kind="tuple")
        return Tup(tuple(result(L, item, "part", [whole], (i,), ()) for i, item in enumerate(of.items)))
    axes: list[str] = []
    inner = of
    while isinstance(inner, Array):
        axes.append(L.axes.fresh(Const(0)))
        inner = inner.element
    if not isinstance(inner, Float | Int | Bool):
        raise NotGenerated("a primitive that gives arrays of tuples")
    out = L.b.emit(op, args, params, axes=(*outer, *axes), kind=type(inner).__name__.lower())
    value: Value = out
    for dim, axis in reversed(list(enumerate(axes, len(outer)))):
        L.axes.sizes[axis] = L.b.emit("size", (out,), (dim,), axes=(), kind="int")
        value = Along(axis, value)
    return value


RULES: Mapping[type[S.Term], Any] = MappingProxyType({S.Primitive: primitive})
