"""Typed programs of `math`'s functions on zeros, infinities, NaN, the largest and the smallest numbers."""

import math

import pytest
from outcomes import shown

import tapeengine as te

EXTREMES = (0.0, -0.0, 1.5, -2.0, 3e307, -1e308, 1e-320, 1e-170, math.inf, -math.inf, math.nan)

#: Each function of (x, y), as a program reads it.
FUNCTIONS = {
    "dist": lambda x, y: math.dist([x, y], [1e-170, 0.0]),
    "hypot": lambda x, y: math.hypot(x, y) * math.hypot(x, 1e-170, y),
    "ldexp": lambda x, y: math.ldexp(x, 3) * math.ldexp(y, -1070),
    "frexp": lambda x, y: math.frexp(x)[0] + math.modf(y)[0],
    "degrees": lambda x, y: math.degrees(x) * math.radians(y),
    "fsum": lambda x, y: math.fsum([x, 1e308, y]),
    "prod": lambda x, y: math.prod([x, -2.0, y]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_errors(name):
    f = FUNCTIONS[name]
    program = te.program(f)
    for x in EXTREMES:
        for y in (1e-170, -1e308, x):
            assert shown(lambda x, y: te.vjp(program, x, y)[0], x, y) == shown(f, x, y), (x, y)
