"""Entries of sparse matrices in the order of SciPy's formats, matrices of diagonals, and dense operators of solvers."""

import numpy as np
import pytest
import scipy.sparse

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import sparse

ROWS, COLUMNS = [0, 1, 1, 0, 2], [1, 1, 0, 1, 2]  # one position twice
DATA = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
WEIGHTS = np.array([3.0, -1.0, 2.0, 0.5, 7.0])
MAKERS = ["coo_array", "csr_array", "csc_array", "coo_matrix", "csr_matrix", "csc_matrix"]
VIEWS = {
    "itself": lambda a: a,
    "transpose": lambda a: a.T,
    "csr": lambda a: a.tocsr(),
    "csc": lambda a: a.asformat("csc"),
    "coo": lambda a: a.tocsc().tocoo(),
    "multiple": lambda a: -2.0 * a,
    "csr of csc": lambda a: a.tocsc().tocsr(),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("maker", MAKERS)
def test_entries_have_the_order_of_scipy(maker, view):
    def entries(module, data):
        a = VIEWS[view](getattr(module, maker)((data, (ROWS, COLUMNS)), shape=(3, 4)))
        return a.data, a.nnz

    value, count = te.vjp(lambda d: entries(sparse, d), DATA)[0]
    wanted, number = entries(scipy.sparse, DATA)
    np.testing.assert_array_equal(value, wanted)
    assert count == number
    f = lambda d, module: WEIGHTS[: len(wanted)] @ entries(module, d)[0] ** 2  # noqa: E731
    steps = [f(DATA + 1e-20j * unit, scipy.sparse).imag / 1e-20 for unit in np.eye(5)]
    np.testing.assert_allclose(te.grad(lambda d: f(d, sparse))(DATA), steps, rtol=1e-14)
    curved = te.hvp(lambda d: f(d, sparse), (DATA,), (DATA,))
    np.testing.assert_allclose(curved[0] if isinstance(curved, tuple) else curved, steps, rtol=1e-14)  # f is quadratic


DENSE = {
    "toarray": lambda a: a.toarray(),
    "multiple": lambda a: (a * 2.0).toarray(),
    "total": lambda a: (a + a.tocsr()).toarray(),
    "product": lambda a: a @ a.dtype.type([1.0, 2.0, 0.5, 3.0]),
    "sums": lambda a: a.sum(axis=0),
    "diagonal": lambda a: a.diagonal(),
}


@pytest.mark.parametrize("data", [DATA.astype("F"), DATA.astype("f"), np.array([1.0, 2.0, np.inf, 4.0, np.nan])])
@pytest.mark.parametrize("maker", ["coo_array", "csr_array"])
@pytest.mark.parametrize("name", DENSE)
def test_precision_and_entries_that_are_not_finite(name, maker, data):
    def f(module, data):
        return DENSE[name](getattr(module, maker)((data, (ROWS, COLUMNS)), shape=(3, 4)))

    found, wanted = te.vjp(lambda d: f(sparse, d), data)[0], f(scipy.sparse, data)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_entries_that_are_given_in_compressed_form_stay_in_their_order():
    given = np.array([1.0, 2.0, 3.0]), [3, 0, 1], [0, 2, 3]
    f = lambda module, d: module.csr_array((d, *given[1:]), shape=(2, 4)).data  # noqa: E731
    np.testing.assert_array_equal(te.vjp(lambda d: f(sparse, d), given[0])[0], f(scipy.sparse, given[0]))


@pytest.mark.parametrize(
    "operation", [lambda a: a @ a.T, lambda a: a + a, lambda a: a[:2, :2], lambda a: a * np.arange(4.0)]
)
@pytest.mark.parametrize("attribute", ["data", "nnz"])
def test_entries_of_results_are_refused(operation, attribute):
    a = lambda d: sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 4))  # noqa: E731
    assert np.isfinite(te.grad(lambda d: operation(a(d)).toarray().sum())(DATA)).all()
    with pytest.raises(UnsupportedError, match="is not defined for results"):
        te.grad(lambda d: np.sum(getattr(operation(a(d)), attribute)))(DATA)


@pytest.mark.parametrize(
    ("data", "offsets", "shape"),
    [
        (DATA, 0, (5, 5)),
        (DATA[None], [1], (4, 5)),
        (DATA.reshape(1, 5), (-1,), (4, 7)),
        (np.arange(12.0).reshape(3, 4), [0, -2, 1], (4, 4)),
        (np.arange(12.0).reshape(3, 4), [0, -1, 3], (6, 3)),
    ],
)
@pytest.mark.parametrize("maker", ["dia_array", "dia_matrix"])
def test_matrices_of_diagonals(maker, data, offsets, shape):
    def dense(module, data):
        return getattr(module, maker)((data, offsets), shape=shape).toarray()

    value, back = te.vjp(lambda d: dense(sparse, d), data)
    np.testing.assert_array_equal(value, dense(scipy.sparse, data))
    kept = np.zeros(data.size)
    for k, unit in enumerate(np.eye(data.size)):
        kept[k] = dense(scipy.sparse, unit.reshape(data.shape)).sum()
    np.testing.assert_array_equal(np.ravel(back(np.ones(shape))[0]), kept)


def test_todense():
    a = lambda module, d: module.csr_array((d, (ROWS, COLUMNS)), shape=(3, 4)).todense()  # noqa: E731
    np.testing.assert_array_equal(te.vjp(lambda d: a(sparse, d), DATA)[0], a(scipy.sparse, DATA))
    with pytest.raises(UnsupportedError, match="use toarray"):
        te.grad(lambda d: sparse.csr_matrix((d, (ROWS, COLUMNS)), shape=(3, 4)).todense().sum())(DATA)


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab"])
def test_solvers_with_a_dense_matrix(name):
    a, b = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 5.0]]), np.array([1.0, -2.0, 0.5])
    f = lambda a: np.sum(getattr(sparse.linalg, name)(a, b, rtol=1e-14)[0] ** 3)  # noqa: E731
    g = lambda a: np.sum(np.linalg.solve(a, b) ** 3)  # noqa: E731
    direction = np.array([[0.3, 0.1, 0.2], [0.1, -0.4, 0.6], [0.2, 0.6, 1.0]])
    np.testing.assert_allclose(te.grad(f)(a), te.grad(g)(a), rtol=1e-10)
    np.testing.assert_allclose(*(np.asarray(te.hvp(h, (a,), (direction,))) for h in (f, g)), rtol=1e-9)
