"""Lowered programs that count the instructions that they run, as compiled code; for tests.

A statement costs at least as many instructions as the register machine runs for it, in each run. Each block begins with
a statement that adds the costs of its statements to a number, which is a result of its own; what takes time for each
element of an array counts the elements of that run.
"""

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tapeengine.chad.backends.machine import Assembler
from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.analysis import kept, outs, reads, recalls
from tapeengine.chad.intermediate.operations import REAL, WHOLE, operation
from tapeengine.chad.intermediate.text import Writer, compiled
from tapeengine.chad.language import terms as S
from tapeengine.chad.language.traverse import children
from tapeengine.chad.language.values import Tagged
from tapeengine.chad.lowering.passes import Lowered
from tapeengine.chad.lowering.patterns import leaf_types
from tapeengine.chad.specification import Evaluator

ARRAYS = F.New | F.ZerosLike | F.AddAll


def fields(s):
    """How many values a statement keeps in frames, or takes from frames."""
    return sum(len(k.fields) + 1 for k in kept(s)) + len(recalls(s))


def once(s):
    """What a statement costs, without those inside it."""
    match s:
        case F.For() | F.While():
            return 4 + len(getattr(s, "recalled", ()))
        case F.If():
            return 4 + fields(s)
        case F.Load() | F.Row() | F.Store() | F.AddAt():
            return 2 + 2 * len(s.indices)
    return 2 + len(reads(s)) + 2 * len(outs(s))


def each(s):
    """What a step of a loop costs, without its statements."""
    return 5 + fields(s) + 2 * len(s.carried) + 2 * len(getattr(s, "recalled", ()))


def per_element(s):
    """What a statement costs for each element of an array: for rows of any sizes, that of a loop over them."""
    if isinstance(s, F.AddAll):
        return 5 + 3 * s.array.type.rank + 5 * levels(s.array.type)
    return 1 + 6 * levels(s.out.type)


def levels(of):
    """How many times rows of any sizes lie in one another."""
    return 1 + levels(of.element) if isinstance(of.element, F.ArrayOf) else 0


class Counting:
    """Adds the statements that count to a function."""

    def __init__(self, count):
        self.count = count
        self.made = 0

    def var(self, of):
        self.made += 1
        return F.Var(f"{self.count.name}_{self.made}", of)

    def block(self, statements, extra=0):
        """A block that counts its statements."""
        found = [F.Add(self.count, F.Const(float(extra + sum(map(once, statements))), REAL))]
        for s in statements:
            found += [self.inside(s), *self.elements(s)]
        return found

    def inside(self, s):
        match s:
            case F.For():
                return replace(s, body=self.block(s.body, each(s)))
            case F.While():
                return replace(s, body=self.block(s.body, each(s)), test=self.block(s.test, each(s)))
            case F.If():
                return replace(s, then=self.block(s.then), orelse=self.block(s.orelse))
        return s

    def elements(self, s):
        """Count the elements of an array that a statement makes or reads."""
        if not isinstance(s, ARRAYS):
            return []
        array = s.array if isinstance(s, F.AddAll) else s.out
        rank = array.type.rank
        sizes = [self.var(WHOLE) for _ in range(rank)]
        found = [F.Size(n, array, k) for k, n in enumerate(sizes)]
        product = F.Const(per_element(s), WHOLE)
        for n in sizes:
            out = self.var(WHOLE)
            found.append(F.Compute(out, operation("imul", (WHOLE, WHOLE)), (product, n)))
            product = out
        real = self.var(REAL)
        return [*found, F.Compute(real, operation("real", (WHOLE,)), (product,)), F.Add(self.count, real)]


def counted(lowered):
    """A derivative whose forward pass takes a number, and whose passes also return what they cost."""
    functions = dict(lowered.program.functions)
    forward, reverse = functions["forward"], functions["reverse"]
    given, ahead, d, back = (F.Var(f"{name}_of_instructions", REAL) for name in ("given", "ahead", "d", "back"))
    functions["forward"] = replace(
        forward,
        params=[*forward.params, given],
        body=[F.Assign((ahead,), (given,)), *Counting(ahead).block(forward.body)],
        results=[*forward.results, ahead],
    )
    functions["reverse"] = replace(
        reverse,
        params=[*reverse.params, d],
        body=[F.Assign((back,), (F.Const(0.0, REAL),)), *Counting(back).block(reverse.body)],
        results=[*reverse.results, back],
    )
    return Lowered(replace(lowered.program, functions=functions), lowered.main, lowered.is_dense)


class Counted(Writer):
    """Writes functions that count the statements that they run in ``counts[0]``."""

    def block(self, statements):
        self.line(f"counts[0] += {1 + sum(max(1, len(outs(s))) for s in statements)}")
        for s in statements:
            super().block([s])
            if isinstance(s, ARRAYS):
                self.line(f"counts[0] += np.size({self.operand(s.array if isinstance(s, F.AddAll) else s.out)})")


def counting(program, counts, primitives=MappingProxyType({})):
    """The functions of a program as Python that counts statements."""
    return compiled(program, primitives, by=Counted, counts=counts)


class Instructions(Assembler):
    """Writes a function for the register machine; no statement has more instructions than it costs."""

    below = 0

    def block(self, statements):
        for s in statements:
            start, before = len(self.steps), self.below
            super().block([s])
            own = len(self.steps) - start - (self.below - before)
            cost = each(s) if isinstance(s, F.For | F.While) else once(s)
            cost += per_element(s) if isinstance(s, F.AddAll | F.ZerosLike) else 0
            assert own <= cost, (s, own, cost)
            self.below = before + len(self.steps) - start


class Unboxed(Evaluator):
    """EC's cost model, where what is passed on costs its parts.

    A tuple has no memory of its own in compiled code: a branch, a step of a loop, a call or an element of an array that
    gives a tuple costs as many more steps as the tuple has parts, and a row that is stored in an array its elements.
    """

    PASSED = MappingProxyType({S.If: ("then", "orelse"), S.For: ("body",), S.While: ("body",), S.Fold: ("body",)})
    STORED = MappingProxyType({S.Build: ("body",), S.Map: ("body",), S.Scan: ("body",), S.Elements: ("items",)})
    COPIES = S.Concatenate | S.Gather | S.Scatter | S.Filter | S.Replicate

    def __init__(self, module):
        super().__init__(module)
        self.passed, self.stored = set(), set()
        pending = [d.body for d in module.definitions.values()]
        while pending:
            t = pending.pop()
            for found, names in ((self.passed, self.PASSED), (self.stored, self.STORED)):
                for name in names.get(type(t), ()):
                    part = getattr(t, name)
                    found |= set(map(id, part if isinstance(part, tuple) else (part,)))
            self.passed |= {id(b.body) for b in t.branches} if isinstance(t, S.Case) else set()
            self.passed |= set(map(id, t.args)) if isinstance(t, S.Call) else set()
            pending += [child for child, _ in children(t)]

    def eval(self, term, env):
        value = super().eval(term, env)
        if id(term) in self.passed:
            self.step(len(leaf_types(term.type, False)))
        if id(term) in self.stored or isinstance(term, self.COPIES):
            self.step(numbers(value))
        return value


def numbers(value):
    """How many numbers a value holds, with one for each array and each option."""
    if isinstance(value, Tagged):
        return 1 + numbers(value.payload)
    if isinstance(value, tuple):
        return sum(map(numbers, value))
    return 1 + sum(map(numbers, value)) if isinstance(value, list | np.ndarray) else 1
