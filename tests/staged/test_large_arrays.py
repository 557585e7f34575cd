"""Elementwise operations on large arrays: no bit of a value or a cotangent changes where operations share a buffer."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from large_programs import ROWS, agree, bits, random_program

import tapeengine as te


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, ROWS, 3))
    agree(random_program(seed), x, y, np.float64(0.7))


def rows_that_shift(x: Any, y: Any) -> Any:
    """An element gets cotangents from operations on other rows, whose order may not change."""
    a, b = x[1:], x[:-1]
    return a * b + np.sin(a - b) * y[1:] + (x[:-1] * 1.1) * y[:-1]


def one_row_for_all(x: Any, y: Any) -> Any:
    """The cotangents of a row are sums over all rows, in the order of the operations."""
    row = y[:1] * 2.0
    return (x * row + x) * row - np.tanh(row + x) * row


def columns(x: Any, y: Any) -> Any:
    a, b, c = x[:, 0], x[:, 1], x[:, 2]
    return np.stack([a * b - c * b, c * a - b * y[:, 0], a * y[:, 1] - b * a], axis=1) * (1.0 + y * y)


def zeros(x: Any, y: Any) -> Any:
    """Partials that are not finite, where cotangents are zero."""
    return np.where(x > 0, np.sqrt(np.maximum(x, 0.0)) * y, 0.0) * 2.0 + np.sqrt(abs(x)) * 0.0


def returned_between(x: Any, y: Any) -> Any:
    a = x * y
    b = np.exp(a) + a
    return a, b * a, b


@pytest.mark.parametrize("program", [rows_that_shift, one_row_for_all, columns, zeros, returned_between])
@pytest.mark.parametrize("rows", [5, 2000, ROWS, 12_800])
def test_programs(program: Any, rows: int) -> None:
    rng = np.random.default_rng(rows)
    agree(program, *rng.normal(size=(2, rows, 3)))


def test_columns_of_what_was_computed() -> None:
    def program(x: Any, y: Any) -> Any:
        whole = x * y + x
        return (whole[:, 0] * whole[:, 1] - whole[:, 2] * 0.5) * whole[:, 0]

    agree(program, *np.random.default_rng(0).normal(size=(2, ROWS, 3)))


def test_what_nothing_keeps_takes_no_memory_of_its_own() -> None:
    """A sum keeps no operand, so the buffers of forty sums are those of a few."""

    def program(x: Any) -> Any:
        total = x + 1.0
        for k in range(20):
            total = (total - 0.5 * k) * 2.0 + x
        return total

    x = np.ones(100_000)
    staged = te.stage(program)
    te.vjp(staged, x)
    tracemalloc.start()
    try:
        te.vjp(staged, x)
        assert tracemalloc.get_traced_memory()[1] < 8 * x.nbytes
    finally:
        tracemalloc.stop()


def unary_in_place_of_its_operand(x: Any, y: Any) -> Any:
    """A value is read once more after an operation of the same size, and through views."""
    a = x + y
    b = a - x
    c = b[::-1] + a
    d = c - 1.0
    return d[:, ::-1] + b, np.sum(d - c, axis=0)


def test_values_that_are_read_again() -> None:
    agree(unary_in_place_of_its_operand, *np.random.default_rng(0).normal(size=(2, ROWS, 3)))


def test_a_guard_between() -> None:
    """A check that reads an array is answered before its buffer is taken."""

    def program(x: Any, y: Any) -> Any:
        a = x + y
        b = a - 1.0
        if np.sum(a + b) > 0.0:
            b = b + y
        return b - a

    staged = te.stage(program)
    for sign in (1.0, -1.0, 1.0, -1.0, 1.0):
        args = sign * np.random.default_rng(0).uniform(1.0, 2.0, size=(2, ROWS, 3))
        wanted, back = te.vjp(program, *args)
        found, found_back = te.vjp(staged, *args)
        assert bits(found) == bits(wanted)
        assert bits(found_back(args[0])) == bits(back(args[0]))
    assert staged.stats().replays == 3


@pytest.mark.parametrize("join", [np.stack, np.concatenate, np.hstack])
def test_the_memory_of_many_operands_grows_as_their_number(join: Any) -> None:
    """A rule that keeps all operands keeps them once, not once for each of them."""

    def peak(n: int) -> int:
        staged = te.stage(lambda x: np.sum(join([x[i : i + 2] * 2.0 for i in range(n)]) ** 2))
        x = np.ones(n + 2)
        staged(x)
        tracemalloc.start()
        te.vjp(staged, x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert staged.stats().replays == 1
        return found

    assert peak(1200) < 3 * peak(600)
