"""Arrays that a traced program makes with tapeengine.numpy, and that depend on no input, are constants for SciPy."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine_scipy import integrate, interpolate, optimize, special, stats

Y = np.array([0.3, 1.0, -0.2, 0.5, 0.9, 0.1])
PROGRAMS = {
    "make_interp_spline": lambda np, y: interpolate.make_interp_spline(np.arange(6.0), y, k=3)(2.3) ** 2,
    "knots": lambda np, y: interpolate.make_interp_spline(
        np.arange(6.0), y, k=1, t=np.array([0.0, 0, 1, 2, 3, 4, 5, 5])
    )(2.3) ** 2,
    "minimize": lambda np, y: optimize.minimize(
        lambda x: np.sum((x - np.exp(y[:2] / 2)) ** 2), np.ones(2), tol=1e-12,
        bounds=np.array([[-1.0, 3.0], [-1.0, 2.0]]), jac=lambda x: 2 * (x - np.exp(y[:2] / 2)),
    ).x[0] ** 2,
    "minimize_scalar": lambda np, y: optimize.minimize_scalar(
        lambda x: (x - y[0] * y[1]) ** 2, bounds=np.array([-1.0, 3.0]), method="bounded", options={"xatol": 1e-12}
    ).x ** 2,
    "least_squares": lambda np, y: optimize.least_squares(
        lambda x: x - np.exp(y[:1]), np.ones(1), bounds=(np.array([-1.0]), np.array([3.0])), xtol=1e-15
    ).x[0],
    "curve_fit": lambda np, y: optimize.curve_fit(
        lambda x, a: a * x, np.arange(6.0), y**2, p0=np.ones(1), bounds=(np.array([-9.0]), np.array([9.0]))
    )[0][0],
    "quad": lambda np, y: integrate.quad(lambda x: x * np.exp(y[0]), 0, 1, weight="cos", wvar=np.array([2.0])[0])[0],
    "jv": lambda np, y: np.sum(special.jv(np.arange(6.0), y + 2.0)),
    "jac": lambda np, y: optimize.least_squares(
        lambda x: np.array([x[0] - y[0], x[1] * x[0] - 0.7]), [1.0, 0.5],
        jac=lambda x: np.array([[1.0, 0.0], [x[1], x[0]]]), xtol=1e-15, ftol=1e-15,
    ).x[1],
    "jac of arguments": lambda np, y: optimize.least_squares(
        lambda x, a: np.array([a * x[0] ** 2 - 1.0]), [1.0], jac=lambda x, a: np.array([[2 * a * x[0]]]), args=(y[1],),
        xtol=1e-15, ftol=1e-15,
    ).x[0],
    "jac of captures": lambda np, y: optimize.least_squares(
        lambda x: np.array([y[1] * x[0] ** 2 - 1.0]), [1.0], jac=lambda x: np.array([[2 * y[1] * x[0]]]),
        xtol=1e-15, ftol=1e-15,
    ).x[0],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_constants(name):
    program = PROGRAMS[name]
    f = lambda y: program(tnp, y)  # noqa: E731
    np.testing.assert_allclose(te.vjp(f, Y)[0], program(np, Y), rtol=1e-7)
    gradient = te.grad(f)(Y)
    steps = [(program(np, Y + h) - program(np, Y - h)) / 2e-4 for h in 1e-4 * np.eye(6)]
    np.testing.assert_allclose(gradient, steps, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, te.grad(lambda y: program(np, y))(Y), rtol=1e-12, atol=1e-12)
    curved = te.hvp(f, (Y,), (np.ones(6),))
    slopes = [te.grad(f)(Y + h) for h in (1e-4, -1e-4)]
    np.testing.assert_allclose(curved, (slopes[0] - slopes[1]) / 2e-4, rtol=1e-4, atol=1e-5)


def test_bounds_that_depend_on_inputs_are_refused():
    with pytest.raises(te.errors.UnsupportedError, match="bounds"):
        te.grad(lambda b: optimize.minimize(lambda x: (x[0] - 1.0) ** 2, [0.0], bounds=tnp.array([[b, 3.0]])).x[0])(
            -1.0
        )


SOLVERS = {
    "root": lambda f: optimize.root(f, np.ones(1), tol=1e-12).x[0],
    "root jac": lambda f: optimize.root(lambda x: (f(x), tnp.array([[1.0]])), np.ones(1), jac=True, tol=1e-12).x[0],
    "fsolve": lambda f: optimize.fsolve(f, np.ones(1), xtol=1e-12)[0],
    "newton": lambda f: optimize.newton(f, np.ones(1), tol=1e-12)[0],
    "brentq": lambda f: optimize.brentq(lambda x: tnp.sum(f(np.array([x]))), 0.5, 4.0),
    "least_squares": lambda f: optimize.least_squares(f, np.ones(1), xtol=1e-15, ftol=1e-15, gtol=1e-15).x[0],
    "minimize": lambda f: optimize.minimize(lambda x: tnp.sum(f(x) ** 2), np.ones(1), tol=1e-9).x[0],
    "solve_ivp": lambda f: integrate.solve_ivp(lambda t, y: f(y), (0.0, 0.1), np.ones(1), rtol=1e-9).y[0, -1],
    "odeint": lambda f: integrate.odeint(lambda y, t: f(y), np.ones(1), [0.0, 0.1], rtol=1e-9, atol=1e-9)[-1, 0],
    "quad": lambda f: integrate.quad(lambda t: tnp.sum(f(np.array([t]))), 0.0, 1.0)[0],
}
#: Functions without rules, of plain data only.
PASSED = {
    "quad_vec": lambda f: integrate.quad_vec(lambda t: f(np.array([t])), 0.0, 1.0)[0][0],
    "fixed_point": lambda f: optimize.fixed_point(lambda x: x - f(x) / 8, np.ones(1), xtol=1e-12)[0],
    "broyden1": lambda f: optimize.broyden1(f, np.ones(1), f_tol=1e-10)[0],
    "fmin_bfgs": lambda f: optimize.fmin_bfgs(lambda x: tnp.sum(f(x) ** 2), np.ones(1), disp=False)[0],
    "brute": lambda f: optimize.brute(lambda x: tnp.sum(f(np.atleast_1d(x)) ** 2), [(0.0, 3.0)])[0],
    "approx_fprime": lambda f: optimize.approx_fprime(np.ones(1), f).ravel()[0],
    "solve_bvp": lambda f: integrate.solve_bvp(
        lambda t, y: tnp.stack([f(y[0]), 0 * y[0]]), lambda a, b: tnp.array([a[0] - 1.0, b[1]]), [0, 0.1],
        np.ones((2, 2)),
    ).y[0, -1],
}  # fmt: skip
#: How a callable makes its result, of the root 2 where p is 1.
FORMS = {
    "array": lambda np, x, p: np.array([p * x[0] ** 2 - 4.0]),
    "ones": lambda np, x, p: np.ones(1) * p * x**2 - 4.0,
    "zeros": lambda np, x, p: np.zeros(1) + p * x**2 - 4.0,
    "concatenate": lambda np, x, p: np.concatenate([np.full(0, 1.0), p * x**2 - 4.0]),
    "stored": lambda np, x, p: _stored(np, p * x[0] ** 2 - 4.0),
}


def _stored(np, value):
    result = np.zeros(1)
    result[0] = value
    return result


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", {**SOLVERS, **PASSED})
def test_callables_make_constants(name, form):
    """Inside a trace, functions of tapeengine.numpy give arrays of the engine, also of plain data."""
    if name == "solve_bvp" and form != "ones":
        pytest.skip("its points are many")
    solve, make = {**SOLVERS, **PASSED}[name], FORMS[form]
    expected = solve(lambda x: make(np, x, 1.0))
    found = te.grad(lambda p: p * solve(lambda x: make(tnp, x, 1.0)))(1.3)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SOLVERS)
def test_callables_make_constants_in_calls_that_run_again(name, form):
    def solution(p):
        return SOLVERS[name](lambda x: FORMS[form](tnp, x, p))

    expected = te.grad(solution)(1.2)
    for again in (
        te.checkpoint,
        lambda program: lambda p: te.iterate(program, 1, p),
        lambda program: lambda p: te.fork(lambda: program(p))[0],
    ):
        assert te.grad(again(solution))(1.2) == pytest.approx(expected, rel=1e-9)


METHODS = "CG BFGS Newton-CG L-BFGS-B TNC SLSQP trust-constr dogleg trust-ncg trust-exact trust-krylov".split()
#: Solvers with derivatives that the caller gives as arrays of tapeengine.numpy, and the method.
GIVEN = {
    "minimize": lambda p, method: optimize.minimize(
        lambda x: (x[0] - p) ** 2 + x[1] ** 2, np.ones(2), method=method, tol=1e-10,
        jac=lambda x: tnp.array([2 * (x[0] - p), 2 * x[1]]), hess=lambda x: tnp.array([[2.0, 0.0], [0.0, 2.0]]),
    ).x[0],
    "minimize with products": lambda p, method: optimize.minimize(
        lambda x: (x[0] - p) ** 2 + x[1] ** 2, np.ones(2), method=method, tol=1e-10,
        jac=lambda x: tnp.array([2 * (x[0] - p), 2 * x[1]]), hessp=lambda x, v: tnp.array([2 * v[0], 2 * v[1]]),
    ).x[0],
    "root": lambda p, method: optimize.root(
        lambda x: tnp.array([x[0] - p, x[1]]), np.ones(2), jac=lambda x: tnp.eye(2), method=method
    ).x[0],
    "fsolve": lambda p, _: optimize.fsolve(
        lambda x: tnp.array([x[0] - p, x[1]]), np.ones(2), fprime=lambda x: tnp.eye(2)
    )[0],
    "root_scalar": lambda p, method: optimize.root_scalar(
        lambda x: tnp.sum(tnp.array([x, -p])), x0=1.0, method=method, fprime=lambda x: tnp.sum(tnp.ones(1)),
        fprime2=lambda x: tnp.sum(tnp.zeros(1)),
    ).root,
    "newton": lambda p, _: optimize.newton(
        lambda x: tnp.array([x[0] - p]), np.ones(1), fprime=lambda x: tnp.ones(1), fprime2=lambda x: tnp.zeros(1)
    )[0],
    "least_squares": lambda p, method: optimize.least_squares(
        lambda x: tnp.array([x[0] - p, x[1]]), np.ones(2), jac=lambda x: tnp.eye(2), method=method
    ).x[0],
    "curve_fit": lambda p, _: optimize.curve_fit(
        lambda x, a: a * x, np.arange(1.0, 4.0), p * tnp.arange(1.0, 4.0), jac=lambda x, a: tnp.reshape(x, (-1, 1))
    )[0][0],
}  # fmt: skip
WITH = [
    *(("minimize", method) for method in METHODS),
    *(("minimize with products", method) for method in ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr")),
    *(("root", method) for method in ("hybr", "lm")),
    *(("root_scalar", method) for method in ("newton", "halley")),
    *(("least_squares", method) for method in ("trf", "dogbox", "lm")),
    *((name, None) for name in ("fsolve", "newton", "curve_fit")),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "method"), WITH)
def test_derivatives_given_as_constants_made_in_traces(name, method):
    value, slope = te.value_and_grad(lambda p: GIVEN[name](p, method))(1.7)
    assert value == pytest.approx(1.7, rel=1e-5)
    assert slope == pytest.approx(1.0, rel=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "method"), WITH)
def test_solvers_of_constants_have_the_bits_of_scipy(name, method):
    """In lifted code all arrays are made in the trace, starting points and the callables' results as well."""
    plain, lifted = GIVEN[name](1.7, method), te.lift(GIVEN[name])
    assert te.value_and_grad(lambda p: p * lifted(1.7, method))(2.0) == (2.0 * plain, plain)


