"""Arrays at sums of two indices, read and written, at each place and size: the numbers of dual numbers, or no value."""

import itertools

import numpy as np
import pytest

import tapeengine as te

SIZES = list(itertools.product((0, 1, 4, 5), (-1, 0, 1, 2), (0, 1, 3), (0, 1, 3)))


@te.program
def filtered(x: te.Vec, w: te.Vec, start: int, rows: int) -> float:
    return sum([sum([x[start + i + j] * w[j] for j in range(len(w))]) ** 2 for i in range(rows)])


@te.program
def squares(x: te.Vec, w: te.Vec, start: int, rows: int) -> float:
    return sum([sum([(x[start + i + j] - w[j]) ** 2 for j in range(len(w))]) * x[start + i] for i in range(rows)])


@pytest.mark.parametrize("program", [filtered, squares])
@pytest.mark.parametrize(("length", "start", "rows", "columns"), SIZES)
def test_whole_arrays_agree_with_dual_numbers(program, length, start, rows, columns):
    primals = np.cos(np.arange(length)), np.sin(np.arange(1.0, 1.0 + columns)), start, rows
    try:
        value, back = te.vjp(lambda *given: program.python(*given) + 0.0, *primals)
        wanted = value, back(1.3)[:2]
    except IndexError:
        wanted = None
    made = program.executable.whole.vjp(primals)
    assert made is not None or wanted is None
    if made is None:
        return
    assert wanted is not None
    value, back = made
    assert value == pytest.approx(wanted[0], rel=1e-14)
    gave = back(1.3)
    assert gave is not None or start < 0  # then dual numbers give the cotangents
    for found, expected in zip([] if gave is None else gave[:2], wanted[1] if gave else [], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
