"""Integers of numpy wrap around at 64 bits and Python's do not, also where both stand in one program."""

import itertools

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import outcome

import tapeengine as te

EXPRESSIONS = (
    "n[0] * n[0]",
    "n[0] + n[1]",
    "n[0] - n[1] * 3",
    "n[0] * 2**40",
    "-n[0] - n[1] - n[1]",
    "int(n[0]) * int(n[0])",
    "n[0] * n[1] % 7",
    "(n[0] + n[1]) // 2",
    "n[0] * k + n[1]",
    "k * k + n[0]",
    "n[0]**2",
    "n[0] << 3",
    "sum(v * v for v in n)",
    "n[0] * n[1] * x",
    "[v * v for v in n]",
    "max(n[0] * 2, n[1])",
    "k * k * k",
)
ARGUMENTS = (
    (np.array([2**62, 2**62 + 5]), 2**40, 0.5),
    ([2**62, 2**62 + 5], 2**40, 0.5),
    (np.array([3, 5]), 7, 0.5),
    (np.array([-(2**62) - 1, 2**61]), 2**62, 0.5),
)


def described(value):
    """A value, or an error with its class."""
    return (type(value), str(value)) if isinstance(value, Exception) else value


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression(expression):
    f = defined(f"def f(n, k, x):\n    return {expression}\n")
    for (n, k, x), backend in itertools.product(ARGUMENTS, (None, "machine", "native")):
        program, given = te.program(f, backend=backend), (n, k, x)
        wanted = described(outcome(lambda f=f, given=given: f(*given)))
        assert described(outcome(lambda p=program, given=given: p.value(*given))) == wanted, given
        assert described(outcome(lambda p=program, given=given: te.vjp(p, *given)[0])) == wanted, given
