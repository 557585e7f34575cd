"""From source terms to the imperative form: dispatch, scalars, products, and the helpers that every rule uses.

A build whose body can be computed for all indices at once becomes an axis of whole-array operations; reading an array
at the index of that build is then a renaming, a slice or a gather. What has no such form becomes a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate import boxes
from tapeengine.chad.generate.builder import Axes, Builder
from tapeengine.chad.generate.expressions import MATH
from tapeengine.chad.generate.layout import Layout
from tapeengine.chad.generate.recursion import Unit, recursive
from tapeengine.chad.generate.registered import called
from tapeengine.chad.generate.rows import evened
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
    rebuild,
)
from tapeengine.chad.imperative import Const, Operand, Ref, renamed
from tapeengine.chad.primitives import evaluate_op
from tapeengine.chad.traverse import Names
from tapeengine.primitive import Primitive

__all__ = ["Lower", "Scope"]

#: Builds of at most this many elements, where the number is a literal, are written item by item.
UNROLLED = 8


@dataclass(frozen=True)
class Scope:
    """Where a term stands.

    Attributes
    ----------
    env : mapping of str to Value
        The variables.
    mask : Operand, optional
        Where, along the axes, this term counts; everywhere if there is none.
    is_whole : bool
        Whether the term is inside a build that has become an axis.
    """

    env: Mapping[str, Value]
    mask: Operand | None = None
    is_whole: bool = False

    def bind(self, **values: Value) -> Scope:
        """Add variables."""
        return replace(self, env={**self.env, **values})


class Lower:
    """Writes the primal program in imperative form.

    Parameters
    ----------
    module : Module
        Definitions to call; they are written in place of their calls.
    exact : bool
        Whether infinities may occur, so that a product with zero may not stand for "does not count".
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    general : bool
        Whether parameters may have rows of different sizes, arrays that run side by side may differ in size, and
        indices that count along an axis may be negative or, where they do not count, out of range.

    Attributes
    ----------
    unrolled : int
        Builds of at most this many elements, where the number is a literal, are written item by item.
    is_sized : bool
        Whether this is for arguments of known shapes; see `tapeengine.chad.generate.sized`.
    """

    def __init__(
        self,
        module: S.Module,
        exact: bool = False,
        primitives: Mapping[str, Primitive] = MappingProxyType({}),
        general: bool = False,
    ) -> None:
        self.module = module
        self.exact = exact
        self.general = general
        self.primitives = primitives
        self.axes = Axes()
        self.b = Builder(Names((*RESERVED, *called(primitives))), self.axes)
        self.layout = Layout(module.types)
        self.recursive = recursive(module)
        self.units: dict[str, Unit] = {}
        self.labels: dict[str, str] = {}
        self.naturals: set[str] = set()
        self.bounds: dict[str, Operand] = {}
        self.unrolled = UNROLLED
        self.is_sized = False

    def __call__(self, term: S.Term, scope: Scope) -> Value:
        """Write a term; give its value."""
        rule = RULES.get(type(term))
        if rule is None:
            raise NotGenerated(f"{type(term).__name__} has no imperative form")
        return rule(self, term, scope)

    # ------------------------------------------------------------ recursive definitions

    def unit(self, name: str) -> Unit:
        """Give the two passes of a recursive definition, whose bodies are written later."""
        if name not in self.units:
            label = name if name.isidentifier() and name.isascii() else "f"
            names = (self.b.names(f"forward_{label}"), self.b.names(f"reverse_{label}"))
            self.units[name] = Unit(name, *names, self.b.names, self.axes)
        return self.units[name]

    def write_units(self) -> None:
        """Write the bodies of the recursive definitions that are called, and of those that these call."""
        written: set[str] = set()
        while len(written) < len(self.units):
            for name in [n for n in self.units if n not in written]:
                written.add(name)
                self.write_unit(self.units[name], self.module.definitions[name])

    def write_unit(self, unit: Unit, definition: S.Definition) -> None:
        """Write the body of a definition."""
        self.b = unit.b
        values = {p.name: boxes.declared(self, p.of, p.name, unit.params) for p in definition.params}
        for value in values.values():
            boxes.measured(self, value)
        result = boxes.canonical(self, self.all_forced(self(definition.body, Scope(values))), definition.result)
        unit.results += boxes.operands(self.settled(result))

    # ------------------------------------------------------------ operands

    def number(self, term: S.Term, scope: Scope) -> Operand:
        """Write a term of scalar type."""
        return self.force(self(term, scope))

    def force(self, value: Value) -> Operand:
        """Do a read that is pending."""
        if isinstance(value, Const | Ref):
            return value
        if isinstance(value, Pending):
            return self.gather(value)
        raise NotGenerated(f"a {type(value).__name__} where a scalar is wanted")

    def gather(self, read: Pending) -> Ref:
        """Read an array at indices: element by element in a loop, or all at once."""
        base = read.base
        dims = tuple(base.axes.index(axis) for axis, _ in read.indices)
        indices = tuple(index for _, index in read.indices)
        kept = [axis for axis in base.axes if axis not in dict(read.indices)]
        if not any(index.axes for index in indices):
            return self.b.emit("item", (base, *indices), dims, axes=kept, kind=base.kind)
        axes = self.axes.ordered([*kept, *(axis for index in indices for axis in index.axes)])
        return self.b.emit("gather", (base, *indices), (dims, base.axes), axes=axes, kind=base.kind)

    def all_forced(self, value: Value) -> Value:
        """Do all reads that are pending in a value."""
        return rebuild(value, self.force)

    # ------------------------------------------------------------ axes

    def size_of(self, axis: str) -> Operand:
        """Give the size of an axis."""
        return self.axes.sizes[axis]

    def index_of(self, operand: Operand) -> tuple[str, Operand] | None:
        """Give the axis and the offset of an integer that counts along an axis; None for any other."""
        if not isinstance(operand, Ref) or len(operand.axes) != 1:
            return None
        made = self.b.made.get(operand.name)
        if made is None:
            return None
        if made.op == "arange":
            return operand.axes[0], Const(0)
        if made.op in ("iadd", "isub"):
            first, second = made.args
            if made.op == "iadd" and not first.axes:
                first, second = second, first
            inner = self.index_of(first)
            if inner is not None and not second.axes:
                combine = self.b.plus if made.op == "iadd" else self.b.minus
                return operand.axes[0], combine(inner[1], second)
        return None

    def at(self, value: Value, axis: str, index: Operand, scope: Scope) -> Value:
        """Give a value at an index along an axis: a renaming, a slice, or a read."""
        along = self.index_of(index)

        def leaf(x: Operand | Pending) -> Value:
            if isinstance(x, Pending):
                return self._at_pending(x, axis, index, scope)
            if axis not in x.axes:
                return x
            assert isinstance(x, Ref)
            if along is not None and along[0] not in x.axes and self._is_window(*along, axis, scope):
                return self._window(x, axis, *along, scope)
            if along is not None and along[0] not in x.axes and along[1] == Const(0) and scope.mask is not None:
                return self._reach(x, axis, along[0], scope.mask)
            return self._windows(x, index, scope) or Pending(x, ((axis, self.guarded(index, scope)),))

        return rebuild(value, leaf)

    def _is_window(self, to: str, start: Operand, axis: str, scope: Scope) -> bool:
        """Tell whether a read along another axis can be a slice; in the general form one from a known place on."""
        if self.general:
            is_all = start == Const(0) and self.size_of(to) == self.size_of(axis)
            return is_all or (scope.mask is None and isinstance(start, Const) and start.value >= 0)
        return scope.mask is None or start == Const(0)

    def _windows(self, x: Ref, index: Operand, scope: Scope) -> Ref | None:
        """Read a vector at the sum of two counters: windows that overlap, without a copy."""
        made = self.b.made.get(index.name) if isinstance(index, Ref) else None
        if made is None or made.op != "iadd" or len(x.axes) != 1 or scope.mask is not None or self.general:
            return None
        first, second = (self.index_of(renamed(a, made.out.axes, index.axes)) for a in made.args)
        if first is None or second is None or first[0] == second[0]:
            return None
        sizes = (self.size_of(first[0]), self.size_of(second[0]))
        length = self.b.plus(self.b.plus(*sizes), Const(-1))
        whole = self.axes.fresh(length)
        start = self.b.plus(first[1], second[1])
        part = self.b.emit("window", (x, start, length), (0,), axes=(whole,), kind=x.kind)
        return self.b.emit("windows", (part, *sizes), (), axes=(first[0], second[0]), kind=x.kind)

    def guarded(self, index: Operand, scope: Scope) -> Operand:
        """Keep an index within bounds where it does not count."""
        if scope.mask is None or not index.axes:
            return index
        return self.b.emit("where", (scope.mask, index, Const(0)), kind="int")

    def _at_pending(self, x: Pending, axis: str, index: Operand, scope: Scope) -> Value:
        along = self.index_of(index)
        is_row = not any(i.axes for _, i in x.indices) and axis in x.base.axes and axis not in dict(x.indices)
        if is_row and along is not None and along[0] not in x.base.axes and not self.general:
            return self.at(self.gather(x), axis, index, scope)

        def moved(i: Operand) -> Operand:
            return self.force(self.at(i, axis, index, scope)) if axis in i.axes else i

        indices = tuple((a, moved(i)) for a, i in x.indices)
        if axis in x.base.axes and axis not in dict(indices):
            indices = (*indices, (axis, self.guarded(index, scope)))
        return Pending(x.base, indices)

    # D[t ! i] where i counts along an axis: the bag of one-hots (EC section 7) is one array
    def _window(self, x: Ref, axis: str, to: str, start: Operand, scope: Scope) -> Ref:
        axes = tuple(to if a == axis else a for a in x.axes)
        size = self.size_of(to)
        if start == Const(0) and size == self.size_of(axis):
            return Ref(x.name, axes, x.kind)
        args, dims = (x, start, size), (x.axes.index(axis),)
        # where a mask is in force, nobody may ever read behind the end: then there is no such form
        is_within = scope.mask is None or self.b.knows("window", args, dims, axes)
        return self.b.emit("window" if is_within else "prefix", args, dims, axes=axes, kind=x.kind)

    def _reach(self, x: Ref, axis: str, to: str, mask: Operand) -> Ref:
        """Read the first elements along another axis, which may be longer where it does not count."""
        axes = tuple(to if a == axis else a for a in x.axes)
        where = mask.axes.index(to) if to in mask.axes else None
        params = (x.axes.index(axis), where)
        return self.b.emit("reach", (x, self.size_of(to), mask), params, axes=axes, kind=x.kind)

    def spread(self, value: Operand, axes: tuple[str, ...]) -> Ref | Const:
        """Give a value that has exactly these axes, in this order."""
        if value.axes == axes:
            return value
        return self.b.emit("broadcast", (value, *(self.size_of(a) for a in axes)), (), axes=axes, kind=value.kind)

    def settled(self, value: Value, outer: tuple[str, ...] = ()) -> Value:
        """Give a value whose arrays have all their axes, as a loop or a branch hands them on."""
        match value:
            case Along(axis, element, sizes):
                of_rows = None if sizes is None else self.settled(sizes, outer)
                assert of_rows is None or isinstance(of_rows, Const | Ref)
                return Along(axis, self.settled(element, (*outer, axis)), of_rows)
            case Tup(items):
                return Tup(tuple(self.settled(item, outer) for item in items))
            case Items(items):
                return Items(tuple(self.settled(item, outer) for item in items))
            case Member(of, option, payload):
                return Member(of, option, self.settled(payload, outer))
            case Choice(of, tag, options):
                spread = self.settled(tag, outer)
                assert isinstance(spread, Const | Ref)
                return Choice(of, spread, tuple(self.settled(option, outer) for option in options))
            case Boxed():
                if outer:
                    raise NotWhole("an array of boxes")
                return value
        operand = self.force(value)
        rest = self.axes.ordered(a for a in operand.axes if a not in outer)
        return self.spread(operand, (*rest, *outer))

    def stacked(self, value: Value) -> Value:
        """Give an array that is known item by item as an array along an axis."""
        if not isinstance(value, Items):
            return value
        if not value.items:
            raise NotGenerated("an empty array of unknown elements")
        of = boxes.type_of(value)
        if self.layout.is_boxed(of):
            return Boxed(boxes.boxed(self, value, of), of)
        axis = self.axes.fresh(Const(len(value.items)))
        return Along(axis, self._stacked_parts([self.stacked(item) for item in value.items], axis))

    def _stacked_parts(self, parts: list[Value], axis: str) -> Value:
        parts = [self.stacked(p) for p in parts]
        if isinstance(parts[0], Member | Choice):
            parts = [boxes.canonical(self, p, boxes.type_of(p)) for p in parts]
        first = parts[0]
        if any(isinstance(p, Tup | Along) and type(p) is not type(first) for p in parts):
            raise NotGenerated("an array of values of different form")
        if isinstance(first, Tup):
            columns = zip(*(p.items for p in parts if isinstance(p, Tup)), strict=True)
            return Tup(tuple(self._stacked_parts(list(column), axis) for column in columns))
        if isinstance(first, Choice):
            same = [p for p in parts if isinstance(p, Choice)]
            tag = self._stacked_parts([p.tag for p in same], axis)
            assert isinstance(tag, Ref)
            options = zip(*(p.options for p in same), strict=True)
            return Choice(first.of, tag, tuple(self._stacked_parts(list(option), axis) for option in options))
        if isinstance(first, Along):
            rows = evened(self, [p for p in parts if isinstance(p, Along)])
            sizes = None if rows[0].sizes is None else self._stacked_parts([r.sizes for r in rows if r.sizes], axis)
            assert sizes is None or isinstance(sizes, Ref)
            return Along(rows[0].axis, self._stacked_parts([r.element for r in rows], axis), sizes)
        operands = [self.force(p) for p in parts]
        shared = self.axes.union(*operands)
        return self.b.emit(
            "stack", [self.spread(x, shared) for x in operands], (), axes=(*shared, axis), kind=operands[0].kind
        )

    def renamed(self, value: Value, axis: str, to: str) -> Value:
        """Give a value with another name for one of its axes."""
        if axis == to:
            return value

        def leaf(x: Operand | Pending) -> Value:
            operand = self.force(x)
            if isinstance(operand, Const):
                return operand
            return Ref(operand.name, tuple(to if a == axis else a for a in operand.axes), operand.kind)

        return rebuild(value, leaf)

    def matched(self, value: Value, axis: str, to: str) -> Value:
        """Rename an axis to one that has to have the same size, which is checked when the program runs."""
        sizes = self.size_of(to), self.size_of(axis)
        if sizes[0] != sizes[1]:
            if self.general or all(isinstance(n, Const) for n in sizes):
                raise NotGenerated("arrays of different sizes")
            self.b.emit("same_size", sizes, (), axes=(), kind="int")
        return self.renamed(value, axis, to)

    def all_axes(self, value: Value) -> tuple[str, ...]:
        """Give all axes of a value."""
        return self.axes.union(*(self.force(x) for x in leaves(value)))


#: Words that no generated variable is called: Python's, and the names that the program text uses.
RESERVED = (
    *("np", "math", "ops", "range", "zip", "len", "reversed", "float", "int", "bool", "max", "min", "abs", "_"),
    *("residuals", "forward", "reverse", *MATH.values()),
)


#: Operations that are computed at once where the operands are literals; none of them raises.
FOLDED = ("lt", "le", "gt", "ge", "eq", "ne", "not", "iadd", "isub", "imul", "ineg", "imax", "imin", "iabs", "real")


def variable(L: Lower, t: S.Var, scope: Scope) -> Value:
    return scope.env[t.name]


def let(L: Lower, t: S.Term, scope: Scope) -> Value:
    while isinstance(t, S.Let):
        value = L(t.bound, scope)
        if isinstance(value, Ref):
            L.labels.setdefault(value.name, t.var.name)
        scope = scope.bind(**{t.var.name: value})
        t = t.body
    return L(t, scope)


def literal(L: Lower, t: S.Literal, scope: Scope) -> Value:
    return Const(t.value)


def op(L: Lower, t: S.Op, scope: Scope) -> Value:
    args = [L.number(a, scope) for a in t.args]
    if t.op in FOLDED and all(isinstance(a, Const) for a in args):
        return Const(evaluate_op(t.op, [a.value for a in args if isinstance(a, Const)]))
    if t.op == "iadd" and not any(a.axes for a in args):
        return L.b.plus(args[0], args[1])
    if t.op == "isub" and not any(a.axes for a in args):
        return L.b.minus(args[0], args[1])
    return L.b.emit(t.op, args)


def tuple_(L: Lower, t: S.Tuple, scope: Scope) -> Value:
    return Tup(tuple(L(item, scope) for item in t.items))


def proj(L: Lower, t: S.Proj, scope: Scope) -> Value:
    value = L(t.term, scope)
    assert isinstance(value, Tup)
    return value.items[t.index]


def _rules() -> Mapping[type[S.Term], Callable[..., Value]]:
    from tapeengine.chad.generate import (
        lower_arrays,
        lower_control,
        lower_filters,
        lower_folds,
        lower_registered,
        lower_sums,
    )

    rules: dict[Any, Any] = {
        S.Var: variable,
        S.Let: let,
        S.Literal: literal,
        S.Op: op,
        S.Tuple: tuple_,
        S.Proj: proj,
    }
    for more in (lower_arrays, lower_control, lower_filters, lower_folds, lower_registered, lower_sums):
        rules |= more.RULES
    return MappingProxyType(rules)


RULES: Mapping[type[S.Term], Callable[..., Value]] = _rules()
