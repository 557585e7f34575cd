"""Lowering of whole programs: the value, the forward and the reverse pass, the tangent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

from ...recursion import deep
from ..intermediate import statements as F
from ..intermediate.analysis import flatten, needed, walk
from ..intermediate.text import RESERVED
from ..language import terms as S
from ..language.derivative_types import cotangent
from ..language.tables import table
from ..language.traverse import Names
from ..language.types import Array, LArray, Linear, LProduct, LSum, Type, is_discrete
from . import linear, source
from .blocks import Block
from .cotangents import ArraySlot, Slot, TupleSlot
from .in_place import in_place
from .lower import Lower
from .patterns import array_types, is_dense, leaf_types, likes, options, part, parts, stored
from .residuals import Residuals
from .sharing import own_functions
from .summands import in_sums
from .values import ZERO, Back, Owed, Rows, Tup, Uneven, Value


@dataclass
class Lowered:
    """A lowered program.

    * `main`: the name of the function to call first.
    * `is_dense`: whether arrays of arrays in the result have rows of equal size.
    """

    program: F.Program
    main: str
    is_dense: bool


class Whole(Lower):
    """Writes the functions of a program."""

    rules = MappingProxyType({**source.SHORT, **linear.SHORT, **table(vars(source), vars(linear))})

    def __init__(self, module: S.Module, source_module: S.Module, uneven: frozenset[str]) -> None:
        super().__init__(module, Names({*module.definitions, *RESERVED}), uneven)
        self.source = source_module
        self.program = F.Program(names=self.b.labels)
        self.units_of = own_functions(source_module)
        self.waiting: list[str] = []
        self.units: dict[str, Unit] = {}
        self.is_dense = True

    # ------------------------------------------------------------ values

    def value(self, name: str, dense: bool) -> F.Function:
        """Write the function that computes a definition's value."""
        definition = self.module.definitions[name]
        self.keeps = False
        root = self.b.block = self.b.noted(Block())
        env, params = self.begun(definition, dense)
        result = self.laid(self.completed(self.entered(definition, env, name), definition.result))
        dense = self.noted_dense(name, dense and is_dense(result))
        return F.Function(name, params, root.statements, self.flat(result, definition.result, dense))

    def begun(self, definition: S.Definition, dense: bool) -> tuple[dict[str, Value], list[F.Var]]:
        """Make the parameters of a function; give the values of a definition's parameters, and their leaves."""
        made = {p.name: self.declared(p.of, p.name, dense) for p in definition.params}
        return {name: value for name, (value, _) in made.items()}, [v for _, leaves in made.values() for v in leaves]

    def noted_dense(self, name: str, dense: bool) -> bool:
        """Record whether the result of the main definition has rows of equal size."""
        self.is_dense = self.is_dense if name in self.units else dense
        return dense

    def entered(self, definition: S.Definition, env: dict[str, Value], name: str) -> Value:
        """Write the body of a function; a recursive main definition is called instead."""
        if name in self.units_of and name not in self.units:
            args = tuple(definition.params)
            return self(S.Call(name, args, definition.body.type), env)
        return self(definition.body, env)

    # ------------------------------------------------------------ passes

    def passes(self, name: str, names: tuple[str, str], dense: bool) -> tuple[F.Function, F.Function]:
        """Write the forward and the reverse pass of a definition whose derivative is in the module."""
        definition = self.source.definitions[name]
        is_main = name not in self.units
        self.keeps = True
        root = self.b.block = self.b.noted(Block())
        root.kept = F.Kept(F.Var(self.b.names("kept"), self.b.kept("kept").frames.type))
        env, params = self.begun(definition, dense)
        values = list(env.values())
        found = self.entered(self.module.definitions[name], env, name)
        primal = self.laid(part(found, 0))
        dense_result = self.noted_dense(name, dense and is_dense(primal))
        results = self.flat(primal, definition.result, dense_result)
        forward = F.Function(names[0], params, root.statements, results, kept=root.kept)

        self.keeps = False
        back = self.b.block = self.b.noted(Block())
        back.mirrors.append(root)
        of = stored(cotangent(definition.result))
        ct_leaves = [self.b.fresh("d", t) for t in leaf_types(of, dense_result)] if real(of) else []
        ct = self.restored(of, iter(ct_leaves), dense_result) if is_main else self.from_box(of, iter(ct_leaves))
        gave_into = [] if is_main else self.accumulators(definition, values)
        gradient = self.applied(part(found, 1), [ct], LProduct(tuple(cotangent(p.of) for p in definition.params)))
        gave: list[F.Operand] = []
        for k, p in enumerate(definition.params):
            if is_discrete(p.of):
                continue
            of_param = cotangent(p.of)
            d = self.full(part(gradient, k), of_param, values[k])
            if is_main:
                gave += self.flat(d, stored(of_param), dense and is_dense(d))
            else:
                gave += self.flat_without_arrays(d, of_param)
        reverse = F.Function(names[1], [*ct_leaves, *gave_into], back.statements, gave, recalled=root.kept)
        return forward, reverse

    def accumulators(self, definition: S.Definition, values: list[Value]) -> list[F.Var]:
        """Make the parameters of a reverse pass to which it adds the cotangents of arrays."""
        found: list[F.Var] = []
        for p, value in zip(definition.params, values, strict=True):
            if is_discrete(p.of):
                continue
            slot = self.slot(cotangent(p.of), value)
            self.give_buffers(slot, cotangent(p.of), found)
            self.preset[p.name] = slot
        return found

    def give_buffers(self, slot: Slot, of: Linear, found: list[F.Var]) -> None:
        """Use parameters as the slots of arrays."""
        if isinstance(slot, ArraySlot):
            leaves = [self.b.fresh("d", t) for t in array_types(stored(of), False)]  # type: ignore[arg-type]
            found += leaves
            slot.buffer = self.restored(stored(of), iter(leaves), False)  # type: ignore[assignment]
        elif isinstance(slot, TupleSlot):
            for item, t in zip(slot.items, options(of), strict=True):
                self.give_buffers(item, t, found)  # type: ignore[arg-type]

    def flat_without_arrays(self, value: Value, of: Linear) -> list[F.Operand]:
        """Give the operands of a cotangent except arrays, which have been added in place."""
        if isinstance(of, LArray):
            return []
        if options(of):
            return [x for k, t, _ in likes(of, None) for x in self.flat_without_arrays(part(value, k), t)]
        return self.flat(value, stored(of), False)

    # ------------------------------------------------------------ calls

    def call(self, t: S.Call, args: list[Value]) -> Value:
        if t.name not in self.units_of:
            return super().call(t, args)
        definition = self.source.definitions[t.name]
        unit = self.unit(t.name)
        full = [self.completed(a, p.of) for p, a in zip(definition.params, args, strict=True)]
        given = [x for p, a in zip(definition.params, full, strict=True) for x in self.flat(a, p.of, False)]
        results = [self.b.fresh("y", of) for of in leaf_types(definition.result, False)]
        if self.module is self.source:
            self.b.add(F.Call(tuple(results), unit.value, tuple(given)))
            return self.restored(definition.result, iter(results), False)
        site = self.b.kept("kept")
        self.b.add(F.Call((*results, site.frames), unit.forward, tuple(given)))
        primal = self.restored(definition.result, iter(results), False)
        return Tup((primal, Back(lambda ct: self.call_back(unit, definition, args, site.frames, ct))))

    def unit(self, name: str) -> Unit:
        """Give the functions of a recursive definition, which are written later."""
        if name not in self.units:
            names = [self.b.names(f"{kind}{name}") for kind in ("value_", "forward_", "reverse_")]
            self.units[name] = Unit(name, *names)
            self.waiting.append(name)
        return self.units[name]

    def call_back(self, unit: Unit, definition: S.Definition, args: list[Value], frames: F.Var, ct: Value) -> Value:
        """Call the reverse pass of a definition; return the cotangents of its arguments."""
        of = cotangent(definition.result)
        given = self.flat(self.in_box(ct, of), stored(of), False) if real(stored(of)) else []
        call = F.Call((), unit.reverse, ())
        join = self.b.place()
        home = self.b.block
        values: list[F.Operand] = [frames, *given]
        results: list[F.Var] = []

        def owed(of: LArray, like: Value) -> Value:
            start = len(values)
            values.extend([F.Const(None, t) for t in array_types(stored(of), False)])  # type: ignore[arg-type]
            settled: list[Rows] = []

            def settle(buffer: Rows | None) -> Rows:
                if settled:
                    return settled[0]
                with self.b.at(join, home):
                    before = buffer is not None and all(self.b.order[v.name] < join.order for v in bases(buffer))
                    made = buffer if before and buffer is not None else self.zeros(of, like)
                    leaves = self.flat(made, stored(of), False)
                arguments = list(call.args)
                arguments[start : start + len(leaves)] = leaves
                call.args = tuple(arguments)
                settled.append(made)
                return made

            return Owed(like, settle)

        def go(of: Linear, like: Value) -> Value:
            if isinstance(of, LArray) and isinstance(stored(of), Array):
                return owed(of, like)
            if isinstance(of, LProduct | LSum):
                return Tup(tuple(go(t, x if x is not None else ZERO) for _, t, x in likes(of, like)))
            leaves = [self.b.fresh("d", t) for t in leaf_types(stored(of), False)]
            results.extend(leaves)
            return self.restored(stored(of), iter(leaves), False)

        found = Tup(tuple(go(cotangent(p.of), a) for p, a in zip(definition.params, args, strict=True)))
        call.args, call.outs = tuple(values), tuple(results)
        self.b.add(call)
        return found

    def write_units(self) -> None:
        """Write the functions of the recursive definitions that are called."""
        while self.waiting:
            unit = self.units[self.waiting.pop()]
            if self.module is self.source:
                function = self.value(unit.name, dense=False)
                function.name = unit.value
                self.program.functions[unit.value] = function
                continue
            self.slots, self.preset = {}, {}
            forward, reverse = self.passes(unit.name, (unit.forward, unit.reverse), dense=False)
            self.program.functions[unit.forward] = forward
            self.program.functions[unit.reverse] = reverse


