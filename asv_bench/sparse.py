"""Measures sparse derivatives relative to one evaluation of the program: smallest processor times, interleaved.

    python asv_bench/sparse.py

The bundle adjustment is ADBench's ba1 (49 cameras, 7,776 points, 31,843 observations; with TAPEENGINE_TEST_DATA its
Jacobian is compared with the reference there).
"""

import os
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tapeengine as te
from tapeengine.gradbench import ba
from tapeengine.sparse.structure import Structure, by_outputs
from tapeengine.sparse.tracing import traced

TURNS = 7


def least(*functions: Callable[[], Any]) -> list[float]:
    """The smallest processor time of each of some functions, called in turn."""
    found = [float("inf")] * len(functions)
    for _ in range(TURNS):
        for k, function in enumerate(functions):
            before = time.process_time()
            function()
            found[k] = min(found[k], time.process_time() - before)
    return found


def adjustment() -> tuple[Any, ...]:
    """The inputs of ba1: one camera, point, weight and feature, repeated."""
    data = os.environ.get("TAPEENGINE_TEST_DATA")
    file = Path(data or "", "adbench", "ba", "ba1_n49_m7776_p31843.txt")
    numbers = np.random.default_rng(0).uniform(0.1, 1.0, 17).tolist()
    if data and file.exists():
        numbers = [float(x) for x in file.read_text().split()[3:]]
    parts = {"cam": numbers[:11], "x": numbers[11:14], "w": numbers[14], "feat": numbers[15:17]}
    given = {"n": 49, "m": 7776, "p": 31843, **parts}
    return ba.prepare(given)


def bundle() -> None:
    """Jacobian, pattern and memory of the bundle adjustment."""
    inputs = adjustment()
    jacobian = te.sparse_jacobian(ba.objective, argnums=(0, 1, 2))
    matrix = jacobian(*inputs).matrix
    compare(matrix)
    program = partial(fixed, inputs[3:])
    back = traced(te.default_engine(), program, inputs[:3])[1]
    value, whole, pattern = least(
        lambda: ba.objective(*inputs), lambda: jacobian(*inputs), lambda: Structure(back, apart=True).rows()
    )
    print(f"bundle adjustment, Jacobian in CSR: {whole / value:.1f} evaluations (limit 15)")
    print(f"bundle adjustment, its pattern: {pattern / value:.1f} evaluations (limit 3)")
    tracemalloc.start()
    jacobian(*inputs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    print(f"bundle adjustment, peak memory: {peak / held:.1f} of the matrix (limit 6)")


def fixed(rest: tuple[Any, ...], cameras: Any, points: Any, weights: Any) -> Any:
    """The errors as a function of the differentiated arguments."""
    return ba.objective(cameras, points, weights, *rest)


def compare(matrix: Any) -> None:
    """Print the difference of the Jacobian from ADBench's."""
    file = Path(os.environ.get("TAPEENGINE_TEST_DATA", ""), "adbench", "ref", "ba1.npz")
    if file.exists():
        import scipy.sparse

        known = np.load(file)
        given = scipy.sparse.csr_array((known["data"], known["indices"], known["indptr"]), shape=tuple(known["shape"]))
        print(
            f"bundle adjustment, from the reference: {abs(matrix - given).max() / abs(given).max():.1e} (limit 1e-10)"
        )


def scalars(n: int = 250_000, outputs: int = 64) -> None:
    """Blocks of bits over a tape of a million scalar records."""

    def program(xs: list[Any]) -> list[Any]:
        found = list(xs)
        for k in range(n):
            found[k % outputs] = (found[k % outputs] * 0.5 + found[(7 * k + 1) % outputs] * 0.25) * 1.5
        return found[:outputs]

    back = traced(te.default_engine(), program, ([1.0] * outputs,))[1]
    structure = Structure(back)
    ends, begins = structure.outputs, structure.inputs
    walk, solved = least(lambda: Structure(back), lambda: by_outputs(structure.slots, ends, begins))
    records = len(back.tape)
    nanoseconds = [1e9 * seconds / records for seconds in (walk, solved)]
    print("{:,} scalar records: walk {:.1f} ns each, a block {:.1f} ns (limit 10)".format(records, *nanoseconds))


def rosenbrock(x: Any) -> Any:
    """Rosenbrock's function."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def hessian(n: int = 100_000) -> None:
    """The Hessian of Rosenbrock's function relative to its gradient."""
    x = np.linspace(0.5, 1.5, n)
    whole, slope = te.sparse_hessian(rosenbrock), te.grad(rosenbrock)
    whole(x)
    one, other = least(lambda: slope(x), lambda: whole(x))
    print(f"Rosenbrock in {n:,} dimensions, Hessian: {other / one:.1f} gradients (limit 10)")


if __name__ == "__main__":
    bundle()
    scalars()
    hessian()
