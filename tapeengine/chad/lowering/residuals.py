"""Determine the fields of all frames: the values of the forward pass that the reverse pass uses.

A frame of a step contains no value that a cheap operation makes of the step's index and of values outside the loop: the
reverse pass computes it again, so that an index such as ``i + 1`` takes no memory for each step.
"""

from __future__ import annotations

from ..intermediate import statements as F
from ..intermediate.analysis import blocks, outs, reads, recalled, walk
from .blocks import Block
from .builder import Builder
from .values import NotLowered


class Residuals:
    """Finds which values of the forward pass a reverse pass uses."""

    def __init__(self, b: Builder, function: F.Function) -> None:
        self.homes, self.made, self.order = b.homes, b.made, b.order
        self.flow_blocks = b.flow_blocks
        self.function = function
        self.held: dict[int, set[str]] = {}
        assert function.recalled is not None
        self.given = {p.name for p in function.params}

    def collect(self) -> None:
        """Add to each frame the variables that are used of it."""
        root = self.flow_blocks[id(self.function.body)]
        used = self.block(self.function.body)
        for x in self.function.results:
            if isinstance(x, F.Var):
                used.setdefault(x.name, x)
        for name, var in used.items():
            if name in self.given:
                continue
            self.keep(var, root)

    def keep(self, var: F.Var, at: Block) -> None:
        """Add a variable to the frame of its home."""
        home = self.homes[var.name]
        if home is at:
            return
        if home in at.mirrors and home.kept is not None:
            self.enter(home.kept, var)
            return
        raise NotLowered(f"{var.name} is used outside its scope")

    def enter(self, kept: F.Kept, var: F.Var) -> None:
        """Add a variable to a frame, once."""
        names = self.held.get(id(kept))
        if names is None:
            names = self.held[id(kept)] = {f.name for f in kept.fields}
        if var.name not in names:
            names.add(var.name)
            kept.fields.append(var)

    def block(self, statements: list[F.Statement]) -> dict[str, F.Var]:
        """Give the outer variables that a block uses; add those of frames that it opens to these frames."""
        used: dict[str, F.Var] = {}
        own: set[str] = set()
        for s in statements:
            own |= {v.name for v in outs(s)} if not isinstance(s, F.Flow) else set()
            if isinstance(s, F.Flow):
                used |= self.inside(s)
                own |= {s.kept.frames.name} if isinstance(s, F.For | F.While) and s.kept is not None else set()
            for x in header(s):
                if isinstance(x, F.Var):
                    used.setdefault(x.name, x)
        return {n: v for n, v in used.items() if n not in own}

    def inside(self, s: F.Statement) -> dict[str, F.Var]:
        """Give the outer variables that the blocks of a loop or a branch use."""
        used: dict[str, F.Var] = {}
        for statements in blocks(s):
            here = self.flow_blocks[id(statements)]
            found = self.block(statements)
            if isinstance(s, F.For):
                found.pop(s.index.name, None)
            for x in carried(s):
                if isinstance(x, F.Var):
                    found.setdefault(x.name, x)
            self.compute_again(found, here, statements)
            for name, var in list(found.items()):
                home = self.homes[name]
                if home is here:
                    del found[name]
                elif home in here.mirrors and home.kept is not None:
                    del found[name]
                    self.recall(s, home, var, statements)
            used |= found
        if isinstance(s, F.For) and s.down and any(k.fields for k in s.recalled) and not uses(s.body, s.index):
            s.count = None
        for k in recalled(s):
            used.setdefault(k.frames.name, k.frames)
        return used

    def compute_again(self, found: dict[str, F.Var], here: Block, statements: list[F.Statement]) -> None:
        """Compute again values that need not be kept; replace them by the values that they are computed from."""
        known: dict[str, bool] = {}
        again: set[str] = set()
        for name, x in list(found.items()):
            home = self.homes[name]
            if home is not here and home in here.mirrors and x != home.index and self.is_cheap(x, home, known):
                del found[name]
                self.make(x, home, again, found)
        statements[:0] = [self.made[name] for name in sorted(again, key=self.order.__getitem__)]

    def make(self, x: F.Operand, home: Block, again: set[str], found: dict[str, F.Var]) -> None:
        """Compute a value again, and the values of the step that it is computed from."""
        if isinstance(x, F.Var) and (x == home.index or self.homes[x.name] is not home):
            found[x.name] = x
        elif isinstance(x, F.Var) and x.name not in again:
            again.add(x.name)
            for arg in reads(self.made[x.name]):
                self.make(arg, home, again, found)

    def is_cheap(self, x: F.Operand, home: Block, known: dict[str, bool]) -> bool:
        """Tell whether cheap operations make a value of a step's index and of values outside the step."""
        if isinstance(x, F.Const):
            return True
        if x == home.index or self.homes[x.name] is not home:
            return True
        if x.name not in known:
            s = self.made.get(x.name)
            is_made = isinstance(s, F.Compute) and s.operation.is_total
            known[x.name] = is_made and all(self.is_cheap(a, home, known) for a in s.args)  # type: ignore[union-attr]
        return known[x.name]

    def recall(self, s: F.Statement, home: Block, var: F.Var, statements: list[F.Statement]) -> None:
        """Restore a variable from a frame."""
        assert home.kept is not None
        if var == home.index:
            assert isinstance(s, F.For)
            statements.insert(0, F.Assign((var,), (s.index,)))
            return
        self.enter(home.kept, var)
        if isinstance(s, F.For) and home.kept not in s.recalled:
            s.recalled.append(home.kept)
        if isinstance(s, F.If):
            flow = home.flow
            assert isinstance(flow, F.If)
            assert flow.kept is not None
            if flow.kept not in s.recalled:
                s.recalled.append(flow.kept)


def header(s: F.Statement) -> tuple[F.Operand, ...]:
    """Give the operands that a statement reads before it begins."""
    if isinstance(s, F.Flow):
        if isinstance(s, F.For):
            return () if s.count is None else (s.count,)
        return (s.condition,) if isinstance(s, F.If) else ()
    return reads(s)


def uses(statements: list[F.Statement], var: F.Var) -> bool:
    """Tell whether statements read a variable."""
    return any(var in reads(s) for s, _ in walk(statements))


def carried(s: F.Statement) -> tuple[F.Operand, ...]:
    """Give the operands that the steps of a loop read at their end."""
    if isinstance(s, F.While):
        return (s.condition, *(x for _, x in s.carried))
    return tuple(x for _, x in s.carried) if isinstance(s, F.For) else ()
