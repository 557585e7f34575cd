"""Reading, writing and adding to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...intermediate import statements as F
from ...intermediate.operations import REAL, WHOLE, Scalar
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
        whole_of(w, x)
        if x.grows and x.content is None:
            return V.Array(V.Number(f"np.zeros(0, {x.kind.python})", x.dims, x.kind), x.dims)
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


def whole_of(w: Writer, x: V.Local) -> None:
    """Materialise the zeros after the first elements of an array."""
    if x.part:
        with w.before(x.block):
            with_zeros(w, x)


def with_zeros(w: Writer, x: V.Local) -> None:
    """Write the zeros after the first elements of an array."""
    assert x.content is not None
    order = tuple(x.part.get(a, a) for a in (*x.around, *x.dims))
    v = w.number(x.content)
    axes = tuple(a for a in order if a in v.axes or a in x.part.values())
    text = v.text if v.axes == axes else w.aligned(v, axes) if set(v.axes) == set(axes) else w.full(v, axes)
    for dim, short in x.part.items():
        text = f"ops.unwindow({text}, {dim.count}, {axes.index(short)})"
    back = {short: dim for dim, short in x.part.items()}
    x.content, x.part = w.emit(text, tuple(back.get(a, a) for a in axes), x.kind, x.name), {}


def laid_out(w: Writer, x: Any, axes: tuple[V.Axis, ...] = ()) -> V.Number:
    """Give an array whose dimensions follow the given axes."""
    array = content(w, x)
    found = w.number(array.content)
    order = (*axes, *array.dims)
    if any(a.steps for a in order):
        raise V.NotWhole("rows of different sizes")
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
    if isinstance(array, V.Local) and isinstance(array.content, V.Product) and is_read_often(w, s):
        with w.before(array.block):
            array.content = w.number(array.content, array.name)
    whole = content(w, array)
    for dim, i in zip(whole.dims[len(before) :], indices, strict=False):
        if s.checked and (dim not in whole.content.axes or isinstance(whole.content, V.Affine)):
            inside(w, dim, i)
    found = elements(w, whole, (*before, *indices))
    w.env[s.out.name] = found if found.dims else found.content


def is_gathered(w: Writer, s: F.Row, indices: Sequence[V.Value]) -> bool:
    """Tell whether rows at any places are read once, so that elements of them can be read without making them."""
    return w.uses[s.out.name] == 1 and any(isinstance(i, V.Number) and i.axes for i in indices)


def is_read_often(w: Writer, s: F.Load | F.Row) -> bool:
    """Tell whether a product in an array is used more than once."""
    return w.uses[s.out.name] > 1 or (isinstance(s.array, F.Var) and w.uses[s.array.name] > 1 + w.written[s.array.name])


def inside(w: Writer, dim: V.Axis, i: V.Value) -> None:
    """Write a check that an index is in range although no element is read."""
    if isinstance(i, V.Affine) and len(i.terms) == 1 and i.offset == "0" and w.equal(i.terms[0].count, dim.count):
        return
    if dim.steps:
        raise V.NotWhole("an index into a row whose size varies")
    w.check(f"ops.inside({w.number(i).text}, {dim.count})")


@entry
def size(w: Writer, s: F.Size) -> None:
    array = w.value(s.array)
    axis = dims_left(array)[s.dim]
    if axis.steps:
        w.env[s.out.name] = w.steps[axis.steps]
        return
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
    if not n.axes:
        return V.Axis(n.text)
    most = w.once(("longest", n), lambda: w.emit(f"ops.longest({n.text})", (), WHOLE, "most", raises=True))
    w.steps[n.text] = n
    return V.Axis(most.text, n.text)


@entry
def new(w: Writer, s: F.New) -> None:
    of = s.out.type
    assert isinstance(of, F.ArrayOf)
    if not isinstance(of.element, Scalar):
        raise V.NotWhole("an array of references")
    dims = tuple(axis_of(w, w.value(x)) for x in s.sizes)
    if not s.sizes:
        dims = (V.Axis("0"),)
    w.env[s.out.name] = w.made(V.Local(s.out.name, dims, w.axes, len(w.masks), of.element, grows=not s.sizes))


@entry
def zeros_like(w: Writer, s: F.ZerosLike) -> None:
    array = w.value(s.array)
    copies = tuple(V.Axis(d.count, d.steps) for d in dims_left(array))
    w.env[s.out.name] = w.made(V.Local(s.out.name, copies, w.axes, len(w.masks), REAL))


def materialise(w: Writer, x: V.Local) -> V.Number:
    """Materialise a local array with all dimensions in its own memory."""
    whole_of(w, x)
    order = (*x.around, *x.dims)
    if x.owned and isinstance(x.content, V.Number):
        return x.content
    if x.grows:
        raise V.NotWhole("an array that grows")
    if any(a.steps for a in order):
        raise V.NotWhole("rows of different sizes")
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
    masks = [m for m in w.masks[local.masks :] if not any(a.steps and a in index_axes for a in m.axes)]
    if is_whole(w, local, indices) and local.content is None and not masks and not is_outside(w, local):
        local.content = V.renamed(value, places(local, indices))  # type: ignore[assignment]
        return
    if masks:
        raise V.NotWhole("an element that is written under a condition")
    buffer = materialise(w, local)
    text, axes = place(w, local, buffer, indices)
    w.change(f"{text} = {w.aligned(w.number(value), axes)}", buffer.text)


@entry
def append(w: Writer, s: F.Append) -> None:
    local, _ = target(w, s.array)
    inner = tuple(a for a in w.axes if a not in local.around)
    if (
        local.around
        or local.content is not None
        or w.masks
        or len(inner) != 1
        or is_outside(w, local)
        or inner[0].steps
    ):
        raise V.NotWhole("an array that grows")
    value = w.number(w.value(s.value))
    local.dims[0].count = inner[0].count
    local.content = V.Number(w.full(value, inner), local.dims, value.kind)
    if not local.content.text.isidentifier():
        local.content = w.emit(local.content.text, local.dims, value.kind, local.name)


def is_outside(w: Writer, local: V.Local) -> bool:
    """Tell whether an array is made outside the loop or branch that is being written."""
    return local.block is not w.block


def is_whole(w: Writer, local: V.Local, indices: Sequence[V.Value]) -> bool:
    """Tell whether indices cover an array in order, each by a separate loop."""
    to = places(local, indices)
    return bool(to) and all(w.equal(t.count, d.count) and t.steps == d.steps for t, d in to.items())


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
    value = w.value(s.value)
    part = value.part if isinstance(value, V.Local) else {}
    if part:
        whole, sizes = V.Array(value.content, tuple(part.get(d, d) for d in value.dims)), value.dims
    else:
        whole = content(w, value)
        sizes = whole.dims
    local, before = target(w, s.array)
    dims = local.dims[len(before) :]
    same_sizes(w, sizes, dims)
    own = tuple(d if x in sizes else x for x, d in zip(whole.dims, dims, strict=True))
    v = V.renamed(whole.content, dict(zip(whole.dims, own, strict=True)))
    outer = w.axes
    w.axes = (*outer, *own)
    added(w, local, [*before, *(V.Affine((d,)) for d in own)], v)  # type: ignore[arg-type]
    w.axes = outer


def same_sizes(w: Writer, a: Sequence[V.Axis], b: Sequence[V.Axis]) -> None:
    """Require that an array is added to one of the same shape."""
    for x, y in zip(a, b, strict=True):
        if x.steps != y.steps:
            raise V.NotWhole("rows of different sizes")
        w.same(x.count, y.count)


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
    """Begin an array with sums as its first elements; return whether that was possible."""
    to = places(local, indices)
    if not to or any(t.steps or d.steps for t, d in to.items()):
        return False
    if local.content is not None or is_outside(w, local):
        return False
    for t, d in list(to.items()):
        if not w.equal(t.count, d.count):
            local.part[d] = to[t] = V.Axis(t.count)
    local.content = V.renamed(value, to)  # type: ignore[assignment]
    return True


def add_whole(w: Writer, local: V.Local, value: V.Value) -> None:
    """Add to all elements of an array."""
    whole_of(w, local)
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
