"""Functions of tapeengine.numpy, and the methods of its ufuncs, are numpy's in typed programs."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp


def added(x: np.ndarray, i: np.ndarray):
    k = tnp.zeros(3)
    tnp.add.at(k, i, x)
    tnp.subtract.at(k, [1], 3.0)
    return tnp.sum(k**2)


def crossed(x: np.ndarray, i: np.ndarray):
    return tnp.sum(tnp.outer(x, x)[tnp.ix_(i, [0, 2])] ** 2)


def summed(x: np.ndarray, i: np.ndarray):
    return tnp.sum(tnp.add.outer(x, 2.0 * x) ** 2)


def largest(x: np.ndarray, i: np.ndarray):
    return tnp.maximum.reduce(x) * tnp.sum(tnp.maximum.accumulate(x))


@pytest.mark.parametrize("function", [added, crossed, summed, largest])
def test_counterparts_of_numpy(function):
    primals = np.array([1.0, -2.0, 0.5]), np.array([0, 2, 2])
    wanted, back = te.vjp(function, *primals)
    found, again = te.vjp(te.program(function), *primals)
    assert found == wanted == function(*primals)
    np.testing.assert_allclose(again(1.0)[0], back(1.0)[0], rtol=1e-13)
