"""What benchmark modules have in common: how times are taken, and value with cotangents of the programs by name.

The classes stand here and not among the benchmarks because asv takes every class that it finds there for a benchmark.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from time import process_time
from typing import Any

import tapeengine as te
from asv_bench.measure import first_time, interleaved, quick
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.targets.ratios import engine_module, ones_like, thunks

__all__ = ["Counts", "First", "Ratios", "Timed", "Times", "cases", "names", "preparation"]


class Clock:
    """CPU seconds, which stand still while others have the core, and while benchmarks prepare what they time."""

    def __init__(self) -> None:
        self.spent, self.depth = 0.0, 0

    def __call__(self) -> float:
        """Return the seconds so far, without those of preparations."""
        return process_time() - self.spent

    def stopped(self, make: Callable[..., Any], *args: Any) -> Any:
        """Run a preparation, or one inside another, while the clock stands still."""
        started, self.depth = process_time(), self.depth + 1
        try:
            return make(*args)
        finally:
            self.depth -= 1
            self.spent += 0.0 if self.depth else process_time() - started


CLOCK = Clock()


def preparation(make: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what a benchmark needs from its first call on; making it, and a first run of a program, are not timed."""

    def made(*args: Any) -> Any:
        found = make(*args)
        for thunk in found.values() if isinstance(found, dict) else (found,):
            if callable(thunk) and not quick():
                thunk()
        return found

    return lru_cache(maxsize=1)(partial(CLOCK.stopped, made))


class Timed:
    """How ``time_*`` benchmarks take their times.

    Such a class has no ``setup``: asv runs that before every call that it times, and would then time single calls on
    cold caches. What a benchmark needs is made by a `preparation` at its first call, during which the clock stands
    still, so that ``asv run --quick``, which makes no second call, times the operation as well.
    """

    timer = CLOCK
    timeout = 300
    rounds = 2
    repeat = (2, 5, 1.0)
    warmup_time = 0.05
    sample_time = 0.01


def names(flavour: str) -> list[str]:
    """Return the names of the programs on scalars or on arrays."""
    return [name for name, program in PROGRAMS.items() if program.flavour == flavour]


def cases(flavour: str) -> list[str]:
    """Return each program with each of its sizes, as ``name size``."""
    return [f"{name} {size}" for name in names(flavour) for size in PROGRAMS[name].sizes]


@preparation
def prepared(name: str, size: int) -> dict[str, Any]:
    """Return the plain program and its derivative as thunks."""
    return thunks(PROGRAMS[name], size)


class Times(Timed):
    """Time value and cotangents of a program in its smallest size."""

    param_names = ("program",)

    def time_derivative(self, name: str) -> None:
        """Run the program on dual numbers and resolve the tape."""
        prepared(name, PROGRAMS[name].sizes[0])["derivative"]()


class Ratios:
    """Take the ratio of value and cotangents to the plain program, in every size of the table of tools."""

    param_names = ("program_size",)
    timeout = 300

    def track_ratio(self, case: str) -> float:
        """Interleave both and divide the smallest times."""
        name, size = case.split()
        both = thunks(PROGRAMS[name], int(size))
        times = interleaved(both, rounds=rounds_for(both["plain"]), sample=0.01)
        return times["derivative"] / times["plain"]

    track_ratio.unit = "x plain"  # type: ignore[attr-defined]


def rounds_for(plain: Any) -> int:
    """Return how many samples to take: many of fast programs, a few of slow ones."""
    return 15 if first_time(plain) < 0.05 else 5


class First:
    """Take the seconds of the very first derivative of a program in its process, by the clock on the wall."""

    param_names = ("program",)

    def track_first(self, name: str) -> float:
        """Trace and resolve once."""
        return first_time(thunks(PROGRAMS[name], PROGRAMS[name].sizes[-1])["derivative"])

    track_first.unit = "s"  # type: ignore[attr-defined]


class Counts:
    """Count what a derivative records and how often the reverse sweep calls and adds."""

    param_names = ("program",)

    def setup(self, name: str) -> None:
        """Record the program once."""
        program = PROGRAMS[name]
        run, primals = program.problem(program.sizes[0], engine_module(program))
        value, self.backpropagator = te.vjp(run, *primals)
        self.cotangent: Any = ones_like(value)

    def track_records(self, name: str) -> int:
        """Count the records of the tape."""
        return len(self.backpropagator.tape)

    def track_calls(self, name: str) -> int:
        """Count the backpropagators that the reverse sweep calls."""
        calls, _ = self.backpropagator.count(self.cotangent)
        return int(calls)

    def track_contributions(self, name: str) -> int:
        """Count the contributions that the reverse sweep adds."""
        _, contributions = self.backpropagator.count(self.cotangent)
        return int(contributions)
