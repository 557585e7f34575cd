"""Find the source line of each record, with a line tracer around one run of a program.

Recording itself keeps no lines; the tracer runs only on request. At each line of the program it reads the length of the
tape, and assigns the records since its last call to the previous line.
"""

from __future__ import annotations

import linecache
import os
import sys
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple

from ..._core.sweeps import linear

#: Packages whose code is not the program's: their records belong to the line that called them, and their functions read
#: no data of the program.
LIBRARIES = frozenset(("tapeengine", "tapeengine_primitives", "tapeengine_scipy", "numpy", "scipy"))


class Line(NamedTuple):
    """A line of a program."""

    file: str
    number: int
    function: str

    @property
    def text(self) -> str:
        """The source of the line, if it can be found."""
        return linecache.getline(self.file, self.number).strip()

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.number}"


@dataclass(frozen=True)
class Segment:
    """Consecutive records of one line: from the id `start` to the next segment's, taking `seconds`."""

    start: int
    line: Line
    seconds: float


class LineRecorder:
    """Runs a program with a line tracer.

    Parameters
    ----------
    check : callable, optional
        ``check(tape, first, last, line, frame)``, called with the ids of a line's records.
    watcher : object, optional
        Receives the tape's reports of array operations and sweeps.
    """

    def __init__(
        self, check: Callable[[Any, int, int, Line, FrameType], None] | None = None, watcher: Any = None
    ) -> None:
        self.segments: list[Segment] = []
        self.inners: list[tuple[int, Line | None]] = []
        self.check = check
        self.watcher = watcher
        self.tape: Any = None
        self.outer: Any = None
        self._line: Line | None = None
        self._next = 1
        self._clock = 0.0

    def run(self, program: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run the program; call it within the trace to observe."""
        self.tape = linear.open_tape()
        self._next = linear.last_id(self.tape) + 1
        if self.watcher is not None:
            linear.watch(self.tape, self.watcher)
        before = sys.gettrace()
        self.outer = getattr(before, "__self__", None)
        self._clock = perf_counter()
        sys.settrace(self._enter)
        try:
            result = program(*args, **kwargs)
        finally:
            sys.settrace(before)
        self._close(sys._getframe())
        self.tape = self._line = None  # the tape may refer to its watcher
        return result

    def begin_inner(self, start: int, line: Line | None) -> None:
        """Note that the records from an id on come from a record of an inner trace, which a line left; None ends it."""
        if self.inners and self.inners[-1][0] == start:
            self.inners.pop()
        self.inners.append((start, line))
        if isinstance(self.outer, LineRecorder) and self.outer.tape is not None:  # it records the same operations
            self.outer.begin_inner(linear.last_id(self.outer.tape) + 1, line)

    @property
    def inner(self) -> Line | None:
        """The line of the inner record that is being swept or copied."""
        return self.inners[-1][1] if self.inners else None

    def inner_line(self, id: int) -> Line | None:
        """The line of the inner record from which a record comes."""
        k = bisect_right(self.inners, id, key=itemgetter(0)) - 1
        return self.inners[k][1] if k >= 0 else None

    def line_of(self, id: int) -> Line | None:
        """The line that left a record, or the record of an inner trace from which it comes."""
        if (line := self.inner_line(id)) is not None:
            return line
        k = bisect_right(self.segments, id, key=lambda segment: segment.start) - 1
        return self.segments[k].line if k >= 0 else None

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        if _is_library(frame):
            return None
        return self._at(frame, event, arg)

    def _at(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Handle a trace event: a line begins, a call begins, or a call ends."""
        self._close(frame)
        if event != "exception":
            self._line = line_of(frame.f_back if event == "return" else frame)
        self._clock = perf_counter()
        return self._at

    def _close(self, frame: FrameType) -> None:
        """Assign the records since the last event to the line that ran."""
        seconds = perf_counter() - self._clock
        last = linear.last_id(self.tape)
        if last < self._next or self._line is None:
            return
        first, self._next = self._next, last + 1
        self.segments.append(Segment(first, self._line, seconds))
        if self.check is not None:
            self.check(self.tape, first, last, self._line, frame)


def line_of(frame: FrameType | None) -> Line | None:
    """The line of a frame; for a library's frame, the line of its caller."""
    while frame is not None and _is_library(frame):
        frame = frame.f_back
    return None if frame is None else Line(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _is_library(frame: FrameType) -> bool:
    """Whether a frame runs code of a library."""
    name = frame.f_globals.get("__name__")
    known = isinstance(name, str) and name.partition(".")[0] in LIBRARIES
    return known and not frame.f_code.co_filename.startswith("<doctest")
