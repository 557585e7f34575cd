"""Counts and listings of the recordings of a staged program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .._core.programs.replay import Path, Plan, spelled

#: The number of a path's instructions that are printed.
SHOWN = 40


@dataclass(frozen=True)
class Stats:
    """Counts of recordings and replays.

    Attributes
    ----------
    recordings, replays : int
        The runs of the program that were recorded, and the calls that were replayed.
    forms, paths : int
        The forms of arguments, and the paths through the program, that are kept now.
    instructions, guards : int
        The totals over all paths; a guard is a check of something that the program decided on.
    shared : int
        The operations on numbers that repeat others, with `share`.
    native : int
        The paths that run by native code.
    nbytes : int
        The memory of the paths.
    evicted, changes : int
        The paths that were deleted to make room, and the changes of captured values.
    refused : str or None
        Why the program is not replayed.
    """

    recordings: int
    replays: int
    forms: int
    paths: int
    instructions: int
    guards: int
    shared: int
    native: int
    nbytes: int
    evicted: int
    changes: int
    refused: str | None

    @classmethod
    def of(cls, plans: Sequence[Plan], counts: dict[str, int], refused: str | None) -> Stats:
        """Add up the counts of plans and `counts`, which are those of deleted plans."""
        paths = [path for plan in plans for path in plan.paths]
        return cls(
            recordings=counts["recordings"],
            replays=counts["replays"] + sum(plan.replays for plan in plans),
            forms=len(plans),
            paths=len(paths),
            instructions=sum(map(len, paths)),
            guards=sum(path.guards for path in paths),
            shared=sum(path.shared for path in paths),
            native=sum(path.is_native for path in paths),
            nbytes=sum(path.nbytes for path in paths),
            evicted=counts["evicted"] + sum(plan.evicted for plan in plans),
            changes=counts["changes"],
            refused=refused,
        )

    def __str__(self) -> str:
        if self.refused is not None:
            return f"not replayed, because {self.refused}"
        return (
            f"{self.recordings} recordings, {self.replays} replays, {self.paths} paths, "
            f"{self.instructions:,} instructions, {self.guards:,} guards, {self.nbytes:,} bytes"
        )


def listing(name: str, stats: Stats, plans: Sequence[Plan]) -> str:
    """The text of `print(staged)`: the paths with their first instructions."""
    lines = [f"{name}: {stats}"]
    for plan in plans:
        for number, path in enumerate(plan.paths):
            lines.append(f"path {number} of {plan.inputs} inputs, {len(path):,} instructions")
            lines += instructions(path)
    return "\n".join(lines)


def instructions(path: Path) -> Iterator[str]:
    """The first instructions of a path, one per line."""
    for k, (register, op, a, b) in enumerate(path.instructions()):
        if k == SHOWN:
            yield f"    ... {len(path) - SHOWN:,} more"
            return
        yield f"    {spelled(path, register, op, a, b)}"
