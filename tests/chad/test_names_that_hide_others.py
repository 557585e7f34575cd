"""A variable that has the name of something in the module is that variable, whatever the module has under the name."""

import numpy as np
import pytest
from chad.written_functions import defined
from leaves import numbers

import tapeengine as te


def swapped(xs):
    xs[0], xs[1] = xs[1], xs[0]


#: What a module may have under the name that a variable of a function has as well.
OUTSIDE = {
    "a list": [1.0, 2.0],
    "an array": np.ones(2),
    "numpy": np,
    "a function that makes lists": lambda xs: [3.0 * x for x in xs],
    "a function that makes arrays": np.negative,
    "a function that changes a list": swapped,
    "a class": dict,
    "nothing": None,
}
#: Functions with a variable that has this name. Some give what the function gives that is its value.
HIDING = {
    "parameter": "def helper(hidden, xs):\n    return hidden(xs)",
    "repeated": "def helper(hidden, xs):\n    for _ in range(2):\n        xs = hidden(xs)\n    return xs",
    "variable": "def helper(f, xs):\n    hidden = f(xs)\n    return hidden",
    "local function": "def helper(f, xs):\n    def hidden(v):\n        return f(v)\n    return hidden(xs)",
    "lambda": "def helper(f, xs):\n    return (lambda hidden: f(hidden))(xs)",
    "loop": "def helper(f, xs):\n    for hidden in (xs, f(xs)):\n        pass\n    return hidden",
    "comprehension": "def helper(f, xs):\n    return [2.0 * hidden for hidden in f(xs)]",
    "changed": "def helper(f, xs):\n    hidden = [2.0 * x for x in f(xs)]\n    hidden.append(1.0)\n    return hidden",
}
#: Functions that these call, and the arguments.
CALLED = {
    "itself": "lambda v: v",
    "a list": "lambda v: [2.0 * x for x in v]",
    "an array": "lambda v: np.array(v) * 2.0",
}


@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("hiding", HIDING)
def test_a_name_that_hides_another(outside, hiding):
    for called in CALLED.values():
        text = f"{HIDING[hiding]}\n\ndef program(xs):\n    return helper({called}, xs)\n"
        function = defined(text, "program", np=np, hidden=OUTSIDE[outside])
        for xs in ([1.0, 2.0], np.array([1.0, 2.0])):
            value, backpropagator = te.vjp(te.program(function), xs)
            wanted = function(xs)
            assert (type(value), numbers(value)) == (type(wanted), numbers(wanted))
            (found,) = backpropagator(wanted)
            expected = np.array([np.subtract(function(x), wanted) for x in np.array(xs) + np.eye(2)]) @ wanted
            np.testing.assert_allclose(found, expected, rtol=1e-12)


#: Imports of functions, some of which the language does not have, and the caller's number of annotations.
IMPORTED = (
    "from math import sin",
    "from statistics import fmean",
    "from colorsys import rgb_to_yiq",
    "import math as m",
)
BODIES = {"sin": "sin(x)", "fmean": "fmean([x, x * x])", "rgb_to_yiq": "rgb_to_yiq(x, x, 0.5)[0]", "m": "m.exp(x)"}


@pytest.mark.parametrize("annotated", ["", ": float"])
@pytest.mark.parametrize("line", IMPORTED)
def test_a_function_that_imports_one_of_its_own_name_does_not_call_itself(line, annotated):
    name = line.split()[-1]
    text = f"def {name}(x{annotated}):\n    {line}\n    return {BODIES[name]}\n\n"
    text += f"inner = {name}\n\ndef program(x{annotated}):\n    return 2.0 * inner(x)\n"
    for called in (name, "program"):
        function = defined(text, called)
        value, back = te.vjp(te.program(function), 0.7)
        assert value == function(0.7)
        slope = (function(0.7 + 1e-6) - function(0.7 - 1e-6)) / 2e-6
        np.testing.assert_allclose(back(1.0)[0], slope, rtol=1e-8)
