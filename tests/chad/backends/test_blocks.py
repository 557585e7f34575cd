"""Rows that are read by vectors give the bits of rows read one number at a time, whatever their lengths."""

import re

import numpy as np
import pytest
from chad.backends.runs import texts

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import calling, control
from tapeengine.chad.backends.llvm.blocks import SIDE

Matrix = te.Array[te.Vec]
SIZES = (1, SIDE - 1, SIDE, SIDE + 1, 3 * SIDE + 2)


def products(a: Matrix, w: te.Vec) -> te.Vec:
    return [abs(sum(row[j] * w[j] for j in range(len(w)))) for row in a]


def distances(a: Matrix, w: te.Vec) -> te.Vec:
    return [sum((row[j] - w[j]) * (row[j] - w[j]) for j in range(len(w))) for row in a]


def of_pairs(a: Matrix, w: te.Vec) -> te.Vec:
    return [sum(a[i][j] * a[len(a) - 1 - i][j] - abs(w[j]) for j in range(len(w))) for i in range(len(a))]


def of_columns(a: Matrix, w: te.Vec) -> te.Vec:
    """The sums read columns, so there are no rows to read by vectors."""
    return [sum(a[j][i] * w[j] for j in range(len(a))) for i in range(len(a[0]))]


def shifted(a: Matrix, w: te.Vec) -> te.Vec:
    """The numbers that are read lie beside the row's next ones."""
    return [sum(row[j + 1] * w[j] for j in range(len(w) - 1)) for row in a]


def of_each_kind(a: Matrix, w: te.Vec) -> te.Vec:
    return [sum(abs(w[j]) - -row[j] for j in range(len(w))) for row in a]


@pytest.fixture(autouse=True)
def improved(monkeypatch):
    """Let code be improved after the first call."""
    monkeypatch.setattr(calling, "EACH_STATEMENT", -1)


def run(program, *args):
    te.vjp(program, *args)
    value, back = te.vjp(program, *args)
    return [np.asarray(x).tobytes() for x in (value, *back(np.linspace(1.0, 2.0, len(value))))]


@pytest.mark.parametrize("function", [products, distances, of_pairs, of_columns, shifted, of_each_kind])
def test_the_bits_are_those_of_numbers_read_one_by_one(function, monkeypatch):
    fast, draws = te.program(function, backend="native"), np.random.default_rng(5)
    sizes = [(n, n) if function is of_columns else (n, d) for n in SIZES for d in SIZES]
    inputs = [
        (draws.standard_normal((n, d)), draws.standard_normal(n if function is of_columns else d)) for n, d in sizes
    ]
    found = [run(fast, *given) for given in inputs]
    monkeypatch.setattr(control, "may_read_rows", lambda loops: False)
    slow = te.program(function, backend="native")
    assert found == [run(slow, *given) for given in inputs]
    for given, (value, *_) in zip(inputs, found, strict=True):
        assert value == np.asarray(function(*given)).tobytes()


@pytest.mark.parametrize(("function", "is_by_vectors"), [(products, True), (distances, True), (of_columns, False)])
def test_rows_are_read_by_vectors_and_columns_are_not(function, is_by_vectors):
    assert ("load <4 x double>" in te.program(function).inspect()) == is_by_vectors


@pytest.mark.parametrize(("function", "n"), [(products, 2), (distances, 3), (of_each_kind, 4)])
def test_the_arithmetic_of_sums_side_by_side_is_on_vectors(function, n):
    (block,) = re.findall(r"\nblock\.\d+:(.*?)br label", te.program(function).inspect(), re.DOTALL)
    assert len(re.findall(r"= (?:f\w+|call) <4 x double>", block)) == n * SIDE
    assert not re.search(r"= f\w+ double", block)


def test_rows_that_are_too_short_are_an_error_as_in_python():
    program = te.program(products, backend="native")
    te.vjp(program, np.ones((8, 6)), np.ones(6))
    te.vjp(program, np.ones((8, 6)), np.ones(6))
    with pytest.raises(IndexError):
        te.vjp(program, np.ones((8, 6)), np.ones(9))


def counted(a: Matrix, w: te.Vec, n: int) -> float:
    total = 0.0
    for i in range(n):
        total = total + sum(a[i][j] * w[j] for j in range(len(w))) ** 2
    return total


@pytest.mark.parametrize("rows", range(4 * SIDE))
def test_each_of_the_rows_that_are_read_together_may_be_missing(rows):
    program, a, w = te.program(counted, backend="native"), np.ones((rows, 6)), np.ones(6)
    for n in (min(rows, 1), rows):
        assert te.vjp(program, a, w, n)[0] == counted(a, w, n)
    for n in range(rows + 1, rows + SIDE + 1):
        with pytest.raises(IndexError):
            te.vjp(program, a, w, n)
    te.vjp(program, a, w[:0], rows + SIDE)  # Python reads no row


def test_rows_are_checked_once_for_all_steps_that_run_together():
    """The last of four rows is in the array if all are; loops by vectors and one by one need the same checks."""
    text = te.program(counted).inspect()
    body = re.split(r"\n(?:steps|after)\.\d+:", text)[1]
    assert body.count("icmp uge i64") == body.count("icmp slt i64 %p2") == 1


def test_long_rows_look_for_interrupts():
    text = texts(products, (np.ones((4, 4)), np.ones(4)), is_long=True)[0]
    block = text[text.index("\nblock.") :]
    assert "@te_poll" in block[: block.index("\nsingle.")]
