"""Five programs as users write them, solved with SciPy; their matrices against CasADi's where it is installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm

sp = pytest.importorskip("scipy.sparse")
optimize = pytest.importorskip("scipy.optimize")
spsolve = pytest.importorskip("scipy.sparse.linalg").spsolve


def by_casadi(program: Any, x: Any, second: bool = False) -> Any:
    """A Jacobian or Hessian by CasADi's expression graphs, and its pattern."""
    casadi = pytest.importorskip("casadi")
    functions = SimpleNamespace(exp=casadi.exp, sqrt=casadi.sqrt, log=casadi.log)
    unknown = casadi.SX.sym("x", len(x))
    found = program(functions, [unknown[k] for k in range(len(x))])
    made = casadi.hessian(found, unknown)[0] if second else casadi.jacobian(casadi.vertcat(*found), unknown)
    value = casadi.Function("f", [unknown], [made])(x)
    return value.full(), np.array(casadi.DM(value.sparsity(), 1)) != 0


def agree(matrix: Any, known: Any, pattern: Any = None) -> None:
    np.testing.assert_allclose(matrix.toarray(), known, rtol=1e-12, atol=1e-12 * abs(known).max())
    if pattern is not None:
        rows, columns = matrix.nonzero()
        assert pattern[rows, columns].all()


# -- a partial differential equation -----------------------------------------------------------------------------------
N = 24


def burgers(t: float, u: Any) -> Any:
    """Burgers' equation with upwind differences between walls."""
    full = np.concatenate([np.zeros(1), u, np.zeros(1)])
    inner, left, right = full[1:-1], full[:-2], full[2:]
    slope = np.where(inner > 0, inner - left, right - inner)
    return -inner * slope * N + 0.02 * N * N * (right - 2.0 * inner + left)


def test_an_equation_by_bdf() -> None:
    from scipy.integrate import solve_ivp

    u = np.sin(2 * np.pi * np.linspace(0, 1, N + 2)[1:-1])
    jacobian = te.sparse_jacobian(burgers, argnums=1)
    agree(jacobian(0.0, u), te.jacobian(burgers, argnums=1)(0.0, u))
    pattern = te.dependencies(lambda x: burgers(0.0, x), u).matrix
    assert pattern.nnz == 3 * N - 2
    options: dict[str, Any] = {"method": "BDF", "rtol": 1e-7, "atol": 1e-9}
    exact = solve_ivp(burgers, (0.0, 0.3), u, jac=jacobian, **options)
    grouped = solve_ivp(burgers, (0.0, 0.3), u, jac_sparsity=pattern, **options)
    dense = solve_ivp(burgers, (0.0, 0.3), u, **options)
    assert exact.success and exact.njev <= dense.njev + 2
    for other in (grouped, dense):
        np.testing.assert_allclose(exact.y[:, -1], other.y[:, -1], atol=1e-5)


# -- optimal control ---------------------------------------------------------------------------------------------------
STEPS = 15


def pendulum(m: Any, z: Any) -> list[Any]:
    """The gaps of collocated steps of a damped oscillator; z has position, speed and force of each step."""
    h, gaps = 2.0 / STEPS, [z[0] - 1.0, z[STEPS + 1]]
    for k in range(STEPS):
        x, v, f = z[k], z[STEPS + 1 + k], z[2 * STEPS + 2 + k]
        x1, v1 = z[k + 1], z[STEPS + 2 + k]
        gaps.append(x1 - x - h * (v + v1) / 2.0)
        gaps.append(v1 - v - h * (f - (x + x1) / 2.0 - 0.1 * (v + v1) ** 3))
    return [*gaps, z[STEPS], z[2 * STEPS + 1]]


def effort(z: Any) -> Any:
    return np.sum(z[2 * STEPS + 2 :] ** 2)


def test_control_by_trust_constr() -> None:
    def equations(z: Any) -> Any:
        return np.stack(pendulum(tm, z))

    jacobian = te.sparse_jacobian(equations)
    hessian = te.sparse_hessian(lambda z, weights: np.sum(equations(z) * weights))
    start = np.full(3 * STEPS + 2, 0.1)
    agree(jacobian(start), te.jacobian(equations)(start))
    agree(jacobian(start), *by_casadi(pendulum, start))
    constraint = optimize.NonlinearConstraint(equations, 0.0, 0.0, jac=jacobian, hess=hessian)
    found = optimize.minimize(
        effort,
        start,
        jac=te.grad(effort),
        hess=te.sparse_hessian(effort, colouring="acyclic"),
        constraints=[constraint],
        method="trust-constr",
        options={"maxiter": 200, "gtol": 1e-8},
    )
    assert np.abs(equations(found.x)).max() < 1e-8
    multipliers, _, _, _ = np.linalg.lstsq(jacobian(found.x).toarray().T, -te.grad(effort)(found.x), rcond=None)
    gradient = te.grad(effort)(found.x) + jacobian(found.x).T @ multipliers
    assert np.abs(gradient).max() < 1e-6


