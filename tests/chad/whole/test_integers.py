"""Integers of any size: a program's are Python's."""

from typing import Any

import pytest

import tapeengine as te


@te.program
def with_power(x: float, n: int) -> tuple[float, int]:
    return x * x, n * n


@te.program
def with_digits(x: float, n: int) -> tuple[float, te.Array[int]]:
    return x * x, [n + i for i in range(3)]


@pytest.mark.parametrize("n", [3, -(10**15), 2**31, 2**63, 10**300], ids=["small", "square", "32", "63", "huge"])
def test_integers_of_any_size_are_exact(n: int) -> None:
    value, backpropagator = te.vjp(with_power, 1.5, n)
    assert value == (2.25, n * n)
    assert backpropagator((1.0, None)) == (3.0, None)
    assert te.jvp(with_power, (1.5, n), (2.0, None)) == ((2.25, n * n), (6.0, None))


@pytest.mark.parametrize("n", [3, 2**62])
def test_integers_in_arrays_have_64_bits(n: int) -> None:
    value, backpropagator = te.vjp(with_digits, 1.5, n)
    assert [int(d) for d in value[1]] == [n, n + 1, n + 2]
    cotangents: Any = backpropagator((1.0, None))
    assert cotangents == (3.0, None)