@dataclass
class Unit:
    """The names of the functions of a recursive definition."""

    name: str
    value: str
    forward: str
    reverse: str


def bases(rows: Rows) -> Iterator[F.Var]:
    """Iterate over the arrays of the leaves of an array."""
    return (p.array for p in parts(rows.element))


def real(of: Type) -> bool:
    """Tell whether a stored cotangent has leaves."""
    return bool(leaf_types(of, True)) if not isinstance(of, Array) else bool(array_types(of, True))


@deep()
def lower_value(module: S.Module, dense: bool = True) -> Lowered:
    """Write a program that computes the value of a module's main definition; it raises `NotLowered`."""

    def write(uneven: frozenset[str]) -> Lowered:
        W = Whole(module, module, uneven)
        function = W.value(module.main, dense)
        W.program.functions = {function.name: function}
        return finished(W, module.main)

    return attempted(write)


def attempted(write: Callable[[frozenset[str]], Lowered]) -> Lowered:
    """Write a program; write it again if the rows of a state turn out to have different sizes."""
    uneven: frozenset[str] = frozenset()
    with deep():
        while True:
            try:
                return write(uneven)
            except Uneven as error:
                if error.state in uneven:
                    raise
                uneven |= {error.state}


@deep()
def lower_reverse(module: S.Module, derivative: S.Module, dense: bool = True) -> Lowered:
    """Write the forward and the reverse pass of a module's main definition; it raises `NotLowered`."""

    def write(uneven: frozenset[str]) -> Lowered:
        W = Whole(derivative, module, uneven)
        forward, reverse = W.passes(module.main, ("forward", "reverse"), dense)
        W.program.functions = {"forward": forward, "reverse": reverse}
        return finished(W, "forward")

    return attempted(write)


