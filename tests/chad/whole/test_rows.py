"""Rows of different sizes at their edges: indices out of range, empty rows, cotangents, memory."""

import tracemalloc

import numpy as np
import pytest
from chad import evaluated as specification

import tapeengine
from tapeengine import chad as te
from tapeengine.errors import CotangentError

ENGINE = tapeengine.Engine()
ROWS = [np.array([1.0, 2.0]), np.array([3.0]), np.array([4.0, 5.0, 6.0])]


@te.program
def picked(rows: te.Array[te.Vec], k: int) -> float:
    return sum(row[k] * row[0] for row in rows)


@te.program
def largest(rows: te.Array[te.Vec]) -> float:
    return sum(max(row) for row in rows)


@te.program
def scaled(rows: te.Array[te.Vec], a: float) -> te.Array[te.Vec]:
    return [[a * x for x in row] for row in rows]


@te.program
def first_few(xs: te.Vec, n: int, least: int) -> float:
    return sum(xs[i] * xs[i] if i < len(xs) or i < least else 0.5 for i in range(n))


def test_indices_count_from_the_end_of_each_row():
    value, back = ENGINE.vjp(picked, ROWS, -1)
    assert value == 2 + 9 + 24
    assert [d.tolist() for d in back(1.0)[0]] == [[2, 1], [6], [6, 0, 4]]


@pytest.mark.parametrize("k", [1, -2])
def test_an_index_out_of_range_for_one_row_raises(k):
    with pytest.raises(IndexError):
        picked.executable.vjp((ROWS, k))
    with pytest.raises(IndexError):
        ENGINE.vjp(picked, ROWS, k)


def test_a_fold_of_an_empty_row_raises():
    assert ENGINE.vjp(largest, ROWS)[0] == 11
    with pytest.raises(ValueError, match="empty"):
        largest.executable.vjp(([*ROWS, np.zeros(0)],))


@pytest.mark.parametrize("size", [0, 2, 5, 9])
def test_reads_behind_the_end_that_do_not_count(size):
    xs = np.arange(1.0, size + 1)
    value, back = first_few.executable.vjp((xs, 5, 0))
    assert value == sum(xs[:5] ** 2) + 0.5 * max(5 - size, 0)
    assert back(1.0)[0].tolist() == [2 * x if i < 5 else 0 for i, x in enumerate(xs)]


def test_reads_behind_the_end_that_count():
    with pytest.raises(IndexError):
        first_few.executable.vjp((np.ones(2), 5, 3))


def test_cotangents_have_the_sizes_of_the_rows():
    value, back = ENGINE.vjp(scaled, ROWS, 2.0)
    assert value == [[2, 4], [6], [8, 10, 12]]
    rows, a = back([np.ones(2), np.zeros(1), np.array([0.0, 1.0, 0.0])])
    assert [d.tolist() for d in rows] == [[2, 2], [0], [0, 2, 0]] and a == 8
    with pytest.raises(CotangentError, match="value"):
        back([np.ones(2), np.ones(2), np.ones(3)])


def test_rows_without_elements_and_no_rows():
    for rows in ([np.zeros(0), np.zeros(0)], [], [np.zeros(0), np.ones(1)]):
        value, back = ENGINE.vjp(scaled, rows, 2.0)
        assert [len(v) for v in value] == [len(r) for r in rows]
        assert [d.shape for d in back(value)[0]] == [r.shape for r in rows]


def test_one_long_row_among_many_short_ones_is_evaluated():
    short = [np.ones(1)] * 1500
    value, back = ENGINE.vjp(scaled, [*short, np.ones(1500)], 2.0)
    assert len(value[-1]) == 1500 and back(value)[1] == 2.0 * 3000


