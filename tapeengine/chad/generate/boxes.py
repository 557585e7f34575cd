"""Members of sums and arrays of them: the same form for all values of a type, and boxes made and taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeengine.chad.generate.values import (
    Along,
    Boxed,
    Choice,
    Items,
    Member,
    NotGenerated,
    NotWhole,
    Pending,
    Tup,
    Value,
    leaves,
)
from tapeengine.chad.imperative import Const, Operand, Ref, Unpack
from tapeengine.chad.types import BOOL, FLOAT, INT, Array, Bool, Float, Int, Product, Type, show

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower

__all__ = [
    "boxed",
    "canonical",
    "declared",
    "element_at",
    "empty",
    "measured",
    "operands",
    "packed",
    "type_of",
    "unpacked",
]

KINDS = {"float": FLOAT, "int": INT, "bool": BOOL}


def type_of(value: Value) -> Type:
    """Give the type of a value, without the names of its products."""
    match value:
        case Tup(items):
            return Product(tuple(map(type_of, items)))
        case Items(items):
            return Array(type_of(items[0]))
        case Along(_, element):
            return Array(type_of(element))
        case Member(of) | Choice(of) | Boxed(_, of):
            return of
        case Pending(base):
            return KINDS[base.kind]
    return KINDS[value.kind]


def canonical(L: Lower, value: Value, of: Type) -> Value:
    """Give a value the form that all values of its type have."""
    if L.layout.is_boxed(of):
        return Boxed(boxed(L, value, of), of)
    match of, value:
        case Product(types), Tup(items):
            return Tup(tuple(canonical(L, v, t) for v, t in zip(items, types, strict=True)))
        case Array(element), _:
            value = L.stacked(value)
            assert isinstance(value, Along)
            return Along(value.axis, canonical(L, value.element, element), value.sizes)
        case _, Choice(_, tag, options):
            each = zip(options, L.layout.options(of), strict=True)
            return Choice(of, tag, tuple(canonical(L, v, t) for v, t in each))
        case _, Member(_, k, payload):
            each_type = enumerate(L.layout.options(of))
            parts = [canonical(L, payload, t) if i == k else canonical(L, dummy(L, t), t) for i, t in each_type]
            return Choice(of, Const(k), tuple(parts))
    return L.force(value)


def dummy(L: Lower, of: Type) -> Value:
    """Give a value of a type that nobody reads: the payload of an option that was not taken."""
    if L.layout.is_boxed(of):
        return Boxed(L.b.emit("nothing", (), kind=L.layout.kind(of)), of)
    match of:
        case Float():
            return Const(0.0)
        case Int():
            return Const(0)
        case Bool():
            return Const(False)
        case Product(items):
            return Tup(tuple(dummy(L, item) for item in items))
        case Array():
            return empty(L, of)
    return Member(of, 0, dummy(L, L.layout.options(of)[0]))


def empty(L: Lower, of: Type, axes: tuple[str, ...] = ()) -> Value:
    """Give an array without elements, whose rows have no elements either."""
    if L.layout.is_boxed(of):
        return Boxed(L.b.emit("list", (), kind="list"), of)
    match of:
        case Array(element):
            axis = L.axes.fresh(Const(0))
            return Along(axis, empty(L, element, (*axes, axis)))
        case Product(items):
            return Tup(tuple(empty(L, item, axes) for item in items))
        case Float() | Int() | Bool():
            kind = L.layout.kind(of)
            return L.b.emit("zeros", [Const(0) for _ in axes], (kind,), axes=axes, kind=kind)
    tag = L.b.emit("zeros", [Const(0) for _ in axes], ("int",), axes=axes, kind="int")
    return Choice(of, tag, tuple(empty(L, option, axes) for option in L.layout.options(of)))


def operands(value: Value) -> list[Operand]:
    """Give the leaves of a value in canonical form whose reads are done.

    Raises
    ------
    NotGenerated
        Where it has rows of different sizes, which boxes and recursive definitions do not hold.
    """
    if _is_ragged(value):
        raise NotGenerated("rows of different sizes in a box or in a recursive call")
    found = []
    for x in leaves(value):
        assert not isinstance(x, Pending)
        found.append(x)
    return found


def _is_ragged(value: Value) -> bool:
    match value:
        case Tup(items) | Choice(_, _, items):
            return any(map(_is_ragged, items))
        case Along(_, element, sizes):
            return sizes is not None or _is_ragged(element)
    return False


def boxed(L: Lower, value: Value, of: Type) -> Ref:
    """Put a value of a type that is boxed into one variable."""
    match value:
        case Boxed(ref):
            return ref
        case Member(_, k, payload):
            return pack(L, Const(k), canonical(L, payload, L.layout.options(of)[k]))
        case Items(items):
            assert isinstance(of, Array)
            return L.b.emit("list", [packed(L, item, of.element) for item in items], kind="list")
    raise NotGenerated(f"a {type(value).__name__} where {show(of)} is wanted")


def pack(L: Lower, *values: Value) -> Ref:
    """Make a box of the leaves of values."""
    parts = []
    for value in map(L.settled, values):
        if not _is_alone(value):
            raise NotWhole("a box inside a build")
        parts += operands(value)
    return L.b.emit("pack", parts, axes=(), kind="box")


def _is_alone(value: Value, rank: int = 0) -> bool:
    """Tell whether a value depends on no index but those of its own arrays."""
    match value:
        case Tup(items):
            return all(_is_alone(item, rank) for item in items)
        case Choice(_, tag, options):
            return _is_alone(tag, rank) and all(_is_alone(option, rank) for option in options)
        case Along(_, element):
            return _is_alone(element, rank + 1)
        case Const() | Ref():
            return len(value.axes) == rank
    return True


def packed(L: Lower, value: Value, of: Type) -> Operand:
    """Make the element of a list."""
    return boxed(L, value, of) if L.layout.is_boxed(of) else pack(L, canonical(L, value, of))


def declared(L: Lower, of: Type, hint: str, refs: list[Ref], axes: tuple[str, ...] = ()) -> Value:
    """Make variables for the leaves of a type; `measured` gives their axes sizes once they have values."""
    if L.layout.is_boxed(of):
        refs.append(L.b.fresh(hint, (), L.layout.kind(of)))
        return Boxed(refs[-1], of)
    match of:
        case Float() | Int() | Bool():
            refs.append(L.b.fresh(hint, axes, L.layout.kind(of)))
            return refs[-1]
        case Product(items, _, fields):
            parts = fields or tuple(str(i) for i in range(len(items)))
            each = zip(parts, items, strict=True)
            return Tup(tuple(declared(L, t, f"{hint}_{f}" if hint else f, refs, axes) for f, t in each))
        case Array(element):
            axis = L.axes.fresh(Const(0))
            return Along(axis, declared(L, element, hint, refs, (*axes, axis)))
    tag = L.b.fresh(f"{hint}_option", axes, "int")
    refs.append(tag)
    return Choice(of, tag, tuple(declared(L, t, hint, refs, axes) for t in L.layout.options(of)))


def measured(L: Lower, value: Value, depth: int = 0) -> None:
    """Read the sizes of the axes of declared variables off their values."""
    match value:
        case Tup(items):
            for item in items:
                measured(L, item, depth)
        case Choice(_, _, options):
            for option in options:
                measured(L, option, depth)
        case Along(axis, element):
            first = next(leaves(element))
            assert isinstance(first, Ref)
            hint = f"n_{first.name}"
            L.axes.sizes[axis] = L.b.emit("size", (first,), (depth,), axes=(), kind="int", hint=hint)
            measured(L, element, depth + 1)


def unpacked(L: Lower, ref: Ref, of: Type, hint: str, tag: bool = False) -> Value:
    """Take a box apart; the option that a member of a sum begins with is left out."""
    refs = [L.b.fresh("tag", (), "int")] if tag else []
    value = declared(L, of, hint, refs)
    L.b.block.append(Unpack(tuple(refs), ref))
    measured(L, value)
    return value


def element_at(L: Lower, array: Boxed, index: Operand) -> Value:
    """Read a list."""
    assert isinstance(array.of, Array)
    if index.axes:
        raise NotWhole("a list is read at many indices")
    of = array.of.element
    kind = L.layout.kind(of) if L.layout.is_boxed(of) else "box"
    found = L.b.emit("element", (array.ref, index), axes=(), kind=kind)
    return Boxed(found, of) if L.layout.is_boxed(of) else unpacked(L, found, of, "x")
