"""A program that the language does not take is prepared for dual numbers once, and again after a change."""

import math

import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.chad import ordinary
from tapeengine.chad.parse.names import constants

TEXT = """
def inner(x):
    return x * math.sin(x) * scale

def program(x, d):
    memo = {}
    memo[d] = inner(x)
    return memo[d]
"""


@pytest.fixture
def program():
    """A program with a key that only a run knows."""
    scope = {"__name__": "written_for_dual_numbers", "math": math, "scale": 2.0}
    run_in(scope, TEXT)
    return te.program(scope["program"])


def test_later_calls_look_at_no_code(program, monkeypatch):
    want = 2.0 * (math.sin(1.5) + 1.5 * math.cos(1.5))
    assert te.grad(program)(1.5, 3) == pytest.approx(want, rel=1e-14)
    for module, name in ((ordinary, "on_duals"), (constants.dis, "get_instructions")):
        monkeypatch.setattr(module, name, lambda *args: pytest.fail("the code of the program is looked at again"))
    for engine in (te, te.Engine()):
        assert engine.grad(program)(1.5, 3) == pytest.approx(want, rel=1e-14)


def test_a_change_outside_is_seen(program):
    before = te.grad(program)(1.5, 3)
    program.function.__globals__["scale"] = 3.0
    assert te.grad(program)(1.5, 3) == pytest.approx(1.5 * before, rel=1e-14)
    run_in(program.function.__globals__, "def inner(x):\n    return x * x\n")
    assert te.grad(program)(1.5, 3) == 3.0
