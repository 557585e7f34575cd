"""Cases that are correct or refused: singular and repeated values, sparse products, stiff systems, failing solvers."""

import inspect

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.sparse
from differences import assert_gradient, differences

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import integrate, linalg, optimize, sparse

RNG = np.random.default_rng(2)
ROTATION = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
PAIR = ROTATION @ np.diag([2.0, 2.0, 5.0]) @ ROTATION.T
PAIR = (PAIR + PAIR.T) / 2
SINGULAR = {
    "rank 2": np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),
    "rank 1": np.outer([1.0, 2.0, -1.0], [0.5, 1.0, 2.0]),
    "zero": np.zeros((2, 2)),
    "stack": np.stack([np.diag([1.0, 0.0, 2.0]), np.eye(3)]),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_determinants_of_singular_matrices_to_second_order(name):
    a = SINGULAR[name]
    t = RNG.standard_normal(a.shape)
    slope = lambda a: np.sum(te.grad(lambda a: np.sum(linalg.det(a)))(a) * t)  # noqa: E731
    np.testing.assert_allclose(te.grad(slope)(a), differences(slope, a), atol=1e-9)
    forward = te.jvp(te.grad(lambda a: np.sum(linalg.det(a))), (a,), (t,))[1]
    np.testing.assert_allclose(forward, te.grad(slope)(a), atol=1e-12)


def symmetrised(g):
    return (g + np.swapaxes(g, -1, -2)) / 2


@pytest.mark.parametrize("a", [PAIR, np.eye(3), np.diag([1.0, 1.0, 4.0]), np.stack([PAIR, np.eye(3)])])
def test_symmetric_functions_of_repeated_eigenvalues(a):
    found = te.grad(lambda a: np.sum(linalg.eigvalsh(a) ** 3))(a)
    np.testing.assert_allclose(symmetrised(found), 3 * a @ a, atol=1e-10)
    found = te.grad(lambda a: np.sum(linalg.eigh(a, eigvals_only=True, lower=False) ** 3))(a)
    np.testing.assert_allclose(symmetrised(found), 3 * a @ a, atol=1e-10)
    np.testing.assert_allclose(te.grad(lambda a: np.sum(linalg.svdvals(a) ** 4))(a), 4 * a @ a @ a, atol=1e-9)


@pytest.mark.parametrize(
    "program",
    [
        lambda a: linalg.eigvalsh(a)[0],
        lambda a: linalg.eigh(a)[1][0, 0],
        lambda a: linalg.svdvals(a)[2],
        lambda a: linalg.svd(a)[0][0, 2],
        lambda a: linalg.eigh(a, np.eye(3))[1][0, 0],
    ],
)
def test_what_depends_on_a_basis_of_repeated_values_is_refused(program):
    with pytest.raises(UnsupportedError, match="equal"):
        te.grad(program)(PAIR)


def dense(kind, data, other):
    """The same product, computed by SciPy."""
    return kind((data, ([0, 1, 1, 2], [1, 0, 2, 2])), shape=(3, 3)) * other


@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (3, 1), (3, 3), (1, 1)])
def test_star_means_elements_for_arrays(shape):
    data, other = RNG.standard_normal(4), RNG.standard_normal(shape)

    def product(data, other):
        return (dense(sparse.coo_array, data, other)).toarray()

    np.testing.assert_allclose(te.vjp(product, data, other)[0], dense(scipy.sparse.coo_array, data, other).toarray())
    for argnum, x in enumerate((data, other)):
        program = lambda v, n=argnum: np.sum(np.sin(product(*((v, other) if n == 0 else (data, v)))))  # noqa: E731
        assert_gradient(program, x)


