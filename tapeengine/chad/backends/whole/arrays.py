"""Reading, writing and adding to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...intermediate import statements as F
from ...intermediate.operations import REAL, Scalar
from ...language.tables import entry
from . import values as V
from .sums import summed
from .writer import Writer


def dims_left(x: V.Array | V.Local | V.View) -> tuple[V.Axis, ...]:
    """Give the dimensions of an array, or of a row of one."""
    return x.local.dims[len(x.indices) :] if isinstance(x, V.View) else x.dims


def plain_array(text: str, of: F.ArrayOf, axes: tuple[V.Axis, ...] = ()) -> V.Array:
    """Give an array in a variable, whose dimensions follow those of loops."""
    if not isinstance(of.element, Scalar):
        raise V.NotWhole("an array of references")
    dims = tuple(V.Axis(f"{text}.shape[{len(axes) + k}]") for k in range(of.rank))
    return V.Array(V.Number(text, (*axes, *dims), of.element), dims)


# ------------------------------------------------------------ reading


def content(w: Writer, x: Any) -> V.Array:
    """Give the present elements of an array."""
    if isinstance(x, V.Array):
        return x
    if isinstance(x, V.View):
        return elements(w, content(w, x.local), x.indices)
    if isinstance(x, V.Local):
        zero: V.Value = V.Number("0.0" if x.kind == REAL else "0", (), x.kind)
        return V.Array(zero if x.content is None else x.content, x.dims)
    raise V.NotWhole("an element of a value that is not an array")


def elements(w: Writer, whole: V.Array, indices: Sequence[V.Value]) -> V.Array:
    """Give the element at indices; a sum becomes an array first if an index may count from the end."""
    at = dict(zip(whole.dims, indices, strict=False))
    found = whole.content
    if isinstance(found, V.Affine) and not all(is_count(w, i) for dim, i in at.items() if dim in found.axes):
        found = w.number(found)
    return V.Array(w.substituted(found, at), whole.dims[len(indices) :])


def is_count(w: Writer, i: V.Value) -> bool:
    """Tell whether an index is known not to be negative."""
    return isinstance(i, V.Affine) and w.is_size(V.Affine((), i.offset))


def laid_out(w: Writer, x: Any, axes: tuple[V.Axis, ...] = ()) -> V.Number:
    """Give an array whose dimensions follow the given axes."""
    array = content(w, x)
    found = w.number(array.content)
    order = (*axes, *array.dims)
    if found.axes == order:
        return found
    if set(found.axes) == set(order):
        return w.emit(w.aligned(found, order), order, found.kind, "a")
    shape = ", ".join(a.count for a in order)
    kind = "" if found.kind == REAL else f", {found.kind.python}"
    return w.emit(f"ops.spread({w.aligned(found, order)}, ({shape},){kind})", order, found.kind, "a")


@entry
def load(w: Writer, s: F.Load | F.Row) -> None:
    array = w.value(s.array)
    indices = [w.value(i) for i in s.indices]
    before: tuple[V.Value, ...] = ()
    if isinstance(array, V.View):
        before, array = array.indices, array.local
    if isinstance(s, F.Row) and (isinstance(array, V.Local) or is_gathered(w, s, indices)):
        if s.checked:
            for dim, i in zip(array.dims[len(before) :], indices, strict=False):
                inside(w, dim, i)
        w.env[s.out.name] = V.View(array, (*before, *indices))
        return
    whole = content(w, array)
    for dim, i in zip(whole.dims[len(before) :], indices, strict=False):
        if s.checked and (dim not in whole.content.axes or isinstance(whole.content, V.Affine)):
            inside(w, dim, i)
    found = elements(w, whole, (*before, *indices))
    w.env[s.out.name] = found if found.dims else found.content


def is_gathered(w: Writer, s: F.Row, indices: Sequence[V.Value]) -> bool:
    """Tell whether rows at any places are read once, so that elements of them can be read without making them."""
    return w.uses[s.out.name] == 1 and any(isinstance(i, V.Number) and i.axes for i in indices)


def inside(w: Writer, dim: V.Axis, i: V.Value) -> None:
    """Write a check that an index is in range although no element is read."""
    if isinstance(i, V.Affine) and len(i.terms) == 1 and i.offset == "0" and w.equal(i.terms[0].count, dim.count):
        return
    w.check(f"ops.inside({w.number(i).text}, {dim.count})")


@entry
def size(w: Writer, s: F.Size) -> None:
    array = w.value(s.array)
    axis = dims_left(array)[s.dim]
    if not axis.count.isidentifier() and not axis.count.isdigit():
        w.name_size(axis, s.out.name)
    w.env[s.out.name] = V.Affine((), axis.count)


@entry
def check(w: Writer, s: F.Check) -> None:
    i, n = w.value(s.index), w.value(s.size)
    if n.axes:
        raise V.NotWhole("a check against sizes that vary")
    w.check(f"ops.inside({w.number(i).text}, {w.number(n).text})")


# ------------------------------------------------------------ making


def axis_of(w: Writer, count: V.Value) -> V.Axis:
    """Make a dimension or a loop with a number of elements or steps."""
    if isinstance(count, V.Affine) and not count.terms:
        return V.Axis(count.offset)
    n = w.number(count)
    if n.axes:
        raise V.NotWhole("rows of different sizes")
    return V.Axis(n.text)


@entry
def new(w: Writer, s: F.New) -> None:
    of = s.out.type
    assert isinstance(of, F.ArrayOf)
    if not isinstance(of.element, Scalar) or not s.sizes:
        raise V.NotWhole("an array of references, or one that grows")
    dims = tuple(axis_of(w, w.value(x)) for x in s.sizes)
    w.env[s.out.name] = w.made(V.Local(s.out.name, dims, w.axes, len(w.masks), of.element))


@entry
def zeros_like(w: Writer, s: F.ZerosLike) -> None:
    array = w.value(s.array)
    copies = tuple(V.Axis(d.count) for d in dims_left(array))
    w.env[s.out.name] = w.made(V.Local(s.out.name, copies, w.axes, len(w.masks), REAL))


def materialise(w: Writer, x: V.Local) -> V.Number:
    """Materialise a local array with all dimensions in its own memory."""
    order = (*x.around, *x.dims)
    if x.owned and isinstance(x.content, V.Number):
        return x.content
    shape = ", ".join(f"max({a.count}, 0)" if not a.count.isdigit() else a.count for a in order)
    kind = "" if x.kind == REAL else f", {x.kind.python}"
    name = w.fresh(x.name)
    if x.content is None:
        w.set(name, f"np.zeros(({shape},){kind})")
    else:
        w.set(name, f"ops.spread({w.aligned(w.number(x.content), order)}, ({shape},){kind})")
    x.content, x.owned = V.Number(name, order, x.kind), True
    return x.content


# ------------------------------------------------------------ writing


def target(w: Writer, x: F.Operand) -> tuple[V.Local, tuple[V.Value, ...]]:
    """Give the array that is written to, and indices along its first dimensions."""
    assert isinstance(x, F.Var)
    found = w.env[x.name]
    if isinstance(found, V.Local):
        return found, ()
    if isinstance(found, V.View) and isinstance(found.local, V.Local):
        return found.local, found.indices
    raise V.NotWhole("writing to an array of another function")


@entry
def store(w: Writer, s: F.Store) -> None:
    local, before = target(w, s.array)
    indices = [*before, *(w.value(i) for i in s.indices)]
    value = w.value(s.value)
    inner = set(w.axes) - set(local.around)
    index_axes = V.union(*(i.axes for i in (*around(local), *indices)))
    if inner - set(index_axes):
        raise V.NotWhole("an element that several steps write")
    masks = w.masks[local.masks :]
    if is_whole(w, local, indices) and local.content is None and not masks and not is_outside(w, local):
        local.content = V.renamed(value, places(local, indices))  # type: ignore[assignment]
        return
    if masks:
        raise V.NotWhole("an element that is written under a condition")
    buffer = materialise(w, local)
    text, axes = place(w, local, buffer, indices)
    w.change(f"{text} = {w.aligned(w.number(value), axes)}", buffer.text)


def is_outside(w: Writer, local: V.Local) -> bool:
    """Tell whether an array is made outside the loop or branch that is being written."""
    return local.block is not w.block


def is_whole(w: Writer, local: V.Local, indices: Sequence[V.Value]) -> bool:
    """Tell whether indices cover an array in order, each by a separate loop."""
    to = places(local, indices)
    return bool(to) and all(w.equal(t.count, d.count) for t, d in to.items())


def places(local: V.Local, indices: Sequence[V.Value]) -> dict[V.Axis, V.Axis]:
    """Give the dimension along which each loop runs, if each index is that of another loop; otherwise nothing."""
    terms = [i.terms[0] for i in indices if isinstance(i, V.Affine) and len(i.terms) == 1 and i.offset == "0"]
    if len(terms) < len(local.dims) or len(set(terms)) < len(terms) or set(terms) & set(local.around):
        return {}
    return dict(zip(terms, local.dims, strict=True))


def around(local: V.Local) -> list[V.Value]:
    """Give the indices along the loops in which an array was made."""
    return [V.Affine((a,)) for a in local.around]


def place(w: Writer, local: V.Local, buffer: V.Number, indices: Sequence[V.Value]) -> tuple[str, tuple[V.Axis, ...]]:
    """Write a part of an array that is assigned to; give the axes of that part."""
    every = [*around(local), *indices]
    if is_sliced(every):
        parts, axes = slices(w, buffer, every)
        return f"{buffer.text}[{', '.join(parts)}]", axes
    text, axes = indexed(w, every)
    return f"{buffer.text}[{text}]", axes


def is_sliced(indices: Sequence[V.Value]) -> bool:
    """Tell whether a part of an array can be written by slices."""
    terms = [a for i in indices for a in i.axes]
    plain = all(
        (isinstance(i, V.Affine) and len(i.terms) == 1 and not i.offset.startswith("-")) or not i.axes for i in indices
    )
    return plain and len(set(terms)) == len(terms)


def slices(w: Writer, buffer: V.Number, indices: Sequence[V.Value]) -> tuple[list[str], tuple[V.Axis, ...]]:
    """Write a part of an array as slices."""
    parts, axes = [], []
    for d, (i, dim) in enumerate(zip(indices, buffer.axes, strict=True)):
        if not i.axes:
            parts.append(i.offset if isinstance(i, V.Affine) else w.number(i).text)
            continue
        assert isinstance(i, V.Affine)
        axis = i.terms[0]
        axes.append(axis)
        if i.offset == "0" and (axis is dim or w.equal(axis.count, dim.count)):
            parts.append(":")
        else:
            parts.append(f"ops.span({i.offset}, {axis.count}, {buffer.text}.shape[{d}])")
    return parts, tuple(axes)


def indexed(w: Writer, indices: Sequence[V.Value]) -> tuple[str, tuple[V.Axis, ...]]:
    """Write a part of an array as arrays of indices."""
    axes = V.union(*(i.axes for i in indices))
    parts = [w.within_masks(w.number(i), axes) if not isinstance(i, V.Affine) else w.number(i) for i in indices]
    return ", ".join(w.aligned(i, axes) for i in parts), axes


# ------------------------------------------------------------ adding


@entry
def add_at(w: Writer, s: F.AddAt) -> None:
    local, before = target(w, s.array)
    added(w, local, [*before, *(w.value(i) for i in s.indices)], w.value(s.value))


@entry
def add_all(w: Writer, s: F.AddAll) -> None:
    whole = content(w, w.value(s.value))
    local, before = target(w, s.array)
    dims = local.dims[len(before) :]
    for x, y in zip(whole.dims, dims, strict=True):
        w.same(x.count, y.count)
    v = V.renamed(whole.content, dict(zip(whole.dims, dims, strict=True)))
    outer = w.axes
    w.axes = (*outer, *dims)
    added(w, local, [*before, *(V.Affine((d,)) for d in dims)], v)  # type: ignore[arg-type]
    w.axes = outer


def added(w: Writer, local: V.Local, indices: Sequence[V.Value], value: V.Value) -> None:
    """Add values at indices, summed over all steps with the same indices."""
    every = [*around(local), *indices]
    index_axes = V.union(*(i.axes for i in every))
    inner = [a for a in w.axes if a not in local.around and a not in index_axes]
    w.order = tuple(a for i in every for a in i.axes)
    found = summed(w, value, inner, w.masks[local.masks :])
    w.order = ()
    if is_whole(w, local, indices):
        add_whole(w, local, V.renamed(found, places(local, indices)))  # type: ignore[arg-type]
        return
    if begun(w, local, indices, found):
        return
    buffer = materialise(w, local)
    if is_sliced(every):
        parts, axes = slices(w, buffer, every)
        at = f"{buffer.text}[{', '.join(parts)}]"
        w.change(f"{at} += {w.aligned(w.number(found), axes)}", buffer.text)
        return
    text, axes = indexed(w, every)
    v = w.number(found)
    given = w.full(v, axes) if local.kind == REAL and len(every) == 1 else w.aligned(v, axes)
    w.change(f"ops.add_at({buffer.text}, ({text},), {given})", buffer.text)


def begun(w: Writer, local: V.Local, indices: Sequence[V.Value], value: V.Value) -> bool:
    """Make an array of sums that are its first elements, with zeros after them; return whether that was possible."""
    to = places(local, indices)
    if not to or local.content is not None or is_outside(w, local):
        return False
    first = {t: d if w.equal(t.count, d.count) else V.Axis(t.count) for t, d in to.items()}
    if not set(to).issubset(value.axes):
        return False
    found = w.number(V.renamed(value, first))
    for t, d in to.items():
        if first[t] is not d:
            axes = tuple(d if a is first[t] else a for a in found.axes)
            text = f"ops.unwindow({found.text}, {d.count}, {axes.index(d)})"
            found = w.emit(text, axes, local.kind, local.name)
    local.content = found
    return True


def add_whole(w: Writer, local: V.Local, value: V.Value) -> None:
    """Add to all elements of an array."""
    order = (*local.around, *local.dims)
    if local.owned:
        assert isinstance(local.content, V.Number)
        w.change(f"{local.content.text} += {w.aligned(w.number(value), order)}", local.content.text)
    elif local.content is None:
        local.content = value
    else:
        a, b = w.number(local.content), w.number(value)
        axes = V.union(a.axes, b.axes)
        if local.masks < len(w.masks):
            axes = order
        local.content = w.emit(f"{w.aligned(a, axes)} + {w.aligned(b, axes)}", axes, local.kind, local.name, atom=False)
