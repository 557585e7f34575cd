"""Elements of lists of whole numbers that nobody has to store: at every index Python's value, or its error."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te


def of_list(x: float, n: int, i: int) -> float:
    return x * list(range(n))[i]


def of_arange(x: float, n: int, i: int) -> float:
    return x * np.arange(n)[i]


def shifted(x: float, n: int, i: int) -> float:
    return x * [k + 2 for k in range(n)][i]


def doubled(x: float, n: int, i: int) -> float:
    return x * [2 * k for k in range(n)][i]


def from_the_end(x: float, n: int, i: int) -> float:
    return x * [n - k for k in range(n)][i]


def of_slice(x: float, n: int, i: int) -> float:
    return x * list(range(n))[1:][i]


def reversed_list(x: float, n: int, i: int) -> float:
    return x * list(range(n))[::-1][i]


def of_rows(x: float, n: int, i: int) -> float:
    return x * [[3 * j + k for k in range(3)] for j in range(n)][i][i]


def of_rows_across(x: float, n: int, i: int) -> float:
    return x * [[3 * j + k for k in range(n)] for j in range(2)][-1][i]


def as_condition(x: float, n: int, i: int) -> float:
    return sum([x * k for k in range(4) if k != list(range(n))[i]])


def as_index(x: float, n: int, i: int) -> float:
    return [x, 2 * x, 3 * x, 4 * x][list(range(n))[i]]


def in_a_loop(x: float, n: int, i: int) -> float:
    total = 0.0
    for k in range(3):
        total = 0.5 * total + x * list(range(n))[i - k]
    return total


PROGRAMS: list[Callable[..., float]] = [
    *(of_list, of_arange, shifted, doubled, from_the_end, of_slice, reversed_list),
    *(of_rows, of_rows_across, as_condition, as_index, in_a_loop),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", range(5))
def test_every_index(program: Any, n: int) -> None:
    typed = te.program(program)
    for i in range(-n - 3, n + 4):
        try:
            wanted = program(1.5, n, i)
        except IndexError:
            with pytest.raises(IndexError):
                te.vjp(typed, 1.5, n, i)
            continue
        value, back = te.vjp(typed, 1.5, n, i)
        assert value == wanted, i
        assert back(1.0)[0] == pytest.approx(wanted / 1.5), i
