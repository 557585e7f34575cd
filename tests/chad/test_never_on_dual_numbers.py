"""Programs with a form for each kind of arguments: dual numbers, which would hide an error, never run them."""

from __future__ import annotations

import contextlib
import sys

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from chad.written_functions import Cases, refused, run_in

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

V, L, RAGGED = np.array([1.0, 2.0, 3.0, 4.0]), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0, 5.0], [6.0]]
Z = np.arange(1.0, 13.0).reshape(2, 3, 2)
ABSENT, GIVEN = None, 3.0
cases = Cases()


@cases(V)
def first_and_rest(xs: te.Vec):
    p, *q = xs
    return p * sum(q)


@cases(V)
def rest_and_last(xs: te.Vec):
    *q, p = xs
    return p * sum(q)


@cases(V)
def ends_and_middle(xs: te.Vec):
    p, *q, r = xs
    return p * r + sum(q)


@cases((1.0, 2.0, 3.0, 4.0))
def ends_and_middle_of_a_tuple(t: tuple[float, float, float, float]):
    p, *q, r = t
    return p * r + q[0] * q[1]


@cases((1.0, 2.0, 3.0))
def last_of_a_tuple(t: tuple[float, float, float]):
    *q, r = t
    return r + q[0] * q[1]


@cases(RAGGED)
def parts_of_rows(rows: list[list[float]]):
    s = 0.0
    for p, *q in rows:
        s = s + p * sum(q)
    return s


@cases(RAGGED)
def lasts_of_rows(rows: list[list[float]]):
    s = 0.0
    for *q, p in rows:
        s = s + p * sum(q)
    return s


@cases(2.0)
def absent(x: float):
    return (x * x if ABSENT is None else x * ABSENT) + (x if ABSENT is not None else x * 3.0)


@cases(2.0)
def given(x: float):
    return (x if GIVEN is None else x * GIVEN) + (x * x * GIVEN if GIVEN is not None else x)


@cases(2.5, 3)
def returns_inside_loops(x: float, n: int):
    def count(y):
        def half(z):
            def power(w):
                for i in range(3):
                    if w > i:
                        return w * w
                return w

            for _ in range(n):
                if power(z) > 1.0:
                    return int(z) + 1
            return 0

        for k in range(n):
            if half(y) > k:
                return (y * k, y + half(y))
        return (y, y * y)

    a, b = count(x)
    return a * b + x


@cases(V)
def pairs_of_a_local_function(xs: te.Vec):
    def pairs(ys):
        return zip(ys[1:], ys, strict=False)

    return sum(a * a * b for a, b in pairs(xs)) + max(abs(a) for a, _ in pairs(xs))


@cases(V, 3)
def changed_in_a_loop_with_a_condition(xs: te.Vec, n: int):
    ys, i = xs * 1.0, 0
    while i < n:
        ys[i] = ys[i] * ys[i + 1]
        i += 1
    return np.sum(ys)


@cases(V, 3)
def arrays_made_in_a_loop(xs: te.Vec, n: int):
    s = 0.0
    for i in range(n):
        ys = [x * i for x in xs]
        ys[0] = s
        s = s + sum(y * y for y in ys)
    return s


@cases(V, np.array([0.5, 2.0]))
def rows_that_are_made(xs: te.Vec, ys: te.Vec):
    m = [[x * y for y in ys] for x in xs]
    return sum(sum(row) * row[0] for row in m) + np.sum(np.array(m) @ ys)


@cases(Z, 5.0)
def a_matrix_of_several(z: te.Array[te.Array[te.Array[float]]], c: float):
    for i in range(len(z)):
        if z[i, 0, 0] > c:
            return np.sum(z[i] * z[i])
    return np.sum(z[0])


@cases(V)
def running_sums_of_rows(xs: te.Vec):
    return np.sum(np.add.accumulate(np.outer(xs, xs)[0]) * xs)


@cases(2.0, 3.0)
def reversed_parts(x: float, y: float):
    return 1.0 + x - (1.0 - y) * np.arctan2(1.0, x) + x / 1.0 + 1.0 / y


@contextlib.contextmanager
def never_called(function):
    """Fail if Python runs a function."""
    called = []
    sys.setprofile(lambda frame, *_: called.append(1) if frame.f_code.co_name == function.__name__ else None)
    try:
        yield
    finally:
        sys.setprofile(None)
    assert not called


def numbers(cotangent):
    """The numbers of a cotangent, in a row."""
    if isinstance(cotangent, list | tuple):
        return [n for part in cotangent for n in numbers(part)]
    return [] if cotangent is None else np.ravel(cotangent).tolist()


@pytest.mark.parametrize("backend", BACKENDS, ids=str)
@pytest.mark.parametrize("case", cases, ids=lambda case: case[0].__name__)
def test_programs(case, backend):
    function, args = case
    wanted, back = te.vjp(function, *args)
    slopes = numbers(back(1.0))
    program = te.program(function, backend=backend)
    refused(program, *args)
    with never_called(function):
        value, back = te.vjp(program, *args)
        found = numbers(back(1.0))
    assert value == pytest.approx(wanted, rel=1e-13)
    assert found == pytest.approx(slopes, rel=1e-12)


def test_arrays_of_a_kind_of_numbers_are_made_by_programs_alone():
    @te.program
    def squares(xs: te.Vec):
        return np.sum(np.array(xs, float) ** 2) + np.sum(np.array([xs[0], 1], float) * 2.0)

    value, back = te.vjp(squares, V)
    assert value == 34.0
    assert back(1.0)[0].tolist() == [4.0, 4.0, 6.0, 8.0]


def matrix_of_literals(xs: te.Vec):
    return [[1.0 for _ in xs] for _ in xs]


def grid_of_literals(xs: te.Vec):
    return [[[2.0, 3.0] for _ in xs] for _ in range(3)]


@pytest.mark.parametrize("backend", BACKENDS, ids=str)
@pytest.mark.parametrize("function", [matrix_of_literals, grid_of_literals])
def test_results_that_are_not_stored_elsewhere(function, backend):
    program = te.program(function, backend=backend)
    with never_called(function):
        value, back = te.vjp(program, V)
        found = back(value)
    assert value == function(V)
    assert found[0].tolist() == [0.0] * len(V)


def test_slices_of_single_steps_are_not_divided():
    @te.program
    def backwards(xs: te.Vec, n: int):
        return np.sum(xs[::-1] * xs) + np.sum(xs[n:1:-1])

    assert "//" not in backwards.derivative("reverse")


def test_only_empty_blocks_pass():
    assert "pass" not in te.program(changed_in_a_loop_with_a_condition).derivative("reverse")


@pytest.mark.parametrize("indent", [0, 3, 24])
def test_the_column_of_a_refusal_is_that_of_the_file(indent):
    scope, margin = {"te": te}, " " * indent
    opened = f"if True:\n{margin}" if indent else ""
    run_in(scope, f"{opened}def f(x: float):\n{margin}    return x + open(x)\n")
    with pytest.raises(ProgramError) as found:
        refused(te.program(scope["f"]), 1.0)
    assert found.value.column == indent + 15
