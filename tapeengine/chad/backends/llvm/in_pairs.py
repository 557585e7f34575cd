"""The sum of the numbers that the steps of a loop add, in the order of `Sum`.

Such a loop runs in the parts of at most 128 steps of which the sum consists. If a step only reads numbers of arrays and
computes with them, eight steps at a time are vectors. Otherwise the steps of a part store their numbers, so that LLVM
makes vectors of them; the sum of these follows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from ...intermediate.operations import REAL
from ...intermediate.statements import SUMS, Add, Compute, Load, Operand, Var
from .before import Before
from .blocks import arithmetic, is_arithmetic, row
from .body import Body
from .fuse import Summed
from .interrupts import Strip

#: The most numbers that are not halved.
MOST = 128
#: The words of the places of ``te_part``; see `machine.h`.
PLACES = 129
VECTOR = f"<{SUMS} x double>"
#: Changes no number that is added to it.
NOTHING = f"<{', '.join(['double -0.0'] * SUMS)}>"

#: Adds the elements of a vector in pairs.
PAIRS = """
define internal double @pairs(V %v) alwaysinline {
  %a = shufflevector V %v, V poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %b = shufflevector V %v, V poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %c = fadd <4 x double> %a, %b
  %d = shufflevector <4 x double> %c, <4 x double> poison, <2 x i32> <i32 0, i32 2>
  %e = shufflevector <4 x double> %c, <4 x double> poison, <2 x i32> <i32 1, i32 3>
  %f = fadd <2 x double> %d, %e
  %g = extractelement <2 x double> %f, i64 0
  %h = extractelement <2 x double> %f, i64 1
  %s = fadd double %g, %h
  ret double %s
}
""".replace("V", VECTOR)


class InPairs:
    """The sum of the numbers that the steps of a loop add.

    It begins with the number of all steps as the rest of the first place.
    """

    def __init__(self, b: Body, place: str, count: str, loop: Summed) -> None:
        self.place, self.count, self.loop = place, count, loop
        self.size, self.numbers = b.place("i64"), b.fresh("numbers")
        self.halves, self.read_at, self.total = b.fresh("halves"), "", ""
        b.places += [
            f"  {self.numbers} = alloca [{MOST} x double], align 64",
            f"  {self.halves} = alloca [{PLACES} x i64], align 8",
        ]
        b.set(self.size, "i64", count)
        with self.many(b):
            b.line(f"store i64 1, ptr {self.halves}")
            b.line(f"store i64 {count}, ptr {b.at(self.halves, 8)}")
            b.set(self.size, "i64", b.op(f"call i64 @te_part(ptr {self.halves}, double 0.0)"))

    @contextmanager
    def many(self, b: Body) -> Iterator[None]:
        """Write what is done if there are several parts."""
        many, go = b.label("many"), b.label("go")
        b.jump_if(b.op(f"icmp sgt i64 {self.count}, {MOST}"), many, go)
        b.start(many)
        yield
        b.line(f"br label %{go}")
        b.start(go)

    def begin(self, b: Body) -> Strip:
        """Begin a part."""
        label = b.label("part")
        b.begin(label)
        self.low, self.steps = b.get(self.place, "i64"), b.get(self.size, "i64")
        b.summing[self.loop.total.name] = partial(self.add, b)
        return Strip(label, self.low, self.steps, b.op(f"add nsw i64 {self.low}, {self.steps}"))

    def read(self, b: Body, buffers: Mapping[str, str]) -> None:
        """Read the numbers where they are, if they are elements, or values in a buffer for the steps of a part."""
        (x,) = [s.value for s in self.loop.body if isinstance(s, Add) and s.out == self.loop.total]
        self.read_at = buffers.get(x.name, "") if isinstance(x, Var) else ""
        match self.loop.body:
            case [Load(array=array, indices=(index,), checked=False), _] if index == self.loop.index:
                self.read_at = b.op(f"getelementptr inbounds double, ptr {b.value(array)[0]}, i64 {self.low}")

    def is_plain(self, b: Body, around: Before, buffers: Collection[str]) -> bool:
        """Tell whether the steps only read numbers side by side, and compute with them."""
        places = {self.loop.index.name}
        for s in b.left(self.loop.body):
            match s:
                case Compute(out, plus, (Var(name), other)) if plus.name == "iadd" and name in places:
                    if not around.is_fixed(other):
                        return False
                    places.add(out.name)
                case Load(out, array, (*rows, Var(name)), checked) if name in places and out.type == REAL:
                    if (checked and id(s) not in b.checked) or not all(map(around.is_fixed, (array, *rows))):
                        return False
                case Compute() if s.out.name in buffers or is_arithmetic(s):
                    pass
                case Add() if s.out == self.loop.total:
                    pass
                case _:
                    return False
        return not self.read_at

    def at_once(self, b: Body, buffers: Mapping[str, str], over: str) -> None:
        """Add the numbers of eight steps at once, as long as there are as many; the steps after these follow."""
        place, sums = b.place("i64"), b.place(VECTOR)
        self.total = b.place("double")
        head, body, after, rest = (b.label(x) for x in ("eights", "eight", "after", "rest"))
        end = b.op(f"and i64 {self.steps}, {-SUMS}")
        b.set(place, "i64", "0")
        b.set(sums, VECTOR, NOTHING)
        b.begin(head)
        k = b.get(place, "i64")
        b.jump_if(b.op(f"icmp slt i64 {k}, {end}"), body, after)
        b.start(body)
        b.give(self.loop.index, [b.op(f"add nuw nsw i64 {self.low}, {k}")])
        b.set(sums, VECTOR, self.eight(b, b.get(sums, VECTOR), {name: (at, k) for name, at in buffers.items()}))
        b.set(place, "i64", b.op(f"add nuw nsw i64 {k}, {SUMS}"))
        b.line(f"br label %{head}")
        b.start(after)
        b.set(self.total, "double", b.op(f"call double @pairs({VECTOR} {b.get(sums, VECTOR)})"))
        b.set(self.place, "i64", b.op(f"add nuw nsw i64 {self.low}, {end}"))
        b.jump_if(b.op(f"icmp slt i64 {end}, {self.steps}"), rest, over)
        b.start(rest)

    def eight(self, b: Body, total: str, buffers: Mapping[str, tuple[str, str]]) -> str:
        """Write eight steps; return the running sums after them."""
        known: dict[str, str] = {}

        def vector(x: Operand) -> str:
            return known.get(getattr(x, "name", "")) or b.spread("double", b.one(x), SUMS)

        for s in b.left(self.loop.body):
            match s:
                case Load():
                    known[s.out.name] = row(b, s, SUMS)
                case Compute() if s.out.name in buffers:
                    at = b.op("getelementptr inbounds double, ptr {}, i64 {}".format(*buffers[s.out.name]))
                    known[s.out.name] = b.op(f"load {VECTOR}, ptr {at}, align 8")
                case Compute() if s.out.type == REAL:
                    known[s.out.name] = arithmetic(b, s.operation.name, SUMS, list(map(vector, s.args)))
                case Add():
                    total = arithmetic(b, "add", SUMS, [total, vector(s.value)])
                case _:
                    b.block([s])
        return total

    def add(self, b: Body, x: str) -> None:
        """Add or store the number of a step."""
        if self.total:
            b.set(self.total, "double", b.op(f"fadd double {b.get(self.total, 'double')}, {x}"))
        elif not self.read_at:
            k = b.op(f"sub nuw nsw i64 {b.one(self.loop.index)}, {self.low}")
            place = b.op(f"getelementptr inbounds double, ptr {self.numbers}, i64 {k}")
            b.line(f"store double {x}, ptr {place}, align 8")

    def end(self, b: Body) -> None:
        """Add the sum of a part; the sum of all is the loop's value after the last one."""
        del b.summing[self.loop.total.name]
        if self.total:
            part = b.get(self.total, "double")
        else:
            part = b.op(f"call double @te_pairwise(ptr {self.read_at or self.numbers}, i64 {self.steps})")
        b.give(self.loop.total, [b.op(f"fadd double 0.0, {part}")])
        with self.many(b):
            b.set(self.size, "i64", b.op(f"call i64 @te_part(ptr {self.halves}, double {part})"))
            b.give(self.loop.total, [b.op(f"load double, ptr {b.at(self.halves, 16)}, align 8")])
