"""Arguments and constants of a program that change after its call, before the derivative is taken."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.errors import RepeatError

TEXT = """
def scaled(y: float) -> float:
    return y * factors[0]

def weighted(y: float, w: te.Vec) -> float:
    return y * w[0]

def chosen(y: float, places: te.Array[int]) -> float:
    return y * places[0]
"""
TRANSFORMS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "grad": (lambda run: te.grad(run)(1.5), 3.0),
    "jvp": (lambda run: te.jvp(run, (1.5,), (1.0,))[1], 3.0),
    "hvp": (lambda run: te.hvp(run, (1.5,), (1.0,)), 2.0),
    "second": (lambda run: te.grad(te.grad(run))(1.5), 2.0),
    "linearize": (lambda run: te.linearize(run, 1.5)[1](1.0), 3.0),
}
WAYS: dict[str, Callable[[Any], Any]] = {
    "program": lambda f: f,
    "staged": te.stage,
    "checkpoint": te.checkpoint,
    "fork": lambda f: lambda *args: te.fork(lambda: f(*args))[0],
}


@pytest.fixture
def scope() -> dict[str, Any]:
    found = {"__name__": "written_changes", "te": te, "factors": [1.0]}
    run_in(found, TEXT)
    return found


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "kind"), [("weighted", float), ("chosen", int)])
def test_a_small_array_may_change(name: str, kind: type, way: str, transform: str, scope: dict[str, Any]) -> None:
    f, (derivative, want) = WAYS[way](te.program(scope[name])), TRANSFORMS[transform]

    def run(x: Any) -> Any:
        w = np.array([1], kind)
        a = f(x, w)
        w[0] = 2
        return a * a

    assert derivative(run) == want


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("way", WAYS)
def test_a_constant_that_changes_is_right_or_refused(way: str, transform: str, scope: dict[str, Any]) -> None:
    f, (derivative, want) = WAYS[way](te.program(scope["scaled"])), TRANSFORMS[transform]

    def run(x: Any) -> Any:
        scope["factors"][0] = 1.0
        a = f(x)
        scope["factors"][0] = 2.0
        return a * a

    try:
        assert derivative(run) == want
    except RepeatError:
        assert transform != "grad" or way == "checkpoint"
    scope["factors"][0] = 3.0
    assert te.grad(f)(1.5) == 3.0


def test_a_linear_map_does_not_contradict_its_transpose(scope: dict[str, Any]) -> None:
    _, derivative = te.linearize(te.program(scope["scaled"]), 1.5)
    assert derivative(1.0) == derivative.T(1.0) == 1.0
    scope["factors"][0] = 2.0
    with pytest.raises(RepeatError, match="has changed since the call"):
        derivative(1.0)
