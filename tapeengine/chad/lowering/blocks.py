"""Blocks: the statements of a function, a loop or a branch during lowering."""

from __future__ import annotations

from collections.abc import Iterator

from ..intermediate.statements import For, If, Join, Kept, Operand, Statement, Var, While


class Block:
    """The statements of a function, of the body of a loop, or of a branch; in a forward pass it makes frames.

    * `before`: the place in the parent's statements directly before the loop or branch.
    * `index`: `step`; None if the block is no body of a counted loop.
    * `count`: the number of steps of a loop.
    * `kept`: the frames that the block makes, in a forward pass.
    * `mirrors`: in a reverse pass, the blocks of the forward pass whose frames are open here.
    * `alone`: cotangents that are zero where the other block of a branch runs.
    """

    def __init__(self, parent: Block | None = None, before: Join | None = None) -> None:
        self.parent = parent
        self.before = before
        self.statements: list[Statement] = []
        self.known: dict[int, Var] = {}
        self.index: Var | None = None
        self.count: Operand | None = None
        self.kept: Kept | None = None
        self.flow: For | While | If | None = None
        self.mirrors: list[Block] = []
        self.alone: set[str] = set()

    @property
    def step(self) -> Var:
        """The index of a counted loop."""
        assert self.index is not None
        return self.index

    def chain(self) -> Iterator[Block]:
        """Iterate over the block and its enclosing blocks."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent
