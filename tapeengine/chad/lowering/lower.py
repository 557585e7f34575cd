"""Lower terms to the intermediate form: dispatch, and the rules of the source language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..intermediate import statements as F
from ..intermediate.operations import TRUTH, WHOLE, Scalar
from ..language import terms as S
from ..language.traverse import Names, derivative_name
from ..language.types import EVM, Int, LArray, Linear, LProduct, LSum, Product, Sum, Type
from . import patterns as P
from . import values as V
from .blocks import Block
from .builder import Builder
from .cotangents import Adding, ArraySlot, Cotangents, Leaf, NumberSlot, NumbersSlot, Slot

Rule = Callable[["Lower", Any, V.Env], V.Value]
ONE = F.Const(1, WHOLE)
Static = tuple[tuple[str, object], ...]


class Lower(Cotangents):
    """Writes terms in the intermediate form.

    * `keeps`: whether loops and branches belong to a forward pass, and so keep frames.
    * `slots`: the open slots of each name, the innermost one last.
    * `branches`: what the open branches add to slots around them, the innermost one last.
    * `preset`: slots that are parameters of a reverse pass.
    * `uneven`: the states of loops whose rows have different sizes.
    """

    def __init__(self, module: S.Module, names: Names, uneven: frozenset[str]) -> None:
        self.module = module
        self.uneven = uneven
        self.b = Builder(names)
        self.made = 0
        self.keeps = True
        self.slots: dict[str, list[Slot]] = {}
        self.branches: list[Adding] = []
        self.preset: dict[str, Slot] = {}

    def __call__(self, term: S.Term, env: V.Env) -> V.Value:
        """Write a term; return its value. A computation is delayed until it is run."""
        while isinstance(term, S.Let):
            env[term.var.name] = self.labelled(self(term.bound, env), term.var)
            term = term.body
        if isinstance(term.type, EVM):
            return V.Delayed(lambda: self.perform(term, env))
        rule = self.rules.get(type(term))
        if rule is None:
            raise V.NotLowered(f"{type(term).__name__} has no intermediate form")
        return rule(self, term, env)

    rules: Mapping[type[S.Term], Rule]

    def labelled(self, value: V.Value, var: S.Var) -> V.Value:
        """Give a value the name of a variable; of a pair with a backpropagator it is the primal's."""
        if isinstance(value, V.Tup) and len(value.items) == 2 and isinstance(value.items[1], V.FUNCTIONS):
            self.b.label(value.items[0], var.name, var.of.items[0])  # type: ignore[attr-defined]
        else:
            self.b.label(value, var.name, var.of)
        return value

    def perform(self, term: S.Term, env: V.Env) -> V.Value:
        """Write the effects of a computation; return its result."""
        while isinstance(term, S.Let):
            env[term.var.name] = self.labelled(self(term.bound, env), term.var)
            term = term.body
        found = self.rules[type(term)](self, term, env)
        return found.run() if isinstance(found, V.Delayed) else found

    def evaluated(self, term: S.Term, env: V.Env) -> V.Value:
        """Write a term, and run it if it accumulates."""
        return self.perform(term, env) if isinstance(term.type, EVM) else self(term, env)

    def variable(self, hint: str, of: Type) -> S.Var:
        """Make a variable for a term."""
        self.made += 1
        return S.Var(f"{hint}'{self.made}", of)  # no term has such a name

    def call(self, t: S.Call, args: list[V.Value]) -> V.Value:
        """Inline the call of a definition."""
        definition = self.module.definitions[t.name]
        return self(definition.body, {p.name: a for p, a in zip(definition.params, args, strict=True)})

    def number(self, term: S.Term, env: V.Env) -> F.Operand:
        """Write a term of scalar type."""
        return self.operand(self(term, env))

    def natural(self, term: S.Term, env: V.Env) -> F.Operand:
        """Write a size; a negative one counts as 0."""
        n = self.number(term, env)
        if isinstance(n, F.Const):
            return F.Const(max(n.value, 0), WHOLE)  # type: ignore[type-var]
        if isinstance(term, S.Size) or self.b.find(("natural", n)) is not None or self.is_size(n):
            return n
        found = self.b.compute("imax", n, F.Const(0, WHOLE))
        if isinstance(found, F.Var):
            self.b.note(self.b.homes[found.name], ("natural", found), found)
        return found

    # ------------------------------------------------------------ registry primitives

    def registered(
        self, name: str, rule: str, argument: int, values: list[tuple[V.Value, Type]], static: Static, of: Type
    ) -> V.Value:
        """Write the call of a registry primitive or of one of its rules."""
        leaves = [x for value, t in values for x in self.flat(value, t, P.is_dense(value))]
        outs = [self.b.fresh("y", t) for t in P.leaf_types(of, True)]
        groups = tuple(group_of(t) for _, t in values)
        self.b.add(F.Registered(tuple(outs), name, rule, argument, tuple(leaves), groups, static))
        return self.restored(of, iter(outs), True)

    # ------------------------------------------------------------ cotangents

    def with_slots(self, names: list[str], slots: list[Slot], run: Callable[[], V.Value]) -> tuple[V.Value, V.Value]:
        """Run with additional open slots; return the result and the tuple of their sums."""
        for name, slot in zip(names, slots, strict=True):
            self.slots.setdefault(name, []).append(slot)
        result = run()
        closed = tuple(slot.close() for slot in slots)
        for name, value in zip(names, closed, strict=True):
            self.slots[name].pop()
            self.b.label(value, derivative_name(name))
        return result, V.Tup(closed)

    def summed(self, value: V.Value, of: LArray, like: V.Value | None = None) -> V.Value:
        """Write the sum of all entries of a cotangent of an array."""
        if isinstance(value, V.Zero | V.Tup):
            return V.Zero(like)
        if isinstance(value, V.Single):
            return value.value
        if isinstance(value, V.Scattered):
            return self.summed(value.values, of, like)
        if isinstance(value, V.Bag):
            found: V.Value = V.ZERO
            for x in value.parts:
                found = self.plus(found, self.summed(x, of, like), of.element)
            return found
        if isinstance(value, V.Owed):
            value = value.settle(None)
        slot = self.slot(of.element, like or self.index_like(value, of.element))
        with self.b.loop(self.size(value)) as body:
            slot.add(self.index(value, body.step))
        return slot.close()

    def index_like(self, value: V.Value, of: Linear) -> V.Value | None:
        """Give the pattern of an element, for its sizes."""
        if isinstance(value, V.Pull):
            return value.at(F.Const(0, WHOLE))
        if isinstance(value, V.Items):
            return value.items[0] if value.items else None
        if not isinstance(value, V.Rows) or P.first_rows(value.element) is None:
            return None
        if P.is_dense(value):
            return self.element(value.element, F.Const(0, WHOLE), False)
        stored_, rows = P.stored(of), value

        def nothing() -> V.Value:
            leaves = iter([self.nothing(t) for t in P.leaf_types(stored_, False)])
            return self.restored(stored_, leaves, False)  # type: ignore[arg-type]

        there = self.b.compute("gt", self.size(value), F.Const(0, WHOLE))
        return self.choose(there, lambda: self.element(rows.element, F.Const(0, WHOLE), False), nothing, of)

    def only_functions(self, value: V.Value, body: Block) -> V.Value:
        """Give the functions that a step of a loop of unknown length keeps."""
        if isinstance(value, V.FUNCTIONS):
            return V.Steps(body, value)
        if isinstance(value, V.Tup):
            return V.Tup(tuple(self.only_functions(x, body) for x in value.items))
        raise V.NotLowered("a loop with a condition that keeps values")

    # ------------------------------------------------------------ branches

    def choose(
        self, condition: F.Operand, then: Callable[[], V.Value], orelse: Callable[[], V.Value], of: Type
    ) -> V.Value:
        """Write a conditional whose branches return values of a type."""
        if isinstance(condition, F.Const):
            return then() if condition.value else orelse()
        blocks = self.b.branch(condition, keeps=self.keeps)
        values = self.in_each(blocks, (then, orelse), lambda write: write())
        if values[1] == F.Const(False, TRUTH) and not any(block.statements for block in blocks):
            return self.b.compute("and", condition, values[0])
        return self.finished(condition, blocks, (values[0], values[1]), of)

    def finished(
        self, condition: F.Operand, blocks: tuple[Block, Block], values: tuple[V.Value, V.Value], of: Type
    ) -> V.Value:
        """Append a conditional whose branches have been written; return its value."""
        flow = blocks[0].flow
        assert isinstance(flow, F.If)
        self.b.add(flow)
        return self.joined(condition, blocks, values, of)

    def joined(
        self, condition: F.Operand, blocks: tuple[Block, Block], values: tuple[V.Value, V.Value], of: Type
    ) -> V.Value:
        """Give the value of a conditional."""
        a, b = values
        if a is b:
            return a
        if isinstance(a, V.FUNCTIONS) or isinstance(b, V.FUNCTIONS):
            return V.Either(condition, V.Taken(blocks[0], a), V.Taken(blocks[1], b))
        if isinstance(a, V.Zero) and isinstance(b, V.Zero):
            return a if a == b else V.ZERO
        if isinstance(of, Product | LProduct | LSum):
            n, types, d = len(P.options(of)), P.options(of), P.tangent_type(of)
            if isinstance(d, LSum):
                a, b = self.with_others(a, b, len(d.options)), self.with_others(b, a, len(d.options))
            pairs = enumerate(zip(P.items_of(a, n), P.items_of(b, n), strict=True))
            each = {k: self.joined(condition, blocks, pair, types[k]) for k, pair in pairs if pair[0] is not pair[1]}
            if isinstance(either := each.get(1), V.Either):
                each[1] = replace(either, lacks=tuple(lacked(P.part(x, 0)) for x in (a, b)))
            if d is not None:
                each[1] = self.beside(each.get(1, P.part(a, 1)), d, each.get(0, P.part(a, 0)))
            return P.changed(a, each, n)
        if isinstance(a, F.Var | F.Const) and a == b:
            return a
        if isinstance(a, V.Member) and isinstance(b, V.Member):
            return self.joined_members(condition, blocks, (a, b), of)
        linear = of
        if isinstance(linear, Linear):
            a, b = self.in_each(blocks, (a, b), lambda x: self.full(x, linear, None))
        a, b = self.in_each(blocks, (a, b), self.laid)
        stored, dense = P.stored(of), P.is_dense(a) and P.is_dense(b)
        found = self.in_each(blocks, (a, b), lambda x: self.flat(x, stored, dense))
        outs = [self.b.fresh("y", t) for t in P.leaf_types(stored, dense)]
        self.in_each(blocks, found, lambda operands: self.b.add(F.Assign(tuple(outs), tuple(operands))))
        return self.restored(stored, iter(outs), dense)

    def in_each(self, blocks: Sequence[Block], values: Sequence[Any], write: Callable[[Any], Any]) -> list[Any]:
        """Write something for a value in each of several blocks."""
        found = []
        for block, value in zip(blocks, values, strict=True):
            with self.b.inside(block):
                found.append(write(value))
        return found

    def with_others(self, pair: V.Value, other: V.Value, n: int) -> V.Value:
        """Give a member of a sum with a tangent that has the parts of another one for options that it lacks."""
        own, tangent = P.part(pair, 1), P.part(other, 1)
        parts = {k: P.part(tangent, k) for k in lacked(P.part(pair, 0))}
        around = self.b.around()
        return P.changed(pair, {1: P.changed(own, {k: x for k, x in parts.items() if self.is_in(around, x)}, n)}, 2)

    def is_in(self, around: set[Block], value: V.Value) -> bool:
        """Tell whether a value has numbers only, which were made in one of several blocks, not in one inside."""
        match value:
            case V.Tup(items):
                return all(self.is_in(around, x) for x in items)
            case F.Var(name, of):
                return isinstance(of, Scalar) and self.b.homes[name] in around
        return isinstance(value, F.Const | V.Zero)

    def joined_members(
        self, condition: F.Operand, blocks: tuple[Block, Block], values: tuple[V.Member, V.Member], of: Type
    ) -> V.Value:
        """Join two members of a sum; fields of an option that one of them lacks are never read."""
        assert isinstance(of, Sum)
        tag = self.joined(condition, blocks, (values[0].tag, values[1].tag), Int())
        options: list[V.Value | None] = []
        around = self.b.around()
        for t, a, b in zip(of.options, values[0].options, values[1].options, strict=True):
            alone = b if a is None else a if b is None else None
            if alone is None and a is b:
                options.append(a)
                continue
            if alone is not None and self.is_in(around, alone):
                options.append(alone)
                continue
            x, y = self.in_each(
                blocks, ((a, b), (b, a)), lambda each: self.default(each[1]) if each[0] is None else each[0]
            )
            options.append(self.joined(condition, blocks, (x, y), t))
        return V.Member(self.operand(tag), tuple(options))

    # ------------------------------------------------------------ loops

    def iterate(
        self,
        count: F.Operand,
        init: V.Value,
        of: Type,
        step: Callable[[F.Var, V.Value], tuple[V.Value, V.Value]],
        hint: str,
        index: str = "i",
        down: bool = False,
    ) -> tuple[V.Value, V.Rows]:
        """Write a counted loop that carries a state; return the last state, and what all steps have kept.

        ``step`` gives the next state, and a value to keep, from the index and a state.
        """
        state = Carried(self, init, of, hint)
        with self.b.loop(count, down=down, hint=index, keeps=self.keeps) as body:
            state.move(body)
            flow = body.flow
            assert isinstance(flow, F.For)
            following, kept = step(body.step, state.value())
            element = self.kept_element(kept, count, body)
            flow.carried = state.pairs(following)
        return state.last(), V.Rows(count, element)

    def repeat(
        self,
        init: V.Value,
        of: Type,
        test: Callable[[V.Value], F.Operand],
        step: Callable[[], tuple[V.Value, V.Value]],
        hint: str,
    ) -> tuple[V.Value, V.Rows]:
        """Write a loop with a condition; return the same as `iterate`. Steps keep functions alone."""
        state = Carried(self, init, of, hint)
        steps = self.b.fresh("steps", WHOLE)
        self.b.add(F.Assign((steps,), (F.Const(0, WHOLE),)))
        body = self.b.inner()
        flow = F.While(body.statements, F.Const(False, TRUTH), [])
        body.flow = flow
        if self.keeps:
            flow.kept = body.kept = self.b.kept("steps")
        state.move(body)
        self.b.homes[steps.name] = body
        with self.b.inside(body):
            value = state.value()
            flow.condition = test(value)
            body.statements = flow.body
            self.b.noted(body)
            following, kept = step()
            element = self.only_functions(kept, body)
            flow.carried = [*state.pairs(following), (steps, self.b.compute("iadd", steps, ONE))]
        self.b.add(flow)
        count = self.b.fresh("n", WHOLE)
        self.b.add(F.Assign((count,), (steps,)))
        self.b.note(self.b.block, ("natural", count), count)
        return state.last(), V.Rows(count, element)

    # ------------------------------------------------------------ functions

    def apply(self, function: V.Value, args: Sequence[V.Value], of: Type) -> V.Value:
        """Apply a function; if it accumulates, delay this until the computation is run."""
        if isinstance(of, EVM):
            result = of.result
            return V.Delayed(lambda: self.applied(function, args, result))
        return self.applied(function, args, of)

    def applied(self, function: V.Value, args: Sequence[V.Value], of: Type) -> V.Value:
        """Write the application of a function, and run it if it accumulates."""
        match function:
            case V.Closure(params, body, env):
                env.update(zip(params, args, strict=True))
                found = self.perform(body, env) if isinstance(body.type, EVM) else self(body, env)
                return found.run() if isinstance(found, V.Delayed) else found
            case V.Back(run):
                return run(args[0])
            case V.Taken(block, value, index):
                self.open(block, index)
                return self.applied(value, args, of)
            case V.Either():
                return self.applied_either(function, args, of)
        raise V.NotLowered(f"application of a {type(function).__name__}")

    def open(self, block: Block, index: F.Operand | None) -> None:
        """Open the frames of a step of a forward loop, in the reverse loop over them."""
        if index is None or block in self.b.block.chain():
            return
        for around in self.b.block.chain():
            if around.index is not None and around.index == index:
                if block not in around.mirrors:
                    around.mirrors.append(block)
                return
        raise V.NotLowered("the frame of a step outside a loop")

    def applied_either(self, either: V.Either, args: Sequence[V.Value], of: Type) -> V.Value:
        """Apply the function of the branch that was taken."""
        condition, functions = either.condition, (either.then, either.orelse)
        blocks = self.b.branch(condition, keeps=False)
        for block, zeros in zip(blocks, reversed(either.lacks), strict=False):  # of the other branch
            block.alone = {x.name for k in zeros for x in P.variables(P.part(args[0], k)) if x}
        values, sums, adding = [], [], [Adding(block) for block in blocks]
        for block, function, added in zip(blocks, functions, adding, strict=True):
            block.mirrors.append(function.block)
            self.branches.append(added)
            with self.b.inside(block):
                values.append(self.applied(function.value, args, of))
                sums.append({outer: slot.close() for outer, slot in added.slots.items()})
            self.branches.pop()
        found = self.finished(condition, blocks, (values[0], values[1]), of)
        for slot in dict.fromkeys([*adding[0].slots, *adding[1].slots]):
            kept = any(getattr(each.slots.get(slot), "took_over", False) for each in adding)
            self.add_either(slot, condition, blocks, [each.get(slot, V.ZERO) for each in sums], kept)
        return found

    def add_either(
        self, slot: Leaf, condition: F.Operand, blocks: tuple[Block, Block], sums: Sequence[V.Value], kept: bool
    ) -> None:
        """Add the contributions of two branches: as one array if one of them passes an array on, else in place."""
        if isinstance(slot, NumbersSlot):
            n = len(slot.types)
            pairs = enumerate(zip(*(P.items_of(d, n) for d in sums), strict=True))
            apart = {k: (x, y) for k, (x, y) in pairs if x is not y and x != y}
            slot.add(P.changed(sums[0], dict.fromkeys(apart, V.ZERO), n))
            for k, pair in apart.items():
                self.in_each(blocks, pair, slot.root.number(k).add)
            return
        if isinstance(slot, NumberSlot) and sums[0] == sums[1]:
            slot.add(sums[0])
            return
        if kept or any(P.is_changeable(d) and not self.is_new(d) for d in sums):
            assert isinstance(slot, ArraySlot)
            a, b = (V.Zero(slot.like) if isinstance(d, V.Zero) else d for d in sums)
            rows = self.joined(condition, blocks, (a, b), slot.of)
            assert isinstance(rows, V.Rows)
            slot.go_on(rows)
            return
        self.in_each(blocks, sums, slot.add)


