"""Products of traced arrays and constant arrays of objects that are numbers: the values are numpy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "vecmat": lambda a, b: numpy.vecmat(a, b),
    "matvec": lambda a, b: numpy.matvec(b, a[0]),
    "vecdot": lambda a, b: numpy.vecdot(a, b),
    "vecdot with the traced one first": lambda a, b: numpy.vecdot(b, a),
    "vdot": lambda a, b: numpy.vdot(a, b),
    "dot": lambda a, b: numpy.dot(a, b),
    "inner": lambda a, b: numpy.inner(a, b),
    "kron": lambda a, b: numpy.kron(a, b),
    "einsum": lambda a, b: numpy.einsum("ij,kj->ik", a, b),
    "convolve": lambda a, b: numpy.convolve(a[0], b.ravel()),
    "correlate": lambda a, b: numpy.correlate(a[0], b.ravel(), "full"),
    "correlate with the traced one first": lambda a, b: numpy.correlate(b.ravel(), a[0], "full"),
    "correlate equal ones": lambda a, b: numpy.correlate(b[0], a[0], "same"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("part", [numpy.real, numpy.array], ids=["real", "complex"])
def test_the_value_and_the_derivative(name: str, part: Callable[[Any], Any]) -> None:
    rng = numpy.random.default_rng(3)
    a = part(rng.integers(-3, 4, (3, 3)) + 1j * rng.integers(-3, 4, (3, 3))).astype(object)
    b, t = rng.integers(-3, 4, (3, 3)) * 1.0, rng.integers(-3, 4, (3, 3)) * 1.0

    def plain(b: Any) -> Any:
        return numpy.asarray(CALLS[name](a, b)).astype(complex)

    value, tangent = te.jvp(lambda b: CALLS[name](a, b), (b,), (t,))
    numpy.testing.assert_array_equal(numpy.asarray(value, complex), plain(b))
    numpy.testing.assert_array_equal(numpy.asarray(tangent, complex), plain(t))  # the products are linear
