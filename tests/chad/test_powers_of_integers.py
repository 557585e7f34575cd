"""A power of integers with a negative exponent is a float in Python: a program has its value, or is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from chad.written_functions import function_of, refused
from outcomes import comparable

import tapeengine as te
from tapeengine.errors import TapeEngineError

FORMS = [
    *("2**n", "[2**n]", "x * 2**n", "x * [2**n, 1][0]", "sum([2**n, 1])", "[2**k for k in range(n, 1)]", "(3**n, x)"),
    *("max(2**n, 1)", "2**n + 1", "-(2**n)", "[n, 2**n][-1]", "x if 2**n > 1 else 2 * x", "abs(n)**n", "[x, 2**n]"),
]


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", ["machine", "native"])
@pytest.mark.parametrize("n", [3, -2])
@pytest.mark.parametrize("k", range(len(FORMS)), ids=FORMS)
def test_powers_of_integers(k: int, n: int, backend: str) -> None:
    program = function_of("x, n", [f"return {FORMS[k]}"])
    try:
        found = te.vjp(te.program(program, backend=backend), 1.5, n)[0]
    except TapeEngineError:
        assert n < 0
        return
    assert found == program(1.5, n)


OF_NUMPY = (
    *("np.arange(1, 3)**-1 * xs", "[k**-1 for k in np.arange(1, 3)]", "np.sum(xs > 0)**-2", "np.power(2, -1) * xs"),
    *("(xs.astype(int) + 2)**-1", "[(k + 1)**-1 * x for k, x in enumerate(xs)], len(xs)**-2, 2**-1, xs.size**-1"),
)


@pytest.mark.parametrize("form", OF_NUMPY)
def test_negative_powers_of_numpys_integers_raise(form: str) -> None:
    program, xs = function_of("xs", [f"return {form}"], np=np), np.array([0.75, 0.5])
    assert comparable(lambda: te.vjp(te.program(program), xs)[0]) == comparable(program, xs)


#: Integers of numpy's, and of Python's, from an array `xs` of floats, one `ks` of integers, a list `js`, a number `n`.
NUMPYS = (
    *("(xs > 0).sum()", "(xs > 0).any()", "ks[0]", "(ks @ ks)", "sum(ks)", "max(ks)", "min(ks[0], n)", "abs(ks[0])"),
    *("(ks[0] + 1)", "[q for q in ks][0]", "sum(q for q in ks)", "(n if n < 0 else ks[1])", "np.cumsum(ks)[1]"),
)
PYTHONS = (
    *("n", "len(xs)", "xs.size", "xs.shape[0]", "js[0]", "sum(js)", "max(js)", "(n // 2 + 1)", "int(xs[0] + 2)"),
    *("round(n * 1.6)", "sum(i for i in range(1, n))", "math.comb(n, 2)"),
)


@pytest.mark.parametrize("power", ["{}**-1", "pow({}, -2)"])
@pytest.mark.parametrize("whole", [*NUMPYS, *PYTHONS])
def test_whose_integer_has_a_negative_power(whole: str, power: str) -> None:
    program = function_of("xs, ks, js, n", [f"return xs[0] * {power.format(whole)}"], np=np, math=math)
    args = np.array([0.75, 0.5]), np.array([1, 2]), [2, 3], 3
    assert comparable(lambda: te.vjp(te.program(program), *args)[0]) == comparable(program, *args)
    if whole in PYTHONS:
        refused(te.program(program), *args)
