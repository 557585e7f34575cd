"""Determine the fields of all frames: the values of the forward pass that the reverse pass uses."""

from __future__ import annotations

from dataclasses import replace

from tapeengine.chad.intermediate.analysis import blocks, outs, reads, recalled, walk
from tapeengine.chad.intermediate.operations import TRUTH, WHOLE
from tapeengine.chad.intermediate.statements import (
    Assign,
    Compute,
    Flow,
    For,
    Function,
    If,
    Kept,
    Operand,
    Statement,
    Var,
    While,
)
from tapeengine.chad.lowering.blocks import Block
from tapeengine.chad.lowering.builder import Builder
from tapeengine.chad.lowering.values import NotLowered

#: The largest number of operations that are computed again in the place of a value that is kept.
LONGEST = 8


class Residuals:
    """Finds which values of the forward pass a reverse pass uses."""

    def __init__(self, b: Builder, function: Function) -> None:
        self.homes = b.homes
        self.flow_blocks = b.flow_blocks
        self.function = function
        self.held: dict[int, set[str]] = {}
        self.made: dict[int, dict[str, Compute]] = {}
        assert function.recalled is not None
        self.given = {p.name for p in function.params}

    def collect(self) -> None:
        """Add to each frame the variables that are used of it."""
        root = self.flow_blocks[id(self.function.body)]
        used = self.block(self.function.body, root)
        for x in self.function.results:
            if isinstance(x, Var):
                used.setdefault(x.name, x)
        for name, var in used.items():
            if name in self.given:
                continue
            self.keep(var, root)

    def keep(self, var: Var, at: Block) -> None:
        """Add a variable to the frame of its home."""
        home = self.homes[var.name]
        if home is at:
            return
        if home in at.mirrors and home.kept is not None:
            self.enter(home.kept, var)
            return
        raise NotLowered(f"{var.name} is used outside its scope")

    def enter(self, kept: Kept, var: Var) -> None:
        """Add a variable to a frame, once."""
        names = self.held.get(id(kept))
        if names is None:
            names = self.held[id(kept)] = {f.name for f in kept.fields}
        if var.name not in names:
            names.add(var.name)
            kept.fields.append(var)

    def block(self, statements: list[Statement], here: Block) -> dict[str, Var]:
        """Give the outer variables that a block uses; add those of frames that it opens to these frames."""
        used: dict[str, Var] = {}
        own: set[str] = set()
        for s in statements:
            own |= {v.name for v in outs(s)} if not isinstance(s, Flow) else set()
            if isinstance(s, Flow):
                used |= self.inside(s)
                own |= {s.kept.frames.name} if isinstance(s, For | While) and s.kept is not None else set()
            for x in header(s):
                if isinstance(x, Var):
                    used.setdefault(x.name, x)
        return {n: v for n, v in used.items() if n not in own}

    def inside(self, s: Flow) -> dict[str, Var]:
        """Give the outer variables that the blocks of a loop or a branch use."""
        used: dict[str, Var] = {}
        for statements in blocks(s):
            here = self.flow_blocks[id(statements)]
            found = self.block(statements, here)
            if isinstance(s, For):
                found.pop(s.index.name, None)
            for x in carried(s):
                if isinstance(x, Var):
                    found.setdefault(x.name, x)
            used |= self.restored(s, here, found, statements)
        if isinstance(s, For) and s.down and any(k.fields for k in s.recalled) and not uses(s.body, s.index):
            s.count = None
        for k in recalled(s):
            used.setdefault(k.frames.name, k.frames)
        return used

    def restored(self, s: Flow, here: Block, found: dict[str, Var], statements: list[Statement]) -> dict[str, Var]:
        """Restore the variables of the forward pass that a block uses; give those that are from outside of it."""
        outside: dict[str, Var] = {}
        first: list[Statement] = []
        again: dict[str, Statement] = {}
        pending, seen = list(found.values()), set(found)
        for var in pending:
            home = self.homes[var.name]
            if home not in here.mirrors or home.kept is None:
                outside |= {} if home is here else {var.name: var}
            elif var == home.index:
                assert isinstance(s, For)
                first.append(Assign((var,), (s.index,)))
            elif var.name not in again:
                computed = self.computed(home, var)
                if computed is None:
                    self.recall(s, home, var)
                    continue
                again |= {x.out.name: x for x in computed}
                more = {x.name: x for c in computed for x in c.args if isinstance(x, Var) and x.name not in again}
                pending += [x for name, x in more.items() if name not in seen]
                seen |= more.keys()
        statements[:0] = [*first, *again.values()]
        return outside

    def computed(self, home: Block, var: Var) -> list[Compute] | None:
        """Give the statements that compute a variable again of a loop's index and values from outside; None if none do.

        They take less time than a frame to keep a number in, and memory that grows with the steps.
        """
        made = self.definitions(home)
        found: dict[str, Compute] = {}
        pending = [var]
        while pending and len(found) < LONGEST:
            s = made.get(pending.pop().name)
            if s is None or not s.operation.is_total or {x.type for x in s.args} - {WHOLE, TRUTH}:
                return None
            found.pop(s.out.name, None)
            found[s.out.name] = s
            inner = [x for x in s.args if isinstance(x, Var) and x != home.index]
            pending += [x for x in inner if self.homes[x.name] is home]
        return None if pending else [replace(s) for s in reversed(found.values())]

    def definitions(self, home: Block) -> dict[str, Compute]:
        """Give the operations of a block by the names of their results."""
        if id(home) not in self.made:
            self.made[id(home)] = {s.out.name: s for s in home.statements if isinstance(s, Compute)}
        return self.made[id(home)]

    def recall(self, s: Flow, home: Block, var: Var) -> None:
        """Restore a variable from a frame."""
        assert home.kept is not None
        self.enter(home.kept, var)
        if isinstance(s, For) and home.kept not in s.recalled:
            s.recalled.append(home.kept)
        if isinstance(s, If):
            flow = home.flow
            assert isinstance(flow, If)
            assert flow.kept is not None
            if flow.kept not in s.recalled:
                s.recalled.append(flow.kept)


def header(s: Statement) -> tuple[Operand, ...]:
    """Give the operands that a statement reads before it begins."""
    if isinstance(s, Flow):
        if isinstance(s, For):
            return () if s.count is None else (s.count,)
        return (s.condition,) if isinstance(s, If) else ()
    return reads(s)


def uses(statements: list[Statement], var: Var) -> bool:
    """Tell whether statements read a variable."""
    return any(var in reads(s) for s, _ in walk(statements))


def carried(s: Statement) -> tuple[Operand, ...]:
    """Give the operands that the steps of a loop read at their end."""
    if isinstance(s, While):
        return (s.condition, *(x for _, x in s.carried))
    return tuple(x for _, x in s.carried) if isinstance(s, For) else ()
