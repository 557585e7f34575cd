"""`te.scatter`, `te.iterate` and `numpy.bincount` in programs raise what the plain functions raise."""

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from chad.written_functions import function_of
from outcomes import comparable

import tapeengine as te

A, B = np.array([1.0, 2.0]), np.array([5.0])
#: Parameters, the program, and arguments, with some for which the plain program raises.
CASES = {
    "scatter": (
        "a, i, w",
        "te.scatter(a, i, w)",
        [(A, [k], B) for k in (0, 1, -1, -2, 2, -3, 10**8, -(10**8))] + [(A, [0, 1], B), (A, [0], A), (A, [], A[:0])],
    ),
    "scatter of a list": (
        "a: list[float], i: list[int], w: list[float]",
        "sum(te.scatter(a, i, w))",
        [([1.0, 2.0], [k], [5.0]) for k in (0, -2, 2, -3, 10**8)],
    ),
    "scatter of rows": (
        "a, i, w",
        "np.sum(np.array(te.scatter([a, a], i, [w])))",
        [(A, [k], A) for k in (0, -2, 2, -3, 10**8)],
    ),
    "iterate": ("x: float, n: int", "te.iterate(lambda s: s * 0.5 + 1.0, n, x)", [(1.0, n) for n in (-2, -1, 0, 3)]),
    "bincount": (
        "i, w, n",
        "np.bincount(i, weights=w, minlength=n)",
        [(np.array([0, 1]), A, n) for n in (-1, 0, 5)] + [(np.array([0, 1]), B, 0), (np.array([0]), A, 3)],
    ),
    "bincount in a loop": (
        "i, w",
        "sum(r[0] for r in [[z] * 2 for z in np.bincount(i, weights=w)])",
        [(np.array([0, 1]), w) for w in (A, B, np.ones(3))],
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_value_or_error(name, backend):
    parameters, text, calls = CASES[name]
    program = te.program(function_of(parameters, ["import tapeengine as te", f"return {text}"]), backend=backend)
    for args in calls:
        wanted = comparable(program.python, *args)
        found = comparable(lambda *args: te.vjp(program, *args)[0], *args)
        if isinstance(wanted, type):
            assert found is wanted, args
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-14)
