"""Times Jacobians, Hessians and tangents of typed programs relative to the same functions on dual numbers.

``python asv_bench/program_jacobians.py`` prints a row for each case; the targets use the largest figures.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import numpy as np

import tapeengine as te
import tapeengine.math as math
from asv_bench.measure import interleaved

#: How often each is called before it is timed.
WARM = 60


def layer(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    """Return a layer of a network."""
    return np.tanh(w @ x)


def filtered(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    """Return the outputs of a filter, one after the other."""
    out = []
    s = 0.0
    for i in range(len(w)):
        s = 0.9 * s + math.tanh(x[i % len(x)])
        out.append(s * x[(i + 1) % len(x)])
    return out


def residuals(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    """Return residuals that depend on three numbers each."""
    n = len(x)
    return [math.sin(x[i % n] * x[(i + 3) % n]) + x[i % 7] for i in range(len(w))]


def recurrence(x: te.Vec) -> float:
    """Return the end of a recurrence with a branch."""
    t = 1.0
    for i in range(30):
        t = math.sin(t * x[i]) + x[i] * x[i - 1] if x[i] > -1.0 else t * 0.5
    return t


def total(x: te.Vec) -> float:
    """Return the square of a sum of products."""
    s = 0.0
    for i in range(len(x)):
        s += math.exp(x[i]) * x[(i * 7) % len(x)]
    return s * s


@dataclass
class Link:
    """A linked list."""

    value: float
    rest: "Link | None"


def linked(links: Link | None, x: float) -> float:
    """Return the value of a polynomial."""
    if links is None:
        return 0.0
    return links.value + x * linked(links.rest, x)


def ragged(rows: te.Array[te.Vec]) -> float:
    """Return a sum over rows of unequal lengths."""
    return sum(sum(x * x for x in row) * row[0] for row in rows)


def chain(values: list[float]) -> Link | None:
    """Return a linked list."""
    made = None
    for value in values:
        made = Link(value, made)
    return made


RNG = np.random.default_rng(0)
SIZES = ((200, 20), (20, 200))
ARGUMENTS = {size: (0.3 * RNG.normal(size=size[1]), RNG.normal(size=size)) for size in SIZES}
ROWS = [RNG.normal(size=k % 7 + 1) for k in range(60)]
#: A transform of a function, and its arguments.
Case = tuple[Callable[[Any], Callable[..., Any]], Callable[..., Any], tuple[Any, ...]]


def tangent(function: Any) -> Callable[..., Any]:
    """Return `te.jvp` of a function of primals and tangents."""
    return lambda primals, tangents: te.jvp(function, primals, tangents)


JACOBIANS: Mapping[str, Case] = MappingProxyType(
    {
        **{
            f"{transform.__name__} of {f.__name__}, {rows} x {columns}": (transform, f, ARGUMENTS[rows, columns])
            for transform in (te.jacobian, te.jacfwd)
            for f in (layer, filtered, residuals)
            for rows, columns in SIZES
        },
        **{f"hessian of {f.__name__}": (te.hessian, f, (0.5 * RNG.normal(size=30),)) for f in (recurrence, total)},
    }
)
TANGENTS: Mapping[str, Case] = MappingProxyType(
    {
        "tangent of 200 links": (
            tangent,
            linked,
            ((chain([0.01 * k for k in range(200)]), 0.9), (chain([1.0] * 200), 1.0)),
        ),
        "tangent of rows": (tangent, ragged, ((ROWS,), ([np.ones_like(row) for row in ROWS],))),
    }
)


def over_duals(name: str, rounds: int = 5) -> float:
    """Return the time of a transform of a program divided by that of the function on dual numbers."""
    transform, function, args = {**JACOBIANS, **TANGENTS}[name]
    program = te.program(function)
    for _ in range(WARM):
        transform(program)(*args)
    times = interleaved(
        {"typed": lambda: transform(program)(*args), "duals": lambda: transform(program.python)(*args)}, rounds
    )
    return times["typed"] / times["duals"]


if __name__ == "__main__":
    for name in (*JACOBIANS, *TANGENTS):
        print(f"{name:40}{over_duals(name):8.2f} x duals", flush=True)
