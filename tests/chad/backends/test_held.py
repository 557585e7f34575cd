"""Native code reads variables that no step of a loop changes before it, and has the values and errors of Python."""

import math

import numpy as np
import pytest
from chad.backends.runs import improved, run

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed

pytestmark = pytest.mark.skipif(not is_installed(), reason="llvmlite is not installed")
Matrix = te.Array[te.Vec]


def shrinking(xs: te.Vec, steps: int, ahead: int) -> float:
    h = list(xs)
    for _ in range(steps):
        h = [h[j] * h[j + ahead] for j in range(len(h) - 1)]
    return sum(h)


def chosen(xs: te.Vec, ys: te.Vec, first: bool, n: int) -> float:
    zs = xs if first else ys
    total = 0.0
    for i in range(n):
        total = total + sum(zs[j] * zs[i] for j in range(n))
    return total


def halves(xs: te.Vec, n: int, step: int) -> float:
    total = 0.0
    for k in range(4):
        total = total + sum(xs[n // 2 + i] * xs[(n + k) % 3] for i in range(2)) * xs[max(n, 0) + k - step]
    return total


def carried(w: Matrix, xs: te.Vec, steps: int) -> float:
    h = list(xs)
    g = [0.0 for _ in xs]
    for _ in range(steps):
        z = [sum(w[i][j] * h[j] for j in range(len(h))) + g[i] for i in range(len(w))]
        g = [math.exp(-v * v) for v in z]
        h = [math.tanh(v) for v in z]
    return sum(h) + sum(g)


def growing(xs: te.Vec, n: int) -> float:
    seen = [1.0]
    for i in range(n):
        total = sum(seen[j] * xs[j] for j in range(len(seen)))
        seen.append(total + xs[i])
    return sum(seen)


def outcome(f, *args):
    """Return the bits of a value, or the class of the error."""
    try:
        return np.float64(f(*args)).tobytes()
    except (IndexError, ZeroDivisionError, OverflowError) as error:
        return type(error)


XS = np.linspace(0.3, 1.9, 7)
CASES = [
    *((shrinking, (XS, steps, ahead)) for steps in range(5) for ahead in (-1, 0, 1, 2)),
    *((chosen, (XS, XS[:4] - 1.0, first, n)) for first in (True, False) for n in (0, 3, 4, 5, 7, 8)),
    *((halves, (XS, n, step)) for n in range(-16, 14) for step in (0, 5)),
    *((carried, (np.outer(XS[:rows], XS[:columns]), XS[:columns], steps))
      for rows in (1, 4, 5) for columns in (1, 4, 5) for steps in (0, 1, 3)),
    *((growing, (XS, n)) for n in (0, 1, 6, 7, 8)),
]  # fmt: skip


@pytest.mark.parametrize("function", [shrinking, chosen, halves, carried, growing])
def test_values_and_errors_are_those_of_python(function):
    program = improved(
        function, *next(args for f, args in CASES if f is function and outcome(f, *args) not in (IndexError,))
    )
    slow = te.program(function, backend="machine")
    for args in (args for f, args in CASES if f is function):
        wanted = outcome(function, *args)
        assert outcome(lambda *x: te.vjp(program, *x)[0], *args) == wanted, args
        if isinstance(wanted, bytes):
            for one, other in zip(run(program, *args)[1], run(slow, *args)[1], strict=True):
                np.testing.assert_array_equal(one, other)


# ------------------------------------------------------------ rows of steps that run together


def neighbours(w: Matrix, x: te.Vec) -> float:
    return sum(sum(w[i][j] * x[j] + w[i + 1][j] * x[i] for j in range(len(x))) ** 2 for i in range(len(w) - 1))


def turned(w: Matrix, x: te.Vec) -> float:
    return sum(sum(w[i][j] * w[j][i] * x[j] for j in range(len(x))) ** 2 for i in range(len(x)))


def repeated(w: Matrix, x: te.Vec) -> float:
    h = list(x)
    for _ in range(3):
        h = [math.tanh(sum(w[i][j] * h[j] for j in range(len(h)))) for i in range(len(h))]
    return sum(h)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 13])
@pytest.mark.parametrize("function", [neighbours, turned, repeated])
def test_steps_that_add_to_rows_of_other_steps_add_in_order(function, size):
    draws = np.random.default_rng(size)
    w, x = draws.standard_normal((size, size)), draws.standard_normal(size)
    plain = te.program(function, backend="machine")
    found, wanted = run(improved(function, w, x), w, x), run(plain, w, x)
    assert found[0] == wanted[0] == function(w, x)
    for one, other in zip(found[1], wanted[1], strict=True):
        np.testing.assert_array_equal(one, other)