# -- a generalised linear model ----------------------------------------------------------------------------------------
def counts() -> tuple[Any, Any]:
    generator = np.random.default_rng(4)
    design = sp.random_array((90, 30), density=0.07, rng=generator, format="csr") + sp.csr_array(sp.eye(90, 30))
    return sp.csr_array(design), generator.poisson(2.0, 90).astype(float)


def test_a_regression_with_a_sparse_design() -> None:
    """Poisson regression, each sum over the entries of the design's row."""
    design, seen = counts()
    rows, columns = design.tocoo().coords
    data = design.tocoo().data

    def deviance(w: Any) -> Any:
        rates = np.bincount(rows, weights=data * w[columns], minlength=90)
        return np.sum(np.exp(rates) - seen * rates) + 0.5 * np.sum(w * w)

    hessian, gradient = te.sparse_hessian(deviance), te.grad(deviance)
    w = np.zeros(30)
    for _ in range(12):
        w = w - spsolve(hessian(w).tocsc(), gradient(w))
    assert np.abs(gradient(w)).max() < 1e-10
    known = design.T @ sp.diags_array(np.exp(design @ w)) @ design + sp.eye_array(30)
    agree(hessian(w), known.toarray())
    rates = te.sparse_jacobian(lambda w: np.exp(np.bincount(rows, weights=data * w[columns], minlength=90)))
    assert rates(w).nnz == design.nnz
    found = optimize.least_squares(
        lambda w: np.exp(np.bincount(rows, weights=data * w[columns], minlength=90)) - seen,
        np.zeros(30),
        jac=rates,
        tr_solver="lsmr",
    )
    assert np.abs(found.grad).max() < 1e-2 * (1.0 + found.cost)


# -- a circuit ---------------------------------------------------------------------------------------------------------
NODES = 20


def currents(m: Any, v: Any) -> list[Any]:
    """Kirchhoff's law at the nodes of a ladder of resistors with a diode at each node."""
    found = []
    for k in range(NODES):
        before = v[k - 1] if k else 5.0
        after = (v[k] - v[k + 1]) / 100.0 if k + 1 < NODES else 0.0
        found.append((v[k] - before) / 100.0 + after + 1e-9 * (m.exp(v[k] / 0.05) - 1.0))
    return found


def test_a_circuit_by_newton_steps() -> None:
    jacobian = te.sparse_jacobian(te.stage(lambda v: currents(tm, v)))
    v = np.linspace(0.6, 0.3, NODES).tolist()
    agree(jacobian(v).matrix, *by_casadi(currents, np.array(v)))
    for _ in range(60):
        step = spsolve(jacobian(v).matrix.tocsc(), np.array(currents(tm, v)))
        v = (np.array(v) - np.clip(step, -0.1, 0.1)).tolist()
    assert np.abs(currents(tm, v)).max() < 1e-12
    assert jacobian(v).matrix.nnz == 3 * NODES - 2


# -- a drawing of a graph ----------------------------------------------------------------------------------------------
EDGES = np.array([(k, (2 * k + 1) % 25) for k in range(25)] + [(k, (k + 1) % 25) for k in range(25)])
EDGES = np.array([(a, b) for a, b in EDGES if a != b])


def stress(m: Any, z: Any) -> Any:
    """Springs of length one along the edges, and a weak pull to the middle; z has the places one after the other."""
    total = 0.0
    for a, b in EDGES.tolist():
        length = m.sqrt((z[2 * a] - z[2 * b]) ** 2 + (z[2 * a + 1] - z[2 * b + 1]) ** 2 + 1e-3)
        total = total + (length - 1.0) ** 2
    return total + 0.01 * sum(z[k] * z[k] for k in range(50))


def stress_of_arrays(z: Any) -> Any:
    places = np.reshape(z, (25, 2))
    apart = places[EDGES[:, 0]] - places[EDGES[:, 1]]
    return np.sum((np.sqrt(np.sum(apart * apart, axis=1) + 1e-3) - 1.0) ** 2) + 0.01 * np.sum(z * z)


@pytest.mark.parametrize("colouring", ["star", "acyclic"])
def test_a_drawing_by_trust_regions(colouring: str) -> None:
    hessian = te.sparse_hessian(stress_of_arrays, colouring=colouring)
    start = np.random.default_rng(1).normal(size=50)
    agree(hessian(start), te.hessian(stress_of_arrays)(start))
    scalars = te.sparse_hessian(lambda z: stress(tm, z), colouring=colouring)(start.tolist()).matrix
    agree(scalars, te.hessian(stress_of_arrays)(start))
    found = optimize.minimize(
        stress_of_arrays, start, jac=te.grad(stress_of_arrays), hess=hessian, method="trust-constr", tol=1e-9
    )
    assert np.abs(te.grad(stress_of_arrays)(found.x)).max() < 1e-6


def test_the_drawing_agrees_with_casadi() -> None:
    start = np.random.default_rng(1).normal(size=50)
    agree(te.sparse_hessian(stress_of_arrays)(start), *by_casadi(stress, start, second=True))
