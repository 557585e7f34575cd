"""Sparse Jacobians and Hessians against dense ones, their colours against the known bounds, and their use in SciPy."""

from __future__ import annotations

import re
import runpy
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine.errors import ResultError, UnsupportedError
from tapeengine.plugins import hookimpl
from tapeengine.sparse.plans import plan_of
from tapeengine.sparse.structure import Structure
from tapeengine.sparse.tracing import traced

sp = pytest.importorskip("scipy.sparse")


def plan(program: Any, *primals: Any) -> Any:
    value, back = traced(te.default_engine(), program, primals)
    return plan_of(Structure(back, apart=True), (np.size(value), sum(np.size(x) for x in primals)))


def heat(u: Any) -> Any:
    return u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) ** 2


def laplacian(u: Any) -> Any:
    inner = u[1:-1, 1:-1]
    return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner * inner


def arrow(x: Any) -> Any:
    return np.concatenate([x[1:] * x[0], np.reshape(np.sum(x * x), (1,))])


def observed(x: Any) -> Any:
    """Forty observations of pairs of ten numbers, so that each number occurs in many of them."""
    i = np.arange(40)
    first, second = x[i % 5], x[5 + (3 * i) % 5]
    return np.stack([first * second, first - second**2], axis=1)


@pytest.mark.parametrize("program", [heat, np.sin, arrow, observed, np.cumsum, lambda x: np.sum(x * x) * x[:2]])
def test_sparse_jacobians_are_the_dense_ones(program: Any) -> None:
    x = np.linspace(0.2, 2.0, 10)
    found = te.sparse_jacobian(program)(x)
    dense = te.jacobian(program)(x)
    assert isinstance(found, sp.csr_array)
    assert (found.indices.dtype, found.indptr.dtype) == (np.int32, np.int32)  # which SuperLU asks for
    assert found.has_sorted_indices or found.nnz == 0
    np.testing.assert_allclose(found.toarray(), dense.reshape(found.shape), rtol=1e-14, atol=1e-14)


def test_a_band_takes_as_many_sweeps_as_it_is_wide() -> None:
    assert sum(plan(heat, np.ones(100)).counts) == 3


def test_a_five_point_stencil_takes_at_most_six_sweeps() -> None:
    """Five entries in a row need five colours; greedy orders find five or six (Curtis, Powell and Reid 1974)."""
    assert 5 <= sum(plan(laplacian, np.ones((12, 12))).counts) <= 6


def test_an_arrow_takes_rows_and_columns() -> None:
    """With a full row and a full column, columns alone or rows alone take as many sweeps as there are columns."""
    assert plan(arrow, np.ones(50)).counts == (1, 2)
    x = np.linspace(0.2, 2.0, 50)
    np.testing.assert_allclose(te.sparse_jacobian(arrow)(x).toarray(), te.jacobian(arrow)(x), rtol=1e-14)


def test_what_is_read_by_indices_takes_as_many_sweeps_as_an_observation_has_results() -> None:
    assert plan(observed, np.ones(10)).counts == (2, 0)


def test_reads_in_a_loop_as_well() -> None:
    def program(x: Any) -> Any:
        return [x[i % 5] * x[5 + (3 * i) % 5] ** 2 for i in range(40)]

    x = np.linspace(0.2, 2.0, 10)
    _, back = traced(te.default_engine(), program, (x,))
    own = plan_of(Structure(back, apart=True), (40, 10)).own
    assert own is not None and (own.ids - own.lows == 3).all()  # two reads and two operations each
    np.testing.assert_allclose(
        te.sparse_jacobian(program)(x).matrix.toarray(), np.array(te.jacobian(program)(x)), rtol=1e-14
    )


