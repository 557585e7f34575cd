"""The Riccati equations: SciPy's values, and derivatives against differences in symmetric directions."""

import numpy as np
import pytest
import scipy.linalg

import tapeengine as te
from tapeengine_scipy import linalg

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2))
Q, R = (x @ x.T + np.eye(len(x)) for x in (RNG.normal(size=(3, 3)), RNG.normal(size=(2, 2))))
MATRICES = (A, B, Q, R)
WEIGHTS = RNG.normal(size=(3, 3))


NAMES = ["solve_continuous_are", "solve_discrete_are"]


@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_derivatives(name, k):
    solve = getattr(linalg, name)
    np.testing.assert_array_equal(te.vjp(solve, *MATRICES)[0], getattr(scipy.linalg, name)(*MATRICES))
    f = lambda *matrices: np.sum(WEIGHTS * solve(*matrices) ** 2)  # noqa: E731
    way = RNG.normal(size=MATRICES[k].shape)
    way = way + way.T if k > 1 else way
    one = lambda x: f(*MATRICES[:k], x, *MATRICES[k + 1 :])  # noqa: E731
    around = [one(MATRICES[k] + h * way) for h in (-2e-3, -1e-3, 1e-3, 2e-3)]
    slope = (8 * (around[2] - around[1]) - (around[3] - around[0])) / 12e-3
    assert np.sum(te.grad(one)(MATRICES[k]) * way) == pytest.approx(slope, rel=1e-6)
    assert te.jvp(one, (MATRICES[k],), (way,))[1] == pytest.approx(slope, rel=1e-6)
    slopes = [te.grad(one)(MATRICES[k] + h * way) for h in (-2e-3, -1e-3, 1e-3, 2e-3)]
    curved = (8 * (slopes[2] - slopes[1]) - (slopes[3] - slopes[0])) / 12e-3
    np.testing.assert_allclose(te.hvp(one, (MATRICES[k],), (way,)), curved, rtol=1e-5, atol=1e-6)


def test_a_closed_form_and_its_third_derivative():
    one = np.eye(1)  # x^2 = q r
    root = lambda q: linalg.solve_continuous_are(0 * one, one, q * one, one)[0, 0]  # noqa: E731
    third = te.grad(te.grad(te.grad(root)))(4.0)
    assert third == pytest.approx(3 / 8 * 4.0**-2.5, rel=1e-11)


def test_a_discrete_equation_of_one_number_and_its_third_derivative():
    one = np.eye(1)  # x^2 - q x - q = 0
    root = lambda q: linalg.solve_discrete_are(one, one, q * one, one)[0, 0]  # noqa: E731
    exact = lambda q: (q + np.sqrt(q * q + 4.0 * q)) / 2.0  # noqa: E731
    assert root(1.7) == pytest.approx(exact(1.7), rel=1e-14)
    assert te.grad(te.grad(te.grad(root)))(1.7) == pytest.approx(te.grad(te.grad(te.grad(exact)))(1.7), rel=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_scipys(name):
    solve = getattr(linalg, name)
    with pytest.raises(ValueError, match="symmetric"):
        te.grad(lambda q: np.sum(solve(A, B, q, R)))(A)
    with pytest.raises(te.errors.UnsupportedError, match="complex"):
        te.vjp(lambda a: solve(a, B, Q, R), A + 0j)
