import numpy as np
import pytest
import scipy.linalg
from differences import assert_gradient, assert_second_order, gradient

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import linalg
from tapeengine_scipy.linalg import factorisations

RNG = np.random.default_rng(7)
A = RNG.standard_normal((3, 3)) + 3 * np.eye(3)
B = RNG.standard_normal((3, 2))
SYMMETRIC = A @ A.T + np.diag([0.0, 3.0, 7.0])
WEIGHTS = RNG.standard_normal((3, 3))


@pytest.mark.parametrize("assume_a", [None, "gen", "sym", "her", "pos", "diagonal", "lower triangular", "tridiagonal"])
@pytest.mark.parametrize("lower", [True, False])
def test_solve_is_scipys_under_every_assumption(assume_a, lower):
    a = np.diag(np.diag(A)) + np.diag([0.4, 0.2], 1) if assume_a == "tridiagonal" else SYMMETRIC
    expected = scipy.linalg.solve(a, B, assume_a=assume_a, lower=lower)
    np.testing.assert_allclose(linalg.solve(a, B, assume_a=assume_a, lower=lower), expected, rtol=1e-12)
    assert_gradient(lambda a: np.sum(linalg.solve(a, B, assume_a=assume_a, lower=lower)), a)


def test_solve_reads_transposed_and_stacked_systems():
    np.testing.assert_allclose(linalg.solve(A, B, transposed=True), np.linalg.solve(A.T, B))
    stack, rhs = np.stack([A, SYMMETRIC]), np.stack([B, 2 * B])
    np.testing.assert_allclose(linalg.solve(stack, rhs), np.linalg.solve(stack, rhs))
    assert_gradient(lambda a: np.sum(np.sin(linalg.solve(a, rhs))), stack)


def test_solve_factorises_once(monkeypatch):
    calls = []
    factorise = scipy.linalg.lu_factor
    monkeypatch.setattr(scipy.linalg, "lu_factor", lambda *a, **k: calls.append(1) or factorise(*a, **k))
    solves = []
    solve = scipy.linalg.lu_solve
    monkeypatch.setattr(scipy.linalg, "lu_solve", lambda *a, **k: solves.append(1) or solve(*a, **k))
    _, backpropagator = te.vjp(linalg.solve, A, B)
    backpropagator(np.ones((3, 2)))
    assert (len(calls), len(solves)) == (1, 2)
    backpropagator(np.zeros((3, 2)) + 2.0)
    assert (len(calls), len(solves)) == (1, 3)


def test_band_solves_factorise_once(monkeypatch):
    calls = []
    factorise = factorisations._band_lu
    monkeypatch.setattr(factorisations, "_band_lu", lambda *a: calls.append(1) or factorise(*a))
    band = np.array([[0.0, 1.0, 1.0], [4.0, 4.0, 4.0], [1.0, 2.0, 0.0]])
    te.vjp(lambda ab, b: linalg.solve_banded((1, 1), ab, b), band, np.ones(3))[1](np.ones(3))
    assert len(calls) == 1


def test_a_factorisation_is_not_used_for_another_matrix():
    factorisation = factorisations.general()
    first = factorisation.solve((A,), B)
    changed = A.copy()
    factorisation.solve((changed,), B)
    changed[0, 0] += 1.0
    np.testing.assert_allclose(factorisation.solve((changed,), B), np.linalg.solve(changed, B))
    np.testing.assert_allclose(factorisation.solve((A,), B), first)


def test_second_order_through_solve():
    assert_second_order(lambda a: np.sum(np.sin(linalg.solve(a, B))), A)
    assert_second_order(lambda a: linalg.det(a) + np.sum(linalg.inv(a)), A)