def finished(W: Whole, main: str) -> Lowered:
    """Write the rest of a program, determine the contents of frames, and remove statements that are not needed."""
    W.write_units()
    functions = list(W.program.functions.values())
    backward = [f for f in functions if f.recalled is not None]
    for f in functions:
        flatten(f.body)
    for f in backward:
        in_one_size(f, next(g for g in functions if g.kept is f.recalled))
        needed(f, may_raise=False)
        Residuals(W.b, f).collect()
    for f in functions:
        if f.recalled is None:
            needed(f, may_raise=True)
    for f in backward:
        in_sums(f)
    for f in functions:
        in_place(f, W.b)
    for name, of in W.source.types.items():
        W.program.records[name] = [leaf_types(t, False) for t in of.options]
    return Lowered(W.program, main, W.is_dense)


def in_one_size(backward: F.Function, forward: F.Function) -> None:
    """Count by one of the sizes that a forward pass has found to be equal, so that a loop writes whole arrays."""
    one: dict[F.Operand, F.Operand] = {}
    for s in forward.body:
        if isinstance(s, F.Compute) and s.operation.name in ("isame", "iequal"):
            a, b = (one.get(x, x) for x in s.args)
            one = {x: a if y == b else y for x, y in one.items()} | {s.out: a, b: a}
    for s, _ in walk(backward.body):
        if isinstance(s, F.For) and s.count is not None:
            s.count = one.get(s.count, s.count)
        elif isinstance(s, F.New):
            s.sizes = tuple(one.get(x, x) for x in s.sizes)
