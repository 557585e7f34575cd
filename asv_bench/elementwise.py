"""Compares native code with gradients by hand in numpy on whole arrays: ``python asv_bench/elementwise.py``.

Value and gradient on one thread, in CPU time; both take turns, and the smallest time counts. Values and gradients are
compared first.
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import numpy as np

import tapeengine as te
from asv_bench.measure import interleaved

Matrix = te.Array[te.Vec]


def squares(x: te.Vec) -> float:
    return np.sum(x * x)


def exponentials(x: te.Vec) -> float:
    return np.sum(np.exp(x))


def waves(x: te.Vec) -> float:
    return np.sum(np.exp(np.sin(x)) * x)


def tangents(x: te.Vec) -> float:
    return np.sum(np.tanh(x) ** 2)


def logarithms(x: te.Vec) -> float:
    return np.sum(np.log(x) * x)


def largest(x: te.Vec) -> float:
    return np.max(x)


def norm(x: te.Vec) -> float:
    return np.linalg.norm(x)


def log_sum(x: te.Vec) -> float:
    most = np.max(x)
    return most + np.log(np.sum(np.exp(x - most)))


def product(x: te.Vec, y: te.Vec) -> float:
    return np.dot(x, y)


def products(x: te.Vec, y: te.Vec) -> float:
    return np.sum(x * y)


def columns(a: Matrix) -> float:
    return np.sum(np.sum(a, axis=0) ** 2)


def rows(a: Matrix) -> float:
    return np.sum(np.sum(a, axis=1) ** 2)


def largest_of_columns(a: Matrix) -> float:
    return np.sum(np.max(a, axis=0))


def matrix_vector(a: Matrix, x: te.Vec) -> float:
    return np.sum(a @ x)


def vector_matrix(a: Matrix, x: te.Vec) -> float:
    return np.sum(x @ a)


def by_hand(name: str, x: Any, y: Any = None) -> tuple[Any, ...]:
    """The value, and the gradient for each argument."""
    match name:
        case "squares":
            return (x * x).sum(), 2.0 * x
        case "exponentials":
            e = np.exp(x)
            return e.sum(), e
        case "waves":
            s = np.sin(x)
            e = np.exp(s)
            return (e * x).sum(), e + e * x * np.cos(x)
        case "tangents":
            t = np.tanh(x)
            q = t * t
            return q.sum(), 2.0 * t * (1.0 - q)
        case "logarithms":
            e = np.log(x)
            return (e * x).sum(), e + 1.0
        case "largest":
            most = x.max()
            at = x == most
            return most, at / np.count_nonzero(at)
        case "norm":
            r = np.linalg.norm(x)
            return r, x / r
        case "log_sum":
            most = x.max()
            e = np.exp(x - most)
            return most + np.log(e.sum()), e / e.sum()
        case "product":
            return np.dot(x, y), y.copy(), x.copy()
        case "products":
            return (x * y).sum(), y.copy(), x.copy()
        case "columns":
            s = x.sum(axis=0)
            return (s**2).sum(), np.tile(2.0 * s, (len(x), 1))
        case "rows":
            s = x.sum(axis=1)
            return (s**2).sum(), np.repeat(2.0 * s, x.shape[1]).reshape(x.shape)
        case "largest_of_columns":
            s = x.max(axis=0)
            at = x == s
            return s.sum(), at / at.sum(axis=0)
        case "matrix_vector":
            return (x @ y).sum(), np.tile(y, (len(x), 1)), x.sum(axis=0)
    return (y @ x).sum(), np.repeat(y, x.shape[1]).reshape(x.shape), x.sum(axis=1)


#: The programs by the axes of their arguments.
PROGRAMS: Mapping[tuple[int, ...], Sequence[Callable[..., float]]] = MappingProxyType(
    {
        (1,): (squares, exponentials, waves, tangents, logarithms, largest, norm, log_sum),
        (1, 1): (product, products),
        (2,): (columns, rows, largest_of_columns),
        (2, 1): (matrix_vector, vector_matrix),
    }
)


def arguments(axes: Sequence[int], n: int) -> list[Any]:
    """Vectors of n numbers, or a square matrix of about as many with vectors of its size."""
    side, draws = math.isqrt(n), np.random.default_rng(0)
    size = side if 2 in axes else n
    return [draws.uniform(0.1, 2.0, (side, side) if k == 2 else size) for k in axes]


def compared(function: Callable[..., float], args: list[Any]) -> tuple[float, float]:
    """The microseconds of both, for the same value and gradient."""
    program, name = te.program(function, backend="native"), function.__name__

    def ours() -> tuple[Any, Any]:
        value, backpropagator = te.vjp(program, *args)
        return value, backpropagator(1.0)

    until = time.process_time() + 0.5
    while time.process_time() < until:  # until the code is optimised
        value, gradient = ours()
    for found, wanted in zip((value, *gradient), by_hand(name, *args), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    found = interleaved({"ours": ours, "by hand": lambda: by_hand(name, *args)}, rounds=15, sample=0.003)
    return 1e6 * found["ours"], 1e6 * found["by hand"]


def main() -> None:
    """Print a table of times in microseconds, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="all by default")
    parser.add_argument("--sizes", default="1000,30000,1000000")
    options = parser.parse_args()
    for axes, functions in PROGRAMS.items():
        for f in functions:
            if options.programs and f.__name__ not in options.programs:
                continue
            found = (compared(f, arguments(axes, int(n))) for n in options.sizes.split(","))
            print(f"{f.__name__:20}", *(f"{a:9.1f} {b:9.1f} {a / b:5.2f}" for a, b in found), sep="  ", flush=True)


if __name__ == "__main__":
    main()