#: Made of matrices A of a format, and of dense arrays.
SPARSE = {
    **{f"{name} of dense": lambda np, s, a, name=name: getattr(s, name)(np.array([[1.5, 0.0], [0.0, 4.0]]))
       for name in ("csr_matrix", "csc_array", "coo_matrix", "coo_array", "dia_matrix", "lil_matrix", "bsr_array")},
    **{name: lambda np, s, a, name=name: getattr(s, name)([a, a]) for name in ("vstack", "hstack", "block_diag")},
    "bmat": lambda np, s, a: s.bmat([[a, None], [None, a]]),
    "block_array": lambda np, s, a: s.block_array([[a, a], [a, None]]),
    "kron": lambda np, s, a: s.kron(a, s.identity(2)) + s.kron(s.eye_array(2), a),
    "diags": lambda np, s, a: s.diags([np.ones(2), -2.0 * np.ones(3)], [-1, 0]) @ s.eye(3),
    "diags of vstack": lambda np, s, a: s.vstack([s.diags([np.ones(2)], [0]), a]),
    "lil": lambda np, s, a: _set(a.tolil()),
    "find": lambda np, s, a: s.find(a)[2],
    "compressed": lambda np, s, a: s.csr_matrix((np.array([1.0, 2.0]), np.array([0, 1]), np.array([0, 1, 2]))),
    "products": lambda np, s, a: a @ a.T + a.multiply(a) - 2.0 * a / 3.0,
    "dense": lambda np, s, a: a @ np.array([1.0, 2.0]),
    "attributes": lambda np, s, a: a.tocsc().data * a.nnz,
    "paths": lambda np, s, a: s.csgraph.shortest_path(abs(a).tocsr()),
    "expm": lambda np, s, a: s.linalg.expm(a.tocsc()),
    "norm": lambda np, s, a: s.linalg.norm(a),
    "eigs": lambda np, s, a: s.linalg.eigsh(s.diags(np.arange(1.0, 9.0)), k=1, v0=np.ones(8))[0],
    "solve": lambda np, s, a: s.linalg.spsolve(a.tocsc(), np.ones(2)),
    "factorized": lambda np, s, a: s.linalg.factorized(a.tocsc())(np.ones(2)),
    "frozen": lambda np, s, a: stats.multivariate_normal(np.zeros(2), np.eye(2)).cdf(np.zeros(2)),
}  # fmt: skip


def _set(a):
    a[0, 1] = 3.0
    return a


def _number(result):
    result = result.toarray() if hasattr(result, "toarray") else result
    return float(np.sum(np.asarray(result) * np.cos(np.arange(np.size(result))).reshape(np.shape(result))))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["coo_matrix", "csr_array", "csc_matrix", "dia_array"])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_matrices_of_constants_are_scipys(name, kind):

    def program(x, name, kind, make):
        import numpy as np
        import scipy.sparse

        a = getattr(scipy.sparse, kind)(scipy.sparse.coo_array((np.array([1.0, 2.0]), ([0, 1], [1, 0]))))
        return make(np, scipy.sparse, a) * x

    wanted = _number(program(1.0, name, kind, SPARSE[name]))
    make = te.lift(SPARSE[name])
    found, slope = te.value_and_grad(lambda x: _sum(te.lift(program)(x, name, kind, make)))(2.0)
    assert (found, slope) == (2.0 * wanted, pytest.approx(wanted, rel=1e-12))


def _sum(result):
    result = result.toarray() if hasattr(result, "toarray") else result
    return tnp.sum(result * np.cos(np.arange(np.size(result))).reshape(np.shape(result)))
