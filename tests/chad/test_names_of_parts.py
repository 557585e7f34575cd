"""What may share memory with an array, or be a list, that changes afterwards: right, or refused."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import StructureError

ENGINE = tapeengine.Engine()


@dataclass
class Rec:
    a: object

    def half(self):
        return self.a[:1]

    def all(self):
        return self.a

    def total(self):
        return sum(self.a)


def itself(v):
    return v


def first_two(v):
    return v[:2]


def total(v):
    return sum(v)


NAMES = {"Rec": Rec, "itself": itself, "first_two": first_two, "total": total, "reduce": functools.reduce}

#: Functions in one another, which give the array itself back.
NESTED = """
t = tuple(reversed([y]))[0]
t = list(map(itself, list([y])))[0]
t = list(zip([y], [y]))[0][1]
t = list(enumerate([y]))[0][1]
t = next(reversed([y, y]))
t = list(filter(lambda r: r[0] < 99.0, [y]))[0]
t = tuple(tuple(list([y])))[0]
""".strip().splitlines()
VECTOR = (
    NESTED
    + """
t = y
t = y[:2]
t = y[:]
t = y[...]
t = y[None]
t = y[:, None]
t = y.reshape(4)
t = y.reshape(-1)
t = y.reshape(2, 2)
t = y.ravel()
t = y.flatten()
t = y.T
t = np.reshape(y, (2, 2))
t = np.ravel(y)
t = np.asarray(y)
t = np.array(y)
t = np.flip(y)
t = np.fliplr(y[None])
t = np.swapaxes(y[None], 0, 1)
t = np.transpose(y[None])
t = np.expand_dims(y, 0)
t = np.diag(y.reshape(2, 2))
t = (lambda v: v)(y)
t = (lambda v: v[:3])(y)
t = itself(y)
t = first_two(y)
t = Rec(y).a
t = Rec(y[:2]).a
t = Rec(y).half()
t = Rec(y).all()
r = Rec(y)|t = r.a
r = Rec(y)|t = r.half()
t = max([y], key=lambda r: r[0])
t = min(y[:2], y[2:], key=lambda r: r[0])
t = reduce(lambda a, b: a, [y[:2], y[2:]])
t = [y][0]
t = (y, 1.0)[0]
t = {{"a": y}}["a"]
t = {{"a": y}}.get("a")
d = dict(a=y)|t = d["a"]
t = [r for r in [y]][0]
t = list([y])[0]
t = sorted([y], key=lambda r: r[0])[0]
t = list(map(itself, [y]))[0]
t, k = y, 1.0
t, *k = [y, y]
t = y if x[0] > 0.0 else 2.0 * y
t = (k := y)
t = y + 1.0
t = total(y) + y
t = y.sum() + y
t = total(y)
t = Rec(y).total()
t = y[0]
t = y[:2] + y[2:]
""".strip().splitlines()
)
LIST = (
    NESTED
    + """
