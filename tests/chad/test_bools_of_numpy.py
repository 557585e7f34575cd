"""Programs tell numpy's bools from Python's, as the plain program does, or are refused."""

import itertools
import os

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import unless_refused

import tapeengine as te

LIMIT = 1.0
HEAD = """import math
import numpy as np
def above(v):
    return v > 1
def named(c):
    return 5.0 if c is True else 7.0
"""
#: Expressions of bools and integers of an element, a sum and a number.
CONDITIONS = (
    "a[0] > 1",
    "x > 1",
    "x > LIMIT",
    "not a[0] > 1",
    "1 < a[0] < 3",
    "a[0] > 1 and x > 1",
    "x > 1 or a[0] > 1",
    "bool(a[0] > 1)",
    "np.all(np.asarray(a) > 0)",
    "np.isnan(a[1])",
    "math.isfinite(a[1])",
    "all(v > 0 for v in a)",
    "any([v > 0 for v in a])",
    "sum(a) > 1",
    "np.sum(a) > 1",
    "max(a) > 1",
    "(a[0] > 1) & (x > 1)",
    "(a[0] > 1) == (x > 1)",
    "above(a[0])",
    "above(x)",
    "a[0] > 1 if x > 0 else True",
    "[v > 1 for v in a][1]",
    "x in a",
    "c",
    "isinstance(x, float)",
    "len(a)",
    "np.argmax(a)",
    "int(a[0])",
    "sum(v > 0 for v in a)",
)
#: What tells the difference.
USES = (
    "y = x if t is True else 2 * x",
    "y = x if t is not True else 2 * x",
    "y = x if t is False else 2 * x",
    "y = x if t is not False else 2 * x",
    "y = x if isinstance(t, bool) else 2 * x",
    "y = x if isinstance(t, (bool, np.bool_)) else 2 * x",
    "y = x if isinstance(t, int) else 2 * x",
    "y = x * named(t)",
    "y = x * named(C)",
    "y = x if (C) is True else 2 * x",
    "y = x * (t + t)",
    "y = x * (t + True)",
    "y = x * (t - t) + x",
    "y = x * (t * True) / 3",
    "y = -t * x",
    "y = x * abs(t)",
    "y = x * (t ** 2)",
    """match t:
        case True:
            y = x
        case False:
            y = 3 * x
        case _:
            y = 2 * x""",
    """match (t, x > 1):
        case (True, True):
            y = x
        case _:
            y = 2 * x""",
    """match t:
        case bool():
            y = x
        case int():
            y = 3 * x
        case _:
            y = 2 * x""",
    """def inner(u):
        return 3.0 if u is True else 4.0
    y = x * inner(t)""",
)
#: Arguments a, x and c.
ARGUMENTS = [
    ([2.0, 3.0], 2.0, True),
    ([0.5, 3.0], 2.0, False),
    (np.array([2.0, 3.0]), 2.0, True),
    (np.array([2.0, 0.5]), np.float64(0.5), np.bool_(True)),
    ([np.float64(2.0), 1.0], 2.0, np.bool_(False)),
]


#: Otherwise each use has a third of the conditions.
NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"


@pytest.mark.parametrize("annotations", ["", "list[float] float bool"])
@pytest.mark.parametrize("use", USES)
def test_bools_are_pythons_or_numpys_as_in_the_plain_program(use, annotations):
    kinds = annotations.split() or [""] * 3
    head = ", ".join(f"{n}: {kind}" if kind else n for n, kind in zip("axc", kinds, strict=True))
    answers = 0
    for condition in CONDITIONS if NIGHTLY else CONDITIONS[USES.index(use) % 3 :: 3]:
        body = use.replace("C", condition)
        f = defined(f"{HEAD}def f({head}):\n    t = {condition}\n    {body}\n    return y * 1.0\n", LIMIT=LIMIT)
        for given in ARGUMENTS:
            if not annotations or type(given[0]) is list:
                wanted = unless_refused(lambda f=f, given=given: f(*given))
                found = unless_refused(lambda f=f, given=given: te.vjp(te.program(f), *given)[0])
                assert found is None or found == wanted, (condition, body, given)
                answers += found is not None
    assert answers > (20 if NIGHTLY else 5)


def test_arithmetic_of_pythons_bools_counts():
    for condition, use in itertools.product(("not x", "x > 1", "isinstance(x, float)"), ("t + t", "-t", "abs(t)")):
        f = defined(f"def f(x):\n    t = {condition}\n    return x * ({use})\n")
        assert te.vjp(te.program(f), 2.0)[0] == f(2.0)
