"""Scalar operations, loops and branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...intermediate import statements as F
from ...intermediate.analysis import as_loop, changes, outs, walk
from ...intermediate.operations import REAL, TRUTH, WHOLE, Scalar
from ...language.tables import entry, table
from ...language.types import BOOL, FLOAT, INT, Type
from ...registered import is_elementwise
from . import arrays, folds
from . import values as V
from .arrays import axis_of, content, laid_out, materialise, plain_array
from .operations import SAFE, scalar_text, whole_text
from .sums import summed
from .text import Block, Frames, Nest
from .writer import Home, Writer

# ------------------------------------------------------------ numbers


@entry
def compute(w: Writer, s: F.Compute) -> None:
    args = [w.value(x) for x in s.args]
    if s.operation.name in ("isame", "iequal") and not args[0].axes and not args[1].axes:
        w.env[s.out.name] = V.Affine((), w.same(*(w.number(x).text for x in args)))
        return
    w.env[s.out.name] = lazily(w, s, args) or at_once(w, s, [w.number(x) for x in args])


def lazily(w: Writer, s: F.Compute, args: list[V.Value]) -> V.Value | None:
    """Give a product or a sum of indices that is not materialised yet; None for anything else."""
    name = s.operation.name
    if name == "iadd":
        found = w.sum_of_indices(*args) if all(isinstance(x, V.Affine) or not x.axes for x in args) else None
        return found if isinstance(found, V.Affine) else None
    if name == "imax" and args[1] == V.Affine((), "0") and isinstance(args[0], V.Affine) and w.is_size(args[0]):
        return args[0]
    if name == "isub" and isinstance(args[0], V.Affine) and not args[1].axes:
        return minus(w, args[0], args[1])
    if name not in ("mul", "neg", "add") or not any(x.axes for x in args):
        return None
    if name == "add" and s.args[0] != s.args[1]:
        return None
    given = args[: 1 if name == "add" else 2]
    parts = [f for x in given for f in (x.factors if isinstance(x, V.Product) else (w.number(x),))]
    if name != "mul":
        parts.insert(0, V.Number("-1.0" if name == "neg" else "2.0"))
    found = V.Product(tuple(parts))
    return found if s.out.name in w.lazy else w.number(found, s.out.name)


def minus(w: Writer, x: V.Affine, y: V.Value) -> V.Value | None:
    """Subtract a loop-invariant number from a sum of indices."""
    offset = y.offset if isinstance(y, V.Affine) else w.number(y).text
    if offset.lstrip("-").isdigit():
        return V.Affine(x.terms, w.sum_of_texts(x.offset, str(-int(offset))))
    if not x.terms:
        return None
    text = f"{x.offset} - {offset}" if x.offset != "0" else f"-{offset}"
    return V.Affine(x.terms, w.once(("text", text), lambda: w.emit(text, (), WHOLE, "at", atom=False)).text)


def at_once(w: Writer, s: F.Compute, args: list[V.Number]) -> V.Value:
    """Write an operation."""
    axes = V.union(*(x.axes for x in args))
    texts = []
    for x, of in zip(args, s.operation.takes, strict=True):
        text = w.aligned(x, axes)
        if x.kind == TRUTH and of != TRUTH:
            text = f"({text} + 0)" if x.axes else f"int({text})"
        texts.append(f"({text})" if text.startswith("-") else text)
    text, atom = whole_text(s.operation, texts, w.may_raise) if axes else scalar_text(s.operation, texts)
    raises = not s.operation.is_total
    found = w.once(
        ("text", text, axes), lambda: w.emit(text, axes, s.operation.gives, s.out.name, raises=raises, atom=atom)
    )
    return V.Affine((), found.text) if s.operation.gives == WHOLE and not axes else found


@entry
def assign(w: Writer, s: F.Assign) -> None:
    found = [w.value(x) for x in s.values]
    for v, x in zip(s.outs, found, strict=True):
        if v.name in w.pinned:
            set_pinned(w, v, x)
            continue
        w.homes[v.name] = Home(w.axes, len(w.masks), w.block)
        w.env[v.name] = x
        for assigned in w.assigned:
            assigned.add(v.name)


@entry
def add(w: Writer, s: F.Add) -> None:
    name = s.out.name
    if isinstance(s.out.type, F.BoxOf):
        raise V.NotWhole("a box")
    home = w.homes[name]
    given = w.value(s.value)
    over = [a for a in w.axes if a not in home.axes]
    found = summed(w, given, over, w.masks[home.masks :])
    before = w.env[name]
    if name in w.pinned:
        axes = before.axes
        w.set(before.text, f"{before.text} + {w.aligned(w.number(found), axes)}")
        return
    if is_zero(before):
        w.env[name] = found
        return
    a, b = w.number(before), w.number(found)
    axes = V.union(a.axes, b.axes)
    w.env[name] = w.emit(f"{w.aligned(a, axes)} + {w.aligned(b, axes)}", axes, s.out.type, name, atom=False)  # type: ignore[arg-type]


@entry
def sum_(w: Writer, s: F.Sum) -> None:
    w.statements(as_loop(s))


def is_zero(x: V.Value) -> bool:
    """Tell whether a value is the literal zero."""
    return (isinstance(x, V.Number) and x.text == "0.0") or (isinstance(x, V.Affine) and x == V.Affine((), "0"))


# ------------------------------------------------------------ loops as whole-array operations


@entry
def for_(w: Writer, s: F.For) -> None:
    refuse_changes(s)
    if all(v == x for v, x in s.carried):
        at_once_for(w, s, lambda: w.statements(s.body))
    elif not folds.fold(w, s, at_once_for):
        raise V.NotWhole("a loop whose steps depend on one another")


def refuse_changes(s: F.For) -> None:
    """Refuse a loop whose steps write elements of an array that steps read."""
    inside = [x for x, _ in walk(list(s.body))]
    made = {v.name for x in inside for v in outs(x)}
    written = {x.array.name for x in inside if isinstance(x, F.Store | F.Append | F.Pop)} - made
    if any(isinstance(x, F.Load) and isinstance(x.array, F.Var) and x.array.name in written for x in inside):
        raise V.NotWhole("an array that is changed in place")


def at_once_for(w: Writer, s: F.For, body: Any) -> V.Axis:
    """Write all steps of a loop as whole-array operations."""
    axis = loop_axis(w, s)
    outer_axes, outer_masks = w.axes, list(w.masks)
    w.axes = (*w.axes, axis)
    w.env[s.index.name] = V.Affine((axis,))
    if axis.steps:
        steps = w.steps[axis.steps]
        axes = V.union(steps.axes, (axis,))
        index = w.number(V.Affine((axis,)))
        text = f"{w.aligned(index, axes)} < {w.aligned(steps, axes)}"
        w.masks.append(w.once(("mask", axis), lambda: w.emit(text, axes, TRUTH, "counts", atom=False)))
    for k in s.recalled:
        site = w.value(k.frames)
        for f in k.fields:
            w.env[f.name] = V.renamed(site.fields[0][f.name], {site.axes[0]: axis})
    body()
    w.axes, w.masks = outer_axes, outer_masks
    if s.kept is not None:
        kept = fields(w, s.kept)
        if axis.steps:
            kept[STEPS] = w.steps[axis.steps]
        w.env[s.kept.frames.name] = V.Site((axis,), [kept])
    return axis


def loop_axis(w: Writer, s: F.For) -> V.Axis:
    """Make the axis of a loop."""
    if s.count is not None:
        axis = axis_of(w, w.value(s.count))
    else:
        site = w.value(s.recalled[0].frames)
        steps = site.fields[0].get(STEPS)
        axis = V.Axis(site.axes[0].count) if steps is None else axis_of(w, steps)
    return axis


#: The name under which a loop keeps its numbers of steps if these vary.
STEPS = "#steps"


def fields(w: Writer, kept: F.Kept) -> dict[str, object]:
    """Give the values that a site keeps."""
    found: dict[str, object] = {}
    for f in kept.fields:
        x = w.value(f)
        if isinstance(x, V.Local | V.View):
            x = content(w, x)
        if isinstance(x, V.Array):
            x = V.Array(w.number(x.content), x.dims)
        if isinstance(x, V.Product):
            x = w.number(x)
        found[f.name] = x
    return found


# ------------------------------------------------------------ branches


@contextmanager
def nest(w: Writer, bodies: Sequence[Sequence[F.Statement]]) -> Iterator[None]:
    """Pin the variables that the blocks of a branch change."""
    declared = {v.name for body in bodies for s, _ in walk(list(body)) if not isinstance(s, F.Add) for v in outs(s)}
    added = {s.out.name for body in bodies for s, _ in walk(list(body)) if isinstance(s, F.Add)}
    rows = {s.out.name: s.array for body in bodies for s, _ in walk(list(body)) if isinstance(s, F.Load | F.Row)}
    changed = {v.name for body in bodies for s, _ in walk(list(body)) for v in changes(s)}
    for name in list(changed):
        while name in rows and isinstance(rows[name], F.Var):
            name = rows[name].name  # type: ignore[union-attr]
            changed.add(name)
    pinned = []
    for name in sorted(added | declared):
        if name in w.env and name in w.homes and name not in w.pinned and (name in added or assigns(bodies, name)):
            pin(w, name)
            pinned.append(name)
    for name in sorted(changed):
        x = w.env.get(name)
        local = x.local if isinstance(x, V.View) else x
        if isinstance(local, V.Local):
            materialise(w, local)
    yield
    for name in pinned:
        w.pinned.discard(name)


def assigns(bodies: Sequence[Sequence[F.Statement]], name: str) -> bool:
    """Tell whether statements assign to a variable."""
    return any(
        isinstance(s, F.Assign) and any(v.name == name for v in s.outs) for b in bodies for s, _ in walk(list(b))
    )


def pin(w: Writer, name: str) -> None:
    """Store a number in its own variable, which may change."""
    x = w.number(w.env[name])
    axes = w.homes[name].axes
    variable = w.fresh(name)
    w.set(variable, w.full(x, axes))
    w.env[name] = V.Number(variable, axes, x.kind)
    w.pinned.add(name)


def set_pinned(w: Writer, v: F.Var, x: Any) -> None:
    """Assign a pinned variable."""
    before = w.env[v.name]
    if isinstance(before, V.Array):
        w.set(before.content.text, laid_out(w, x, V.axes_of(before)).text)  # type: ignore[union-attr]
    else:
        w.set(before.text, w.full(w.number(x), before.axes))


def variable(w: Writer, v: F.Var) -> None:
    """Make a mutable variable for the result of a branch."""
    name = w.fresh(v.name)
    if isinstance(v.type, F.ArrayOf):
        w.env[v.name] = plain_array(name, v.type, w.axes)
    elif isinstance(v.type, Scalar):
        w.env[v.name] = V.Number(name, w.axes, v.type)
    else:
        raise V.NotWhole("a box")


@entry
def if_(w: Writer, s: F.If) -> None:
    condition = w.value(s.condition)
    if not condition.axes:
        one_branch(w, s, condition)
    elif is_cheap(w, s):
        masked(w, s, w.number(condition))
    else:
        raise V.NotWhole("a branch that not all elements may take")


def one_branch(w: Writer, s: F.If, condition: V.Value) -> None:
    """Take one of two branches."""
    sites = [w.value(pair[0].frames) for pair in s.recalled]
    names = joined(s)
    for v in names:
        if v.name not in w.pinned:
            variable(w, v)
            w.pinned.add(v.name)
    bodies = [Block(), Block()]
    recalled: list[list[Frames]] = [[], []]
    kept: list[dict[str, object]] = []
    with nest(w, [s.then, s.orelse]):
        for k, statements in enumerate((s.then, s.orelse)):
            with w.inside(bodies[k]):
                for site in sites:
                    w.env |= site.fields[k]
                    if site.frames:
                        recalled[k].append(site.frames[k])
                w.statements(statements)
                if s.kept is not None:
                    kept.append(fields(w, s.kept[k]))
    made = Nest([f"if {w.number(condition).text}:", "else:"], bodies, recalled=recalled)
    for v in names:
        x = w.env[v.name]
        w.pinned.discard(v.name)
        made.sets.add(x.text if isinstance(x, V.Number) else x.content.text)
        if isinstance(x, V.Number) and x.kind == WHOLE and not x.axes:
            w.env[v.name] = V.Affine((), x.text)
        w.homes[v.name] = Home(w.axes, len(w.masks), w.block)
    if s.kept is not None:
        name = w.fresh(s.kept[0].frames.name)
        made.kept = [Frames(name, b) for b in bodies]
        for f in made.kept:
            f.siblings = made.kept
        w.env[s.kept[0].frames.name] = V.Site((), list(kept), list(made.kept))
    w.block.lines.append(made)


def joined(s: F.If) -> list[F.Var]:
    """Give the variables that both branches assign, also by branches inside."""
    sets = [{v.name: v for t in b for v in surely_set(t)} for b in (s.then, s.orelse)]
    return [v for n, v in sets[0].items() if n in sets[1]]


def surely_set(s: F.Statement) -> Sequence[F.Var]:
    """Give the variables that a statement assigns, whichever branch is taken."""
    return joined(s) if isinstance(s, F.If) else s.outs if isinstance(s, F.Assign) else ()


def is_cheap(w: Writer, s: F.If) -> bool:
    """Tell whether both branches may run for all steps, because they are cheap and raise no errors."""
    for body in (s.then, s.orelse):
        for t, _ in walk(list(body)):
            if isinstance(t, F.Append | F.Pop | F.While | F.Check | F.Call | F.Registered):
                return False
            if isinstance(t, F.Compute) and not (t.operation.is_total or t.operation.name in SAFE):
                return False
            if isinstance(t, F.Load | F.Row) and t.checked and not all(is_plain(w, i) for i in t.indices):
                return False
            if isinstance(t, F.Assign) and any(not isinstance(v.type, Scalar) for v in t.outs):
                return False
    return True


def is_plain(w: Writer, i: F.Operand) -> bool:
    """Tell whether an index is that of a loop."""
    x = w.env.get(i.name) if isinstance(i, F.Var) else None
    return isinstance(x, V.Affine) and len(x.terms) == 1 and x.offset == "0"


def masked(w: Writer, s: F.If, condition: V.Number) -> None:
    """Run both branches for all steps, and select the results."""
    negative = w.once(("not", condition), lambda: w.emit(f"~{condition.text}", condition.axes, TRUTH, atom=False))
    found, kept = [], []
    before = dict(w.env)
    for k, (mask, statements) in enumerate(((condition, s.then), (negative, s.orelse))):
        w.assigned.append(set())
        w.masks.append(mask)
        for pair in s.recalled:
            w.env |= w.value(pair[0].frames).fields[k]
        w.statements(statements)
        if s.kept is not None:
            kept.append(fields(w, s.kept[k]))
        w.masks.pop()
        found.append({n: w.env[n] for n in w.assigned.pop()})
    join(w, condition, found, before)
    if s.kept is not None:
        w.env[s.kept[0].frames.name] = V.Site((), list(kept))


def join(w: Writer, condition: V.Number, found: list[dict[str, Any]], before: dict[str, Any]) -> None:
    """Select between the results of two branches."""
    for name in sorted(found[0].keys() | found[1].keys()):
        sides = [f.get(name, before.get(name)) for f in found]
        if any(x is None for x in sides) or name not in found[0] or name not in found[1]:
            continue
        if not all(isinstance(x, V.Value) for x in sides):
            raise V.NotWhole("a branch that gives an array")
        a, b = (w.number(x) for x in sides)
        axes = V.union(condition.axes, a.axes, b.axes)
        parts = ", ".join(w.aligned(x, axes) for x in (condition, a, b))
        w.env[name] = w.emit(f"np.where({parts})", axes, a.kind, name)
        w.homes[name] = Home(w.axes, len(w.masks), w.block)


# ------------------------------------------------------------ primitives


@entry
def registered(w: Writer, s: F.Registered) -> None:
    if w.axes:
        one_by_one(w, s)
        return
    args = []
    for x in s.args:
        v = w.value(x)
        args.append(laid_out(w, v).text if isinstance(v, V.Array | V.Local | V.View) else w.number(v).text)
    w.called.append(s)
    names = [w.fresh(v.name) for v in s.outs]
    given = f"registered({len(w.called) - 1}, ({', '.join(args)}{',' * (len(args) == 1)}))"
    whole = w.emit(given, (), REAL, "given", raises=True)
    for k, (v, name) in enumerate(zip(s.outs, names, strict=True)):
        w.set(name, f"{whole.text}[{k}]")
        if isinstance(v.type, F.ArrayOf):
            w.env[v.name] = plain_array(name, v.type)
        else:
            assert isinstance(v.type, Scalar)
            w.env[v.name] = V.Affine((), name) if v.type == WHOLE else V.Number(name, (), v.type)


def one_by_one(w: Writer, s: F.Registered) -> None:
    """Call a primitive of numbers on whole arrays, if it works element by element."""
    kinds = [KIND_TYPES.get(x.type) for x in s.args]
    args = kinds if s.rule == "value" else kinds[1:-1]
    primitive = w.primitives[s.name]
    if len(s.outs) != 1 or None in kinds or any(g.items is not None for g in s.groups):
        raise V.NotWhole("a primitive of arrays in a loop")
    if not is_elementwise(primitive, args, dict(s.static)):  # type: ignore[arg-type]
        raise V.NotWhole("a primitive of single numbers in a loop")
    values = [w.number(w.value(x)) for x in s.args]
    axes = V.union(*(x.axes for x in values)) or w.axes
    w.called.append(s)
    texts = ", ".join(w.full(x, axes) for x in values)
    out = s.outs[0]
    assert isinstance(out.type, Scalar)
    w.env[out.name] = w.emit(f"each({len(w.called) - 1}, ({texts},))", axes, out.type, out.name, raises=True)


KIND_TYPES: Mapping[object, Type] = {REAL: FLOAT, WHOLE: INT, TRUTH: BOOL}

WRITE = table(vars(arrays), globals())
