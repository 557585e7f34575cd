"""Objects that a program names by themselves, not as attributes of a module, have counterparts in its twin."""

import numpy as np
import pytest
from numpy import c_, ix_, mgrid, ogrid, r_, s_

import tapeengine as te

PROGRAMS = {
    "r_": lambda x: r_[x, 2.0 * x],
    "c_": lambda x: c_[x, x * x],
    "s_": lambda x: x[s_[1:]],
    "ix_": lambda x: np.outer(x, x)[ix_([0], [1, 2])],
    "mgrid": lambda x: x * mgrid[0:3],
    "ogrid": lambda x: x * ogrid[0:3],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient(name):
    f, x = PROGRAMS[name], np.array([0.5, 1.5, 2.0])
    wanted = [np.sum(f(x + 1e-30j * e)).imag / 1e-30 for e in np.eye(3)]
    np.testing.assert_allclose(te.grad(te.lift(lambda x: np.sum(f(x))))(x), wanted, rtol=1e-14)
