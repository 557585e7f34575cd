"""The functions that are written in the language have the values of those that they stand for."""

import bisect
import itertools
import math
import operator

import numpy as np
import pytest

from tapeengine.chad.language import in_language

V, W = np.array([0.3, -1.25, 2.5, 0.7, 0.7]), np.array([1.1, 0.2, -0.4, 3.0, 0.5])
T, U = V[:3], W[1:4]
M, Q = (
    np.array([[0.31, 0.76, -0.22], [0.48, 0.13, 0.94]]),
    np.array([[2.0, 0.5, 1.5], [0.1, 3.0, 0.2], [1.0, 4.0, 9.0]]),
)
N, ODD = np.array([1.0, np.nan, 2.0, np.nan]), np.array([[1.0, np.nan, 2.0], [0.5, 3.0, np.nan]])
ORDER, J = np.array([2, 0, 1, 1]), np.array([[2, 0], [1, 1]])
UP, AT = np.array([0.0, 0.5, 2.0, 2.25]), np.array([-1.0, 0.0, 0.1, 0.5, 1.75, 2.25, 3.0])
MODES = ("constant", "edge", "wrap", "symmetric", "reflect")
WIDTHS = (0, 1, 7, (3,), (1, 2), (2, 0), ((1, 2),), ((2, 9),), -1, (1, -1), (1, 2, 3), ((1, 2, 3),))
#: Arguments of numpy's functions; the last one is a dict of those by name, if it is one.
CALLS = {
    "atleast_1d": [(0.5,), (V,), (M,)],
    "atleast_2d": [(0.5,), (V,), (M,)],
    "bincount": [
        (ORDER,),
        (ORDER, V[:4]),
        (ORDER, None, 7),
        (ORDER, V[:4], 2),
        (ORDER, V),
        (ORDER, None, -1),
        (np.array([1, -1]),),
    ],
    "choose": [
        (ORDER, np.stack([V[:4], W[:4], UP])),
        (ORDER - 1, np.stack([V[:4], W[:4], UP])),
        (ORDER, np.stack([V[:4]] * 2)),
    ],
    "corrcoef": [(M,), (Q,), (V, W), (np.stack([V, -V, 3 * V]),)],
    "correlate": [(V, T, mode) for mode in ("valid", "same", "full")],
    "cov": [(V,), (M,), (Q,), (V, W)],
    "cross": [(T, U), (V, T), (T, V)],
    "delete": [
        *(
            (V, k, *axis)
            for k in (0, 2, -1, 4, 5, -6, ORDER, np.array([-1]))
            for axis in ((), (0,), (-1,), (1,), (-2,))
        ),
        *((Q[:2], k, axis) for k in (0, 1, -1, 2, -3) for axis in (0, 1, -1, -2, 2)),
    ],
    "diag": [(a, k) for a in (V, M, Q, ORDER) for k in (-2, -1, 0, 1, 2)],
    "diag_indices": [(3,)],
    "diagonal": [(a, k) for a in (M, Q, V) for k in (-1, 0, 1, 2)],
    "eye": [(3,), (2, 4), (4, 2, 1), (3, 3, -2), (2, None, 0, int), (-1,), (2, -1), (2, 0)],
    "fliplr": [(M,), (V,)],
    "flipud": [(M,), (V,)],
    "gradient": [
        *((a,) for a in (V, M, Q, V[:2], V[:1])),
        *((UP, h) for h in (0.5, UP, np.arange(4.0) / 3, np.arange(4.0) / 4, np.array([0.0, 1.0, 2.0, 4.0]), V)),
        *((a, 2.0, {"axis": k}) for a in (M, V) for k in (0, 1, -1, -2)),
        (M, T + 3.0 * np.arange(3), {"axis": 1}),
    ],
    "identity": [(3,), (2, int)],
    "insert": [(V, k, 9.5) for k in (0, 2, 5, -1, -5, 6, -6)],
    "interp": [
        *(
            (x, UP, UP**2 - 1.0, *ends)
            for x in (*AT, math.nan, AT, AT[:6].reshape(2, 3))
            for ends in ((), (7.0,), (None, 8.0))
        ),
        (AT, UP, V),
    ],
    "kron": [(a, b) for a in (V, M) for b in (V, Q)],
    "linspace": [
        (0.0, 2.0, 5),
        (0.3, 3.1),
        (0.3, 1.0, 1),
        (0.3, 1.0, 0),
        (1.1, 2.0, 4, False),
        (2.0, 2.0, 3),
        (1, 4, 6),
    ],
    "logspace": [(0.0, 2.0, 5), (0.0, 2.0), (0.1, 2.0, 4, False), (0.1, 2.0, 4, True, 2.0)],
    "meshgrid": [(V, T), (V, T, {"indexing": "ij"}), (V, T, {"indexing": "xy"})],
    "nanmean": [(N,), (ODD,), (ODD, 0), (ODD, 1), (ODD, -1), (N, 0), (N, -1), (N, 1)],
    "nansum": [(N,), (ODD,), (ODD, 0), (ODD, 1), (ODD, -1), (ODD, -2), (N, 0), (N, -1), (N, 1), (ODD, 2), (ORDER,)],
    "pad": [
        *((V, width, mode) for width in WIDTHS for mode in MODES),
        *((M, width, mode) for width in (*WIDTHS, ((1, 2), (3, 0)), ((0, 1), (5, 6))) for mode in MODES),
        *((a, 2, "constant", {"constant_values": 1.5}) for a in (V, M)),
        *((a, 2, mode) for a in (V[:1], V[:2]) for mode in MODES),
    ],
    "polyval": [(V, 0.5), (V, W), (V[:1], W)],
    "take_along_axis": [
        *((V, np.array([2, 0, -1]), k) for k in (0, -1, 1)),
        *((M, J, 1), (M, J, -1), (Q, J[:, [0, 1, 0]], 0), (Q, J[:, [0, 1, 0]], -2), (M, J, 2), (M, J + 1, 1)),
    ],
    "trace": [(Q,), (Q, 1), (M, -1), (M, 2)],
    "tril_indices": [(3,), (3, 1), (2, -1, 4), (4, 0, 2)],
    "triu_indices": [(3,), (3, 1), (2, -1, 4), (4, 0, 2)],
    "unique": [(V,), (M,), (ORDER,), (N,), (V[:0],)],
}
WHOLE = [-9, -8, -7, -2, -1, 0, 1, 2, 3, 4, 6, 12]
WHOLE_PAIRS = list(itertools.product(WHOLE, repeat=2))
SMALL = [(1.0, x) for x in (1e-300, 1.0 + 1e-10, 1.0 + 1e-9, 1.1, 0.0, -1.0, math.inf)]
PAIRS = [*SMALL, (math.inf, math.inf), (0.0, 1e-12), (0.0, 0.5), (math.nan, 1.0), (2.0, 2.0000000001), (1.0, 1.05)]
TOLERANCES = (
    {},
    {"rel_tol": 0.05},
    {"rel_tol": 0.0, "abs_tol": 0.5},
    {"abs_tol": 0.1},
    {"abs_tol": -1.0},
    {"rel_tol": -1},
)
LINES = [(V,), (T,), (V[:4],), (N,), (V[:1],), (ORDER,)]
#: The same for other functions, by the functions that are written for them.
OTHERS = {
    in_language.area: (lambda y, dx: np.trapezoid(y, dx=dx), [(V, 0.5), (V[:1], 2.0)]),
    in_language.area_between: (np.trapezoid, [(UP, V[:4]), (V, W), (V, T), (T, V)]),
    in_language.average_of: (lambda a, weights: np.average(a, weights=weights), [(V, W + 1.0), (V, W[:1]), (T, W)]),
    in_language.bisect_left: (bisect.bisect_left, [(UP, x) for x in AT]),
    in_language.bisect_right: (bisect.bisect_right, [(UP, x) for x in AT]),
    in_language.bit_and: (operator.and_, WHOLE_PAIRS),
    in_language.bit_or: (operator.or_, WHOLE_PAIRS),
    in_language.bit_xor: (operator.xor, WHOLE_PAIRS),
    in_language.comb: (math.comb, WHOLE_PAIRS),
    in_language.degrees: (math.degrees, [(x,) for x in (0.1, -3.7, 1e300, 90.0)]),
    in_language.dist: (
        math.dist,
        [(V, W), (T, U), (T, T), (V * 1e-160, W * 1e-160), ((V * 1e160).tolist(), W.tolist()), (V, T)],
    ),
    in_language.factorial: (math.factorial, [(n,) for n in range(-2, 21)]),
    in_language.fma: (lambda x, y, z: x * y + z, [(0.3, 0.7, -1.1)]),
    in_language.frexp: (math.frexp, [(x,) for x in (2.0**-1000, 2.0**1000, 2.0**999, -(2.0**-999), 1e-320)]),
    in_language.fsum: (math.fsum, [([0.1] * 10,), ([1e100, 1.0, -1e100],), (V,), ([],), ([1.0, 1e-16, 1e-32],)]),
    in_language.gcd: (math.gcd, WHOLE_PAIRS),
    in_language.isclose: (
        math.isclose,
        [(*pair[::order], by) for pair in PAIRS for order in (1, -1) for by in TOLERANCES],
    ),
    in_language.isqrt: (math.isqrt, [(-1,)]),
    in_language.largest_so_far: (np.maximum.accumulate, LINES),
    in_language.median_of: (np.median, LINES),
    in_language.quantile_of: (
        np.quantile,
        [(np.sort(x), q) for (x,) in LINES for q in (0.0, 0.1, 0.5, 0.8, 1.0, -0.1, 1.1)],
    ),
    in_language.radians: (math.radians, [(x,) for x in (0.1, -3.7, 1e300, 90.0)]),
    in_language.repeated: (np.repeat, [(V[:4], ORDER), (V[:4], ORDER - 1), (V, ORDER)]),
    in_language.rounded: (
        round,
        [
            (x, n)
            for x in (2.675, -2.675, 0.125, 0.375, 1e15 / 7, 2.5, 1234.5, 0.05)
            for n in (0, 1, 2, 3, 21, 22, 23, -1)
        ],
    ),
    in_language.shift_left: (operator.lshift, WHOLE_PAIRS),
    in_language.shift_right: (operator.rshift, WHOLE_PAIRS),
    in_language.smallest_so_far: (np.minimum.accumulate, LINES),
    in_language.span: (np.ptp, LINES),
    in_language.sumprod: (lambda p, q: sum((p * q).tolist()), [(V, W), (V, T)]),
}


