"""The command ``profile``: the cost of a gradient relative to the program, and its distribution over source lines."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from ..engine import Engine
from ..forms import ones
from .target import add_target, read_target

HELP = "time a function, its recording and its reverse pass, and list the cost by source line"
EXAMPLE = "python -m tapeengine profile model.py:loss x0 '[1.0, 2.0]' --lines 10"
ROUNDS = 5
BUDGET = 1.0  # seconds for each of the two measurements


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    add_target(parser)
    parser.add_argument("--lines", type=int, default=20, help="how many source lines the table has (20)")


def run(options: argparse.Namespace) -> int:
    """Print the times, their ratio, and the table of source lines."""
    target, engine = read_target(options), Engine()
    plain = best(lambda: target.program(*target.primals))
    value, _ = engine.vjp(target.program, *target.primals)
    cotangent = ones(engine.structures, value)

    def gradient() -> Any:
        return engine.vjp(target.program, *target.primals)[1](cotangent)

    both = best(gradient)
    view = engine.tape(target.program, *target.primals)
    print(f"program {1e3 * plain:.3g} ms; value and cotangents {1e3 * both:.3g} ms, {both / plain:.2f} times as much")
    print(f"{len(view):,} records, {view.nbytes:,} bytes of records; a line's time includes that of tracing it")
    print(view.table(options.lines))
    return 0


def best(call: Callable[[], Any]) -> float:
    """Return the shortest time of a call in seconds, from as many calls as the budget allows, but at least a few."""
    times: list[float] = []
    while not times or (len(times) < ROUNDS and sum(times) < BUDGET):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
