"""Value and derivative over the plain program, in one process and interleaved: the ratio that most targets bound."""

import math
from collections.abc import Callable
from typing import Any

import numpy
import tapeengine as te
import tapeengine.math
import tapeengine.numpy
from measure import interleaved
from programs.program import Program
from targets.target import Measurement

__all__ = ["derivative_of", "engine_module", "gradient_ratio", "ones_like", "plain_module"]


def plain_module(program: Program) -> Any:
    """Return what the plain program computes with."""
    return math if program.flavour == "scalars" else numpy


def engine_module(program: Program) -> Any:
    """Return what the differentiated program computes with."""
    return tapeengine.math if program.flavour == "scalars" else tapeengine.numpy


def ones_like(value: Any) -> Any:
    """Return a cotangent of ones with the structure of `value`."""
    if isinstance(value, numpy.ndarray):
        return numpy.ones_like(value)
    if isinstance(value, (tuple, list)):
        return type(value)(ones_like(x) for x in value)
    return 1.0


def derivative_of(program: Program, primals: tuple[Any, ...]) -> Callable[[], Any]:
    """Return a thunk that computes the value and all cotangents of a program."""
    bound, cotangent = program.bind(engine_module(program)), ones_like(program.bind(plain_module(program))(*primals))

    def derivative() -> Any:
        value, backpropagator = te.vjp(bound, *primals)
        return value, backpropagator(cotangent)

    return derivative


def gradient_ratio(program: Program, size: int, rounds: int = 15) -> Measurement:
    """Measure value and cotangents over the plain program."""
    primals = program.inputs(size)
    plain = program.bind(plain_module(program))
    times = interleaved(
        {"plain": lambda: plain(*primals), "derivative": derivative_of(program, primals)}, rounds, sample=0.01
    )
    operations = program.operations(size) or math.nan
    detail = (
        f"plain {1e6 * times['plain']:.4g} us, derivative {1e6 * times['derivative']:.4g} us, "
        f"{1e9 * times['derivative'] / operations:.1f} ns an operation"
    )
    return Measurement(times["derivative"] / times["plain"], detail)
