"""The sum of the numbers that the steps of a loop add, in the order of `Sum`.

Such a loop runs in the parts of at most 128 steps of which the sum consists. The steps of a part store their numbers,
so that LLVM makes vectors of them; the sum of these follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from ...intermediate.statements import Add, Load, Var
from .body import Body
from .fuse import Summed
from .interrupts import Strip

#: The most numbers that are not halved.
MOST = 128
#: The words of the places of ``te_part``; see ``machine.h``.
PLACES = 129

SUM = """
define internal double @sum(ptr %x, i64 %n) noinline {
  %end = and i64 %n, -8
  %few = icmp eq i64 %end, 0
  br i1 %few, label %rest, label %first
first:
  %v0 = load V, ptr %x, align 8
  br label %eight
eight:
  %i = phi i64 [8, %first], [%next, %more]
  %v = phi V [%v0, %first], [%w, %more]
  %all = icmp eq i64 %i, %end
  br i1 %all, label %join, label %more
more:
  %at = getelementptr double, ptr %x, i64 %i
  %u = load V, ptr %at, align 8
  %w = fadd V %v, %u
  %next = add i64 %i, 8
  br label %eight
join:
PAIRS
  br label %rest
rest:
  %k = phi i64 [0, %0], [%end, %join], [%after, %one]
  %s = phi double [-0.0, %0], [%s1, %join], [%t, %one]
  %done = icmp eq i64 %k, %n
  br i1 %done, label %out, label %one
one:
  %p = getelementptr double, ptr %x, i64 %k
  %y = load double, ptr %p, align 8
  %t = fadd double %s, %y
  %after = add i64 %k, 1
  br label %rest
out:
  ret double %s
}
""".replace("V", "<8 x double>").replace(
    "PAIRS",
    "\n".join(
        [
            *(f"  %s{8 + k} = extractelement <8 x double> %v, i64 {k}" for k in range(8)),
            *(f"  %s{k} = fadd double %s{2 * k}, %s{2 * k + 1}" for k in range(7, 0, -1)),
        ]
    ),
)


class InPairs:
    """The sum of the numbers that the steps of a loop add.

    It begins with the number of all steps as the rest of the first place.
    """

    def __init__(self, b: Body, place: str, count: str, loop: Summed) -> None:
        self.place, self.count, self.loop = place, count, loop
        self.size, self.numbers = b.place("i64"), b.fresh("numbers")
        self.halves, self.read_at = b.fresh("halves"), ""
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

    def add(self, b: Body, x: str) -> None:
        """Store the number of a step."""
        if self.read_at:
            return
        k = b.op(f"sub nuw nsw i64 {b.one(self.loop.index)}, {self.low}")
        b.line(f"store double {x}, ptr {b.op(f'getelementptr inbounds double, ptr {self.numbers}, i64 {k}')}, align 8")

    def end(self, b: Body) -> None:
        """Add the sum of a part; the sum of all is the loop's value after the last one."""
        del b.summing[self.loop.total.name]
        part = b.op(f"call double @sum(ptr {self.read_at or self.numbers}, i64 {self.steps})")
        b.give(self.loop.total, [b.op(f"fadd double 0.0, {part}")])
        with self.many(b):
            b.set(self.size, "i64", b.op(f"call i64 @te_part(ptr {self.halves}, double {part})"))
            b.give(self.loop.total, [b.op(f"load double, ptr {b.at(self.halves, 16)}, align 8")])
