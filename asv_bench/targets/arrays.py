"""Targets for numpy programs."""

from functools import partial
from typing import Any

import numpy as np

from asv_bench.measure import interleaved
from asv_bench.programs import gmm, loops, lstm, network_arrays, particles_arrays, products
from asv_bench.programs.program import Program
from asv_bench.targets.ratios import gradient_ratio, thunks
from asv_bench.targets.target import Measurement, Target

__all__ = ["TARGETS"]

CHAIN = """
import sys
from asv_bench.measure import peak_bytes
from asv_bench.programs.chain import PEAK
print(PEAK[sys.argv[1]](int(sys.argv[2])))
"""


def index_loop(program: Program, sizes: tuple[int, ...] = (1000, 10_000, 100_000, 1_000_000)) -> Measurement:
    """Measure a loop over the elements at several sizes: the ratio to numpy's own loop, and how it spreads.

    The figure is the largest ratio; it counts as met only where the time of an element stays within 1.5 times.
    """
    ratios, costs = [], []
    for size in sizes:
        times = interleaved(thunks(program, size), rounds=3 if size > 10_000 else 9)
        ratios.append(times["derivative"] / times["plain"])
        costs.append(1e9 * times["derivative"] / size)
    spread = max(costs) / min(costs)
    detail = f"ns an element {', '.join(f'{cost:.0f}' for cost in costs)}: spread {spread:.2f} (at most 1.5)"
    told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    return Measurement(max(ratios), f"{detail}; ratios {told}", holds=spread <= 1.5)


def against_hand(program: Program, by_hand: Any, size: int) -> Measurement:
    """Measure value and gradients over the same written by hand in numpy."""
    _, primals = program.problem(size, np)
    derivative = thunks(program, size)["derivative"]
    times = interleaved({"hand": lambda: by_hand(*primals), "derivative": derivative}, rounds=15)
    detail = f"by hand {1e3 * times['hand']:.3g} ms, derivative {1e3 * times['derivative']:.3g} ms"
    return Measurement(times["derivative"] / times["hand"], detail)


def ratio_target(name: str, what: str, limit: float, program: Program, size: int) -> Target:
    """Return a target that bounds value and gradient over the plain numpy program."""
    return Target(name, what, limit, "x numpy", partial(gradient_ratio, program, size))


TARGETS = (
    ratio_target("gmm", "GMM d=10 K=10 n=1000 on arrays", 2.6, gmm.PROGRAM, 1000),
    ratio_target("network_arrays", "network 50-50-50-10, one input, arrays", 3.5, network_arrays.PROGRAM, 50),
    ratio_target(
        "particles_arrays", "four particles as (4, 2) arrays, 1000 steps", 2.5, particles_arrays.PROGRAM, 1000
    ),
    ratio_target("lstm", "LSTM l2_c1024 of ADBench", 2.5, lstm.PROGRAM, 1024),
    Target(
        "index_reads",
        "sum of squares, element by element, 10^3 to 10^6",
        4.0,
        "x numpy",
        partial(index_loop, loops.READ),
    ),
    Target(
        "recurrence", "recurrence written into an array, 10^3 to 10^6", 4.0, "x numpy", partial(index_loop, loops.WRITE)
    ),
    Target(
        "matvec_arrays",
        "sum(mat @ vec), 500 x 500",
        1.2,
        "x by hand",
        partial(against_hand, products.MATVEC, products.matvec_by_hand, 500),
    ),
    Target(
        "matmul",
        "product of 1000 x 1000 matrices",
        1.1,
        "x by hand",
        partial(against_hand, products.MATMUL, products.matmul_by_hand, 1000),
    ),
)
