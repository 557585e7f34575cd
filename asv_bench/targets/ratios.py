"""Value and derivative relative to the plain program, in one process and interleaved: the basis of most targets."""

import math
from collections.abc import Callable
from typing import Any

import numpy

import tapeengine as te
import tapeengine.math
import tapeengine.numpy
from asv_bench.measure import interleaved
from asv_bench.programs.program import Program
from asv_bench.targets.target import Measurement


def plain_module(program: Program) -> Any:
    """Return the module with which the plain program computes."""
    return math if program.flavour == "scalars" else numpy


def engine_module(program: Program) -> Any:
    """Return the module with which the differentiated program computes."""
    return tapeengine.math if program.flavour == "scalars" else tapeengine.numpy


def ones_like(value: Any) -> Any:
    """Return a cotangent of ones in the structure of `value`, with None for discrete leaves."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(ones_like(x) for x in value))
    if isinstance(value, (tuple, list)):
        return type(value)(ones_like(x) for x in value)
    if isinstance(value, dict):
        return {key: ones_like(x) for key, x in value.items()}
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return numpy.ones_like(value) if value.dtype.kind in "fc" else None
    return 1.0 if isinstance(value, float) else None


def thunks(program: Program, size: int) -> dict[str, Callable[[], Any]]:
    """Return the plain program, and its value with all cotangents, as thunks."""
    plain, primals = program.problem(size, plain_module(program))
    traced, _ = program.problem(size, engine_module(program))
    cotangent = ones_like(plain(*primals))

    def derivative() -> Any:
        value, backpropagator = te.vjp(traced, *primals)
        return value, backpropagator(cotangent)

    return {"plain": lambda: plain(*primals), "derivative": derivative}


def gradient_ratio(program: Program, size: int, rounds: int = 15) -> Measurement:
    """Measure value and cotangents relative to the plain program."""
    times = interleaved(thunks(program, size), rounds, sample=0.01)
    detail = f"plain {1e6 * times['plain']:.4g} us, derivative {1e6 * times['derivative']:.4g} us"
    if program.operations(size):
        detail += f", {1e9 * times['derivative'] / program.operations(size):.1f} ns an operation"
    return Measurement(times["derivative"] / times["plain"], detail)
