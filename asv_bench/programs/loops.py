"""Loops over arrays by index: reads, writes, and unrolled calls.

A read or a write must cost the same for any size of the array; tools that make an array of zeros for each of them make
these loops quadratic.
"""

from typing import Any

import numpy as np

from asv_bench.programs import draws
from asv_bench.programs.program import Program


def index_reads(xp: Any, a: Any) -> Any:
    """Sum the squares of the elements, one by one."""
    total = 0.0
    for i in range(len(a)):
        total = total + a[i] * a[i]
    return total


def recurrence(xp: Any, start: Any, n: int) -> Any:
    """Write ``x[t] = 0.6 sin(x[t-1]) + 0.4 x[t-2]`` into an array and return its last element."""
    x = xp.zeros(n)
    x[0] = start[0]
    x[1] = start[1]
    for t in range(2, n):
        x[t] = 0.6 * xp.sin(x[t - 1]) + 0.4 * x[t - 2]
    return x[n - 1]


def recurrence_functional(xp: Any, start: Any, n: int) -> Any:
    """Compute the recurrence on a list of scalars, for tools that refuse item assignment."""
    before, last = start[0], start[1]
    for _ in range(2, n):
        before, last = last, 0.6 * xp.sin(last) + 0.4 * before
    return last


def unrolled(xp: Any, x: Any, n: int) -> Any:
    """Apply the same array step `n` times, in a loop that compilers unroll."""
    for _ in range(n):
        x = xp.sin(x) * 1.1 + 0.1 * x
    return xp.sum(x)


def read_inputs(size: int) -> tuple[np.ndarray]:
    """Draw an array of `size` elements."""
    return (draws.array(21, size),)


def write_inputs(size: int) -> tuple[np.ndarray, int]:
    """Return the two first elements and the length."""
    return np.array([0.3, -0.8]), size


def unrolled_inputs(size: int) -> tuple[np.ndarray, int]:
    """Return an array of eight elements and the number of steps."""
    return draws.array(22, 8), size


SIZES = (1000, 10_000, 100_000, 1_000_000)

READ = Program("index_reads", index_reads, read_inputs, SIZES, "arrays", operations=lambda size: size)
WRITE = Program(
    "recurrence",
    recurrence,
    write_inputs,
    SIZES,
    "arrays",
    operations=lambda size: size,
    functional=recurrence_functional,
    active=1,
)
UNROLLED = Program(
    "unrolled", unrolled, unrolled_inputs, (10, 100, 1000), "arrays", operations=lambda size: size, active=1
)
