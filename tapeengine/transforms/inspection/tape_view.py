"""Inspect a recorded tape: counts by operation and by source line, a cost profile, and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..._core.sweeps import linear
from ...forms import ones
from ...html import table
from ..contract import Engine
from .source_lines import Line, LineRecorder

BYTES = 25  # of one record


@dataclass(frozen=True)
class Cost:
    """The cost of one source line: records, bytes of these and of the arrays they keep, seconds of both passes."""

    line: Line
    records: int
    bytes: int
    forward: float
    reverse: float


class TapeView:
    """The tape of one run of a program.

    Attributes
    ----------
    value : structure
        What the program returned.
    nbytes : int
        The bytes of the records and of the arrays that they keep.

    Examples
    --------
    >>> import tapeengine as te
    >>> import tapeengine.math as tm
    >>> view = te.tape(lambda x, y: x * y + tm.sin(x), 2.0, 3.0)
    >>> len(view), view.by_operation
    (3, {'mul': 1, 'sin': 1, 'add': 1})
    """

    def __init__(self, value: Any, backpropagator: Any, recorder: LineRecorder, ones: Any) -> None:
        self.value = value
        self.backpropagator = backpropagator
        self.recorder = recorder
        self.tape = backpropagator.tape
        self._ones = ones

    def __len__(self) -> int:
        return len(self.tape)

    @property
    def nbytes(self) -> int:
        """The bytes of the records and of the arrays that they keep."""
        return BYTES * len(self) + sum(linear.kept_bytes(self.tape).values())

    @property
    def by_operation(self) -> dict[str, int]:
        """The number of records of each operation."""
        return dict(Counter(record[1] for record in self.records()))

    @property
    def by_line(self) -> dict[Line, int]:
        """The number of records of each source line, in the order of the lines' first records."""
        counts: Counter[Line] = Counter()
        for line, start, stop in self._pieces():
            counts[line] += stop - start
        return dict(counts)

    def records(self) -> list[tuple[int, str, tuple[int, ...], tuple[float, ...]]]:
        """List (id, operation, ids of the parents, partials), the oldest first.

        The parents of a record that reads arrays are the records that last wrote these; it has no partials.
        """
        reads = linear.array_parents(self.tape)
        return [
            (id, linear.operation(self.tape, id), reads.get(id, parents), partials)
            for id, _, parents, partials in self.tape.records()
        ]

    def results(self) -> frozenset[int]:
        """The ids of the result's numbers; empty if the result contains arrays."""
        return frozenset(linear.result_ids(self.backpropagator) or ())

    def value_of(self, id: int) -> float | None:
        """The value of an id; None for an array."""
        return linear.value_of_id(self.tape, id)

    def profile(self) -> list[Cost]:
        """List the cost of each source line, the most expensive first; this runs the reverse pass once to measure it.

        An array that records keep alive is counted once, at the line that first keeps it. Values that custom functions
        keep for their rules are not counted.
        """
        pieces = self._pieces()
        seconds = linear.reverse_times(self.backpropagator, self._ones, [start for _, start, _ in pieces])
        kept = linear.kept_bytes(self.tape)
        costs: dict[Line, list[float]] = {}
        for (line, start, stop), segment, reverse in zip(pieces, self.recorder.segments, seconds, strict=True):
            total = costs.setdefault(line, [0, 0, 0.0, 0.0])
            total[0] += stop - start
            total[1] += BYTES * (stop - start) + sum(kept.get(id, 0) for id in range(start, stop))
            total[2] += segment.seconds
            total[3] += reverse
        found = [Cost(line, int(n), int(size), f, r) for line, (n, size, f, r) in costs.items()]
        return sorted(found, key=lambda cost: -(cost.forward + cost.reverse))

    def table(self, most: int = 20) -> str:
        """Return the profile as a printable table."""
        rows = [f"{'line':<24}{'records':>9}{'bytes':>11}{'forward':>11}{'reverse':>11}  source"]
        profile = self.profile()
        for cost in profile[:most]:
            times = f"{1e6 * cost.forward:>8.1f} us{1e6 * cost.reverse:>8.1f} us"
            rows.append(f"{cost.line!s:<24}{cost.records:>9,}{cost.bytes:>11,}{times}  {cost.line.text[:60]}")
        rows.append(f"{'whole tape':<24}{len(self):>9,}{self.nbytes:>11,}")
        return "\n".join(rows)

    def to_dot(self, fold: int | None = None) -> str:
        """Return the tape as a Graphviz graph; long tapes, or those of more than `fold` records, by source line."""
        from .drawing import graph_of, to_dot

        return to_dot(graph_of(self, fold))

    def svg(self, fold: int | None = None) -> str:
        """Return the tape as a picture; long tapes, or those of more than `fold` records, by source line."""
        from .drawing import graph_of
        from .svg import to_svg

        return to_svg(graph_of(self, fold))

    def _repr_html_(self) -> str:
        operations = sorted(self.by_operation.items(), key=lambda row: -row[1])
        lines = [(line, f"{count:,}", line.text) for line, count in self.by_line.items()]
        counts = table("records by source line", ("line", "records", "source"), lines)
        named = table("records by operation", ("operation", "records"), [(name, f"{n:,}") for name, n in operations])
        return self.svg() + counts + named

    def __repr__(self) -> str:
        lines = len({segment.line for segment in self.recorder.segments})
        return f"<TapeView of {len(self):,} records from {lines} source lines, {self.nbytes:,} bytes>"

    def _pieces(self) -> list[tuple[Line, int, int]]:
        """The segments of the tape, as (line, first id, id after the last)."""
        segments = self.recorder.segments
        starts = [segment.start for segment in segments] + [self.tape.inputs + len(self.tape) + 1]
        return [(segment.line, segment.start, end) for segment, end in zip(segments, starts[1:], strict=True)]


def view_tape(engine: Engine, f: Callable[..., Any], primals: tuple[Any, ...]) -> TapeView:
    """See `Engine.tape`."""
    recorder = LineRecorder()
    value, backpropagator = engine.trace(lambda *args: recorder.run(f, *args), primals, order=2)
    return TapeView(value, backpropagator, recorder, ones(engine.structures, value))