def by_name(args):
    """The arguments by place, and those by name."""
    return (args[:-1], args[-1]) if isinstance(args[-1], dict) else (args, {})


def check(written, function, args):
    """That a call has the value of the other function, or raises if that does; it may also give up. Whether it did."""
    places, names = by_name(args)
    try:
        wanted = function(*places, **names)
    except (ValueError, IndexError, TypeError):
        with pytest.raises((ValueError, IndexError, TypeError)):
            if written(*places, **names) is None:
                raise ValueError("given up") from None
        return False
    try:
        found = written(*places, **names)
    except (ArithmeticError, IndexError):  # digits are lost
        return True
    if found is not None:
        np.testing.assert_array_equal(np.array(found), np.array(wanted))
    return found is None


#: How many calls have no value of a written function, although the other one has it: the plain program runs instead.
GIVEN_UP = {"pad": 11, "dist": 2, "frexp": 3, "fsum": 1, "rounded": 34}


@pytest.mark.parametrize("function", [*in_language.NUMPY, *OTHERS], ids=lambda f: f.__name__)
def test_functions_have_the_values_of_those_that_they_stand_for(function):
    name = function.__name__
    original, calls = OTHERS.get(function) or (getattr(np, name), CALLS[name])
    assert sum(check(function, original, args) for args in calls) == GIVEN_UP.get(name, 0)


def test_every_written_function_is_called_here():
    tested_elsewhere = {in_language.FUNCTIONS[f"math.{name}"] for name in ("modf", "ldexp")}
    assert {*in_language.NUMPY, *OTHERS, *tested_elsewhere} == in_language.WRITTEN
