"""Boundary value problems: SciPy's values, and derivatives by closed forms and by central differences."""

import numpy as np
import pytest
import scipy.integrate

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import integrate

MESH = np.linspace(0.0, 1.0, 5)


def bratu(a, s, np, **options):
    """A nonlinear problem whose equation and end depend on a."""
    return s(
        lambda x, y: np.stack([y[1], -a * np.exp(y[0])]), lambda u, v: np.array([u[0] - 0.1 * a, v[0]]), MESH,
        np.zeros((2, 5)), tol=1e-8, **options,
    )  # fmt: skip


def eigenvalue(a, s, np):
    """A problem with an unknown parameter: y'' + (p^2 + a x) y = 0."""
    return s(
        lambda x, y, p: np.stack([y[1], -(p[0] ** 2 + a * x) * y[0]]),
        lambda u, v, p: np.array([u[0], v[0], u[1] - p[0]]), MESH, np.stack([np.sin(3 * MESH), np.cos(3 * MESH)]),
        [3.0], tol=1e-8,
    )  # fmt: skip


PROGRAMS = {
    "states": lambda a, s, np: np.concatenate(
        [f(bratu(a, s, np)) for f in (lambda r: r.y[:, 0], lambda r: r.y[:, -1])]
    ),
    "slopes": lambda a, s, np: bratu(a, s, np).yp[:, 0],
    "between": lambda a, s, np: bratu(a, s, np).sol(np.array([0.13, 0.77])),
    "a number": lambda a, s, np: bratu(a, s, np).sol(0.4),
    "parameter": lambda a, s, np: eigenvalue(a, s, np).p,
    "its states": lambda a, s, np: eigenvalue(a, s, np).sol(0.37),
    "derivative": lambda a, s, np: bratu(a, s, np).sol(0.4, 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_derivative(name):
    program = PROGRAMS[name]
    wanted = program(1.3, scipy.integrate.solve_bvp, np)
    value, back = te.vjp(lambda a: program(a, integrate.solve_bvp, tnp), 1.3)
    np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12)
    ct = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    around = [np.sum(ct * program(1.3 + s, scipy.integrate.solve_bvp, np)) for s in (1e-2, -1e-2, 2e-2, -2e-2)]
    assert back(ct)[0] == pytest.approx((8 * (around[0] - around[1]) - (around[2] - around[3])) / 12e-2, rel=1e-5)


def test_second_derivatives():
    middle = lambda a: PROGRAMS["a number"](a, integrate.solve_bvp, tnp)[0]  # noqa: E731
    around = [te.grad(middle)(1.3 + s) for s in (1e-3, -1e-3)]
    assert te.grad(te.grad(middle))(1.3) == pytest.approx((around[0] - around[1]) / 2e-3, rel=1e-5)


def test_what_is_refused():
    for program in (
        lambda a: bratu(a, integrate.solve_bvp, tnp, S=np.zeros((2, 2))).y[0, 0],
        lambda a: bratu(a, integrate.solve_bvp, tnp).rms_residuals[0],
        lambda a: bratu(a, integrate.solve_bvp, tnp, bc_tol=a).y[0, 0],
        lambda a: bratu(5 * a, integrate.solve_bvp, tnp).y[0, 0],  # which has no solution
    ):
        with pytest.raises(UnsupportedError):
            te.grad(program)(1.3)
