"""Compute elementary functions for many steps of a loop at once, by one call.

If the argument of a function is known when a step begins, and no step changes what it depends on, a short loop computes
the arguments of the next steps. One call computes the function of all of them, into a buffer from which each step reads
its value: numpy's own loop, or one with the bits of the C library. Other functions have loops of their own, as LLVM
makes no vectors of loops that call them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TypeGuard

from ...intermediate.analysis import outs, reads, recalls, renamed, walk
from ...intermediate.operations import LOOPS
from ...intermediate.statements import Compute, Const, For, Load, Operand, Row, Size, Statement, Var
from .before import Before
from .body import Body
from .operations import INLINE
from .writer import POLE

#: The number of steps at once: a power of two.
BLOCK = 128


@dataclass(frozen=True)
class Group:
    """Functions that one loop computes ahead, and the statements of a step that compute their arguments.

    If one call computes the function, the loop stores its arguments; there is none where they lie side by side.
    """

    functions: Sequence[Compute]
    needed: Sequence[Statement]
    arguments: Sequence[str] = ()
    in_memory: bool = False


@dataclass(frozen=True)
class Ahead:
    """The functions that are computed ahead, and buffers for their values.

    * `groups`: functions of numbers alone may be several.
    * `own`: the variables of the steps that are computed ahead.
    * `buffers`: a buffer for each function.
    """

    groups: Sequence[Group]
    own: Mapping[str, Var]
    buffers: dict[str, str]

    @property
    def functions(self) -> Iterator[Compute]:
        """All functions."""
        return (s for group in self.groups for s in group.functions)

    def write(self, b: Body, group: Group, k: str) -> None:
        """Write the functions of the step whose variables have been given, and store their values."""
        read = {x.name for s in (*group.needed, *group.functions) for x in reads(s) if isinstance(x, Var)}
        for s in self.functions:
            if s.out.name in read and s not in group.functions:
                b.give(self.own[s.out.name], [b.op(f"load double, ptr {self.place(b, s, k)}, align 8")])
        b.block(b.copies(group.needed, partial(renamed, names=self.own)))
        for buffer, x in zip(group.arguments, group.functions[0].args, strict=False):
            b.line(f"store double {b.one(renamed(x, self.own))}, ptr {element(b, buffer, k)}, align 8")
        for s in () if group.arguments else group.functions:
            b.line(f"store double {b.one(self.own[s.out.name])}, ptr {self.place(b, s, k)}, align 8")

    def placed(self, b: Body, group: Group, kept: Mapping[Operand, str]) -> Group:
        """Give a group whose arguments lie in memory where that begins, for the step whose index is given."""
        copies = b.copies(group.needed, partial(renamed, names=self.own))
        b.block([s for s in copies if isinstance(s, Compute)])
        places = {s.out: b.read_at(s) for s in copies if isinstance(s, Load)}
        arguments = [kept.get(x) or places[renamed(x, self.own)] for x in group.functions[0].args]
        return replace(group, arguments=arguments)

    def call(self, b: Body, group: Group, steps: str) -> None:
        """Call a function of many numbers for the arguments that have been stored, and check its values."""
        for s in group.functions if group.arguments else ():
            name, places = s.operation.name, [f"ptr {x}" for x in (*group.arguments, self.buffers[s.out.name])]
            all_three = f"i64 {steps}, {places[0]}, {', '.join(places[-2:])}"
            if self.is_exact(b, s):
                b.line(f"call void @te_apply(i64 {[*LOOPS].index(name)}, {all_three})")
            else:
                b.line(f"call void @loop.{name}({', '.join(places)}, i64 {steps})")
            if b.may_raise and s.operation.machine[1:]:
                b.stop_if(b.op(f"icmp ne i32 {b.op(f'call i32 @poles({all_three})')}, 0"), POLE, now=True)

    def is_exact(self, b: Body, s: Compute) -> bool:
        """Tell whether a call computes a function for the numbers of steps alone, and not for whole vectors."""
        return s.operation.name in LOOPS and s.operation.name not in b.program.variants

    def give(self, b: Body, k: str, own: Mapping[str, Var]) -> None:
        """Give a step its values, in its own variables; its own statements that compute them are left out."""
        for s in self.functions:
            b.give(own.get(s.out.name, s.out), [b.op(f"load double, ptr {self.place(b, s, k)}, align 8")])
            b.hoisted.add(s.out.name)

    def place(self, b: Body, s: Compute, k: str) -> str:
        """Give the place of a function's value in its buffer."""
        return element(b, self.buffers[s.out.name], k)


