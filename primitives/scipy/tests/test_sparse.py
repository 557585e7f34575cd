import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from differences import assert_gradient, assert_second_order

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import sparse

RNG = np.random.default_rng(4)
A = scipy.sparse.random_array((6, 6), density=0.4, random_state=1) + 4 * scipy.sparse.eye_array(6)
SYMMETRIC = (A + A.T).tocsr()
B = RNG.standard_normal(6)
DATA = A.tocoo().data


def test_products():
    for x in (B, RNG.standard_normal((6, 2))):
        np.testing.assert_allclose(sparse.matmul(A, x), A @ x)
        np.testing.assert_allclose(sparse.matmul(x.T, A), x.T @ A)
        np.testing.assert_allclose(x.T @ sparse.coo_array(A), x.T @ A)
        assert_gradient(lambda x: np.sum(np.sin(sparse.matmul(A, x))), x)
        assert_second_order(lambda data, x=x: np.sum(np.sin(sparse.with_data(A, data) @ x)), DATA)


def test_formats():
    csr, csc = SYMMETRIC.tocsr(), A.tocsc()
    np.testing.assert_allclose(sparse.csr_array((csr.data, csr.indices, csr.indptr)).toarray(), csr.toarray())
    np.testing.assert_allclose(sparse.csc_array((csc.data, csc.indices, csc.indptr)).toarray(), csc.toarray())
    np.testing.assert_allclose(sparse.coo_array(A).T.toarray(), A.T.toarray())
    doubled = sparse.coo_array((np.array([1.0, 2.0]), ([0, 0], [1, 1])), shape=(2, 2))
    np.testing.assert_array_equal(doubled.toarray(), [[0.0, 3.0], [0.0, 0.0]])
    np.testing.assert_allclose((2.0 * sparse.coo_array(A)).toarray(), 2 * A.toarray())


POSITIONS = {
    "coo": ("coo_array", ([0.0, 1.7], [1.0, 0.0])),
    "csr of coo": ("csr_array", ([0.0, 1.0], [1.9, 0.0])),
    "csr": ("csr_array", ([1.0, 0.0], [0.0, 1.2, 2.0])),
    "csc": ("csc_array", ([1.0, 0.0], [0.0, 1.0, 2.0])),
    "masks": ("coo_array", (np.array([True, False]), np.array([False, True]))),
    "complex": ("coo_array", ([1j, 0.0], [1.0, 0.0])),
    "nan": ("coo_array", ([np.nan, 0.0], [1.0, 0.0])),
    "negative": ("coo_array", ([-1.0, 0.0], [1.0, 0.0])),
}


@pytest.mark.parametrize("shape", [(2, 2), None])
@pytest.mark.parametrize("name", POSITIONS)
def test_positions_are_made_integers_as_scipy_makes_them(name, shape):
    """The values are SciPy's, or an error of the same class is raised."""
    kind, places = POSITIONS[name]

    def dense(module, data):
        return getattr(module, kind)((data, *places) if len(places[1]) == 3 else (data, places), shape=shape).toarray()

    data = np.array([1.0, 2.0])
    try:
        expected = dense(scipy.sparse, data)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            te.vjp(lambda data: dense(sparse, data), data)
        return
    np.testing.assert_array_equal(te.vjp(lambda data: dense(sparse, data), data)[0], expected)
    assert_gradient(lambda data: np.sum(dense(sparse, data) ** 2), data)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_errors():
    with pytest.raises(ValueError, match="6 rows"):
        sparse.matmul(A, np.ones(5))
    with pytest.raises(ValueError, match="entries"):
        sparse.with_data(A, np.ones(2))
    with pytest.raises(UnsupportedError, match="sparse matrix"):
        te.grad(lambda b: sparse.linalg.spsolve(np.eye(2), b)[0])(np.ones(2))
    with pytest.raises(UnsupportedError, match="broke down"):
        te.vjp(lambda b: sparse.linalg.cg(scipy.sparse.csr_array((3, 3)), b)[0], np.ones(3))


def test_spsolve():
    np.testing.assert_allclose(sparse.linalg.spsolve(A, B), scipy.sparse.linalg.spsolve(A.tocsc(), B))
    rhs = RNG.standard_normal((6, 2))
    np.testing.assert_allclose(A @ sparse.linalg.spsolve(A, rhs), rhs)
    assert_gradient(lambda b: np.sum(np.sin(sparse.linalg.spsolve(A, b))), B)
    total = lambda data: np.sum(np.sin(sparse.linalg.spsolve(sparse.with_data(A, data), B)))  # noqa: E731
    assert_gradient(total, DATA)
    assert_second_order(total, DATA)


def test_spsolve_factorises_once(monkeypatch):
    calls = []
    factorise = scipy.sparse.linalg.splu
    monkeypatch.setattr(scipy.sparse.linalg, "splu", lambda *a, **k: calls.append(1) or factorise(*a, **k))
    te.vjp(lambda data, b: sparse.linalg.spsolve(sparse.with_data(A, data), b), DATA, B)[1](np.ones(6))
    assert len(calls) == 1


def test_conjugate_gradients():
    x, info = sparse.linalg.cg(SYMMETRIC, B, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(SYMMETRIC @ x, B, rtol=1e-9)
    assert_gradient(lambda b: np.sum(np.sin(sparse.linalg.cg(SYMMETRIC, b, rtol=1e-13)[0])), B)
    dense = SYMMETRIC.toarray()
    assert_gradient(lambda b: np.sum(np.sin(sparse.linalg.cg(dense, b, rtol=1e-13)[0])), B)
    diagonal = SYMMETRIC.tocoo().row == SYMMETRIC.tocoo().col

    def total(d):
        data = np.where(diagonal, 1.0, 0.0) * d[0] + SYMMETRIC.tocoo().data
        return np.sum(np.sin(sparse.linalg.cg(sparse.with_data(SYMMETRIC, data), B, rtol=1e-13)[0]))

    assert_gradient(total, [0.3])


def test_sparse_matrices_are_structures():
    matrix = sparse.with_data(A, DATA)
    value, backpropagator = te.vjp(lambda m, x: (m @ x, 2.0 * m), matrix, B)
    assert isinstance(value[1], sparse.SparseArray)
    ones = sparse.with_data(A, np.ones_like(DATA))
    cotangent, ct_x = backpropagator((np.ones(6), ones))
    np.testing.assert_allclose(cotangent.data, B[A.tocoo().col] + 2.0)
    np.testing.assert_allclose(ct_x, A.T @ np.ones(6))