def test_values_are_scipys():
    column, row = np.array([3.0, 1.0, 0.5]), np.array([3.0, -0.3, 0.2])
    band = np.array([[0.0, 1.0, 2.0], [4.0, 5.0, 6.0], [1.0, 1.5, 0.0]])
    cases = [
        (linalg.solve_triangular(A, B, trans="T"), scipy.linalg.solve_triangular(A, B, trans="T")),
        (linalg.solve_banded((1, 1), band, B), scipy.linalg.solve_banded((1, 1), band, B)),
        (linalg.toeplitz(column, row), scipy.linalg.toeplitz(column, row)),
        (linalg.toeplitz(column), scipy.linalg.toeplitz(column)),
        (linalg.solve_toeplitz((column, row), B), scipy.linalg.solve_toeplitz((column, row), B)),
        (linalg.khatri_rao(A, B.T @ A), scipy.linalg.khatri_rao(A, B.T @ A)),
        (linalg.block_diag(A, B, row), scipy.linalg.block_diag(A, B, row)),
        (linalg.cholesky(SYMMETRIC), scipy.linalg.cholesky(SYMMETRIC)),
        (linalg.cholesky(SYMMETRIC, lower=True), scipy.linalg.cholesky(SYMMETRIC, lower=True)),
        (linalg.cho_solve(linalg.cho_factor(SYMMETRIC), B), np.linalg.solve(SYMMETRIC, B)),
        (linalg.cho_solve(linalg.cho_factor(SYMMETRIC, lower=True), B), np.linalg.solve(SYMMETRIC, B)),
        (linalg.lu_solve(linalg.lu_factor(A), B), np.linalg.solve(A, B)),
        (linalg.lu_solve(linalg.lu_factor(A), B, trans=1), np.linalg.solve(A.T, B)),
        (linalg.eigh(SYMMETRIC, eigvals_only=True), scipy.linalg.eigvalsh(SYMMETRIC)),
        (linalg.eigvalsh(SYMMETRIC, A @ A.T), scipy.linalg.eigvalsh(SYMMETRIC, A @ A.T)),
        (linalg.eigh(SYMMETRIC, subset_by_index=(1, 2))[0], scipy.linalg.eigvalsh(SYMMETRIC)[1:]),
        (linalg.solve_sylvester(A, SYMMETRIC, WEIGHTS), scipy.linalg.solve_sylvester(A, SYMMETRIC, WEIGHTS)),
        (linalg.solve_continuous_lyapunov(A, WEIGHTS), scipy.linalg.solve_continuous_lyapunov(A, WEIGHTS)),
        (linalg.svdvals(B), scipy.linalg.svdvals(B)),
    ]
    for ours, theirs in cases:
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)
    for method in ("direct", "bilinear"):
        theirs = scipy.linalg.solve_discrete_lyapunov(0.2 * A, WEIGHTS, method)
        np.testing.assert_allclose(linalg.solve_discrete_lyapunov(0.2 * A, WEIGHTS, method), theirs, rtol=1e-10)


