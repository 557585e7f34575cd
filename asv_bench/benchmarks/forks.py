"""Parallel programs, by wall-clock time, since the processor time of all threads is the same as in sequence."""

from time import perf_counter

import tapeengine as te
from asv_bench import derivatives, limits
from asv_bench.programs import forked
from asv_bench.targets import forks

Figures = limits.figures(forks.TARGETS)


class Speedups:
    """The speed-up of parallel tasks over the same tasks in sequence."""

    params = (list(forked.PROGRAMS), ["value", "reverse"])
    param_names = ("program", "pass")
    timeout = 300

    def track_speedup(self, name: str, which: str) -> float:
        in_order, side_by_side = forks.speedups(name)[which]
        return in_order / side_by_side

    track_speedup.unit = "x in order"  # type: ignore[attr-defined]


class Forked(derivatives.Timed):
    """Value and cotangents of programs with forks."""

    params = (list(forked.PROGRAMS),)
    param_names = ("program",)
    timer = perf_counter

    def time_vjp(self, name: str) -> None:
        run, primals = forked.PROGRAMS[name]
        te.vjp(lambda *xs: run(forked.side_by_side, *xs), *primals)[1](1.0)
