"""The reverse pass over the imperative form: each statement's transposed derivative, from the last to the first.

This is reverse CHAD with accumulation (EC Fig. 6) on programs in imperative form. A statement ``y = op(x1, ..., xn)``
is ``let y = op(x1, ..., xn) in ...``: its backpropagator hands the cotangent of ``y``, which `let`'s ``scope`` took out
of the environment vector, to the variables ``xi`` by ``one``. The environment vector is the set of the variables
``d_x``, each given its value where all contributions are known. Whole-array operations contribute whole arrays (EC 8.1,
BArray).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tapeengine.chad.generate.builder import Builder
from tapeengine.chad.generate.liveness import defined, names_of, needed, used
from tapeengine.chad.generate.partials import partial
from tapeengine.chad.generate.recursion import Unit
from tapeengine.chad.generate.reverse_boxes import BOXED, call, none, unpack
from tapeengine.chad.generate.reverse_registered import together
from tapeengine.chad.generate.reverse_rules import RULES
from tapeengine.chad.imperative import (
    Add,
    AddAt,
    Assign,
    Branch,
    Call,
    Carried,
    Const,
    Loop,
    Operand,
    Ref,
    Set,
    Statement,
    Unpack,
    renamed,
)
from tapeengine.primitive import Primitive

__all__ = ["Reverse"]

Rule = Callable[["Reverse", Assign, Operand], None]


class Reverse:
    """Writes the reverse pass of a block.

    Parameters
    ----------
    builder : Builder
        Writes the statements of the reverse pass.
    declared : mapping of str to Ref
        Each variable of the forward pass as it was defined.
    active : set of str
        The variables that depend on what is differentiated.
    exact : bool
        Whether products with a zero cotangent are zero whatever the other factor is.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    units : mapping of str to Unit
        The recursive definitions that the program calls.

    Attributes
    ----------
    parts : dict of str to dict of int to Operand
        For each tuple that a primitive gave the cotangents of its parts so far.
    """

    def __init__(
        self,
        builder: Builder,
        declared: Mapping[str, Ref],
        active: set[str],
        exact: bool,
        primitives: Mapping[str, Primitive] = MappingProxyType({}),
        units: Mapping[str, Unit] = MappingProxyType({}),
    ) -> None:
        self.b = builder
        self.declared = declared
        self.active = active
        self.exact = exact
        self.primitives = primitives
        self.units = units
        self.parts: dict[str, dict[int, Operand]] = {}
        self.given: dict[str, list[Operand]] = {}
        self.slots: dict[str, Ref] = {}
        self.local: set[str] = set()

    # ------------------------------------------------------------ the environment vector

    # one: EC Fig. 6
    def one(self, x: Operand, value: Operand) -> None:
        """Add a contribution to the cotangent of a variable."""
        if not isinstance(x, Ref) or x.name not in self.active:
            return
        value = renamed(value, x.axes, self.declared[x.name].axes)
        if x.name in self.local:
            self.given.setdefault(x.name, []).append(value)
        else:
            self.b.block.append(Add(self.slots[x.name], value))

    def one_at(self, x: Operand, op: str, args: tuple[Operand, ...], params: tuple[Any, ...], value: Operand) -> None:
        """Add a contribution to a part of the cotangent of an array (EC section 7: BOne)."""
        if isinstance(x, Ref) and x.name in self.active:
            slot = self.slot(x.name)
            self.b.block.append(AddAt(Ref(slot.name, x.axes), op, args, params, value))

    def slot(self, name: str) -> Ref:
        """Open the slot of a variable: zeros to accumulate into."""
        if name not in self.slots:
            of = self.declared[name]
            self.slots[name] = self.zeros(of)
        return self.slots[name]

    def zeros(self, of: Ref) -> Ref:
        """Write a variable of zeros."""
        out = self.cotangent(of)
        sizes = tuple(self.b.axes.sizes[a] for a in of.axes)
        if of.kind == "list":
            self.b.block.append(Assign(out, "nothings", (of,)))
        else:
            self.b.block.append(Assign(out, "zeros", sizes) if of.axes else Set(out, self.zero(of)))
        return out

    def cotangent(self, of: Ref) -> Ref:
        """Make a variable for a cotangent."""
        return self.b.fresh(f"d_{of.name}", of.axes, of.kind if of.kind in BOXED else "float")

    def zero(self, of: Ref) -> Operand:
        """Give the zero cotangent of a variable, without its axes."""
        return none(self, of.kind) if of.kind in BOXED else Const(0.0)

    # scope: EC Fig. 6
    def take(self, name: str) -> Operand | None:
        """Take the cotangent of a variable out of its slot; None if it is zero."""
        parts: list[Operand] = self.given.pop(name, [])
        if name in self.slots and name in self.local:
            parts = [self.slots.pop(name), *parts]
        if not parts:
            return None
        return self.b.total(parts)

    def full(self, ct: Operand, of: Ref) -> Ref | Const:
        """Give a cotangent all the axes of its variable."""
        if ct.axes == of.axes:
            return ct
        sizes = tuple(self.b.axes.sizes[a] for a in of.axes)
        return self.b.emit("broadcast", (ct, *sizes), (), axes=of.axes)

    # ------------------------------------------------------------ products and sums

    def times(self, ct: Operand, factors: Sequence[Operand]) -> Operand:
        """Multiply a cotangent by factors; exactly zero where it is zero if that matters (`LScale`)."""
        for factor in factors:
            if factor != Const(1.0):
                ct = self.b.emit("scale" if self.exact else "mul", (ct, factor))
        return ct

    def contribute(self, x: Operand, ct: Operand, factors: Sequence[Operand], axes: tuple[str, ...]) -> None:
        """Contribute a product, summed over those axes of the operation that the operand does not have."""
        if not isinstance(x, Ref) or x.name not in self.active:
            return
        summed = [a for a in axes if a not in x.axes]
        present = self.b.axes.union(ct, *factors)
        for a in summed:
            if a not in present:
                ct = self.b.emit("mul", (self.b.emit("real", (self.b.axes.sizes[a],)), ct))
        if not any(a in present for a in summed):
            self.one(x, self.times(ct, factors))
            return
        out = tuple(a for a in present if a not in summed)
        parts = [self.times(ct, factors)] if self.exact else [ct, *(f for f in factors if f != Const(1.0))]
        self.one(x, self.b.contract(parts, out))

    # ------------------------------------------------------------ statements

    def block(self, statements: Sequence[Statement]) -> None:
        """Write the reverse pass of a block."""
        for s in reversed(statements):
            match s:
                case Assign():
                    self.assign(s)
                case Unpack():
                    unpack(self, s)
                case Call():
                    call(self, s)
                case Loop():
                    self.loop(s)
                case Branch():
                    self.branch(s)
                case _:
                    raise TypeError(f"{type(s).__name__} in a forward pass")

    # D[let y = op(x1, ..., xn) in s]: EC Fig. 6
    def assign(self, s: Assign) -> None:
        """Write the transposed derivative of an operation."""
        if s.out.name not in self.active:
            return
        ct = together(self, s.out) if s.out.kind == "tuple" else self.take(s.out.name)
        if ct is None:
            return
        rule = RULES.get(s.op)
        if rule is not None:
            rule(self, s, ct)
            return
        self.partials(s, ct)

    def partials(self, s: Assign, ct: Operand) -> None:
        """Contribute the cotangent times each partial derivative."""
        for which, x in enumerate(s.args):
            if isinstance(x, Ref) and x.name in self.active:
                factor = partial(self.b, s.op, which, s.args, s.out)
                if factor is not None:
                    self.with_factor(x, ct, factor, s.out.axes)

    def with_factor(self, x: Ref, ct: Operand, factor: Operand, axes: tuple[str, ...]) -> None:
        """Contribute a cotangent times a partial derivative, which may be a literal sign."""
        made = self.b.made.get(factor.name) if isinstance(factor, Ref) else None
        if factor == Const(-1.0):
            self.contribute(x, self.b.emit("neg", (ct,)), (), axes)
        elif made is not None and made.op == "div" and made.args[0] == Const(1.0) and not self.exact:
            self.contribute(x, self.b.emit("div", (ct, made.args[1])), (), axes)
        else:
            self.contribute(x, ct, (factor,), axes)

    def outer(self, s: Loop | Branch) -> set[str]:
        """Open slots for the variables that an inner block contributes to and does not define."""
        inner = defined([s])
        for name in inner_uses(s):
            if name in self.active and name not in inner and name in self.local:
                self.slot(name)
        return inner

    # D[for n (i s. t) s0]: descend, EC Fig. 6 and the chain of EC Fig. 9
    def loop(self, s: Loop) -> None:
        """Write the loop of the reverse pass: the steps from the last to the first."""
        outs = {c.out.name: self.take(c.out.name) for c in s.carried if c.out.name in self.active}
        given = {out.name: self.take(out.name) for out, _ in s.collected if out.name in self.active}
        if not any(ct is not None for ct in (*outs.values(), *given.values())):
            return
        carried = [c for c in s.carried if c.out.name in self.active]
        inner = self.outer(s)
        starts = [self.start(c, outs[c.out.name]) for c in carried]
        before = self.local
        index = s.index or self.b.fresh("k", (), "int")
        with self.b.inner() as body:
            self.local = inner | {c.var.name for c in carried}
            self.b.know(s.body)
            variables = [self.cotangent(c.var) for c in carried]
            for c, d in zip(carried, variables, strict=True):
                self.one(c.last, self.labelled(d, c.last))
            self.hand_out(s, given, index)
            self.block(s.body)
            lasts = [self.full(self.take(c.var.name) or self.zero(c.var), c.var) for c in carried]
        self.local = before
        back = Loop(body, index, s.count, backwards=True, kept=self.keep(s, body, lasts))
        for c, d, start, last in zip(carried, variables, starts, lasts, strict=True):
            out = self.cotangent(c.var)
            back.carried.append(Carried(d, start, last, out))
        self.b.block.append(back)
        back.keeps = s.keeps
        for c, step in zip(carried, back.carried, strict=True):
            self.one(c.init, self.labelled(step.out, c.init))

    def labelled(self, ct: Ref, x: Operand) -> Ref:
        """Give a cotangent the axes under which a variable is used."""
        return Ref(ct.name, x.axes, ct.kind) if isinstance(x, Ref) else ct

    def start(self, c: Carried, ct: Operand | None) -> Operand:
        """Give the cotangent that the reverse pass of a loop begins with."""
        return self.full(self.zero(c.out) if ct is None else ct, c.out)

    def hand_out(self, s: Loop, given: Mapping[str, Operand | None], index: Ref) -> None:
        """Give each step the cotangent of what it was collected for."""
        for out, x in s.collected:
            ct = given.get(out.name)
            if ct is None:
                continue
            if out.kind == "list":
                self.one(x, self.b.emit("share", (ct, index), axes=(), kind=x.kind))
                continue
            axis = out.axes[0]
            if axis in ct.axes:
                rest = tuple(a for a in ct.axes if a != axis)
                ct = self.b.emit("item", (ct, index), (ct.axes.index(axis),), axes=rest)
            self.one(x, self.cut(ct, out.axes[1:], x.axes))

    def cut(self, ct: Operand, axes: Sequence[str], to: Sequence[str]) -> Operand:
        """Take that part of a row's cotangent that belongs to the row, where it had been filled up."""
        for a, b in zip(axes, to, strict=True):
            if a != b and a in ct.axes:
                found = tuple(b if c == a else c for c in ct.axes)
                ct = self.b.emit("window", (ct, Const(0), self.b.axes.sizes[b]), (ct.axes.index(a),), axes=found)
        return ct

    # the residuals of a step: what its backpropagator captures
    def keep(self, s: Loop, body: list[Statement], lasts: Sequence[Operand]) -> str:
        """Say what each step of the forward loop keeps."""
        body[:] = needed(body, {x.name for x in lasts if isinstance(x, Ref)} | set(self.all_slots()))
        forward = defined(s.body) | {c.var.name for c in s.carried} | ({s.index.name} if s.index else set())
        wanted = used(body) | {x.name: x for x in lasts if isinstance(x, Ref)}
        s.keeps = [self.declared.get(n, x) for n, x in wanted.items() if n in forward]
        s.kept = self.b.names("kept") if s.keeps or s.count is None else ""
        return s.kept

    def all_slots(self) -> list[str]:
        """Give the variables that cotangents are accumulated in."""
        return [slot.name for slot in self.slots.values()]

    # D[case t of ...]: the branch that was taken
    def branch(self, s: Branch) -> None:
        """Write the branch of the reverse pass."""
        cts = [(j, self.take(j.out.name)) for j in s.joined if j.out.name in self.active]
        if all(ct is None for _, ct in cts):
            return
        before = self.local
        self.outer(s)
        blocks = []
        for which, statements in enumerate((s.then, s.orelse)):
            with self.b.inner() as body:
                self.b.know(statements)
                self.local = defined(statements)
                for j, ct in cts:
                    if ct is not None:
                        x = j.then if which == 0 else j.orelse
                        self.one(x, Ref(ct.name, self._as(ct, j.out, x), ct.kind) if isinstance(ct, Ref) else ct)
                self.block(statements)
            self.local = before
            body[:] = needed(body, set(self.all_slots()))
            s.keeps[which][:] = [self.declared.get(n, x) for n, x in used(body).items() if n in defined(statements)]
            blocks.append(body)
        s.kept = self.b.names("kept") if any(s.keeps) else ""
        then, orelse = blocks
        self.b.block.append(Branch(s.condition, then, orelse, kept=s.kept, keeps=s.keeps, backwards=True))

    def _as(self, ct: Ref, out: Ref, x: Operand) -> tuple[str, ...]:
        to = dict(zip(out.axes, x.axes, strict=True)) if isinstance(x, Ref) else {}
        return tuple(to.get(a, a) for a in ct.axes)


def inner_uses(s: Loop | Branch) -> list[str]:
    """Give the variables that are used inside a loop or a branch, not those that it begins with."""
    if isinstance(s, Loop):
        operands = [c.last for c in s.carried] + [x for _, x in s.collected]
        return [*used(s.body), *names_of(operands)]
    return [*used([*s.then, *s.orelse]), *names_of([x for j in s.joined for x in (j.then, j.orelse)])]