@pytest.mark.parametrize("size", [1, 70])
def test_rows_over_their_own_records(size: int) -> None:
    """Constants, inputs and one number twice among the results; records that several results share."""

    def program(x: Any, y: Any) -> Any:
        found = [2.0, x[0]]
        for k in range(size):
            term = tm.sin(x[k]) * y[(3 * k) % size] + x[k]
            found += [term, term * term, term]
        return [*found, x[0], y[0] * 0.0]

    x, y = np.linspace(0.2, 1.0, size), np.linspace(1.0, 2.0, size)
    for primals in ((x, y), (x.tolist(), y.tolist())):
        value, back = traced(te.default_engine(), program, primals)
        assert plan_of(Structure(back, apart=True), (len(value), 2 * size)).own is not None
        found = te.sparse_jacobian(program, argnums=(0, 1))(*primals).matrix
        known = te.jacobian(lambda z: tnp.stack([tnp.asarray(v) for v in program(z[:size], z[size:])]))
        np.testing.assert_allclose(found.toarray(), known(np.concatenate([x, y])), rtol=1e-14)


def test_a_record_without_a_cotangent_is_passed_by() -> None:
    """A linear map sends zero to zero, also where a partial derivative is infinite."""
    found = te.sparse_jacobian(lambda x: [x[0] * 0.0 + tm.sqrt(x[1]) * 0.0 + x[2]])([1.0, 0.0, 2.0]).matrix
    np.testing.assert_array_equal(found.toarray(), [[0.0, 0.0, 1.0]])


def test_a_program_of_many_results_of_one_chain_is_swept_in_blocks() -> None:
    def program(x: Any) -> Any:
        total = x[0]
        for _ in range(30):
            for value in x:
                total = total * 0.5 + value
        return [total * value for value in x for _ in range(10)]

    _, back = traced(te.default_engine(), program, ([1.0] * 5,))
    assert plan_of(Structure(back, apart=True), (50, 5)).own is None


@pytest.mark.parametrize("chosen", [(0, 1, 2), (0, 2), (2, 0), 1])
def test_chosen_arguments_of_a_staged_program(chosen: Any) -> None:
    def program(x: Any, y: Any, z: Any) -> Any:
        return [a * b if a > 0.5 else a - z for a, b in zip(x, y, strict=True)]

    staged = te.stage(program)
    jacobian, reference = te.sparse_jacobian(staged, argnums=chosen), te.sparse_jacobian(program, chosen)
    for x in ([0.1, 0.7, 0.9], [0.2, 0.8, 0.8], [0.9, 0.1, 0.6], [0.3, 0.9, 0.9]):
        given = x, [1.0, 2.0, 3.0], 1.5
        np.testing.assert_array_equal(jacobian(*given).matrix.toarray(), reference(*given).matrix.toarray())
    assert staged.stats().recordings == 2 and staged.stats().replays == 2


def test_rows_without_entries_of_a_staged_program_are_not_swept() -> None:
    """They have no lowest record; the ids of the last ones are far outside of the window of the others."""

    def program(x: Any, y: Any) -> Any:
        return [y[0] * x[0], *[a * 2.0 for a in x]]

    staged, x = te.stage(program), [1.0] * 20_000
    jacobian = te.sparse_jacobian(staged, argnums=1)
    for scale in (1.0, 2.0, 3.0):
        found = jacobian([scale, *x], [5.0]).matrix
        assert found.shape == (20_002, 1) and found.nnz == 1 and found.data.tolist() == [scale]


def test_staged_programs_of_arrays_have_the_patterns_of_their_operations() -> None:
    staged = te.stage(lambda x: np.concatenate([x[1:] * x[:-1], np.cumsum(x)]))
    x = np.linspace(0.5, 1.0, 5)
    jacobian = te.sparse_jacobian(staged)
    for _ in range(3):
        assert jacobian(x).nnz == 8 + 15


SQUARED: dict[str, Any] = {
    "imaginary parts": lambda z: z.imag,
    "real parts": lambda z: z.real,
    "both": lambda z: [z.imag, z.real],
    "turned": lambda z: z.imag[::-1],
    "some": lambda z: z.imag[np.array([3, 0, 0])],
    "in a square": lambda z: z.reshape(2, 2).imag.T,
    "sums": lambda z: np.sum(z.reshape(2, 2).imag, axis=0),
    "running sums": lambda z: np.cumsum(z.imag),
    "products": lambda z: z.imag @ np.arange(16.0).reshape(4, 4),
    "of a sum": lambda z: np.sum(z).imag,
    "elements": lambda z: [z[1].imag, z.imag[2] * z[0].real],
    "joined": lambda z: np.concatenate([z.imag, z.real[:2]]),
    "conjugated": lambda z: np.conj(z).imag,
    "chosen": lambda z: np.where(z.real > 0, z.imag, z.real),
}