def test_star_means_the_product_for_matrices():
    matrix = scipy.sparse.coo_matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))
    data = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(te.vjp(lambda d: sparse.with_data(matrix, d) * np.ones(2), data)[0], matrix * np.ones(2))
    with pytest.raises(UnsupportedError, match="broadcast"):
        te.vjp(lambda d: sparse.coo_array(sparse.with_data(matrix, d)) * np.ones((4, 2, 2)), data)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: sparse.coo_array((x, ([0, 5], [0, 1])), shape=(2, 2)),
        lambda x: sparse.coo_array((x, ([0, -1], [0, 1])), shape=(2, 2)),
        lambda x: sparse.coo_array((x, ([0], [0])), shape=(2, 2)),
        lambda x: sparse.csr_array((x, [0, 9], [0, 1, 2]), shape=(2, 2)),
        lambda x: sparse.csr_array((x, [0, 1], [0, 2, 1]), shape=(2, 2)),
        lambda x: sparse.csc_array((x, [0, 1], [0, 1]), shape=(2, 2)),
        lambda x: sparse.with_data(scipy.sparse.eye_array(3), x),
    ],
)
def test_places_outside_of_a_matrix_are_refused(build):
    with pytest.raises((ValueError, UnsupportedError), match=r"indices|indptr|index|length|entries"):
        te.vjp(lambda x: build(x) @ np.ones(2), np.ones(2))


def test_conjugate_gradients_of_a_hermitian_matrix():
    a = np.array([[4.0, 1 + 1j, 0], [1 - 1j, 5.0, 0.5j], [0, -0.5j, 3.0]])
    b, places = np.array([1.0, 2 + 1j, 3.0]), scipy.sparse.coo_array(a)

    def total(data, b, solve):
        return np.sum(np.abs(solve(data, b)) ** 2)

    def iterated(data, b):
        return sparse.linalg.cg(sparse.with_data(places, data), b, rtol=1e-14)[0]

    def direct(data, b):
        return np.linalg.solve(sparse.with_data(places, data).toarray(), b)

    ours = te.vjp(lambda d, b: total(d, b, iterated), places.data, b)[1](1.0)
    theirs = te.vjp(lambda d, b: total(d, b, direct), places.data, b)[1](1.0)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    with pytest.raises(UnsupportedError, match="did not converge"):
        te.vjp(lambda b: sparse.linalg.cg(places, b, maxiter=1)[0], b)


@pytest.mark.parametrize("method", ["RK45", "BDF", "Radau", "LSODA"])
def test_initial_value_problems_with_arguments_and_a_jacobian(method):
    def end(p, module=integrate):
        jac = None if method == "RK45" else (lambda t, y, k, c: np.array([[-k, c], [0.0, -k]]))
        options = {"jac": jac} if jac else {}
        fun = lambda t, y, k, c: np.array([-k * y[0] + c * y[1], -k * y[1]])  # noqa: E731
        found = module.solve_ivp(
            fun, (0.0, 1.0), [1.0, 0.5], method, args=(p[0], p[1]), rtol=1e-8, atol=1e-10, first_step=1e-3, **options
        )
        return found.y[:, -1]

    p = np.array([1.3, 0.4])
    value = te.vjp(end, p)[0]
    np.testing.assert_array_equal(value, end(p, scipy.integrate))
    exact = lambda p: (1.0 + 0.5 * p[1]) * np.exp(-p[0]) + 0.5 * np.exp(-p[0])  # noqa: E731
    np.testing.assert_allclose(te.grad(lambda p: np.sum(end(p)))(p), differences(exact, p), rtol=1e-5)


BAND = {"ml": 0, "mu": 1, "Dfun": lambda y, t, k: [[0.0, 1.0], [-k, -2.0]]}
OF_ODEINT = [
    {"full_output": True}, {"printmessg": True}, {"ixpr": 1, "mxhnil": 2}, {"mxstep": 500}, {"hmax": 0.1},
    {"hmin": 1e-8}, {"tcrit": [0.7], "h0": 1e-3}, BAND, {"ml": 0, "mu": 1}, {"mxordn": 4, "mxords": 2},
    {"Dfun": lambda y, t, k: [[-k, 1.0], [0.0, -2.0]]}, {"rtol": 1e-9, "atol": [1e-9, 1e-8]},
    {"Dfun": lambda y, t, k: [[-k, 0.0], [1.0, -2.0]], "col_deriv": True},
    {"Dfun": lambda t, y, k: [[-k, 1.0], [0.0, -2.0]], "tfirst": True},
]  # fmt: skip


