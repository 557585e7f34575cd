"""Integrals of vectors: SciPy's values, and derivatives by central differences."""

import numpy as np
import pytest
import scipy.integrate

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import integrate

K = np.array([1.0, 2.0, 3.0])
PROGRAMS = {
    "number": lambda a, q, np: q(lambda x: np.exp(-a * x) * x, 0.0, 2.0)[0],
    "vector": lambda a, q, np: q(lambda x: np.exp(-a * K * x), 0.0, 2.0)[0],
    "matrix": lambda a, q, np: q(lambda x: np.cos(a * K * x)[:, None] * K, 0.0, 2.0, 1e-10, 1e-10, "max")[0],
    "list": lambda a, q, np: q(lambda x: np.array([np.sin(a * x), a * x]), 0.0, 1.0)[0],
    "limits": lambda a, q, np: q(lambda x: np.sin(K * x), a / 2, 3 * a)[0],
    "backwards": lambda a, q, np: q(lambda x: np.sin(K * x), 3 * a, a / 2)[0],
    "half line": lambda a, q, np: q(lambda x: np.exp(-a * K * x), a, np.inf)[0],
    "other half": lambda a, q, np: q(lambda x: np.exp(a * K * x), -np.inf, a)[0],
    "line": lambda a, q, np: q(lambda x: np.exp(-a * K * x * x), -np.inf, np.inf)[0],
    "args": lambda a, q, np: q(lambda x, c, d: c * x**d * K, 0.0, 2.0, args=(a, a * a))[0],
    "an argument": lambda a, q, np: q(lambda x, c: c * c * x, 0.0, 2.0, args=a)[0],
    "peak": lambda a, q, np: q(lambda x: K * a / (a * a * 1e-6 + (x - 0.3) ** 2), 0.0, 1.0)[0],
    "points": lambda a, q, np: q(lambda x: a * abs(x - 0.3) * K, 0.0, 1.0, points=[0.3])[0],
    "positions": lambda a, q, np: q(
        lambda x: np.exp(a * x), 0.0, 1.0, 1e-9, 1e-9, "2", 1e6, 100, 1, None, "gk21", True
    )[0],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_derivative(name):
    program = PROGRAMS[name]
    wanted, weights = program(1.3, scipy.integrate.quad_vec, np), np.cos(np.arange(9.0))
    value, back = te.vjp(lambda a: program(a, integrate.quad_vec, tnp), 1.3)
    assert np.shape(value) == np.shape(wanted) and isinstance(value, type(wanted))
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    ct = weights[: np.size(wanted)].reshape(np.shape(wanted))
    around = [np.sum(ct * program(1.3 + s, scipy.integrate.quad_vec, np)) for s in (1e-4, -1e-4, 2e-4, -2e-4)]
    expected = (8 * (around[0] - around[1]) - (around[2] - around[3])) / 12e-4
    assert back(ct if np.shape(wanted) else float(ct))[0] == pytest.approx(expected, rel=1e-6)
    assert te.jvp(lambda a: tnp.sum(ct * program(a, integrate.quad_vec, tnp)), (1.3,), (1.0,))[1] == pytest.approx(
        expected, rel=1e-6
    )


def test_second_derivatives():
    total = lambda a: tnp.sum(PROGRAMS["vector"](a, integrate.quad_vec, tnp))  # noqa: E731
    exact = sum(scipy.integrate.quad(lambda x, k=k: (k * x) ** 2 * np.exp(-1.3 * k * x), 0.0, 2.0)[0] for k in K)
    assert te.grad(te.grad(total))(1.3) == pytest.approx(exact, rel=1e-9)


def test_what_is_refused():
    for call in (
        lambda a: integrate.quad_vec(lambda x: x, 0.0, 1.0, epsabs=a)[0],
        lambda a: integrate.quad_vec(lambda x: a * x * 1j, 0.0, 1.0)[0].imag,
    ):
        with pytest.raises(UnsupportedError):
            te.grad(call)(1.0)
