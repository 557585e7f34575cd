"""Assignments, calls and indices whose parts are too few or too many: Python's error, or a refusal."""

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import StructureError

ENGINE = tapeengine.Engine()


def nothing():
    pass


def one(x):
    return x


def two(x, y):
    return x * y


def either(x, y=2.0):
    return x * y


OUTSIDE = {f.__name__: f for f in (nothing, one, two, either)}
TARGETS = ("a, b = {}", "a, (b, c) = 1.0, {}", "a, *b, c = {}", "[a, b] = {}", "for a, b in [{}]:|    pass")
VALUES = ("(x,)", "(x, x)", "(x, x, x)", "[x]", "[x, x, x]", "((x, x), x)", "(x, (x, x, x))", "()")
CALLS = ("one", "two", "nothing", "either", "(one if x > 1.0 else two)", "[one, two][0]", "(lambda v, w: v)", "own")
ARGUMENTS = ("", "x", "x, x", "x, x, x", "*(x, x)", "y=x", "x, y=x")
LINES = [
    *([*target.format(value).split("|"), "return a * x"] for target in TARGETS for value in VALUES),
    *(["own = lambda v: v", f"return {call}({args})"] for call in CALLS for args in ARGUMENTS),
]


def outcome(function, *primals):
    """The value, or the class of the error; None where a program is refused."""
    try:
        return ENGINE.vjp(function, *primals)[0] if isinstance(function, te.Program) else function(*primals)
    except (ProgramError, StructureError):
        return None
    except Exception as error:
        return type(error), str(error).replace("'tapeengine.Dual'", "'float'")


@pytest.mark.parametrize("lines", LINES, ids=lambda lines: lines[-2] + "; " + lines[-1])
def test_numbers_of_parts(lines):
    function = function_of("x", lines, **OUTSIDE)
    assert outcome(te.program(function), 1.5) in (None, outcome(function, 1.5))


@pytest.mark.parametrize("index", ["()", "...", "0", "(..., 0)", "None", "(0, 0)"])
@pytest.mark.parametrize("value", [np.array(2.0), 2.0, np.float64(2.0), np.ones(2), [1.0, 2.0], (1.0, 2.0)], ids=repr)
def test_indices_of_numbers_of_axes(value, index):
    function = function_of("a, x", [f"return np.sum(a[{index}]) * x"])
    found = outcome(te.program(function), value, 1.5)
    assert found is None or found == outcome(function, value, 1.5)
