"""Functions that a program reaches by a module of the user: on dual numbers they are lifted as those by name are."""

import random
import sys
import types

import numpy as np
import pytest
from chad.written_functions import defined, run_in
from counted_calls import calls
from leaves import bits

import tapeengine as te
from tapeengine.errors import UnsupportedError

LOWER = """
import math
def cosine(x): return math.cos(x) + upper.sine(x)
def kind(x): return 2.0 if isinstance(x, float) else 3.0
class Wave:
    def __init__(self, x): self.x = x
    def height(self): return math.exp(self.x) * kind(self.x)
"""
UPPER = """
'''What a module says of itself.'''
import math
def sine(x): return math.sin(x) * RATE
def both(x): return lower.cosine(x) * lower.kind(x)
RATE = 2.0
"""


@pytest.fixture
def upper(monkeypatch):
    """Two modules that name each other."""
    lower, upper = types.ModuleType("lower_of_user"), types.ModuleType("upper_of_user", "What a module says of itself.")
    lower.upper, upper.lower = upper, lower
    for module, text in ((lower, LOWER), (upper, UPPER)):
        run_in(vars(module), text)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return upper


USES = (
    "upper.sine(x)",
    "upper.both(x)",
    "upper.lower.cosine(x)",
    "upper.lower.upper.both(x)",
    "upper.lower.Wave(x).height()",
    "upper.math.tan(x) * upper.RATE",
    "upper.sine(x) * len(upper.__name__) * len(upper.__doc__)",
    "(lambda m: m.both(x))(upper)",
    "sum(upper.sine(x) for _ in range(2))",
    "getattr(upper, 'missing', upper.sine)(x)",
)
HEADS = {
    "global": "def f(x{}):\n    return {}\n",
    "imported": "def f(x{}):\n    import upper_of_user as upper\n    return {}\n",
    "captured": "def made(upper):\n    def f(x{}):\n        return {}\n    return f\nf = made(upper)\n",
    "member": "def f(x{}):\n    from upper_of_user import sine, both, lower, RATE\n    return {}\n",
}
#: What the language does not have, so that dual numbers run the program.
OTHER = " * random.Random(3).random()"


@pytest.mark.parametrize("annotation", ["", ": float"])
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("use", USES)
def test_functions_of_a_module_run_on_dual_numbers(use, head, annotation, upper):
    body = use.replace("upper.lower", "lower").replace("upper.", "") if head == "member" else use
    if annotation and ("lambda" in use or "getattr" in use):
        pytest.skip("the language has no modules as values, and refuses programs with annotations")
    if head == "member" and ("lower.upper" in use or "(upper" in use or "math" in body or "__" in body):
        pytest.skip("it names the module itself")
    f = defined(HEADS[head].format(annotation, body + OTHER), random=random, upper=upper)
    program = te.program(f)
    value, back = te.vjp(program, 0.7)
    assert bits(value) == bits(f(0.7))
    assert not program.for_values((0.7,)).is_read
    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose([back(1.0)[0], te.jvp(program, (0.7,), (1.0,))[1]], slope, rtol=1e-8)


@pytest.mark.parametrize("of", ["sine", "lower.cosine", "RATE"])
def test_what_is_assigned_later_is_used_then(of, upper):
    f = defined("def f(x):\n    return upper.both(x)" + OTHER, random=random, upper=upper)
    program = te.program(f)
    te.vjp(program, 0.7)
    setattr(upper.lower if "lower" in of else upper, of.split(".")[-1], 5.0 if of == "RATE" else lambda x: x * x * x)
    value, back = te.vjp(program, 0.7)
    assert value == f(0.7)
    np.testing.assert_allclose(back(1.0)[0], (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rtol=1e-8)


def test_a_program_that_assigns_a_name_of_such_a_module_is_refused(upper):
    f = defined("def f(x):\n    upper.RATE = 3.0\n    return upper.sine(x)" + OTHER, random=random, upper=upper)
    with pytest.raises(UnsupportedError, match=r"RATE.*pass values in and return them"):
        te.vjp(te.program(f), 0.7)
    assert upper.RATE == 2.0


def test_a_function_of_a_module_is_exchanged_once(upper):
    f = defined("def f(x):\n    return sum(upper.sine(x) for _ in range(9))" + OTHER, random=random, upper=upper)
    program = te.program(f)
    te.vjp(program, 0.7)
    assert "_named" not in calls(lambda: te.vjp(program, 0.7), ("call",))
