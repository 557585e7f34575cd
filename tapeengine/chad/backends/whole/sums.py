"""Sums over loops: sums of products become contractions, computed by BLAS if they contain a matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from ...intermediate.operations import REAL, WHOLE
from .values import Axis, Number, Product, Value, union
from .writer import Writer


def summed(w: Writer, x: Value, over: Sequence[Axis], masks: Sequence[Number]) -> Value:
    """Give the sum of a value over axes, for the steps in which all masks hold."""
    parts = list(x.factors) if isinstance(x, Product) else [w.number(x)]
    late = [m for m in masks if not set(m.axes) & set(over)]
    for mask in masks:
        if mask not in late:
            parts = with_mask(w, parts, mask)
    outside = [f for f in parts if not set(f.axes) & set(over)]
    inside = [f for f in parts if set(f.axes) & set(over)]
    varied = union(*(f.axes for f in inside))
    counts = [a.count for a in over if a not in varied]
    kind = x.kind
    if counts:
        outside.append(Number(" * ".join(counts) if kind == WHOLE else f"float({' * '.join(counts)})", (), kind))
    if inside:
        outside.append(contracted(w, inside, [a for a in over if a in varied]))
    found = product(w, outside, kind)
    for mask in late:
        found = w.masked(mask, w.number(found))
    return found


def product(w: Writer, parts: Sequence[Number], kind: object) -> Value:
    """Give a product of numbers."""
    if len(parts) == 1:
        return parts[0]
    if kind == REAL:
        return Product(tuple(parts))
    axes = union(*(f.axes for f in parts))
    return w.emit(" * ".join(w.aligned(f, axes) for f in parts), axes, WHOLE, atom=False)


def with_mask(w: Writer, parts: list[Number], mask: Number) -> list[Number]:
    """Set a factor to zero where a mask does not hold: the smallest factor that varies along the mask's axes."""
    fitting = [f for f in parts if set(mask.axes) <= set(f.axes)]
    if fitting:
        chosen = min(fitting, key=lambda f: len(f.axes))
    else:
        chosen = max(parts, key=lambda f: len(set(f.axes) & set(mask.axes)))
    return [w.masked(mask, f) if f is chosen else f for f in parts]


def contracted(w: Writer, parts: list[Number], over: Sequence[Axis]) -> Number:
    """Sum a product over axes that all occur in it."""
    key = ("sum", tuple(parts), tuple(over))
    return w.once(key, lambda: made(w, list(parts), list(over)))  # type: ignore[no-any-return]


def made(w: Writer, parts: list[Number], over: list[Axis]) -> Number:
    """Write a contraction."""
    parts, over = alone_summed(w, parts, over)
    while len(parts) > 2:
        parts = with_two_fewer(w, parts)
        parts, over = alone_summed(w, parts, over)
    if len(parts) == 1:
        return total(w, parts[0], over)
    if not over:
        return w.number(Product(tuple(parts)))
    return of_two(w, parts[0], parts[1], over)


def alone_summed(w: Writer, parts: list[Number], over: list[Axis]) -> tuple[list[Number], list[Axis]]:
    """Sum each factor over the axes that no other factor has."""
    if len(parts) == 1:
        return parts, over
    found = []
    for k, f in enumerate(parts):
        others = {a for m, g in enumerate(parts) if m != k for a in g.axes}
        own = [a for a in over if a in f.axes and a not in others]
        found.append(known_total(w, f, own))
        over = [a for a in over if a not in own]
    return found, over


def known_total(w: Writer, x: Number, over: Sequence[Axis]) -> Number:
    """Sum one array, once."""
    return w.once(("sum", (x,), tuple(over)), lambda: total(w, x, over)) if over else x


