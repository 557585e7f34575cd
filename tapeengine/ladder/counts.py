"""What the reverse pass of a step costs, in operations that take constant time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Counts"]


@dataclass
class Counts:
    """Counters of one derivative.

    Attributes
    ----------
    records : int
        Backpropagators made in the forward pass.
    calls : int
        Backpropagators called in the reverse pass.
    additions : int
        Additions of scalar cotangents.
    steps : int
        Cells of structures made, nodes of maps visited, cells of arrays reached.
    span : int
        Calls on the longest path of calls that must follow one another.
    """

    records: int = 0
    calls: int = 0
    additions: int = 0
    steps: int = 0
    span: int = 0

    @property
    def work(self) -> int:
        """All operations of the reverse pass."""
        return self.calls + self.additions + self.steps

    def step(self, cells: int = 1) -> None:
        """Count cells of structures."""
        self.steps += cells
