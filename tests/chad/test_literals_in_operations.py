"""Operations of which one operand is a literal have rules of their own: value and derivative as those of any number."""

import math

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

OPERATIONS = """
{0} + {1}
{0} - {1}
{0} * {1}
{0} / {1}
{0} ** {1}
{0} % {1}
math.atan2({0}, {1})
math.hypot({0}, {1})
math.copysign({0}, {1})
math.fmod({0}, {1})
math.remainder({0}, {1})
math.pow({0}, {1})
max({0}, {1})
min({0}, {1})
np.arctan2({0}, {1})
np.hypot({0}, {1})
np.power({0}, {1})
np.logaddexp({0}, {1})
np.maximum({0}, {1})
np.minimum({0}, {1})
""".split("\n")[1:-1]
LITERALS = ("0.0", "1.0", "2.0", "3.0", "0.5", "-1.0", "4.0")
#: Operations on literals that are no real numbers: poles, and powers of numbers that are not positive.
POLES = ("{0} / {1}", "{0} % {1}", "math.fmod({0}, {1})", "math.remainder({0}, {1})")


def texts(place):
    """Operations with each literal in one place, and x in the other."""
    found = []
    for operation in OPERATIONS:
        for literal in LITERALS:
            if "pow" in operation or "**" in operation:
                possible = place == 1 or float(literal) > 0.0
            else:
                possible = place == 0 or literal != "0.0" or operation not in POLES
            if possible:
                found.append(operation.format(*((literal, "x") if place == 0 else ("x", literal))))
    return found


@pytest.mark.parametrize("place", [0, 1])
def test_values_and_derivatives(place):
    expressions = texts(place)
    f = function_of("x: float", [f"return [{', '.join(expressions)}]"], math=math)
    program = te.program(f, backend="machine")
    for x in (0.7, 1.3):
        differences = (np.array(f(x + 1e-6)) - np.array(f(x - 1e-6))) / 2e-6
        np.testing.assert_allclose(te.vjp(program, x)[0], f(x), rtol=1e-15)
        np.testing.assert_allclose(te.jacobian(program)(x), differences, rtol=1e-7, atol=1e-8)
