"""Nested traces with every class of number in every position: the second derivative equals that for floats."""

import numpy as np
import pytest

import tapeengine as te

NUMBERS = [float, np.float64, np.float32, np.array]
PLACES = {
    "alone": (lambda x: x, lambda p: p),
    "in a list": (lambda x: [x, 1.0], lambda p: p[0]),
    "in a dict of tuples": (lambda x: {"k": (2, x)}, lambda p: p["k"][1]),
}


@pytest.mark.parametrize("make", NUMBERS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("outer", NUMBERS)
def test_the_gradient_of_a_gradient_at_any_class_of_number(make, place, outer):
    wrap, take = PLACES[place]

    def slope(y):
        return take(te.grad(lambda p: take(p) ** 3 * y**2 + y * take(p))(wrap(make(0.5)))) * 1.0

    assert float(te.grad(slope)(outer(2.0))) == pytest.approx(3 * 0.25 * 2 * 2.0 + 1.0, rel=1e-6)
    assert float(te.jvp(slope, (outer(2.0),), (outer(1.0),))[1]) == pytest.approx(4.0, rel=1e-6)