@pytest.mark.parametrize("name", SQUARED)
def test_rows_of_parts_of_complex_numbers(name: str) -> None:
    """Against central differences, which are exact for squares."""

    def program(x: Any) -> Any:
        return SQUARED[name]((x + 1j * x[::-1]) * (2.0 * x - 1j))

    def numbers(x: Any) -> Any:
        found = program(x)
        return np.concatenate([np.ravel(part) for part in (found if isinstance(found, list) else [found])])

    x = np.array([0.5, 0.7, 1.1, 1.3])
    expected = np.stack([(numbers(x + e / 8) - numbers(x - e / 8)) * 4 for e in np.eye(4)], axis=1)
    for transform in (te.sparse_jacobian, te.jacrev, te.jacfwd):
        found = getattr(transform(program)(x), "matrix", transform(program)(x))
        rows = found.toarray() if hasattr(found, "toarray") else found
        rows = np.concatenate([np.reshape(part, (-1, 4)) for part in (rows if isinstance(rows, list) else [rows])])
        np.testing.assert_allclose(rows, expected, rtol=1e-12, atol=1e-12)


def test_an_input_that_is_written_to_is_not_read_apart() -> None:
    def program(x: Any) -> Any:
        y = x[np.array([0, 1, 1])] * 2.0
        x[1:] = y[:2]
        return x[np.array([0, 2, 2])] * x[0]

    x = np.array([1.5, 2.0, 3.0])
    np.testing.assert_allclose(te.sparse_jacobian(program)(x.copy()).toarray(), te.jacobian(program)(x.copy()))


@dataclass
class State:
    position: Any
    speed: float


def test_structures_give_blocks_with_the_paths_as_labels() -> None:
    def program(state: State, gain: float) -> dict[str, Any]:
        return {"moved": state.position + state.speed, "energy": state.speed**2 * gain}

    found = te.sparse_jacobian(program, argnums=(0, 1))(State(np.ones(2), 3.0), 2.0)
    assert list(found.rows) == ["['moved']", "['energy']"]
    assert list(found.columns) == ["[0].position", "[0].speed", "[1]"]
    assert found.matrix.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 12, 9]]
    assert found["['energy']", "[0].speed"].toarray().tolist() == [[12.0]]


def test_the_pattern_is_found_again_where_the_program_takes_another_way() -> None:
    seen = []

    def program(x: Any) -> Any:
        seen.append(x[0] > 1.0)
        return x[1:] * x[0] if x[0] > 1.0 else x[:-1] * x[1:]

    jacobian = te.sparse_jacobian(program)
    for x in (np.array([2.0, 3.0, 4.0]), np.array([0.5, 3.0, 4.0]), np.array([0.5, 3.0]), np.array([2.0, 1.0, 4.0])):
        np.testing.assert_allclose(jacobian(x).toarray(), te.jacobian(program)(x))


def test_a_call_runs_the_program_once() -> None:
    runs = []

    def program(x: Any) -> Any:
        runs.append(1)
        return heat(x)

    jacobian = te.sparse_jacobian(program)
    jacobian(np.ones(5))
    jacobian(np.ones(5))
    assert len(runs) == 2


def test_a_given_pattern_is_used() -> None:
    pattern = te.dependencies(heat, np.ones(8))
    for given in (pattern, pattern.matrix, pattern.matrix.toarray()):
        x = np.linspace(1.0, 2.0, 8)
        np.testing.assert_allclose(te.sparse_jacobian(heat, pattern=given)(x).toarray(), te.jacobian(heat)(x))


