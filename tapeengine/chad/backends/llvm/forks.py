"""Parallel loops: each step is a task, a function of the state, its number and what it captures.

`te_fork` of the core runs the tasks, on threads where that pays. A step allocates in the arenas of its thread, and
stores what it keeps in the columns of the loop, which are made before it; no two steps write the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...intermediate.analysis import outs, reads, recalls, walk
from ...intermediate.statements import For, Operand, Var
from .body import Body
from .layout import words
from .writer import FRAME


def may_fork(b: Body, s: For) -> bool:
    """Tell whether a loop's steps can be tasks: it is neither a copy nor inside a task."""
    return s.is_parallel and not isinstance(b, Task) and any(t is s for t, _ in walk(b.function.body))


class Task(Body):
    """Writes one step of a parallel loop."""

    def __init__(self, b: Body, loop: For) -> None:
        super().__init__(b.program, b.function, b.may_raise, b.rules)
        self.outer, self.loop = b, loop
        self.captured: dict[str, Var] = {}
        self.words = 0
        self.depth = 1
        self.inner = {v.name for s, _ in walk(loop.body) for v in outs(s)} | {loop.index.name}
        self.inner |= {v.name for s, _ in walk([loop]) if isinstance(s, For) for v in recalls(s)}
        for s, _ in walk([loop]):
            for x in reads(s):
                self.value_if_outside(x)

    def value_if_outside(self, x: Operand) -> None:
        """Capture a variable of the function."""
        if isinstance(x, Var) and x.name not in self.inner and x.name not in self.captured:
            self.captured[x.name] = x
            given = self.outer.value(x)
            names = [self.read_captured(word) for word in words(x.type)]
            self.known[x.name] = names
            for name, word in zip(names, given, strict=True):
                if word in self.outer.naturals or word.isdigit():
                    self.naturals.add(name)

    def read_captured(self, word: str) -> str:
        """Read the next captured word, at the beginning of the task."""
        lines, self.lines = self.lines, []
        found = self.read(word, self.at("%env", 8 * self.words), FRAME)
        self.places += self.lines
        self.lines = lines
        self.words += 1
        return found

    def lane(self, own: Mapping[str, Var], k: int) -> Mapping[str, Var]:
        """Give separate names to the variables of one of several steps."""
        names = super().lane(own, k)
        self.inner |= {v.name for v in names.values()}
        return names

    def value(self, x: Operand) -> list[str]:
        """Give the words of an operand."""
        self.value_if_outside(x)
        return self.known[x.name] if isinstance(x, Var) and x.name in self.captured else super().value(x)


def fork(b: Body, s: For, count: str, write: Callable[[Task], None]) -> None:
    """Run the steps of a loop as tasks."""
    task = Task(b, s)
    write(task)
    task.line("ret i32 0")
    name = f"task.{len(b.program.written)}"
    header = f'define internal i32 @"{name}"(ptr noalias %ctx, i64 %chunk, ptr %env) noinline'
    b.program.written[name] = task.text(header)
    env = b.fresh("env")
    b.places.append(f"  {env} = alloca [{8 * max(task.words, 1)} x i8], align 8")
    types = [w for v in task.captured.values() for w in words(v.type)]
    b.write_words(types, b.values(task.captured.values()), env, FRAME)
    b.check_status(b.op(f'call i32 @te_fork(ptr %ctx, ptr @"{name}", ptr {env}, i64 {count})'))
