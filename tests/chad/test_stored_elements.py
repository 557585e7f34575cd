"""To assign an array to a part of an array that numpy has made copies it: either may change afterwards."""

import numpy as np
import pytest
from chad.written_functions import refused

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.chad import ProgramError


def track(x: np.ndarray):
    p, rows = tnp.zeros(3), tnp.empty((4, 3))
    for i in range(4):
        p += x * (i + 1.0)
        rows[i] = p
    return rows


def whole(x: np.ndarray):
    u, w = tnp.zeros(3), x * 2.0
    u[:] = w
    w[0] = 1.0
    return u * w


def behind(x: np.ndarray):
    u, w = tnp.ones(4), x * 2.0
    u[1:] = w
    w *= 3.0
    return tnp.concatenate([u, w])


def column(x: np.ndarray):
    g, w = tnp.zeros((3, 2)), x * 2.0
    g[:, 1] = w
    w[2] = x[0]
    g[0, 0] = w[2]
    return g


def both(x: np.ndarray):
    g, w = tnp.full((2, 3), 2.0), x * 2.0
    g[0] = w
    w[1] += x[2]
    g[1] = w
    w[1] += x[2]
    return tnp.sum(g[0] * g[1]) + w[1]


def changed_there(x: np.ndarray):
    g, w = tnp.zeros((2, 3)), x * 2.0
    g[1] = w
    g[1, 0] = 5.0
    return w * g[1]


PROGRAMS = {f.__name__: f for f in (track, whole, behind, column, both, changed_there)}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", [None, "native"])
def test_elements_are_copied(name, backend):
    function, x = PROGRAMS[name], np.array([1.0, -2.0, 0.5])
    program = te.program(function, backend=backend)
    wanted, back = te.vjp(function, x)
    assert np.array_equal(wanted, function(x))
    for _ in range(3):
        found, again = te.vjp(program, x)
        assert np.array_equal(found, wanted)
        cotangent = np.arange(1.0, 1.0 + np.size(wanted)).reshape(np.shape(wanted)) if np.ndim(wanted) else 1.0
        np.testing.assert_allclose(again(cotangent)[0], back(cotangent)[0], rtol=1e-13)


def kept(x: np.ndarray):
    w = x * 3.0
    rows = [x * 1.0, x * 2.0]
    rows[0] = w
    w[0] = 1.0
    return rows[0] + rows[1]


def either(x: np.ndarray, is_list: bool):
    w = x * 3.0
    rows = tnp.zeros((2, 3))
    if is_list:
        rows = [x * 1.0, x * 2.0]
    rows[0] = w
    w[0] = 1.0
    return rows[0] + rows[1]


@pytest.mark.parametrize(("function", "others"), [(kept, ()), (either, (True,))])
def test_elements_of_lists_are_shared(function, others):
    with pytest.raises(ProgramError):
        refused(te.program(function), np.ones(3), *others)