def test_a_given_pattern_that_leaves_out_entries_is_refused() -> None:
    with pytest.raises(ResultError, match=r"lacks entries in 6 rows \(such as 0, 1, 2, 3, 4\)"):
        te.sparse_jacobian(heat, pattern=np.eye(6, 8))(np.arange(8.0))
    with pytest.raises(ResultError, match=r"the pattern has the shape \(8, 8\), the Jacobian \(6, 8\)"):
        te.sparse_jacobian(heat, pattern=np.eye(8))(np.ones(8))


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="real and imaginary parts"):
        te.sparse_jacobian(lambda x: x * 1j)(np.ones(2))


@pytest.mark.parametrize("x", [3, np.arange(3), np.ones(2, bool)])
def test_integers_have_no_derivative_as_in_dense_jacobians(x: Any) -> None:
    for transform in (te.jacobian, te.sparse_jacobian):
        assert transform(lambda x: x * 2.0)(x) is None
        assert transform(lambda y: x)(np.ones(2)) is None
    for transform in (te.hessian, te.sparse_hessian):
        assert transform(lambda x: np.sum(x) * 2.0)(x) is None
    found = te.sparse_jacobian(lambda x, k: [k * x, k], argnums=(0, 1))(np.ones(2), 3)
    assert list(found.columns) == ["[0]"] and list(found.rows) == ["[0]"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_that_of_the_dense_one(dtype: Any) -> None:
    x = np.linspace(0.5, 1.0, 4, dtype=dtype)
    assert te.sparse_jacobian(heat)(x).dtype == te.jacobian(heat)(x).dtype == dtype
    assert te.sparse_hessian(rosenbrock)(x).dtype == te.hessian(rosenbrock)(x).dtype
    assert te.sparse_jacobian(lambda p: p["a"] * p["b"])({"a": x, "b": np.ones(4)}).matrix.dtype == np.float64


HOSTILE: dict[str, Any] = {
    "a factor that moves": lambda x: x * x[np.argmax(x)],
    "sorted": lambda x: np.sort(x) * x,
    "chosen by a mask": lambda x: x[x > 1.5] ** 2,
    "chosen by where": lambda x: np.where(x > 1.5, x, x[::-1]),
    "empty rows": lambda x: np.concatenate([np.zeros(2), x[:1], np.ones(1)]),
    "repeated indices": lambda x: x[np.array([0, 0, 1])] * x[np.array([1, 1, 1])],
    "no rows": lambda x: x[:0],
    "writes": lambda x: written_over(x.copy()),
    "writes to the argument": lambda x: written_over(x),
    "views of views": lambda x: (x.reshape(2, 2).T[::-1]).ravel() * x,
    "absolute values of complex numbers": lambda x: np.abs((x + 1j * x[::-1]) ** 2),
    "checkpoint": lambda x: te.checkpoint(lambda y: y[1:] * y[:-1])(x),
    "tasks": lambda x: te.fork_map(lambda k: x[k] * x[k + 1], range(3)),
    "iterated": lambda x: te.iterate(lambda s: s * 0.5 + x, 3, x),
    "lifted": lambda x: np.stack([*te.lift(lambda y: [np.sin(z) * y[0] for z in y])(x)]),
    "staged": te.stage(lambda x: x[1:] * x[:-1]),
    "a list and a number": lambda x: [x * 2.0, x[0] * x[3]],
}


def written_over(y: Any) -> Any:
    y[1:] += y[:-1]
    y[::2] *= 3.0
    y[np.array([0, 1])] = y[2]
    return y


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_programs_with_one_function_at_changing_values(name: str) -> None:
    """The plan that one value made serves the next one only where that takes the same way."""
    program = HOSTILE[name]
    jacobian = te.sparse_jacobian(program)
    for x in ([1.0, 2.0, 3.0, 1.7], [3.0, 2.0, 1.0, 0.5], [1.0, 2.0, 3.0, 1.7], [2.0, 2.5, 2.2, 2.1]):
        found = jacobian(np.array(x))
        dense = te.jacobian(program)(np.array(x))
        rows = np.concatenate([np.reshape(part, (-1, 4)) for part in (dense if isinstance(dense, list) else [dense])])
        np.testing.assert_allclose(getattr(found, "matrix", found).toarray(), rows, rtol=1e-14)


def test_scalars_and_constants() -> None:
    assert te.sparse_jacobian(lambda x: x * x)(3.0).toarray().tolist() == [[6.0]]
    assert te.sparse_jacobian(lambda x: np.ones(2))(np.ones(3)).nnz == 0


def test_typed_and_staged_programs() -> None:
    def program(x: te.Array) -> te.Array:
        return x[1:] * x[:-1]

    x = np.linspace(1.0, 2.0, 6)
    np.testing.assert_allclose(
        te.sparse_jacobian(te.program(heat_of_floats))([1.0, 2.0, 3.0]).matrix.toarray(), [[2, 1, 0], [0, 3, 2]]
    )
    np.testing.assert_allclose(te.sparse_jacobian(program)(x).toarray(), te.jacobian(program)(x))


def heat_of_floats(x: list[float]) -> list[float]:
    return [x[i] * x[i + 1] for i in range(len(x) - 1)]


def test_large_dense_results_hint_at_sparse_ones() -> None:
    with pytest.warns(UserWarning, match="takes about 3 sweeps instead of 1,100"):
        te.jacobian(heat)(np.linspace(0.0, 30.0, 1102) ** 2)
    with pytest.warns(UserWarning, match="te.sparse_hessian .* takes about 3 sweeps instead of 1,000"):
        te.hessian(rosenbrock)(np.full(1000, 0.5))


def test_a_typed_program_hints_as_well() -> None:
    with pytest.warns(UserWarning, match="te.sparse_hessian .* takes about 3 sweeps instead of 1,000"):
        te.hessian(te.program(rosenbrock_of_vectors))(np.full(1000, 0.5))


def rosenbrock_of_vectors(x: te.Vec) -> float:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@pytest.mark.parametrize("program", [heat, lambda x: np.outer(x, x[:1000]) @ x[:1000]])
def test_small_or_full_results_say_nothing(program: Any, recwarn: Any) -> None:
    te.jacobian(program)(np.ones(1000 if program is not heat else 200))
    assert not recwarn.list


# -- Hessians ----------------------------------------------------------------------------------------------------------
def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_of_floats(x: Any) -> Any:
    return sum(100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x))


