"""Root finders accept the arguments of SciPy's."""

import inspect

import numpy as np
import pytest
import scipy.optimize

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import optimize


@pytest.mark.parametrize("name", ["bisect", "brenth", "brentq", "ridder", "toms748"])
def test_parameters_are_scipys(name):
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (optimize, scipy.optimize))
    assert [(p.name, p.default) for p in ours.values()] == [(p.name, p.default) for p in theirs.values()]
    assert getattr(optimize, name).__doc__.startswith("Find a root")


def test_newton_takes_what_scipys_takes():
    ours, theirs = (inspect.signature(module.newton).parameters for module in (optimize, scipy.optimize))
    assert [(p.name, p.default) for p in ours.values()] == [(p.name, p.default) for p in theirs.values()]


def cube(x, p):
    return x**3 + p * x - 2.0


def slope(x, p):
    return 3.0 * x**2 + p


METHODS = {"secant": {}, "second point": {"x1": 0.9}, "Newton": {"fprime": slope}}
METHODS["Halley"] = {"fprime": slope, "fprime2": lambda x, p: 6.0 * x}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("at", [1.3, np.array([0.4, 1.3, 2.2])], ids=["number", "array"])
@pytest.mark.parametrize("full", [False, True])
def test_newton_is_an_implicit_function(method, at, full):
    """dx/dp = -x / (3 x^2 + p), also at second order, for each element."""
    options = {**METHODS[method], "tol": 1e-14, "full_output": full}

    def root(p):
        found = optimize.newton(cube, np.ones_like(at), args=(p,), **options)
        return found[0] if full else found

    x, back = te.vjp(root, at)
    plain = scipy.optimize.newton(cube, np.ones_like(at), args=(at,), **{**options, "full_output": False})
    assert np.array_equal(x, plain) and np.shape(x) == np.shape(plain)
    assert back(np.ones_like(x)[()])[0] == pytest.approx(-x / slope(x, at), rel=1e-12)
    v = np.cos(np.arange(np.size(at))).reshape(np.shape(at))
    second = te.jvp(te.grad(lambda p: np.sum(root(p) ** 2)), (at,), (v[()],))[1]
    dx, f = -x / slope(x, at), slope(x, at)
    change = 2.0 * dx**2 + 2.0 * x * (-dx / f + x * (6.0 * x * dx + 1.0) / f**2)
    assert second == pytest.approx(change * v, rel=1e-9)


def test_newton_that_does_not_converge_is_refused():
    with pytest.raises(UnsupportedError, match="did not converge"):
        te.grad(lambda p: optimize.newton(cube, 1.0, args=(p,), maxiter=1, disp=False))(1.3)


SEGMENT = """
from scipy.integrate import quad
from scipy.optimize import brentq


class Segment:
    def __init__(self, c):
        self.c = c

    def speed(self, u):
        return self.c * u * u

    def length(self):
        return quad(lambda u: self.speed(u), 0.0, 1.0)[0]

    def root(self):
        return brentq(self.linear, 0.0, 10.0)

    def linear(self, u):
        return self.c * u - 1.0
"""


@pytest.mark.parametrize(("name", "slope"), [("length", 1 / 3), ("root", -1 / 9)])
def test_objects_of_classes_of_lifted_modules_are_looked_through(name, slope, tmp_path, monkeypatch):
    (tmp_path / "segments_of_a_curve.py").write_text(SEGMENT)
    monkeypatch.syspath_prepend(tmp_path)
    segment = te.lift("segments_of_a_curve").Segment
    assert te.grad(lambda c: getattr(segment(c), name)())(3.0) == pytest.approx(slope, abs=1e-12)
