"""Central differences, with which the tests compare derivatives."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

R = np.random.default_rng(0)


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


def flat(result):
    """The floating numbers of a result, or of a tuple of them, in one vector."""
    if isinstance(result, (tuple, list)):
        return tnp.concatenate([np.zeros(0), *map(flat, result)])
    part = tnp.ravel(tnp.array(result) if tnp.ndim(result) == 0 else result)
    if part.dtype.kind not in "fc" or isinstance(result, int):
        return np.zeros(0)
    return tnp.concatenate([tnp.real(part), tnp.imag(part)]) if part.dtype.kind == "c" else part


def check(ours, theirs, args, second=True, step=1e-5, rtol=1e-8):
    """Compare a function with SciPy's: values, both directions and second derivatives along random directions."""
    __tracebackhide__ = True

    def along(f):
        at = {m: f(*(a + m * step * d for a, d in zip(args, directions, strict=True))) for m in (-2, -1, 1, 2)}
        return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step)

    value, back = te.vjp(lambda *a: flat(ours(*a)), *args)
    np.testing.assert_allclose(value, flat(theirs(*args)), rtol=1e-9, atol=1e-12)
    directions = tuple(R.normal(size=a.shape) for a in args)
    ct = R.normal(size=value.shape)
    slope = sum((g * d).sum() for g, d in zip(back(ct), directions, strict=True))
    assert slope == pytest.approx(along(lambda *a: flat(theirs(*a))) @ ct, rel=rtol, abs=rtol)

    def forward(*a):
        return te.jvp(lambda *a: flat(ours(*a)), a, directions)[1]

    assert forward(*args) @ ct == pytest.approx(slope, rel=1e-11, abs=1e-11)
    if second:
        found = sum((g * d).sum() for g, d in zip(te.vjp(forward, *args)[1](ct), directions, strict=True))
        assert found == pytest.approx(along(forward) @ ct, rel=10 * rtol, abs=10 * rtol)
