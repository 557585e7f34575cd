"""Targets for parallel programs: the cost of a fork, and the use of the processors by the reverse pass."""

import os
from functools import partial
from time import perf_counter

import tapeengine as te
from asv_bench.measure import interleaved
from asv_bench.programs import forked
from asv_bench.targets.target import Measurement, Target


def speedups(name: str) -> dict[str, tuple[float, float]]:
    """Measure value and reverse pass of a program, in seconds, each in sequence and in parallel."""
    run, primals = forked.PROGRAMS[name]
    ways = {"in order": partial(run, forked.in_order), "side by side": partial(run, forked.side_by_side)}
    pulls = {way: te.vjp(program, *primals)[1] for way, program in ways.items()}
    thunks = {
        "value": {way: partial(te.vjp, program, *primals) for way, program in ways.items()},
        "reverse": {way: partial(pull, 1.0) for way, pull in pulls.items()},
    }
    found = {what: interleaved(both, 5, clock=perf_counter) for what, both in thunks.items()}
    return {what: (times["in order"], times["side by side"]) for what, times in found.items()}


def reverse_pass() -> Measurement:
    """Measure the reverse pass of eight long scalar tasks on all processors, over its share of the time in sequence."""
    workers = min(os.cpu_count() or 1, 8)
    found = speedups("loops")
    alone, together = found["reverse"]
    detail = "; ".join(
        f"{what} {1e3 * a:.3g} ms in order, {1e3 * b:.3g} ms on {workers}" for what, (a, b) in found.items()
    )
    return Measurement(together * workers / alone, detail)


def small_fork() -> Measurement:
    """Measure value and cotangent of a fork of two tasks with almost no work."""

    def program(x: float) -> float:
        a, b = te.fork(lambda: 2.0 * x, lambda: 3.0 * x)
        return a + b

    times = interleaved({"fork": lambda: te.vjp(program, 1.0)[1](1.0)}, clock=perf_counter)
    return Measurement(1e6 * times["fork"], "both passes")


TARGETS = (
    Target("fork_reverse", "reverse pass of 8 scalar tasks side by side", 1.5, "x a fair share", reverse_pass),
    Target("fork_cost", "fork and join of two tasks, both passes", 400.0, "us", small_fork),
)
