"""Counts of the reverse pass of a step, in operations that take constant time."""

from __future__ import annotations

from dataclasses import dataclass


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
        Cells of structures made, nodes of maps visited, cells of arrays accessed.
    span : int
        Calls on the longest chain of calls that depend on each other.
    """

    records: int = 0
    calls: int = 0
    additions: int = 0
    steps: int = 0
    span: int = 0

    @property
    def work(self) -> int:
        """The total number of operations in the reverse pass."""
        return self.calls + self.additions + self.steps

    def step(self, cells: int = 1) -> None:
        """Count the cells of structures."""
        self.steps += cells