@pytest.mark.parametrize("f", [rosenbrock, lambda x: np.sum(np.sin(x) * x[0]), lambda x: np.sum(observed(x) ** 2)])
def test_sparse_hessians_are_the_dense_ones(f: Any) -> None:
    x = np.linspace(0.3, 1.4, 10)
    np.testing.assert_allclose(te.sparse_hessian(f)(x).toarray(), te.hessian(f)(x), rtol=1e-12, atol=1e-12)


def test_sparse_hessians_of_scalars() -> None:
    x = [0.3, 0.5, 1.2, 0.7]
    found = te.sparse_hessian(rosenbrock_of_floats)(x)
    assert found.matrix.nnz == 10
    np.testing.assert_allclose(found.matrix.toarray(), np.array(te.hessian(rosenbrock_of_floats)(x)), rtol=1e-13)


def test_sparse_hessians_of_what_is_no_number_are_refused() -> None:
    with pytest.raises(ResultError):
        te.sparse_hessian(heat)(np.ones(4))


# -- nested and in SciPy -----------------------------------------------------------------------------------------------
def test_within_another_transform() -> None:
    pytest.importorskip("tapeengine_scipy")

    def f(x: Any) -> Any:
        matrix = te.sparse_jacobian(heat)(x)
        return np.sum((matrix @ x) ** 2)

    def dense(x: Any) -> Any:
        return np.sum((te.jacobian(heat)(x) @ x) ** 2)

    x = np.linspace(0.5, 2.0, 6)
    np.testing.assert_allclose(te.grad(f)(x), te.grad(dense)(x), rtol=1e-12)


