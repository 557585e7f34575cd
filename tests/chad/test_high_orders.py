"""Derivatives of high order: three are those of programs; for more, dual numbers run the plain function."""

import importlib

import mpmath
import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm


def wave(x):
    return tm.sin(x) * x * tm.exp(0.1 * x)


def exact(order):
    return float(mpmath.diff(lambda x: mpmath.sin(x) * x * mpmath.exp(0.1 * x), 1.3, order))


def backward(f):
    return te.grad(f)


def forward(f):
    return lambda x: te.jvp(f, (x,), (1.0,))[1]


def within(f):
    return te.grad(lambda x: f(x))


@pytest.fixture
def made(monkeypatch):
    """The programs of directional derivatives that are made."""
    found, of_programs = [], importlib.import_module("tapeengine.chad.program")
    transform = of_programs.directional
    monkeypatch.setattr(of_programs, "directional", lambda module: found.append(module.main) or transform(module))
    return found


@pytest.mark.parametrize("ways", [[backward], [forward], [within], [forward, backward], [backward, forward, within]])
def test_few_programs_are_made_for_any_order(ways, made):
    found = te.program(wave)
    for order in range(1, 9):
        found = ways[order % len(ways)](found)
        assert found(1.3) == pytest.approx(exact(order), rel=1e-10)
    assert len(made) <= 3


def test_fourth_derivatives_of_arrays():
    found = te.program(waves)
    for _ in range(4):
        found = te.jacobian(found)
    expected = np.zeros((2, 2, 2, 2))
    for k, x in enumerate((0.5, 1.5)):
        expected[k, k, k, k] = np.sin(x) * x - 4.0 * np.cos(x)
    np.testing.assert_allclose(found(np.array([0.5, 1.5])), expected, atol=1e-10)


def waves(x):
    return np.sum(np.sin(x) * x)
