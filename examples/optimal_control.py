"""A pendulum swung up with little force: optimal control by collocation, with sparse Jacobians and Hessians.

    python examples/optimal_control.py [steps]

The unknowns are all states and forces; the dynamics are equations between neighbours (the trapezoidal rule). So both
the Jacobian of the equations and the Hessian of the Lagrangian are bands.
"""

import sys
from typing import Any

import numpy as np
from scipy.sparse import block_array, eye_array
from scipy.sparse.linalg import spsolve

import tapeengine as te

SECONDS = 3.0


def rate(states: Any, forces: Any) -> Any:
    """Of the angle and its speed."""
    return np.stack([states[:, 1], forces - np.sin(states[:, 0])], axis=1)


def parts(x: Any) -> tuple[Any, Any]:
    """States (steps, 2) and forces (steps,)."""
    steps = x.shape[0] // 3
    return x[: 2 * steps].reshape(steps, 2), x[2 * steps :]


def equations(x: Any) -> Any:
    """Zero where the states follow the dynamics, from hanging to standing at rest."""
    states, forces = parts(x)
    step = SECONDS / (states.shape[0] - 1)
    rates = rate(states, forces)
    defects = states[1:] - states[:-1] - 0.5 * step * (rates[1:] + rates[:-1])
    return np.concatenate([defects.reshape(-1), states[0], states[-1] - np.array([np.pi, 0.0])])


def effort(x: Any) -> Any:
    """The work that is to be least."""
    _, forces = parts(x)
    return 0.5 * np.sum(forces * forces) * SECONDS / forces.shape[0]


def lagrangian(x: Any, multipliers: Any) -> Any:
    """Effort, with the equations as constraints."""
    return effort(x) + np.sum(multipliers * equations(x))


def main(steps: int = 80) -> None:
    """Newton's method on the Lagrangian; the Hessian is kept away from singular by a small multiple of the identity."""
    jacobian, hessian = te.sparse_jacobian(equations), te.sparse_hessian(lagrangian)
    x = np.concatenate([np.stack([np.linspace(0, np.pi, steps), np.ones(steps)], axis=1).ravel(), np.zeros(steps)])
    multipliers = np.zeros(equations(x).size)
    for turn in range(40):  # noqa: B007 - printed at the end
        a, h = jacobian(x), hessian(x, multipliers)
        slope = te.grad(effort)(x) + a.T @ multipliers
        gap = max(np.abs(slope).max(), np.abs(equations(x)).max())
        if gap < 1e-10:
            break
        matrix = block_array([[h + 1e-6 * eye_array(x.size), a.T], [a, None]], format="csc")
        move = spsolve(matrix, -np.concatenate([slope, equations(x)]))
        length = min(1.0, 2.0 / np.abs(move[: x.size]).max())
        x, multipliers = x + length * move[: x.size], multipliers + length * move[x.size :]
    print(f"equations {a.shape[0]} x {a.shape[1]} with {a.nnz} entries, Hessian with {h.nnz}")
    print(f"effort {effort(x):.6f} after {turn} steps of Newton's method, residual {gap:.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
