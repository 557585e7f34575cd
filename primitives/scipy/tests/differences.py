"""Central differences, with which the tests compare derivatives."""

import numpy as np

import tapeengine as te


def differences(f, x, h=1e-3):
    """The gradient of a scalar function by central differences of order six."""
    x = np.asarray(x, dtype=float)
    gradient = np.empty(x.shape)
    for index in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[index] = h
        at = [float(f(x + k * e)) - float(f(x - k * e)) for k in (1, 2, 3)]
        gradient[index] = (45 * at[0] - 9 * at[1] + at[2]) / (60 * h)
    return gradient


def gradient(f, x):
    """The gradient computed by the engine."""
    return te.vjp(f, np.asarray(x, dtype=float))[1](1.0)[0]


def assert_gradient(f, x, rtol=1e-8, h=1e-3):
    expected = differences(f, x, h)
    np.testing.assert_allclose(gradient(f, x), expected, rtol=rtol, atol=rtol * max(1.0, np.abs(expected).max()))


def assert_second_order(f, x, rtol=1e-7, h=1e-3):
    """Compare the derivative of the gradient, in a fixed direction, with differences of the gradient."""
    direction = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    assert_gradient(lambda x: np.sum(te.vjp(f, x)[1](1.0)[0] * direction), x, rtol, h)
