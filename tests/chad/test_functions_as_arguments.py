"""``reduce``, ``map``, ``max(key=)`` and ``sorted(key=)`` give what the plain program gives, or are refused."""

import enum
import functools
import itertools
import math
import operator
import os

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import unless_refused

import tapeengine as te

HEAD = """import functools, operator
def added(p, q):
    return p + q
def itself(q):
    return q
def packed(q):
    return tuple(q)
def first(r):
    return r[0]
"""
#: Rows of several classes, made in the text or parts of arguments.
ROWS = (
    "[[v, 1.0] for v in xs]",
    "[(v, 1.0) for v in xs]",
    "[v * a for v in xs]",
    "list(zip(xs, xs))",
    "zip(xs, a)",
    "rows",
    "[tuple(xs), tuple(xs)]",
    "[a, a]",
)
#: What is done with them.
USES = (
    "functools.reduce(added, ROWS)",
    "functools.reduce(operator.add, ROWS)",
    "functools.reduce(lambda p, q: p + q, ROWS)",
    "functools.reduce(lambda p, q: q, ROWS) * 2",
    "list(map(added, ROWS, ROWS))",
    "list(map(operator.add, ROWS, ROWS))",
    "list(map(lambda r: r + r, ROWS))",
    "max(ROWS, key=first) + min(ROWS, key=lambda r: r[0])",
    "sorted(ROWS, key=first)[0] + sorted(ROWS, key=first)[1]",
    "[r * 2 for r in sorted(ROWS, key=lambda r: r[0])]",
    "(max(ROWS, key=first) if c else a) + a",
    "[max(ROWS, key=first), a][0] * 2",
    "itself(max(ROWS, key=first)) + [1.0]",
    "packed(max(ROWS, key=first)) + [v for v in xs]",
    "packed(max(ROWS, key=first)) + packed(xs)",
    "operator.mul(max(ROWS, key=first), 2)",
    "max(ROWS, key=first)",
    "sorted(ROWS, key=first)",
)
A, XS = np.array([0.5, 2.5]), [2.0, 0.5]
ARGUMENTS = [
    (A, XS, rows, c)
    for rows in ([[1.0, 2.0], [3.0, 0.5]], np.array([[1.0, 2.0], [3.0, 0.5]]), [A, 2.0 * A])
    for c in (True, False)
]


def described(value):
    """A value with the classes of its parts; numbers are Python's or numpy's."""
    if isinstance(value, list | tuple):
        return type(value), [described(part) for part in value]
    return (np.ndarray, value.tolist()) if isinstance(value, np.ndarray) and value.ndim else (float, float(value))


#: Otherwise each use has half of the cases.
NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"


@pytest.mark.parametrize("use", USES)
def test_values_have_the_classes_of_the_plain_program(use):
    answers = 0
    cases = list(itertools.product(ROWS, ARGUMENTS))
    for rows, given in cases if NIGHTLY else cases[USES.index(use) % 2 :: 2]:
        f = defined(f"{HEAD}def f(a, xs, rows, c):\n    return {use.replace('ROWS', rows)}\n", np=np)
        wanted, found = (
            unless_refused(lambda f=f, given=given: described(f(*given))),
            unless_refused(lambda f=f, given=given: described(te.vjp(te.program(f), *given)[0])),
        )
        assert found in (wanted, None), (rows, given)
        answers += found is not None
    assert answers


def test_sums_of_rows_that_the_text_shows():
    for joins in (operator.add, lambda p, q: p + q):
        program = te.program(
            defined("def f(xs):\n    return r(o, [[v, 1.0] for v in xs])\n", r=functools.reduce, o=joins)
        )
        assert unless_refused(lambda program=program: described(te.vjp(program, XS)[0])) in (
            None,
            described([2.0, 1.0, 0.5, 1.0]),
        )
    f = defined(
        "import functools, operator\ndef f(xs):\n    return functools.reduce(operator.add, [[v, 1.0] for v in xs])\n"
    )
    assert te.vjp(te.program(f), XS)[0] == f(XS)


class Kind(enum.Enum):
    TWICE = 2.0
    SQUARED = 1.0


def by_member(x, k):
    return x * k.value if k is Kind.TWICE else x * x


def by_function(x, k):
    return k(x) * x


def by_text(x, k):
    return x * x if k == "square" else 3.0 * x


def by_parts(x, k):
    return x * x if k[1] is Kind.SQUARED else k[0](x)


CONSTANT_ARGUMENTS = [
    *((by_member, k) for k in Kind),
    *((by_function, k) for k in (math.sin, math.exp)),
    *((by_text, k) for k in ("square", "else")),
    *((by_parts, k) for k in ((math.sin, Kind.TWICE), (math.cos, Kind.SQUARED))),
]


@pytest.mark.parametrize(("function", "given"), CONSTANT_ARGUMENTS, ids=repr)
def test_a_constant_argument_makes_a_program_of_its_own_that_is_read(function, given):
    program = te.program(function)
    value, slope = te.value_and_grad(program)(0.7, given)
    assert program.for_values((0.7, given)).is_read
    assert value == pytest.approx(function(0.7, given), rel=1e-15)
    assert slope == pytest.approx((function(0.7 + 1e-5, given) - function(0.7 - 1e-5, given)) / 2e-5, rel=1e-8)
