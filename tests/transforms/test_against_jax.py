"""First to third derivatives of array programs compared with JAX, if it is installed."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> None:
    jax.config.update("jax_enable_x64", True)


X, A = np.array([0.7, -0.4, 1.1]), np.array([[0.2, -0.5, 1.0], [0.3, 0.9, -0.1], [1.1, 0.0, 0.4]])

PROGRAMS: dict[str, Any] = {
    "network": lambda xp, x: xp.sum(xp.tanh(A @ xp.sin(A @ x)) ** 2),
    "softmax": lambda xp, x: xp.log(xp.sum(xp.exp(x * x))) * x[0],
    "indexed": lambda xp, x: xp.sum(x[1:] * x[:-1] ** 2) + x[xp.array([0, 0, 2])].prod(),
    "outer": lambda xp, x: xp.sum(xp.outer(x, xp.cos(x)) @ A * xp.reshape(x, (3, 1))),
    "where": lambda xp, x: xp.sum(xp.where(x > 0, x**3, xp.exp(x))) * xp.max(x),
    "solve": lambda xp, x: xp.sum(xp.linalg.solve(A @ A.T + xp.diag(x * x), x)),
    "stacked": lambda xp, x: xp.linalg.norm(xp.stack([x, x * x, xp.sin(x)]) @ A),
}


@pytest.mark.parametrize("modes", ["rrr", "frf"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_derivatives_to_third_order(name: str, modes: str) -> None:
    def ours(x: Any) -> Any:
        return PROGRAMS[name](tnp, x)

    def theirs(x: Any) -> Any:
        return PROGRAMS[name](jax.numpy, x)

    for mode in modes:
        ours = {"f": te.jacfwd, "r": te.jacrev}[mode](ours)
        theirs = {"f": jax.jacfwd, "r": jax.jacrev}[mode](theirs)
        expected = np.asarray(theirs(X))
        np.testing.assert_allclose(ours(X), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