def lacked(member: V.Value) -> frozenset[int]:
    """Give the options that a member of a sum does not have."""
    return frozenset(k for k, x in enumerate(getattr(member, "options", ())) if x is None)


def group_of(of: Type) -> F.Group:
    """Give the group of a type: how its values are built from leaves."""
    of = P.stored(of)
    return F.Group(tuple(map(group_of, of.items))) if isinstance(of, Product) else F.Group()


class Carried:
    """A value that a loop carries, in variables that are assigned at the end of each step."""

    def __init__(self, lower: Lower, init: V.Value, of: Type, hint: str) -> None:
        self.lower, self.of, self.type, self.hint = lower, P.stored(of), of, hint
        init = lower.laid(lower.completed(init, of))
        self.dense = P.is_dense(init) and hint not in lower.uneven
        operands = lower.flat(init, self.of, self.dense)
        self.variables = [lower.b.fresh(str(hint), t) for t in P.leaf_types(self.of, self.dense)]
        if self.variables:
            lower.b.add(F.Assign(tuple(self.variables), tuple(operands)))

    def move(self, body: Block) -> None:
        """Move the variables to the body of the loop."""
        for v in self.variables:
            self.lower.b.homes[v.name] = body

    def value(self) -> V.Value:
        """Give the value in the body of the loop."""
        value = self.lower.restored(self.of, iter(self.variables), self.dense)
        self.lower.b.label(value, self.hint, self.type)
        return value

    def pairs(self, value: V.Value) -> list[tuple[F.Var, F.Operand]]:
        """Give the variables with their values at the end of a step."""
        value = self.lower.laid(self.lower.completed(value, self.type))
        if self.dense and not P.is_dense(value):
            raise V.Uneven(self.hint)
        return list(zip(self.variables, self.lower.flat(value, self.of, self.dense), strict=True))

    def last(self) -> V.Value:
        """Give the value after the loop."""
        b = self.lower.b
        outs = [b.fresh(b.labels.get(v.name, "y"), v.type) for v in self.variables]
        if outs:
            b.add(F.Assign(tuple(outs), tuple(self.variables)))
        return self.lower.restored(self.of, iter(outs), self.dense)
