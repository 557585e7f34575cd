"""Coefficients of 0 in the polynomials of filters: their derivatives are those of other coefficients."""

import numpy as np
import pytest
import scipy.signal

import tapeengine as te
from tapeengine_scipy import signal


def _coefficients(rng):
    size = rng.integers(2, 5)
    return np.where(rng.random(size) < 0.5, 0.0, rng.normal(size=size)), np.append(1.0, rng.normal(size=size - 1))


@pytest.mark.parametrize("seed", range(12))
def test_bilinear(seed):
    rng = np.random.default_rng(seed)
    (b, a), fs = _coefficients(rng), 0.7
    b[0] = 1.5
    wanted = scipy.signal.bilinear(b, a, fs)
    value, backpropagator = te.vjp(signal.bilinear, b, a, fs)
    for found, expected in zip(value, wanted, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    for place in range(2):
        for k in range(len(wanted[place])):
            unit = [np.zeros(len(part)) for part in wanted]
            unit[place][k] = 1.0
            found = backpropagator(tuple(unit))
            for i in range(len(b)):
                step = 1e-6 * np.eye(len(b))[i]
                plus, minus = (scipy.signal.bilinear(b + s * step, a, fs)[place][k] for s in (1, -1))
                assert found[0][i] == pytest.approx((plus - minus) / 2e-6, abs=1e-7)


def test_bilinear_refuses_traced_leading_zeros():
    b, a = np.array([0.0, 1.5]), np.array([1.0, 0.5, 0.3])
    with pytest.raises(te.errors.UnsupportedError, match="leading coefficients of 0"):
        te.vjp(lambda b: signal.bilinear(b, a, 0.7), b)
    np.testing.assert_array_equal(
        te.vjp(lambda a: signal.bilinear(b, a, 0.7), a)[0][0], scipy.signal.bilinear(b, a, 0.7)[0]
    )