def element(b: Body, buffer: str, k: str) -> str:
    """Give the place of a step in a buffer."""
    return b.op(f"getelementptr inbounds double, ptr {buffer}, i64 {k}")


def ahead(b: Body, s: For, around: Before) -> Ahead | None:
    """Find the functions of a loop's steps that can be computed ahead; None if there are none."""
    first = [s.index, *recalls(s)]
    known = {v.name: v for v in first}
    often = {name for name, n in Counter(v.name for t, _ in walk(s.body) for v in outs(t)).items() if n > 1}
    plain: list[Statement] = []
    for t in b.left(s.body):
        if is_plain(t, known, around) and often.isdisjoint(v.name for v in outs(t)):
            known |= {v.name: v for v in outs(t)}
            plain.append(t)
        else:
            for name in {v.name for x, _ in walk([t]) for v in outs(x)}:
                known.pop(name, None)
    called = [t for t in plain if is_call(t)]
    if not any(map(b.program.has_loop, called)):
        return None
    own = {v.name: v for v in (*first, *(v for t in plain for v in outs(t)))}
    groups = []
    for name, functions in groupby(called, lambda t: t.out.name if b.program.has_loop(t) else ""):
        group = list(functions)
        needed = [*needed_by(group, [t for t in plain if not is_call(t) or t in group])]
        if not name:
            groups.append(Group(group, needed))
            continue
        inside = [t for t in needed if t not in group]
        in_memory = are_side_by_side(b, s, inside, group[0].args, around)
        groups.append(Group(group, inside, [buffer(b) for _ in group[0].args if not in_memory], in_memory))
    return Ahead(groups, b.lane(own, -1), {t.out.name: buffer(b) for t in called})


def are_side_by_side(b: Body, s: For, needed: Sequence[Statement], args: Sequence[Operand], around: Before) -> bool:
    """Tell whether the arguments of a function lie in arrays or frames in the order of the steps."""
    places = {s.index.name}
    found = {v.name for k in s.recalled for v in b.program.stored(k)}
    for t in needed:
        match t:
            case Compute(out, operation, (a, c)) if operation.name == "iadd":
                first, second = (isinstance(x, Var) and x.name in places for x in (a, c))
                if (first and around.is_fixed(c)) or (second and around.is_fixed(a)):
                    places.add(out.name)
            case Load(out, array, (*rows, Var(name)), checked) if name in places:
                if not (checked and id(t) not in b.checked) and all(map(around.is_fixed, (array, *rows))):
                    found.add(out.name)
    return all(isinstance(x, Var) and x.name in found for x in args)


def buffer(b: Body) -> str:
    """Give memory for a number of each step."""
    made = b.fresh("ahead")
    b.places.append(f"  {made} = alloca [{BLOCK} x double], align 64")
    return made


def is_call(s: Statement) -> TypeGuard[Compute]:
    """Tell whether a statement calls a function of real numbers."""
    return isinstance(s, Compute) and s.operation.name not in INLINE


def is_plain(s: Statement, known: Mapping[str, Var], around: Before) -> bool:
    """Tell whether a statement gives the same value if it runs before the steps that precede its own."""
    if not all(is_known(x, known, around) for x in reads(s)):
        return False
    if isinstance(s, Load):
        return isinstance(s.array, Var) and around.is_unchanged(s.array)
    return isinstance(s, Row | Size) or (isinstance(s, Compute) and s.operation.name not in ("ifloordiv", "imod"))


def is_known(x: Operand, known: Mapping[str, Var], around: Before) -> bool:
    """Tell whether an operand is a value of the step itself, or the same in all steps."""
    return isinstance(x, Const) or x.name in known or around.is_fixed(x)


def needed_by(functions: Iterable[Compute], statements: Sequence[Statement]) -> Iterable[Statement]:
    """Give the statements on which functions depend, and themselves, in their order."""
    found: list[Statement] = []
    names = {s.out.name for s in functions}
    for s in reversed(statements):
        if not names.isdisjoint(v.name for v in outs(s)):
            names |= {x.name for x in reads(s) if isinstance(x, Var)}
            found.append(s)
    return reversed(found)
