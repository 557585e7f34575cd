"""A correlation of 1 is a smooth maximum: numpy clips rounding errors there, not the derivatives."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tapeengine as te


def curvature(y: Any, sign: float) -> Any:
    """The second derivative of the correlation of `y` with its image under a line: in closed form."""
    v = y - y.mean()
    unit = v / numpy.linalg.norm(v)
    return -sign * (numpy.eye(len(y)) - 1.0 / len(y) - numpy.outer(unit, unit)) / (v @ v)


@pytest.mark.parametrize("seed", range(8))
def test_second_derivatives_of_real_and_complex_data(seed: int) -> None:
    rng = numpy.random.default_rng(seed)
    x, slope = rng.normal(size=5), rng.choice([-2.0, 0.3, 1.0])
    for kind in (float, complex):
        data = x.astype(kind)

        def program(y: Any, data: Any = data) -> Any:
            found = numpy.corrcoef(data, y)
            assert abs(te.value(found)).max() <= 1.0
            return found[0, 1].real

        value, backpropagator = te.vjp(program, slope * x + 1.0)
        assert abs(abs(value) - 1.0) < 1e-15
        numpy.testing.assert_allclose(backpropagator(1.0)[0], 0.0, atol=1e-14)
        expected = curvature(slope * x + 1.0, numpy.sign(slope))
        numpy.testing.assert_allclose(te.hessian(program)(slope * x + 1.0), expected, rtol=1e-10, atol=1e-10)
