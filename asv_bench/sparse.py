"""Measures sparse derivatives relative to one evaluation of the program: smallest processor times, interleaved.

    python asv_bench/sparse.py

The bundle adjustment is ADBench's ba1 (49 cameras, 7,776 points, 31,843 observations; with TAPEENGINE_TEST_DATA its
Jacobian is compared with the reference there).
"""

import math
import os
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

import tapeengine as te
import tapeengine.math as tm
from asv_bench.measure import interleaved
from tapeengine.gradbench import ba
from tapeengine.sparse.structure import Structure, by_outputs
from tapeengine.sparse.tracing import traced


def least(*functions: Callable[[], Any]) -> list[float]:
    """The smallest processor time of each of some functions, called in turn."""
    return list(interleaved(dict(zip("abc", functions)), rounds=7, sample=0.0).values())


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


def reprojected(camera: Any, point: Any, m: Any) -> tuple[Any, Any]:
    """Where a camera sees a point, on scalars."""
    r0, r1, r2, c0, c1, c2, focus, x0, y0, k1, k2 = camera
    a, b, c = point[0] - c0, point[1] - c1, point[2] - c2
    squared = r0 * r0 + r1 * r1 + r2 * r2
    if squared == 0.0:
        p, q, s = a + r1 * c - r2 * b, b + r2 * a - r0 * c, c + r0 * b - r1 * a
    else:
        angle = m.sqrt(squared)
        cosine, sine = m.cos(angle), m.sin(angle)
        w0, w1, w2 = r0 / angle, r1 / angle, r2 / angle
        along = (w0 * a + w1 * b + w2 * c) * (1.0 - cosine)
        p = a * cosine + (w1 * c - w2 * b) * sine + w0 * along
        q = b * cosine + (w2 * a - w0 * c) * sine + w1 * along
        s = c * cosine + (w0 * b - w1 * a) * sine + w2 * along
    u, v = p / s, q / s
    square = u * u + v * v
    distorted = 1.0 + k1 * square + k2 * square * square
    return u * distorted * focus + x0, v * distorted * focus + y0


def one_by_one(fixed: tuple[Any, ...], m: Any, cameras: Any, points: Any, weights: Any) -> list[Any]:
    """The errors of reprojection by a loop over observations."""
    features, seen_by, seen = fixed
    found = []
    for k, (x, y) in enumerate(features):
        u, v = reprojected(cameras[seen_by[k]], points[seen[k]], m)
        found += [weights[k] * (u - x), weights[k] * (v - y)]
    return found


def loop() -> None:
    """The Jacobian of the same as a staged loop on scalars."""
    cameras, points, weights, *rest = (part.tolist() for part in adjustment())
    primals = cameras, points, weights
    jacobian = te.sparse_jacobian(te.stage(partial(one_by_one, tuple(rest), tm)), argnums=(0, 1, 2))
    for _ in range(3):
        jacobian(*primals)
    plain, whole = least(lambda: one_by_one(tuple(rest), math, *primals), lambda: jacobian(*primals))
    print(f"bundle adjustment as a staged loop, Jacobian in CSR: {whole / plain:.1f} of plain Python (limit 3)")


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
    print(
        "{:,} scalar records: walk {:.1f} ns each, a block {:.1f} ns (limit 10 together)".format(records, *nanoseconds)
    )


def rosenbrock(x: Any) -> Any:
    """Rosenbrock's function."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def hessian(n: int = 100_000) -> None:
    """The Hessian of Rosenbrock's function relative to its gradient."""
    x = np.linspace(0.5, 1.5, n)
    whole, slope = te.sparse_hessian(rosenbrock), te.grad(rosenbrock)
    whole(x)
    fewer = te.sparse_hessian(rosenbrock, colouring="acyclic")
    fewer(x)
    one, *others = least(lambda: slope(x), lambda: whole(x), lambda: fewer(x))
    star, acyclic = (other / one for other in others)
    print(f"Rosenbrock in {n:,} dimensions, Hessian: {star:.1f} gradients (limit 10), acyclic {acyclic:.1f}")


if __name__ == "__main__":
    bundle()
    loop()
    scalars()
    hessian()
