"""Functions of any number of arguments in programs: each way to write and to call one, against the plain program."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


def total(first, *rest, scale=1.0):
    t = first
    for r in rest:
        t = t + r * scale
    return t


def weighed(x, y=2.0, *others, **more):
    return x * y + sum(others) + more.get("z", 0.5) * more.get("w", 1.0)


#: Definitions of a function g, with calls of it; x and y are the parameters of the program.
DEFINED = {
    "def g(*a):\n        return sum(v * v for v in a)": [
        "g(x)",
        "g(x, y)",
        "g(x, y, x * y)",
        "g(*(x, y))",
        "g(*[x, y], x)",
    ],
    "def g(a, *rest):\n        t = a\n        for v in rest:\n            t = t * v\n        return t + len(rest)": [
        "g(x)",
        "g(x, y)",
        "g(x, y, y)",
    ],
    "def g(*a, scale=1.0):\n        return sum(a) * scale": ["g(x, y)", "g(x, scale=y)", "g(scale=y)"],
    "def g(a, **more):\n        return a * more['b'] + more.get('c', 1.0)": ["g(x, b=y)", "g(b=x, a=y, c=x)"],
    "def g(**more):\n        t = 0.0\n        for k, v in more.items():\n            t += v * (k == 'a') + v\n"
    "        return t": ["g(a=x, b=y)", "g(**{'a': y, 'c': x})", "g(**{'a': y}, c=x)"],
    "def g(a, b=2.0, *r, **k):\n        return a * b + sum(r) + k.get('z', 0.5)": [
        "g(x)",
        "g(x, y)",
        "g(x, y, x, y)",
        "g(x, z=y)",
        "g(x, b=y, z=x)",
    ],
    "g = lambda *a: a[0] * a[-1] + len(a)": ["g(x)", "g(x, y, x)"],
    "def h(a, b, c=1.0):\n        return a * b + c\n    def g(*args, **named):\n        return h(*args, **named) * x": [
        "g(x, y)",
        "g(x, y, c=x)",
    ],
    "pass": ["total(x)", "total(x, y, x, scale=y)", "weighed(x)", "weighed(x, y, x, w=y)", "weighed(y, z=x, w=y)"],
}
CALLS = [(definition, call) for definition, calls in DEFINED.items() for call in calls]


def written(*lines):
    """The function of lines."""
    return function_of("x, y", lines, total=total, weighed=weighed)


@pytest.mark.parametrize(("definition", "call"), CALLS)
def test_a_call(definition, call):
    for used in (call, f"{call} * x", f"{call} + np.sin({call})"):
        function = written(definition, f"return {used}")
        program = te.program(function)
        for x, y in itertools.product((0.5, 2.0), (3.0, -1.0)):
            value, backpropagator = te.vjp(program, x, y)
            assert value == function(x, y)
            wanted = te.vjp(program.python, x, y)[1](1.0)
            assert backpropagator(1.0) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize(
    "call", ["list(map(g, [x, y]))[0]", "[g][0](x, y)", "(lambda k: k(x, y))(g)", "total(*(x, y))"]
)
def test_a_call_that_does_not_show_its_parameters_is_refused(call):
    function = written("def g(*a):", "    return a[0]", f"return {call}")
    with pytest.raises(ProgramError, match=r"a function with \* or \*\* parameters"):
        refused(te.program(function), 1.0, 2.0)


def test_lists_are_lists_inside():
    function = written("def g(*a):", "    return a[0] + a[1]", "return g(x, y)")
    value, back = te.vjp(te.program(function), [1.0], [2.0, 3.0])
    assert value == function([1.0], [2.0, 3.0]) == [1.0, 2.0, 3.0]
    assert [list(x) for x in back([1.0, 10.0, 100.0])] == [[1.0], [10.0, 100.0]]
    assert te.vjp(te.program(function), np.ones(2), np.ones(2))[0].tolist() == [2.0, 2.0]