def test_a_scan_whose_states_differ_in_size_keeps_the_size_of_each():
    """Shorter states were once filled up with ones."""

    @te.program
    def last_two(x: float, n: int) -> te.Array[te.Vec]:
        none: te.Vec = []
        return te.scan(lambda s, i: [x * i, x * i * i] if i % 2 == 0 else none, list(range(n)), none)

    @te.program
    def kept(x: float) -> te.Array[te.Vec]:
        rows: te.Array[te.Vec] = [[x, 3.0 * x], [], [x * x]]
        return te.scan(lambda s, row: row, rows, [0.0])

    for program, args in ((last_two, (2.0, 4)), (kept, (2.0,))):
        value, back = ENGINE.vjp(program, *args)
        assert value == program.python(*args)
        evaluated, evaluated_back = specification.vjp(program.executable, args)
        ct = [np.arange(1.0, 1.0 + len(row)) for row in value]
        assert back(ct)[0] == pytest.approx(evaluated_back(ct)[0], rel=1e-14)
        assert [list(row) for row in evaluated] == program.python(*args)


def repeated(x: te.Vec, n: int) -> te.Array[te.Vec]:
    return [x for _ in range(n)]


def with_their_sum(x: te.Vec, n: int) -> tuple[float, te.Array[te.Vec]]:
    return sum(x), [x for _ in range(n)]


def beside_numbers(x: te.Vec, n: int) -> te.Array[tuple[te.Vec, float]]:
    return [(x, 1.0 * k) for k in range(n)]


def in_columns(x: te.Vec, n: int) -> te.Array[te.Vec]:
    return [[a * x[j] for j in range(n)] for a in x]


NO_ROWS = [[], np.zeros((0, 0)), np.zeros(0), None]


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize(
    ("function", "given", "slope"),
    [
        (repeated, NO_ROWS[:-1], 0.0),
        (with_their_sum, [(2.0, ct) for ct in NO_ROWS[:-1]], 2.0),
        (beside_numbers, [[], None], 0.0),
        (in_columns, [], 0.0),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_cotangents_of_no_rows_do_not_say_how_long_arguments_are(function, given, slope, size):
    x = np.linspace(0.1, 1.0, size)
    program = te.Program(function)
    executable = program.executable
    ways = [ENGINE.vjp(program, x, 0), executable.longer_vjp((x, 0)), executable.dual_vjp((x, 0))]
    for value, back in ways:
        assert back(value)[0].shape == x.shape
        for ct in given:
            np.testing.assert_array_equal(back(ct)[0], np.full(size, slope))


@pytest.mark.parametrize("function", [repeated, in_columns])
def test_none_is_no_cotangent_of_an_array_without_rows(function):
    x = np.linspace(0.1, 1.0, 3)
    program = te.Program(function)
    executable = program.executable
    plain = ENGINE.vjp(lambda x: np.stack([x])[1:], x)
    for _, back in (plain, ENGINE.vjp(program, x, 0), executable.longer_vjp((x, 0))):
        with pytest.raises(CotangentError):
            back(None)


def test_tangents_of_no_rows_do_not_say_how_long_values_are():
    @te.program
    def sums_of_columns(rows: te.Array[te.Vec], n: int) -> te.Vec:
        return [sum(row[j] for row in rows) for j in range(n)]

    for tangent in NO_ROWS:
        found = ENGINE.jvp(sums_of_columns, (np.zeros((0, 5000)), 5000), (tangent, None))
        assert found == ([0.0] * 5000, [0.0] * 5000)


def doubled_in_a_row(m):
    return np.sum(np.sin((2.0 * m).reshape(-1)))


def in_a_row(m):
    return np.sum(np.sin(m.ravel()))


def in_other_rows(m):
    return np.sum(np.sin(m.reshape(2 * len(m), -1)), axis=0)


@pytest.mark.parametrize("program", [doubled_in_a_row, in_a_row, in_other_rows])
def test_elements_at_computed_places_are_read_without_their_rows(program):
    """The rows of all elements together would be a hundred times the array."""
    m = np.random.default_rng(1).normal(size=(100, 100))
    typed = te.program(program)
    np.testing.assert_allclose(ENGINE.vjp(typed, m)[0], program(m), rtol=1e-12)
    tracemalloc.start()
    try:
        value, back = ENGINE.vjp(typed, m)
        (found,) = back(np.ones(np.shape(value)) if np.shape(value) else 1.0)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    factor = 2.0 if program is doubled_in_a_row else 1.0
    np.testing.assert_allclose(found, factor * np.cos(factor * m), rtol=1e-12)
    assert most < 25 * m.nbytes
