"""Shared code of the benchmark modules: clocks, and value with cotangents of the programs by name.

The classes are here because asv treats every class in the benchmark modules as a benchmark.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from time import process_time
from typing import Any

import tapeengine as te
from asv_bench.measure import first_time, interleaved, quick
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.targets.ratios import engine_module, ones_like, thunks


class Clock:
    """A clock of CPU seconds, which stops while other processes run and while benchmarks prepare."""

    def __init__(self) -> None:
        self.spent, self.depth = 0.0, 0

    def __call__(self) -> float:
        """Return the seconds so far, without preparations."""
        return process_time() - self.spent

    def stopped(self, make: Callable[..., Any], *args: Any) -> Any:
        """Run a preparation, possibly inside another one, while the clock is stopped."""
        started, self.depth = process_time(), self.depth + 1
        try:
            return make(*args)
        finally:
            self.depth -= 1
            self.spent += 0.0 if self.depth else process_time() - started


CLOCK = Clock()


def preparation(make: Callable[..., Any]) -> Callable[..., Any]:
    """Caches what a benchmark needs from its first call on; neither this nor a program's first run is timed."""

    def made(*args: Any) -> Any:
        found = make(*args)
        for thunk in found.values() if isinstance(found, dict) else (found,):
            if callable(thunk) and not quick():
                thunk()
        return found

    return lru_cache(maxsize=1)(partial(CLOCK.stopped, made))


class Timed:
    """Base class of benchmarks named ``time_*``.

    Such a class has no ``setup``: asv would run it before every call that it times, and so time single calls on cold
    caches. Instead a `preparation` makes what a benchmark needs at the first call, with the clock stopped. So ``asv run
    --quick``, which makes only one call, times the operation as well.
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
    """Compute the ratio of value and cotangents to the plain program, in every size of the table of tools."""

    param_names = ("program_size",)
    timeout = 300

    def track_ratio(self, case: str) -> float:
        """Run both in turns and divide the smallest times."""
        name, size = case.split()
        both = thunks(PROGRAMS[name], int(size))
        times = interleaved(both, rounds=rounds_for(both["plain"]), sample=0.01)
        return times["derivative"] / times["plain"]

    track_ratio.unit = "x plain"  # type: ignore[attr-defined]


def rounds_for(plain: Any) -> int:
    """Return the number of samples: many for fast programs, a few for slow ones."""
    return 15 if first_time(plain) < 0.05 else 5


class First:
    """Measure the wall-clock seconds of the first derivative of a program in its process."""

    param_names = ("program",)

    def track_first(self, name: str) -> float:
        """Trace and resolve once."""
        return first_time(thunks(PROGRAMS[name], PROGRAMS[name].sizes[-1])["derivative"])

    track_first.unit = "s"  # type: ignore[attr-defined]


class Counts:
    """Count the records of a derivative, and the calls and additions of its reverse sweep."""

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
