"""Targets for numpy programs."""

import sys
from functools import partial
from typing import Any

import numpy as np

from asv_bench.measure import in_subprocess, interleaved, peers_python
from asv_bench.programs import gmm, loops, lstm, network_arrays, particles_arrays, products
from asv_bench.programs.program import Program
from asv_bench.targets.ratios import gradient_ratio, thunks
from asv_bench.targets.target import Measurement, Target

CHAIN = """
import sys, numpy as np
from asv_bench.measure import peak_bytes
def chain(xp, x):
    for _ in range(10):
        x = xp.sqrt(xp.exp(xp.sin(x) * 1.1) + 0.5)
    return x
def engine(x):
    import tapeengine as te, tapeengine.numpy as xp
    return te.vjp(lambda x: chain(xp, x), x)[1](np.ones_like(x))[0]
def tensors(x):
    import torch
    t = torch.tensor(x, requires_grad=True)
    chain(torch, t).backward(torch.ones_like(t))
    return t.grad.numpy()
tool = {"engine": engine, "torch": tensors}[sys.argv[1]]
tool(np.linspace(0.1, 1.0, 100_000))
x = np.linspace(0.1, 1.0, int(sys.argv[2]))
before = peak_bytes()
slope = tool(x)
print((peak_bytes() - before) / x.nbytes, float(slope.sum()))
"""


def index_loop(program: Program, sizes: tuple[int, ...] = (1000, 10_000, 100_000, 1_000_000)) -> Measurement:
    """Measure a loop over the elements at several sizes: the ratio to numpy's own loop, and its spread.

    The figure is the largest ratio; the target is met only if the time per element varies by at most 1.5 times.
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
    """Measure value and gradients relative to the same by hand in numpy."""
    _, primals = program.problem(size, np)
    derivative = thunks(program, size)["derivative"]
    times = interleaved({"hand": lambda: by_hand(*primals), "derivative": derivative}, rounds=15)
    detail = f"by hand {1e3 * times['hand']:.3g} ms, derivative {1e3 * times['derivative']:.3g} ms"
    return Measurement(times["derivative"] / times["hand"], detail)


def chain_memory(elements: int = 2_000_000) -> Measurement:
    """Measure the peak memory of a vjp of 50 elementwise operations relative to torch's, each in a separate process."""
    pythons = {"engine": sys.executable, "torch": peers_python()}
    found = {tool: in_subprocess(CHAIN, tool, str(elements), python=python) for tool, python in pythons.items()}
    arrays, slopes = zip(*(map(float, told.split()) for told in found.values()), strict=True)
    if abs(slopes[0] - slopes[1]) > 1e-9 * abs(slopes[1]):
        raise ArithmeticError(f"the derivatives differ: {slopes}")
    return Measurement(arrays[0] / arrays[1], f"{arrays[0]:.1f} arrays at the peak, torch {arrays[1]:.1f}")


def ratio_target(name: str, what: str, limit: float, program: Program, size: int) -> Target:
    """Return a target that limits value and gradient relative to the plain numpy program."""
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
    Target("chain_memory", "peak memory, 50 elementwise operations on arrays", 1.0, "x torch", chain_memory, True),
)
