"""Imports in the bodies of functions: the values of Python, the derivatives of dual numbers, and Python's errors."""

import sys
import types

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

#: Bodies of functions of a number x and a vector v.
BODIES = [
    ["import math", "return math.sin(x) * math.pi"],
    ["from math import sin, cos as c", "return sin(x) * c(x)"],
    [
        "'''Say it.'''",
        "import math as m, itertools",
        "return sum(a * b for a, b in itertools.combinations([x, m.e], 2))",
    ],
    ["import numpy as np", "return np.sum(np.exp(v)) * x"],
    ["import numpy.linalg", "import numpy.linalg as la", "return la.norm(v) + numpy.linalg.norm(v * x)"],
    ["from numpy.linalg import norm", "from functools import reduce", "return norm(v) * reduce(max, [x, 0.1])"],
    ["y = x * 2.0", "import math", "return math.log(y)"],
    ["import math", "def inner(z):", "    return math.exp(z)", "return inner(x) + math.sqrt(x)"],
    ["from math import sqrt", "s = 0.0", "for y in v:", "    s += sqrt(y) * x", "return s"],
    ["import settings_of_test", "return x * settings_of_test.rate + settings_of_test.twice(x)"],
    ["from settings_of_test import rate, twice", "return x * rate + twice(x)"],
]


@pytest.fixture(autouse=True)
def settings():
    module = types.ModuleType("settings_of_test")
    module.rate, module.twice = 3.0, function_of("x", ["return 2.0 * x"])
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


@pytest.mark.parametrize("lines", BODIES)
def test_values_and_derivatives(lines):
    function, args = function_of("x, v", lines), (0.7, np.array([1.5, 2.5]))
    program = te.program(function)
    value, back = te.vjp(program, *args)
    assert value == program(*args) == pytest.approx(function(*args), rel=1e-15)
    found, expected = back(1.0), te.vjp(program.python, *args)[1](1.0)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)
    step = 1e-6
    slope = (function(args[0] + step, args[1]) - function(args[0] - step, args[1])) / (2.0 * step)
    assert found[0] == pytest.approx(slope, rel=1e-8)
    tangents = (1.0, np.zeros(2))
    assert te.jvp(program, args, tangents)[1] == pytest.approx(te.jvp(program.python, args, tangents)[1], rel=1e-14)


@pytest.mark.parametrize("lines", BODIES[-2:])
def test_what_is_imported_may_change(lines, settings):
    program = te.program(function_of("x, v", lines))
    assert te.vjp(program, 1.0, np.ones(2))[0] == 5.0
    settings.rate = 4.0
    assert te.vjp(program, 1.0, np.ones(2))[0] == 6.0


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["import math", "return math.log(-x)"], ValueError),
        (["from math import exp", "return exp(1000.0 * x)"], OverflowError),
        (["import no_such_module_of_mine", "return x"], ModuleNotFoundError),
        (["from math import no_such_name", "return no_such_name(x)"], ImportError),
        (["y = math.sin(x)", "import math", "return y"], UnboundLocalError),
        (["if x > 1.0:", "    import math", "return math.sin(x)"], UnboundLocalError),
        (["import math as x", "return 2.0 * x"], TypeError),
        (["import math as m", "m = 2.0 * x", "return m"], None),
    ],
)
def test_errors(lines, error):
    program = te.program(function_of("x, v", lines))
    if error is None:
        assert te.vjp(program, 1.0, np.ones(2))[0] == 2.0
        return
    with pytest.raises(error):
        te.vjp(program, 1.0, np.ones(2))