t = y
t = y[:2]
t = y[:]
t = y or [0.0]
t = x[0] > 0.0 and y
t = (lambda v: v)(y)
t = itself(y)
t = first_two(y)
t = Rec(y).a
t = Rec(y).all()
r = Rec(y)|t = r.a
t = max([y], key=lambda r: r[0])
t = reduce(lambda a, b: a, [y, y])
t = tuple([y])[0]
t = ([y] * 2)[1]
t = ([y] + [y])[1]
t = {{1: y}}.get(1)
t = {{"a": y}}["a"]
t = [r for r in [y]][0]
t = [*[y]][0]
t = list(reversed([y]))[0]
t = next(r for r in [y])
t = y if x[0] > 0.0 else [1.0]
t, k = y, 1.0
t = [r for r in y]
t = y + y
t = y * 2
t = list(y)
t = total(y)
t = y.copy()
t = y[0]
for r in [y]:|    y[0] = 50.0|    t = r
""".strip().splitlines()
)
MATRIX = """
t = y
t = y[0]
t = y[:, 0]
t = y[0:2]
t = y[None]
t = y.T
t = y.reshape(-1)
t = y.ravel()
t = np.diag(y)
t = max(y, key=lambda r: r[0])
t = max(y, y, key=lambda r: r[0][0])
t = [r for r in y][0]
t = list(y)[0]
t = [*y][1]
t = [y][0]
t = Rec(y).a
t = Rec(y).half()
t = itself(y)
t = first_two(y)
t = (lambda v: v)(y)
for r in y:|    t = r
t = y[0] + y[1]
t = y[0, 1]
""".strip().splitlines()
ROWS = """
t = y
t = y[0]
t = y[:1]
t = y[-1]
t = max(y, key=lambda r: r[0])
t = [r for r in y][0]
t = list(y)[0]
t = tuple(y)[1]
t = sorted(y)[0]
t = [*y][1]
t = [y][0]
t = [y[0], y[1]]
t = Rec(y).a
t = Rec(y[0]).a
t = Rec(y).half()
t = itself(y)
t = itself(y[0])
t = first_two(y)
t = (lambda v: v)(y)
t = y or [[0.0]]
t, k = y
t = {{"a": y[0]}}["a"]
t = next(r for r in y)
t = list(reversed(y))[0]
for r in y:|    t = r
t = [r[:] for r in y]
t = [list(r) for r in y]
t = y[0][1]
t = sum(y[0])
""".strip().splitlines()
ROWS_CHANGES = (
    *("y[0][1] = 2.0", "y[0] = [5.0, 6.0]", "y.append([1.0, 2.0])", "y[0], y[1] = y[1], y[0]", "y[1][0] += y[0][1]"),
    "for i in range(2):|    for j in range(2):|        y[i][j] = x[i] * x[j]",
)
MATRIX_CHANGES = ("y[:, 1] += 7.0", "y += 1.0", "y[0] = 5.0", "y[0, 1] = 3.0", "y[1:] = y[:-1]", "y[0][1] = 2.0")
VECTOR_CHANGES = ("y[0] = 50.0", "y += 1.0", "for i in range(2):|    y[i] = x[i] * x[i]", "y[:2] = 7.0", "y *= 2.0")
LIST_CHANGES = ("y[0] = 50.0", "y.append(3.0)", "y += [1.0]", "y.pop()", "for i in range(2):|    y[i] = x[i] * x[i]")
EXCHANGES = """
y[:2], y[2:] = y[2:], y[:2]
y[1:], y[:-1] = y[:-1], y[1:]
y[::2], y[1::2] = y[1::2], y[::2]
y[0], y[1:] = y[1], y[:-1]
y[1:], t = y[:-1], y[1:]
y[:2], z[:2] = z[:2], y[:2]
y[:], z[:] = z, y
y[0], y[1] = y[1], y[0]
y[0], z[1] = z[0], y[1]
y[:2], t = z[:2], y[2]
""".strip().splitlines()


def is_right(lines, x):
    """Compare a program with the plain function, and with dual numbers; return whether the language has it."""
    function = function_of("x", lines, **NAMES)
    wanted = function(x.copy())
    try:
        value, back = ENGINE.vjp(te.program(function), x)
    except (ProgramError, StructureError):
        return False
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    gradient = back(1.0)[0]
    for k, step in enumerate(1e-6 * np.eye(len(x))):
        slope = (function(x + step) - function(x - step)) / 2e-6
        assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    return True


def lines_of(*parts):
    return [line for part in parts for line in part.format().split("|")]


X = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("made", VECTOR)
def test_parts_of_an_array_that_changes(made):
    for change in VECTOR_CHANGES:
        is_right(lines_of("y = x * 1.0", made, change, "return np.sum(t) + np.sum(y)"), X)


@pytest.mark.parametrize("made", MATRIX)
def test_parts_of_a_matrix_that_changes(made):
    for change in MATRIX_CHANGES:
        is_right(lines_of("y = np.outer(x, x)", made, change, "return np.sum(t) + np.sum(y)"), X)


@pytest.mark.parametrize("made", ROWS)
def test_parts_of_rows_that_change(made):
    for change in ROWS_CHANGES:
        result = "return np.sum(np.array(t)) + sum(sum(r) for r in y) + y[0][0]"
        is_right(lines_of("y = [[x[0], 2.0], [x[1], x[2]]]", made, change, result), X)


@pytest.mark.parametrize("made", LIST)
def test_parts_of_a_list_that_changes(made):
    for change in LIST_CHANGES:
        is_right(lines_of("y = [x[0], 2.0 * x[1]]", made, change, "return np.sum(t) + sum(y)"), X)


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("made", ["y = x * 1.0|z = x * x", "y = list(x)|z = [v * v for v in x]"])
def test_parts_that_are_exchanged(made, exchange):
    result = "return np.sum(t) + sum(k * v for k, v in enumerate(y)) + 2.0 * sum(z)"
    is_right(lines_of(made, "t = 0.0", exchange, result), X)


FRESH = "t = y + 1.0|t = total(y) + y|t = y.sum() + y|t = y[:2] + y[2:]|t = np.array(y)|t = Rec(y).total() + y".split(
    "|"
)


@pytest.mark.parametrize("made", FRESH)
def test_what_shares_no_memory_is_no_alias(made):
    assert is_right(lines_of("y = x * 1.0", made, "y[0] = 50.0", "return np.sum(t) + np.sum(y)"), X)
