"""Factors of sparse matrices: solutions for traced right-hand sides and entries, against dense inverses."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine_scipy import sparse

DENSE = np.array([[4.0, 0.0, 1.0], [0.5, 3.0, 0.0], [0.0, 2.0, 5.0]])
COMPLEX = DENSE + 1j * np.array([[0.3, 0.0, 0.2], [-0.7, 1.0, 0.0], [0.0, 0.1, -0.4]])
MATRICES = {"real": DENSE, "complex": COMPLEX}
MAKERS = {
    "splu": lambda A: sparse.linalg.splu(A).solve,
    "options": lambda A: (
        sparse.linalg.splu(A, "NATURAL", options={"SymmetricMode": True, "DiagPivotThresh": 0.0}).solve
    ),
    "spilu": lambda A: sparse.linalg.spilu(A, drop_tol=1e-12).solve,
    "factorized": lambda A: sparse.linalg.factorized(A),
}
RIGHT = {"vector": np.array([1.0, -2.0, 0.5]), "matrix": np.arange(6.0).reshape(3, 2) - 1.3}
TRANS = {"N": lambda a: a, "T": lambda a: a.T, "H": lambda a: a.conj().T}


@pytest.mark.parametrize(("maker", "kind", "right", "trans"), [*itertools.product(MAKERS, MATRICES, RIGHT, TRANS)])
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_right_hand_sides(maker, kind, right, trans):
    dense, b = MATRICES[kind], RIGHT[right]
    b = b + 0.5j * b[::-1] if kind == "complex" else b
    solve = MAKERS[maker](scipy.sparse.csc_matrix(dense))
    inverse = np.linalg.inv(TRANS[trans](dense))
    value, back = te.vjp(lambda b: solve(b, trans), b)
    np.testing.assert_array_equal(value, solve(b, trans))  # SciPy's bits
    np.testing.assert_allclose(value, inverse @ b, rtol=1e-12)
    ct = np.cos(np.arange(b.size)).reshape(b.shape)
    wanted = te.vjp(lambda b: tnp.asarray(inverse) @ b, b)[1](ct)[0]
    np.testing.assert_allclose(back(ct)[0], wanted, rtol=1e-12)
    np.testing.assert_allclose(te.jvp(lambda b: solve(b, trans), (b,), (ct,))[1], inverse @ ct, rtol=1e-12)


@pytest.mark.parametrize("maker", [name for name in MAKERS if name != "spilu"])
@pytest.mark.parametrize("trans", ["N", "T"])
def test_entries(maker, trans):
    rows, columns = np.nonzero(DENSE)
    b = RIGHT["vector"]

    def program(data, form):
        matrix = sparse.csc_matrix((data, (rows, columns)), shape=(3, 3)) if form == "sparse" else None
        if matrix is not None:
            return (MAKERS[maker](matrix)(b, trans) ** 2).sum()
        dense = tnp.zeros((3, 3))
        dense[rows, columns] = data
        return (tnp.linalg.solve(TRANS[trans](dense), b) ** 2).sum()

    data = DENSE[rows, columns]
    found, wanted = (te.value_and_grad(lambda x, form=form: program(x, form))(data) for form in ("sparse", "dense"))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-11)
    found, wanted = (te.hessian(lambda x, form=form: program(x, form))(data) for form in ("sparse", "dense"))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_the_object_is_scipys():
    theirs, ours = (module.linalg.splu(scipy.sparse.csc_matrix(DENSE)) for module in (scipy.sparse, sparse))
    assert isinstance(ours, scipy.sparse.linalg.SuperLU)
    assert isinstance(ours, sparse.linalg.SuperLU)
    assert (ours.shape, ours.nnz) == (theirs.shape, theirs.nnz)
    for name in ("perm_c", "perm_r"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(ours.L.toarray(), theirs.L.toarray())


#: Errors of SciPy: of the matrix, and of the right-hand side.
WRONG = {
    "shape": lambda solve, np: solve(np.ones(4)),
    "axes": lambda solve, np: solve(np.ones((3, 1, 1))),
    "trans": lambda solve, np: solve(np.ones(3), "X"),
    "complex": lambda solve, np: solve(np.ones(3) * 1j),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_scipys(name):
    solve = sparse.linalg.splu(scipy.sparse.csc_matrix(DENSE)).solve
    with pytest.raises(Exception) as plain:
        WRONG[name](solve, np)
    with pytest.raises(plain.type) as traced:
        te.vjp(lambda x: WRONG[name](lambda b, *rest: solve(b * x, *rest), np), 1.0)
    assert str(traced.value) == str(plain.value)


def test_traced_entries_are_refused_where_factors_are_incomplete():
    with pytest.raises(te.errors.UnsupportedError, match="spilu"):
        te.grad(lambda x: sparse.linalg.spilu(sparse.csc_matrix(([x, 1.0], ([0, 1], [0, 1])))).solve(np.ones(2)).sum())(
            2.0
        )


def test_singular_matrices_raise_scipys_error():
    with warnings.catch_warnings(), pytest.raises(RuntimeError, match="singular"):
        warnings.simplefilter("ignore")
        te.grad(lambda x: sparse.linalg.splu(sparse.csc_matrix(([x, 0.0], ([0, 1], [0, 1])))).solve(np.ones(2)).sum())(
            2.0
        )


def test_steps_in_time_in_lifted_code():
    def program(x):
        import numpy as np
        import scipy.sparse
        from scipy.sparse.linalg import factorized

        laplacian = scipy.sparse.diags([np.ones(3), -2.0 * np.ones(4), np.ones(3)], [-1, 0, 1])
        solve, u = factorized((scipy.sparse.identity(4) - 0.1 * laplacian).tocsc()), np.ones(4) * x
        for _ in range(3):
            u = solve(u * u)
        return u.sum()

    expected = (program(1.2 + 1e-6) - program(1.2 - 1e-6)) / 2e-6
    assert te.value_and_grad(te.lift(program))(1.2) == (program(1.2), pytest.approx(expected, rel=1e-8))


def test_factors_of_scipys_own_say_what_to_write():
    matrix = scipy.sparse.csc_array(np.array([[4.0, 1.0], [1.0, 3.0]]))
    factors, solve = scipy.sparse.linalg.splu(matrix), scipy.sparse.linalg.factorized(matrix)
    for program in (lambda x: factors.solve(x).sum(), lambda x: solve(x).sum()):
        with pytest.raises(te.errors.UnsupportedError, match="Factorise with splu"):
            te.grad(program)(np.ones(2))