PROGRAMS = {
    "cho_solve": lambda a: linalg.cho_solve(linalg.cho_factor(a @ a.T), B)[0, 0],
    "lu_solve": lambda a: np.sum(np.sin(linalg.lu_solve(linalg.lu_factor(a), B))),
    "lu_solve transposed": lambda a: np.sum(np.sin(linalg.lu_solve(linalg.lu_factor(a), B, trans=1))),
    "cholesky upper": lambda a: np.sum(WEIGHTS * linalg.cholesky(a @ a.T)),
    "generalised eigh": lambda a: np.sum(np.sin(linalg.eigh(SYMMETRIC + a, a @ a.T + np.eye(3))[0])),
    "generalised eigenvectors": lambda a: np.sum(linalg.eigh(SYMMETRIC + a, a @ a.T + np.eye(3))[1] ** 2 * WEIGHTS),
    "eigh upper": lambda a: np.sum(linalg.eigh(a, lower=False)[1] ** 2 * WEIGHTS),
    "solve_continuous_lyapunov": lambda a: np.sum(np.sin(linalg.solve_continuous_lyapunov(a, WEIGHTS))),
    "solve_discrete_lyapunov": lambda a: np.sum(linalg.solve_discrete_lyapunov(0.2 * a, WEIGHTS)),
    "bilinear": lambda a: np.sum(linalg.solve_discrete_lyapunov(0.2 * a, WEIGHTS, method="bilinear")),
    "toeplitz": lambda a: np.sum(WEIGHTS * linalg.toeplitz(a[0], a[:, 0])),
    "solve_toeplitz": lambda a: np.sum(linalg.solve_toeplitz((a[0] + np.array([5.0, 0, 0]), a[1]), B)),
    "khatri_rao": lambda a: np.sum(np.sin(linalg.khatri_rao(a, a))),
    "block_diag": lambda a: np.sum(np.sin(linalg.block_diag(a, a[0], 2.0 * a))),
    "qr": lambda a: np.sum(WEIGHTS * linalg.qr(a)[0]),
    "qr pivoting": lambda a: np.sum(WEIGHTS * linalg.qr(a, pivoting=True)[1]),
    "wide qr": lambda a: np.sum(linalg.qr(a[:2], mode="full")[1] * WEIGHTS[:2]),
    "tall qr": lambda a: np.sum(linalg.qr(a[:, :2], pivoting=True)[0] * WEIGHTS),
    "full r": lambda a: np.sum(linalg.qr(a[:, :1])[1] * WEIGHTS[:, :1]),
    "tall r": lambda a: np.sum(linalg.qr(a[:, :2], mode="r")[0] * WEIGHTS[:, :2]),
    "svd": lambda a: np.sum(linalg.svd(a)[0] ** 2 * WEIGHTS),
    "left polar": lambda a: np.sum(linalg.polar(a[:2], side="left")[1] * WEIGHTS[:2, :2]),
    "expm": lambda a: np.sum(WEIGHTS * linalg.expm(0.3 * a)),
    "logm": lambda a: np.sum(WEIGHTS * linalg.logm(a @ a.T)),
    "sqrtm": lambda a: np.sum(WEIGHTS * linalg.sqrtm(a @ a.T)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_against_differences(name):
    assert_gradient(PROGRAMS[name], SYMMETRIC / 10 + np.eye(3) if name == "eigh upper" else A, rtol=2e-8)


@pytest.mark.parametrize("module", [linalg, tnp.linalg])
@pytest.mark.parametrize("start", [A, A - np.outer(A[:, 0], [1, 0, 0]), A[[0, 0, 2]]], ids=["regular", "0", "equal"])
def test_the_determinant_along_a_line_is_a_cubic(module, start):
    """The coefficients are those through four points; a singular matrix has its derivatives as well."""
    places = np.arange(-2.0, 2.0)
    cubic = np.linalg.solve(np.vander(places, increasing=True), [np.linalg.det(start + t * WEIGHTS) for t in places])
    f, factorial = lambda t: module.det(start + t * WEIGHTS), 1
    for order in (1, 2, 3):
        f, factorial = te.grad(f), factorial * order
        assert f(0.0) == pytest.approx(factorial * cubic[order], rel=1e-9)


@pytest.mark.parametrize("shape", [(3, 5), (4, 4), (5, 3)])
@pytest.mark.parametrize("mode", ["economic", "r"])
def test_qr_has_scipys_bits(shape, mode):
    a = RNG.standard_normal(shape)
    found = te.vjp(lambda a: linalg.qr(a, mode=mode), a)[0]
    for ours, theirs in zip(found, scipy.linalg.qr(a, mode=mode), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_determinant_of_a_singular_matrix_has_a_derivative():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(gradient(linalg.det, singular), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


@pytest.mark.parametrize("n", range(2, 8))
def test_cofactors_of_singular_integer_matrices_are_integers(n):
    """LU leaves rounding errors in some of the determinants, and meets a pivot of zero in others."""
    generator = np.random.default_rng(n)

    def without(a, i, j):
        return np.delete(np.delete(a, i, 0), j, 1)

    for _ in range(20):
        a = generator.integers(-4, 5, (n, n)).astype(float)
        a[-1] = a[:-1].sum(axis=0)
        minors = [[(-1) ** (i + j) * np.linalg.det(without(a, i, j)) for j in range(n)] for i in range(n)]
        exact = np.round(minors)
        found = gradient(linalg.det, a)
        np.testing.assert_allclose(found, exact, atol=1e-12 * 10.0**n)
        along = te.jvp(lambda a: te.grad(linalg.det)(a), (a,), (a,))[1]
        np.testing.assert_allclose(along, (n - 1) * exact, atol=1e-11 * 10.0**n)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 3, 2)])
def test_a_stack_is_solved_with_its_cholesky_factors(lower, shape):
    stack = np.stack([SYMMETRIC @ SYMMETRIC.T + np.eye(3), np.diag([1.0, 2.0, 3.0])])
    b = np.cos(np.arange(np.prod(shape))).reshape(shape)

    def program(module, a):
        return module.cho_solve(module.cho_factor(a, lower=lower), b)

    np.testing.assert_array_equal(program(linalg, stack), program(scipy.linalg, stack))
    np.testing.assert_allclose(te.vjp(lambda a: program(linalg, a), stack)[0], program(scipy.linalg, stack), rtol=1e-12)
    assert_gradient(lambda a: np.sum(program(linalg, a) ** 2), stack)


def test_a_driver_that_lapack_does_not_have_raises_scipys_error():
    with pytest.raises(ValueError, match='LAPACK driver "qq" is not found'):
        te.vjp(lambda a: linalg.lstsq(a, np.ones(len(a)), lapack_driver="qq")[0], A)


def test_logarithm_is_derived_with_the_same_bits_each_time():
    results = {gradient(PROGRAMS["logm"], A).tobytes() for _ in range(5)}
    assert len(results) == 1


@pytest.mark.parametrize("columns", [(), (1,), (2,), (4,)])
@pytest.mark.parametrize("directions", [1, 2, 3, 5, 9])
def test_lapack_accepts_what_derivatives_by_blocks_give_it(columns, directions, monkeypatch):
    infos, real = [], scipy.linalg.get_lapack_funcs

    def watched(*args):
        (function,) = real(*args)
        watch = lambda *a, **k: (found := function(*a, **k), infos.append(found[-1]))[0]  # noqa: E731
        return [watch if args[0] == ("gbtrs",) else function]

    monkeypatch.setattr(scipy.linalg, "get_lapack_funcs", watched)
    for size in (1, 2, 4, 5):
        band, b = (
            RNG.standard_normal((3, size)) + np.array([[0.0], [4.0], [0.0]]),
            RNG.standard_normal((size, *columns)),
        )
        ways = RNG.standard_normal((directions, *b.shape))
        right = lambda p, b=b, ways=ways: b + np.tensordot(p, ways, 1)  # noqa: E731
        solved = lambda p, band=band, right=right: linalg.solve_banded((1, 1), band, right(p))  # noqa: E731
        total = lambda p, f=solved: np.sum(f(p) ** 2)  # noqa: E731
        p, units = np.zeros(directions), np.eye(directions)
        alone = np.stack([te.jvp(solved, (p,), (e,))[1] for e in units], -1)
        for transform in (te.jacfwd, te.jacrev):
            np.testing.assert_allclose(transform(solved)(p), alone, rtol=1e-10, atol=1e-12)
        rows = [te.jvp(te.grad(total), (p,), (e,))[1] for e in units]
        np.testing.assert_allclose(te.hessian(total)(p), rows, rtol=1e-9, atol=1e-11)
    assert infos
    assert not any(infos)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(UnsupportedError, match="full_matrices"):
        gradient(lambda b: np.sum(linalg.svd(b[:, :1])[0]), B)
    with pytest.raises(UnsupportedError, match="economic"):
        gradient(lambda b: np.sum(linalg.qr(b[:, :1])[0]), B)
    with pytest.raises(UnsupportedError, match="other side"):
        gradient(lambda b: np.sum(linalg.polar(b, side="left")[0]), B)


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_errors_are_scipys():
    with pytest.raises(np.linalg.LinAlgError):
        linalg.solve(np.zeros((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="infs or NaNs"):
        linalg.solve(np.full((2, 2), np.nan), np.ones(2))
    with pytest.raises(ValueError, match="lower and upper diagonals"):
        linalg.solve_banded((1, 1), np.ones((2, 3)), np.ones(3))
