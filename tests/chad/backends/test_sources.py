"""Random programs as Python text on native code and on the machine: values, cotangents, tangents, exceptions."""

import os

import numpy as np
import pytest
from chad.source_programs import Source, draw, function_of
from leaves import numbers

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

SEEDS = range(300 if os.environ.get("TAPEENGINE_NIGHTLY") else 10)


def outcome(run):
    """What a run gives, as arrays, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            return numbers(run())
    except Exception as error:  # any: both have to raise it
        return type(error).__name__


def cotangents(program, primals):
    value, back = te.vjp(program, *primals)
    return value, back(ones(value))


def ones(value):
    """A cotangent of ones."""
    if isinstance(value, tuple):
        return type(value)(*map(ones, value)) if hasattr(value, "_fields") else tuple(map(ones, value))
    if isinstance(value, list):
        return [ones(x) for x in value]
    return np.ones_like(value) if isinstance(value, np.ndarray) else None if isinstance(value, int) else 1.0


def tangent(primal):
    """A tangent: a quarter of the value, none for what is discrete."""
    if isinstance(primal, float):
        return 0.25 * primal + 0.5
    if isinstance(primal, list):
        return [tangent(x) for x in primal]
    if isinstance(primal, np.ndarray):
        return 0.25 * primal + 0.5
    return type(primal)(*map(tangent, primal)) if isinstance(primal, tuple) else None


def agree(source: Source, run) -> None:
    function = function_of(source)
    got, wanted = (
        outcome(lambda b=b: run(te.program(function, backend=b), source.primals)) for b in ("native", "machine")
    )
    if isinstance(wanted, str) or isinstance(got, str):
        assert got == wanted, source
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10, err_msg=str(source))


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("seed", SEEDS)
def test_cotangents(seed):
    agree(draw(seed), cotangents)


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("seed", SEEDS)
def test_tangents(seed):
    agree(draw(seed), lambda program, primals: te.jvp(program, primals, tuple(map(tangent, primals))))
