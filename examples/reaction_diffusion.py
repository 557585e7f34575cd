"""Spots and stripes: Gray and Scott's reaction and diffusion on a square, by an implicit method with a sparse Jacobian.

    python examples/reaction_diffusion.py [cells on a side]

The rate of a cell depends on five cells and on the other substance, so a Jacobian takes a few sweeps for any size.
"""

import sys
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import tapeengine as te

FEED, KILL = 0.035, 0.06
SPREAD = np.array([2e-5, 1e-5])


def neighbours(u: Any, width: float) -> Any:
    """The Laplacian on a square whose edges are joined."""
    around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
    return (around - 4.0 * u) / width**2


def rate(t: float, state: Any, n: int) -> Any:
    """How fast both substances change; state (2 n n,)."""
    u, v = state[: n * n].reshape(n, n), state[n * n :].reshape(n, n)
    reaction = u * v * v
    changed_u = SPREAD[0] * neighbours(u, 1.0 / n) - reaction + FEED * (1.0 - u)
    changed_v = SPREAD[1] * neighbours(v, 1.0 / n) + reaction - (FEED + KILL) * v
    return np.concatenate([changed_u.reshape(-1), changed_v.reshape(-1)])


def start(n: int) -> Any:
    """One substance everywhere, some of the other in the middle."""
    u, v = np.ones((n, n)), np.zeros((n, n))
    middle = slice(2 * n // 5, 3 * n // 5)
    u[middle, middle], v[middle, middle] = 0.5, 0.25
    return np.concatenate([u.ravel(), v.ravel()])


def main(n: int = 32, seconds: float = 200.0) -> None:
    """Integrate with BDF, and tell what the Jacobian cost."""
    jacobian = te.sparse_jacobian(rate, argnums=1)
    found = solve_ivp(rate, (0.0, seconds), start(n), method="BDF", args=(n,), jac=jacobian, rtol=1e-5)
    matrix = jacobian(0.0, start(n), n)
    print(f"Jacobian {matrix.shape[0]} x {matrix.shape[1]} with {matrix.nnz} entries; {found.njev} of them")
    mean = found.y[n * n :, -1].mean()
    print(f"{found.t.size} steps, {found.nfev} rates; the second substance is {mean:.4f} on average")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
