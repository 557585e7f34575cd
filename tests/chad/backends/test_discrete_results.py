"""Results with parts that have no derivative, and with numbers that are not finite: the core builds them alone."""

import itertools
import math
import random

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine._core.programs.native import Backpropagator

#: Parts of results: expressions of two floats, an integer and a truth value.
DISCRETE = ("3", "n", "n + 1", "x > y", "flag", "'text'", "'high' if x > y else 'low'")
CONTINUOUS = ("x * y", "x if flag else y", "math.sin(x)", "x / y", "[x, y * n]")
PARTS = (*DISCRETE, *CONTINUOUS, "(n, x * n)", "{'a': x, 'b': flag, 'c': 'text'}")


def results():
    """Tuples and dicts of two or three parts."""
    generator = random.Random(2)
    for k in range(60):
        parts = [generator.choice(CONTINUOUS), *generator.choices(PARTS, k=1 + k % 2)]
        generator.shuffle(parts)
        yield (
            "(" + ", ".join(parts) + ")" if k % 3 else "{" + ", ".join(f"'{i}': {p}" for i, p in enumerate(parts)) + "}"
        )


def ones(value):
    """A cotangent: one for each float."""
    if isinstance(value, list | tuple):
        return type(value)(map(ones, value))
    if isinstance(value, dict):
        return {key: ones(part) for key, part in value.items()}
    return 1.0 if isinstance(value, float) else None


@pytest.mark.parametrize("result", [*results()])
def test_values_and_cotangents_are_those_of_the_plain_program(result):
    function = function_of("x, y, n, flag", [f"return {result}"], math=math)
    f = te.program(function)
    for x, y, n, flag in itertools.product((0.5, 2.0), (1.5, -1.0), (2, 5), (True, False)):
        value, back = te.vjp(f, x, y, n, flag)
        assert repr(value) == repr(function(x, y, n, flag))
        assert type(back) is Backpropagator
        found = back(ones(value))
        wanted = te.vjp(f.python, x, y, n, flag)[1](ones(value))
        assert found[2:] == wanted[2:] == (None, None)
        assert found[:2] == pytest.approx(wanted[:2], rel=1e-14)


@pytest.mark.parametrize("part", ["3", "x > y", "'text'", "'high' if x > y else 'low'"])
@pytest.mark.parametrize("cotangent", [1, 1.0, True, "text", (), [None]])
def test_cotangents_of_parts_without_derivatives_are_refused_as_elsewhere(part, cotangent):
    f = te.program(function_of("x, y", [f"return x * y, {part}"]))
    plain, back = (te.vjp(g, 2.0, 3.0)[1] for g in (f.python, f))
    assert attempt(back, (1.0, cotangent)) in (attempt(plain, (1.0, cotangent)), (3.0, 2.0))


def attempt(back, cotangent):
    try:
        return back(cotangent)
    except Exception as error:
        return type(error)


#: Functions of two floats, some of whose results are not finite, and how often the first of these raises an error.
NOT_FINITE = (
    "x * y, math.nan",
    "[x * y, y * math.inf]",
    "x - math.inf",
    "(x if x < y else math.nan) * y",
    "{'a': x * 1e308 * 10.0, 'b': y}",
    "math.exp(x * 800.0) * y",
    "x / y, math.inf",
    "math.sqrt(x) * y, math.nan",
    "math.log(x) * y",
)


@pytest.mark.parametrize("result", NOT_FINITE)
def test_results_that_are_not_finite_are_those_of_the_plain_program(result):
    function = function_of("x, y", [f"return {result}"], math=math)
    f = te.program(function)
    for x, y in [*itertools.product((0.5, 0.0, 2.0, math.inf, math.nan), (1.5, -1.0, 0.0))] * 2:
        try:
            wanted = te.vjp(f.python, x, y)
        except Exception as error:
            with pytest.raises(type(error)):
                te.vjp(f, x, y)
            continue
        value, back = te.vjp(f, x, y)
        assert repr(value) == repr(wanted[0])
        np.testing.assert_allclose(back(ones(value)), wanted[1](ones(value)), rtol=1e-14, err_msg=str((x, y)))


ZEROS = (
    "math.sqrt(x) + y * 1e308 * 10.0",
    "[math.sqrt(x), y * 1e308 * 10.0]",
    "x * math.inf + y",
    "(x * math.inf, y / 1e-320)",
)


@pytest.mark.parametrize("result", ZEROS)
def test_tangents_of_zero_stay_zero_where_other_numbers_are_not_finite(result):
    f = te.program(function_of("x: float, y: float", [f"return {result}"], math=math))
    along = f.__tapeengine_directional__()
    for given in [(0.0, 1.0, 0.0, 1.0), (1.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 2.0)] * 2:
        found = te.vjp(along, *given)[0]
        wanted = te.jvp(f.python, given[:2], given[2:])
        assert repr(found) == repr(wanted)


def test_the_core_builds_results_that_the_plain_program_has_too():
    f = te.program(function_of("x, y", ["return x * y, math.nan"], math=math))
    assert [type(te.vjp(f, 2.0, 3.0)[1]) for _ in range(3)] == [Backpropagator] * 3
    assert te.vjp(f, 2.0, 3.0)[1]((1.0, 1.0)) == (3.0, 2.0)