def test_traced_entries_need_a_plugin_that_brings_sparse_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    brought = ModuleType("brought")
    brought.csr_array = lambda parts, shape: made.append(shape) or parts[0]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "brought", brought)

    class Plugin:
        @hookimpl
        def tapeengine_modules(self) -> dict[str, str]:
            return {"scipy.sparse": "brought"}

    def gradient(engine: te.Engine) -> Any:
        return engine.grad(lambda x: np.sum(engine.sparse_jacobian(lambda y: y**2)(x) ** 2))(np.array([1.0, 2.0]))

    with pytest.raises(UnsupportedError, match=r"install tapeengine\[scipy\], or use jacobian"):
        gradient(te.Engine(plugins=["core"]))
    np.testing.assert_array_equal(gradient(te.Engine(plugins=["core", Plugin()])), [8.0, 16.0])
    assert made == [(2, 2)]


def test_blocks_within_another_transform() -> None:
    pytest.importorskip("tapeengine_scipy")

    def program(p: Any) -> Any:
        return {"u": p["a"] ** 2 * p["b"]}

    def f(x: Any) -> Any:
        blocks = te.sparse_jacobian(program)({"a": x, "b": x})
        return np.sum(blocks["['u']", "['a']"] @ x) + np.sum(blocks.matrix @ np.ones(6))

    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(te.grad(f)(x), 6 * x**2 + 6 * x)


def test_least_squares_takes_it() -> None:
    from scipy.optimize import least_squares

    def residuals(x: Any) -> Any:
        return np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])

    found = least_squares(residuals, np.full(20, 0.5), jac=te.sparse_jacobian(residuals), tr_solver="lsmr", xtol=1e-14)
    np.testing.assert_allclose(found.x, np.ones(20), rtol=1e-6)


def test_trust_constr_takes_sparse_hessians() -> None:
    from scipy.optimize import minimize

    found = minimize(
        rosenbrock, np.full(6, 0.5), jac=te.grad(rosenbrock), hess=te.sparse_hessian(rosenbrock), method="trust-constr"
    )
    np.testing.assert_allclose(found.x, np.ones(6), rtol=1e-4)


def test_implicit_solvers_of_ordinary_equations_take_it() -> None:
    from scipy.integrate import solve_ivp

    def rate(t: float, u: Any) -> Any:
        inner = 50.0 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) - u[1:-1] ** 3
        return np.concatenate([np.reshape(-u[0], (1,)), inner, np.reshape(-u[-1], (1,))])

    u = np.sin(np.linspace(0.0, np.pi, 30))
    jacobian = te.sparse_jacobian(rate, argnums=1)
    sparse = solve_ivp(rate, (0.0, 0.2), u, method="BDF", jac=jacobian, rtol=1e-6)
    plain = solve_ivp(rate, (0.0, 0.2), u, method="BDF", rtol=1e-6)
    pattern = te.dependencies(lambda x: rate(0.0, x), u).matrix
    grouped = solve_ivp(rate, (0.0, 0.2), u, method="BDF", jac_sparsity=pattern, rtol=1e-6)
    np.testing.assert_allclose(sparse.y[:, -1], plain.y[:, -1], rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(grouped.y[:, -1], plain.y[:, -1], rtol=1e-4, atol=1e-8)


def test_newton_steps_by_a_sparse_solver() -> None:
    from scipy.sparse.linalg import spsolve

    def residual(u: Any) -> Any:
        full = np.concatenate([np.zeros(1), u, np.ones(1)])
        return full[2:] - 2.0 * full[1:-1] + full[:-2] - 0.1 * full[1:-1] ** 3

    jacobian, u = te.sparse_jacobian(residual), np.zeros(20)
    for _ in range(6):
        u = u - spsolve(jacobian(u).tocsc(), residual(u))
    assert np.abs(residual(u)).max() < 1e-13


# -- the examples ------------------------------------------------------------------------------------------------------
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("bundle_adjustment", (4, 30), r"-> \d\.\de-(0[7-9]|1\d) in"),
        ("optimal_control", (40,), r"residual \d\.\de-1\d"),
        ("reaction_diffusion", (12, 50.0), r"Jacobian 288 x 288 with 1728 entries"),
    ],
)
def test_the_examples_find_what_they_look_for(name: str, arguments: Any, expected: str, capsys: Any) -> None:
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"](*arguments)
    assert re.search(expected, capsys.readouterr().out)
