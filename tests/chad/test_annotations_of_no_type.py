"""Annotations that do not say what is inside, and functions with names that nothing defines."""

import math
import typing

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.errors import TapeEngineError

BARE = (
    *"List Tuple Dict Callable Sequence Iterable Collection Mapping".split(),
    *("Callable[...,float]", "Optional[typing.Callable]"),
)
ARGUMENTS = {"float": 1.5, "list": [1.0], "tuple": (1.0, 2.0), "dict": {"a": 1.0}, "function": math.sin, "text": "a"}


@pytest.mark.parametrize("x", ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.parametrize("of", BARE)
def test_an_annotation_without_what_is_inside_leaves_the_type_to_the_argument(of, x):
    program = te.program(function_of(f"x: typing.{of}, y", ["return y * 2.0"], typing=typing))
    value, back = te.vjp(program, x, 2.0)
    assert (value, back(1.0)[1]) == (4.0, 2.0)


@pytest.mark.parametrize(
    "of", ["list[typing.Callable]", "tuple[typing.List, float]", "typing.Callable[[typing.List], float]"]
)
def test_inside_of_another_annotation_it_is_refused_or_left_to_the_argument(of):
    try:
        program = te.program(function_of(f"x: {of}, y: float", ["return y * 2.0"], typing=typing))
        assert te.grad(program, 1)(([1.0], 1.0), 2.0) == 2.0
    except TapeEngineError as error:
        assert "x" in str(error)


BODIES = ("x if kind(x) else missing.sin(x)", "math.sin(x) if x < 2.0 else missing", "x * np.asarray(x) * rate(x)")


def scope():
    """Names of a module; what `kind` asks for is never defined."""
    found = {"math": math, "kind": lambda x: isinstance(x, float)}
    return {**found, "rate": function_of("x", ["return math.exp(x) if x < 2.0 else missing(x)"], math=math)}


@pytest.mark.parametrize("x", [0.5, 3.0])
@pytest.mark.parametrize("body", BODIES)
def test_a_name_that_is_not_defined_matters_where_it_is_used(body, x):
    f = function_of("x", [f"return {body}"], **scope())
    program = te.program(f)
    try:
        wanted = f(x)
    except NameError as error:
        for run in (te.vjp, lambda f, x: te.jvp(f, (x,), (1.0,))):
            with pytest.raises(NameError) as found:
                run(program, x)
            assert str(found.value) == str(error)
        return
    value, tangent = te.jvp(program, (x,), (1.0,))
    assert value == wanted
    assert type(value) in (float, type(wanted))
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    np.testing.assert_allclose([tangent, te.grad(program)(x)], slope, rtol=1e-8)


def test_a_name_that_is_defined_later_is_lifted_then():
    f = function_of("x", ["return x * len(str(type(x))) if x < 1.0 else later(x)"])
    program = te.program(f)
    assert te.grad(program)(0.5) == f(0.5) / 0.5
    f.__globals__["later"] = function_of("x", ["return math.sin(x)"], math=math)
    np.testing.assert_allclose(te.grad(program)(1.5), math.cos(1.5), rtol=1e-15)