def total(w: Writer, x: Number, over: Sequence[Axis]) -> Number:
    """Sum one array."""
    if not over:
        return x
    rest, kind = tuple(a for a in x.axes if a not in over), REAL if x.kind == REAL else WHOLE
    dims = [str(k) for k, a in enumerate(x.axes) if a in over]
    if not rest:
        text = f"{kind.python}(ops.summed({x.text}))"
    elif w.may_raise or len(x.axes) != 2:
        at = dims[0] if len(dims) == 1 else f"({', '.join(dims)})"
        text = f"{x.text}.sum({at})"
    else:
        text = f"ops.summed({x.text}, {dims[0]})"
    return w.emit(text, rest, kind, "total")


def with_two_fewer(w: Writer, parts: list[Number]) -> list[Number]:
    """Multiply the two factors whose product is smallest."""
    pairs = [(len(union(f.axes, g.axes)), k, m) for k, f in enumerate(parts) for m, g in enumerate(parts) if k < m]
    _, k, m = min(pairs)
    both = w.number(Product((parts[k], parts[m])))
    return [both, *(f for n, f in enumerate(parts) if n not in (k, m))]


def of_two(w: Writer, a: Number, b: Number, over: Sequence[Axis]) -> Number:
    """Sum a product of two arrays; each axis of the sum occurs in both."""
    both = [x for x in a.axes if x in b.axes and x not in over]
    left = [x for x in a.axes if x not in b.axes]
    right = [x for x in b.axes if x not in a.axes]
    if not both:
        return matrix_product(w, a, b, left, right, over)
    if len(both) == len(left) == len(right) == len(over) == 1:
        return batched(w, a, b, (both[0], left[0], right[0], over[0]))
    letters = dict(zip(union(a.axes, b.axes), ascii_lowercase, strict=False))
    axes = union(tuple(both), tuple(left), tuple(right))
    spelled = ["".join(letters[x] for x in xs) for xs in (a.axes, b.axes, axes)]
    text = f"np.einsum('{spelled[0]},{spelled[1]}->{spelled[2]}', {a.text}, {b.text})"
    return w.emit(text, axes, REAL, "total")


def matrix_product(
    w: Writer, a: Number, b: Number, left: list[Axis], right: list[Axis], over: Sequence[Axis]
) -> Number:
    """Write a product of matrices or vectors, or of arrays taken as matrices."""
    if right and (not left or is_later(w, left[0], right[0])):
        a, b, left, right = b, a, right, left
    w.matrix_products += bool(left and right)
    w.vector_products += bool(left and not right)
    axes = (*left, *right)
    if not axes:
        if len(over) == 1:
            return w.emit(f"float({a.text}.dot({b.text}))", (), REAL, "total")
        return w.emit(f"float(np.vdot({a.text}, {w.aligned(b, a.axes)}))", (), REAL, "total")
    if len(over) == 1 and len(left) <= 1 and len(right) <= 1:
        first = w.aligned(a, (*left, *over))
        second = w.aligned(b, (*over, *right))
        if not right and first.endswith(".T"):
            first, second = second, first[:-2]
        if left and right:
            return w.emit(f"{first} @ {second}", axes, REAL, "total", atom=False)
        return w.emit(f"{first}.dot({second})", axes, REAL, "total")  # half as long as `@` for some thousand numbers
    dims = [[k.axes.index(x) for x in over] for k in (a, b)]
    return w.emit(f"np.tensordot({a.text}, {b.text}, ({dims[0]}, {dims[1]}))", axes, REAL, "total")


def is_later(w: Writer, a: Axis, b: Axis) -> bool:
    """Tell whether an axis should follow another one."""
    if a in w.order and b in w.order:
        return w.order.index(a) > w.order.index(b)
    return a.level > b.level


def batched(w: Writer, a: Number, b: Number, axes: tuple[Axis, Axis, Axis, Axis]) -> Number:
    """Write products of matrices one by one."""
    w.matrix_products += 1
    both, left, right, over = axes
    first, second = w.aligned(a, (both, left, over)), w.aligned(b, (both, over, right))
    result = union((both, left, right))
    order = tuple(result.index(x) for x in (both, left, right))
    return w.emit(f"ops.products({first}, {second}, {order})", result, REAL, "total")
