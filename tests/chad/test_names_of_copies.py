"""A name that gets a copy of an argument, arrays that are measured or stored while they change: numpy's values."""

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from chad.written_functions import refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


def lower_upper(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def gauss_seidel(a):
    a = a.copy()
    n = a.shape[0]
    for i in range(1, n - 1):
        a[i, 1:-1] += a[i - 1, :-2] + a[i + 1, 2:]
        for j in range(1, n - 1):
            a[i, j] = (a[i, j] + a[i, j - 1]) / 9.0
    return a


def orthogonal(a):
    a = a.copy()
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def standardised(a):
    a = a.copy()
    mean, deviation = np.mean(a, axis=0), np.std(a, axis=0)
    deviation[deviation <= 0.1] = 1.0
    a -= mean
    a /= deviation
    return a


def captured_before(a):
    def first(x):
        return a[0, 0] * x

    a = a * 2.0
    return first(a[1, 1])


def twice_bound(a):
    a = a * 2.0
    for i in range(2):
        a = a + a[i]
    return a


def bound_in_a_tuple(a):
    a, half = a.copy(), a / 2.0
    a[0, 1:] = half[1, 1:]
    half[:, 0] *= a[0, 1]
    return a * half


def bound_beside_the_argument(a):
    a, given = a * 1.0, a
    a[0, 0] = 3.0
    return a + given


def bound_in_a_tuple_after_a_capture(a):
    def first(x):
        return a[0, 0] * x

    a, b = a * 2.0, a[1]
    return first(a[1, 1]) * b


def bound_again_in_a_loop(a):
    b = a
    for _ in range(2):
        a, b = b * 0.5, a * 2.0
    a, b = a.copy(), b * a
    a[1] = b[0]
    return a - b


def rolled(a):
    return np.roll(a, 1, 0) * np.roll(a, -5, axis=-1) + a * np.roll(a[0], 2) + np.roll(a[:, :3], 1, axis=1).sum()


def stored_rows(a):
    rows = [[0.0, 1.0]]
    for line in a:
        row = []
        for x in line:
            row.append(x * rows[-1][1])
        rows.append(row)
    return rows


PROGRAMS = [lower_upper, gauss_seidel, orthogonal, standardised, captured_before, twice_bound, rolled, stored_rows]
PROGRAMS += [
    bound_in_a_tuple,
    bound_beside_the_argument,
    bound_in_a_tuple_after_a_capture,
    bound_again_in_a_loop,
]


def numbers(x):
    """All numbers of a structure."""
    parts = [numbers(part) for part in x] if isinstance(x, list | tuple) else [np.ravel(x)]
    return np.concatenate(parts)


def itself(x):
    """A value as its own cotangent, which makes the derivative that of half the sum of squares."""
    return type(x)(map(itself, x)) if isinstance(x, list | tuple) else x * 1.0


def squares(x):
    """Half the sum of the squares of all numbers."""
    return np.sum(numbers(x) ** 2) / 2


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_derivatives(f, backend):
    a = np.random.default_rng(1).normal(size=(4, 4)) + 6 * np.eye(4)
    value, back = te.vjp(te.program(f, backend=backend), a)
    plain = f(a)
    np.testing.assert_allclose(numbers(value), numbers(plain), rtol=1e-13)
    (gradient,) = back(itself(plain))
    tangent = np.random.default_rng(2).normal(size=(4, 4))
    h = 1e-6
    differences = (squares(f(a + h * tangent)) - squares(f(a - h * tangent))) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient * tangent), differences, rtol=1e-6, atol=1e-7)


def stored_then_changed(xs):
    row = [0.0]
    rows = []
    for x in xs:
        row[0] = x
        rows.append(row)
    return rows


def other_name_changed(xs):
    row = [xs[0]]
    other = row
    rows = [row]
    other[0] = xs[1]
    return rows[0][0]


def changed_by_a_function(xs):
    row = [xs[0]]
    rows = [row]

    def change():
        row[0] = 3.0
        return row[0]

    return change() + rows[0][0]


def part_kept(a):
    a = a.copy()
    row = a[0]
    a[:, 0] = 1.0
    return row


@pytest.mark.parametrize("f", [stored_then_changed, other_name_changed, changed_by_a_function])
def test_stored_arrays_that_change_are_refused(f):
    with pytest.raises(ProgramError, match="changed in place"):
        refused(te.program(f), [1.0, 2.0])


def test_a_part_that_is_kept_is_refused_with_its_line():
    with pytest.raises(ProgramError, match=r"row = a\[0\] may hold a part of it(?s:.*)\.copy\(\)"):
        refused(te.program(part_kept), np.ones((2, 2)))


def rows_of_lists(xs, ys):
    rows = []
    for x, y in zip(xs, ys):
        rows.append([np.arctan2(np.sin(x - z), y * z) for z in xs])
    return rows


def rows_of_arrays(xs, ys):
    rows = []
    for x in xs:
        rows.append(np.array(ys) * x)
    return rows


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("f", [rows_of_lists, rows_of_arrays])
def test_rows_that_are_appended_are_lists_or_arrays_as_in_python(f, backend):
    given = ([1.0, 2.0], [3.0, 4.0])
    value, tangent = te.jvp(te.program(f, backend=backend), given, given)
    wanted = type(f(*given)[0])
    assert {type(row) for row in (*value, *tangent, *te.vjp(te.program(f, backend=backend), *given)[0])} == {wanted}
