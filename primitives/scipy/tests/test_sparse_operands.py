"""Constant SciPy matrices as operands of traced numbers and arrays, in lifted and other programs."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import DroppedDerivativeError, UnsupportedError

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(4, 4)) * (RNG.random((4, 4)) > 0.4)
W, WW = RNG.normal(size=4), RNG.normal(size=(4, 4))
KINDS = [f"{form}_{kind}" for form in ("csr", "csc", "coo", "dia", "lil", "bsr", "dok") for kind in ("array", "matrix")]

ANYWHERE = {
    "A @ x": lambda A, x: A @ (W * x),
    "x @ A": lambda A, x: (W * x) @ A,
    "A.T @ x": lambda A, x: A.T @ (W * x),
    "s * A": lambda A, x: x * A,
    "A * x": lambda A, x: A * (W * x),
    "x * A": lambda A, x: (W * x) * A,
    "A / X": lambda A, x: A / (WW * x + 9.0),
}
DENSE_RESULTS = {"A - X": lambda A, x: A - WW * x, "X + A": lambda A, x: WW * x + A, "X - A": lambda A, x: WW * x - A}
LIFTED = {
    "A * s": lambda A, x: A * x,
    "A / s": lambda A, x: A / x,
    "A.multiply(s)": lambda A, x: A.multiply(x),
    "A.multiply(x)": lambda A, x: A.multiply(W * x),
    "A.multiply(X)": lambda A, x: A.multiply(WW * x),
    "A.multiply(A * s)": lambda A, x: A.multiply(A * x),
    "A.dot(x)": lambda A, x: A.dot(W * x),
    "A + A * s": lambda A, x: A + A * x,
    "(A * s) @ A": lambda A, x: (A * x) @ A,
}


def total(y: Any) -> Any:
    y = y.toarray() if hasattr(y, "toarray") else y
    return tnp.sum(tnp.sin(y) * np.arange(1.0, 1.0 + y.size).reshape(y.shape))


def check(f: Any, lifted: Any, matrix: Any) -> None:
    def plain(x: float) -> float:
        return float(total(np.asarray(f(matrix, x).toarray() if hasattr(f(matrix, x), "toarray") else f(matrix, x))))

    value, slope = te.value_and_grad(lambda x: total(lifted(matrix, x)))(0.7)
    assert value == pytest.approx(plain(0.7), rel=1e-13)
    assert slope == pytest.approx((plain(0.7 + 1e-6) - plain(0.7 - 1e-6)) / 2e-6, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ANYWHERE)
def test_operators(name: str, kind: str) -> None:
    check(ANYWHERE[name], ANYWHERE[name], getattr(scipy.sparse, kind)(DENSE))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DENSE_RESULTS)
def test_sums_with_dense_arrays_are_refused_where_scipy_gives_a_numpy_matrix(name: str, kind: str) -> None:
    matrix, f = getattr(scipy.sparse, kind)(DENSE), DENSE_RESULTS[name]
    if type(f(matrix, 1.0)) is np.ndarray:
        return check(f, te.lift(f), matrix)
    for run in (f, te.lift(f)):
        with pytest.raises(UnsupportedError, match=r"numpy\.matrix"):
            te.vjp(lambda x, run=run: run(matrix, x), 0.7)


@pytest.mark.parametrize("f", [lambda A, x: x @ A, lambda A, x: A * x, lambda A, x: A / x, lambda A, x: x[0] * A])
def test_sparse_vectors_are_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError, match="1 axes"):
        te.vjp(lambda x: f(scipy.sparse.csr_array(W), x), W)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", {**ANYWHERE, **LIFTED})
def test_operators_of_lifted_programs(name: str, kind: str) -> None:
    f = {**ANYWHERE, **LIFTED}[name]
    check(f, te.lift(f), getattr(scipy.sparse, kind)(DENSE))


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "coo_array"])
@pytest.mark.parametrize("name", [name for name in LIFTED if name != "A.dot(x)"])
def test_elsewhere_the_error_says_what_to_write(name: str, kind: str) -> None:
    with pytest.raises(DroppedDerivativeError, match=r"s \* A|tapeengine\.numpy|tapeengine\.lift"):
        te.grad(lambda x: total(LIFTED[name](getattr(scipy.sparse, kind)(DENSE), x)))(0.7)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("dok")])
def test_a_number_beside_a_constant_matrix_is_scipys_error(kind: str) -> None:
    matrix = getattr(scipy.sparse, kind)(np.eye(3))
    for operation in (lambda x: x + matrix, lambda x: matrix + x, lambda x: x - matrix, lambda x: matrix - x):
        for run in (operation, lambda x, operation=operation: te.vjp(lambda v: operation(v[0]), np.array([x]))):
            with pytest.raises(NotImplementedError):
                run(np.float64(1.5))
