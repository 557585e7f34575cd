"""Second derivatives and Jacobians that the core computes at later calls are those of dual numbers, or refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tapeengine as te

FACTOR = 2.0


def scaled(xs):
    """Read a name of the module."""
    return FACTOR * xs[0] * xs[0] * xs[1] + math.sin(xs[1])


def powers(x, n):
    """Take an integer."""
    found = 1.0
    for _ in range(n):
        found = found * x
    return found


def counted(p):
    """Take a dict with an integer."""
    return p["x"] ** 3 * p["n"] + p["y"] * p["x"]


def pairs(p):
    """Take tuples of lists."""
    (a, b), c = p
    return a[0] * a[1] * b * b + c * a[0]


def several(xs, k):
    """Return numbers in lists and tuples, by a list and an integer."""
    return [xs[0] * xs[1], xs[0] + k], (math.sin(xs[1]), k * xs[0])


def root(xs):
    """Have a pole at zero."""
    return math.sqrt(xs[0]) * xs[1]


#: Functions that return a number, arguments, and tangents.
CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    "list": (scaled, ([1.5, 0.5],), ([1.0, -2.0],)),
    "numpy's numbers": (scaled, ([np.float64(1.5), np.float64(0.5)],), ([1.0, -2.0],)),
    "array": (scaled, (np.array([1.5, 0.5]),), (np.array([1.0, -2.0]),)),
    "whole numbers": (scaled, ([1, 2],), ([None, None],)),
    "integer": (powers, (1.5, 3), (1.0, None)),
    "dict": (counted, ({"x": 1.5, "n": 2, "y": 0.5},), ({"x": 1.0, "n": None, "y": 2.0},)),
    "tuples": (pairs, ((([1.5, 0.5], 2.0), 3.0),), ((([1.0, 2.0], 0.5), -1.0),)),
    "pole": (root, ([0.0, 0.0],), ([0.0, 1.0],)),
}


def outcome(thunk: Any) -> Any:
    """Give the leaves of a result, or the class of an error."""
    try:
        return leaves(thunk())
    except Exception as error:
        return type(error)


def leaves(value: Any) -> list[Any]:
    """Give numbers, and None, from left to right."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [x for part in value for x in leaves(part)]
    return [*value.ravel()] if isinstance(value, np.ndarray) else [value]


def same(ours: Any, theirs: Any) -> None:
    """Require the same numbers, and None at the same places, or the same error."""
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert [x is None for x in ours] == [x is None for x in theirs]
    numbers = [[x for x in each if x is not None] for each in (ours, theirs)]
    np.testing.assert_allclose(*numbers, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_later_products_are_those_of_dual_numbers(name: str) -> None:
    function, primals, tangents = CASES[name]
    program = te.program(function)
    for transform in (lambda f: te.hvp(f, primals, tangents), lambda f: te.hessian(f)(*primals)):
        wanted = outcome(lambda transform=transform: transform(function_on_duals(function)))
        for _ in range(3):
            same(outcome(lambda transform=transform: transform(program)), wanted)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("argnums", [0, (0,), (0, 1), (1, 0)], ids=str)
def test_later_jacobians_are_those_of_dual_numbers(argnums: Any, mode: Any) -> None:
    program, args = te.program(several), ([1.5, 0.5], 2)
    wanted = te.jacobian(function_on_duals(several), argnums, mode=mode)(*args)
    for _ in range(3):
        ours = te.jacobian(program, argnums, mode=mode)(*args)
        assert type(ours) is type(wanted)
        same(leaves(ours), leaves(wanted))


def function_on_duals(function: Any) -> Any:
    """Give the plain function with the engine's mathematics."""
    return te.program(function).python


def test_later_products_follow_names_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    program, (x, y), tangent = te.program(scaled), (1.5, 0.5), np.array([1.0, -2.0])
    hessian, jacobian = te.hessian(program), te.jacobian(program)
    for factor in (2.0, 2.0, 2.0, 3.0, 3.0, 2.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        by_hand = np.array([[2.0 * factor * y, 2.0 * factor * x], [2.0 * factor * x, -math.sin(y)]])
        np.testing.assert_allclose(hessian([x, y]), by_hand, rtol=1e-13)
        np.testing.assert_allclose(te.hvp(program, ([x, y],), (list(tangent),)), by_hand @ tangent, rtol=1e-13)
        np.testing.assert_allclose(jacobian([x, y]), [2.0 * factor * x * y, factor * x * x + math.cos(y)], rtol=1e-13)


def test_tangents_of_other_lengths_are_refused_at_later_calls() -> None:
    program = te.program(scaled)
    for _ in range(3):
        te.hvp(program, ([1.5, 0.5],), ([1.0, 1.0],))
    for wrong in ([1.0], [1.0, 1.0, 1.0], 1.0):
        with pytest.raises(te.errors.TapeEngineError):
            te.hvp(program, ([1.5, 0.5],), (wrong,))