def test_all_options_of_odeint_are_tried():
    named = {name for options in OF_ODEINT for name in options}
    assert {*inspect.signature(scipy.integrate.odeint).parameters} == {"func", "y0", "t", "args"} | named


@pytest.mark.parametrize("options", OF_ODEINT, ids=lambda options: "-".join(options))
@pytest.mark.filterwarnings("ignore:Integration successful")
def test_options_of_odeint_are_its_own(options):
    def ends(k, module=integrate):
        slope = lambda y, k: [-k * y[0] + y[1], -2.0 * y[1]]  # noqa: E731
        ordered = (lambda t, y, k: slope(y, k)) if options.get("tfirst") else lambda y, t, k: slope(y, k)
        found = module.odeint(ordered, [1.0, 0.5 * k], [0.0, 0.5, 1.0], (k,), **options)
        return found[0] if options.get("full_output") else found

    np.testing.assert_array_equal(te.vjp(ends, 1.3)[0], ends(1.3, scipy.integrate))
    exact = lambda k: (1 - k / (2 * k - 4)) * np.exp(-k) + k / (2 * k - 4) * np.exp(-2.0)  # noqa: E731
    slope = (exact(1.3 + 1e-5) - exact(1.3 - 1e-5)) / 2e-5
    assert te.grad(lambda k: ends(k)[-1, 0])(1.3) == pytest.approx(slope, rel=1e-5)


@pytest.mark.filterwarnings("ignore:Excess work")
def test_a_solution_that_odeint_did_not_reach_is_refused():
    with pytest.raises(UnsupportedError, match=r"odeint did not converge.*Excess work"):
        te.grad(lambda k: integrate.odeint(lambda y, t: -k * y, [1.0], [0.0, 1.0], mxstep=1)[-1, 0])(1.3)


def test_solutions_without_a_derivative_are_refused():
    with pytest.raises(UnsupportedError, match="singular"):
        te.grad(lambda p: optimize.root(lambda x: x**2 - p, np.array([0.0])).x[0])(0.0)

    def far(c, points):
        radii = np.sum((points - c) ** 2, axis=1)
        return radii - np.sum(radii) / len(radii)

    for points in RNG.standard_normal((8, 2, 2)):  # many circles go through two points: singular up to rounding
        for centre in (
            lambda p: optimize.leastsq(far, p.mean(axis=0), (p,))[0],
            lambda p: optimize.least_squares(far, p.mean(axis=0), args=(p,)).x,
        ):
            with pytest.raises(UnsupportedError, match="singular"):
                te.jacobian(centre)(points)
    scaled = lambda x, p: np.stack([1e-20 * (x[0] - p[0]), 1e20 * (x[1] ** 2 - p[1])])  # noqa: E731
    slopes = te.jacobian(lambda p: optimize.fsolve(scaled, np.ones(2), (p,)))(np.array([1.3, 4.0]))
    np.testing.assert_allclose(slopes, [[1.0, 0.0], [0.0, 0.25]], 1e-6, 1e-12)
    with pytest.raises(UnsupportedError, match="bounds"):
        te.grad(lambda p: optimize.minimize(lambda x: x[0] ** 2 + p, [1.0], bounds=[(p, 2.0)]).x[0])(0.5)
    with pytest.raises(UnsupportedError, match="converge"):
        te.grad(lambda p: optimize.brentq(lambda x: x**3 - p, -9.0, 8.0, maxiter=2, disp=False))(0.5)
    at_bound = te.grad(
        lambda p: optimize.minimize_scalar(lambda x: (x - p) ** 2, bounds=(1.0, 2.0), method="bounded").x
    )
    assert at_bound(0.3) == 0.0
