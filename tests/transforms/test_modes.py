"""Forward and reverse mode are one linear map: inner products tie jvp to vjp on every program of the test suite."""

import math
from typing import Any

import pytest
from jacobians import leaves, with_leaves
from programs import PROGRAMS, Program

import tapeengine as te
import tapeengine.math

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=str)


def draws(n: int, step: float) -> list[float]:
    """Numbers of both signs that programs are unlikely to treat alike."""
    return [math.sin(step * (k + 1)) for k in range(n)]


def inner(a: Any, b: Any) -> float:
    return math.fsum(float(x) * float(y) for x, y in zip(leaves(a), leaves(b), strict=True))


@every_program
def test_inner_products_tie_jvp_to_vjp(program: Program) -> None:
    def run(*xs: Any) -> Any:
        return program.run(tapeengine.math, *xs)

    tangents = with_leaves(program.inputs, iter(draws(len(leaves(program.inputs)), 1.3)))
    value, tangent = te.jvp(run, program.inputs, tuple(tangents))
    value_again, backpropagator = te.vjp(run, *program.inputs)
    assert repr(value) == repr(value_again)
    cotangent = with_leaves(value, iter(draws(len(leaves(value)), 0.7)))
    cotangents = backpropagator(cotangent)
    left, right = inner(cotangent, tangent), inner(cotangents, tangents)
    parts = [abs(float(x) * float(y)) for x, y in zip(leaves(cotangents), leaves(tangents), strict=True)]
    scale = max(1.0, math.fsum(parts), abs(left))
    assert abs(left - right) <= 1e-13 * scale or left == right


@every_program
def test_jacobians_by_blocks_agree(program: Program) -> None:
    def run(*xs: Any) -> Any:
        return program.run(tapeengine.math, *xs)

    argnums = tuple(range(len(program.inputs)))
    forward, reverse = (te.jacobian(run, argnums, mode)(*program.inputs) for mode in ("forward", "reverse"))
    for a, b in zip(leaves(forward), leaves(reverse), strict=True):
        assert a == b or abs(a - b) <= 1e-12 * max(1.0, abs(a))
