"""``x // y`` and ``divmod`` of floats have the bits of Python's and numpy's; their derivatives are zero."""

import random
import struct

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from outcomes import outcome

import tapeengine as te

SPECIAL = (0.0, -0.0, 1.0, -1.0, 3.0, -2.0, 1e16, -1e16, 0.1, 0.3, 7.0, 1e300, float("inf"), float("nan"))


def quotient(x: float, y: float) -> float:
    return x // y


def both(x: float, y: float) -> tuple[float, float]:
    return divmod(x, y)


def of_arrays(a, b):
    return a // b


def drawn(draw):
    return draw.choice(
        (*SPECIAL, draw.gauss(0, 1), draw.gauss(0, 1) * 10 ** draw.randint(-5, 14), draw.randint(-9, 9) / 10)
    )


def bits(value):
    if isinstance(value, Exception):
        return type(value), str(value)
    return [struct.pack("d", x) if x == x else None for x in np.ravel(value)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("f", [quotient, both])
def test_floats(f, backend):
    draw, made = random.Random(0), te.program(f, backend=backend)
    for _ in range(1500):
        x, y = drawn(draw), drawn(draw)
        found = outcome(lambda x=x, y=y: te.vjp(made, x, y))
        assert bits(found if isinstance(found, Exception) else found[0]) == bits(outcome(lambda x=x, y=y: f(x, y))), (
            x,
            y,
        )
        if f is quotient and isinstance(found, tuple):
            assert found[1](1.0) == (0.0, 0.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays(backend):
    draw, made = random.Random(1), te.program(of_arrays, backend=backend)
    with np.errstate(all="ignore"):
        for _ in range(100):
            a, b = (np.array([drawn(draw) for _ in range(5)]) for _ in "ab")
            assert bits(te.vjp(made, a, b)[0]) == bits(a // b), (a, b)
