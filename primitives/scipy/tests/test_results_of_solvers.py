"""Entries of solvers' results other than the solution: SciPy's values, derivatives by differences, or an error."""

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import tapeengine as te
import tapeengine.numpy as tnp
import tapeengine_scipy.integrate
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import optimize

TIMES = np.linspace(0.0, 1.0, 6)
DATA = np.array([1.0, 0.8, 0.5, 0.4, 0.35, 0.3])
TIGHT = {"xtol": 1e-13, "ftol": 1e-13, "gtol": 1e-13}


def fit(a):
    return optimize.least_squares(lambda q: a * q[0] * tnp.exp(-q[1] * TIMES) - DATA, [1.0, 1.0], **TIGHT)


def minimum(a):
    return optimize.minimize(lambda q: a * q[0] ** 2 + q[0] * q[1] + a * q[1] ** 2 - q[0], [1.0, 1.0])


def vertex(a):
    rows, limits = [[1.0, 1.0, 0.0], [a, 0.0, 1.0]], tnp.stack([a, 2.0])
    return optimize.linprog(tnp.stack([-1.0, -a, 0.3]), rows, limits, [[0.0, 1.0, 1.0]], [a * a / 2], (0.1, 5.0))


def root(a):
    return optimize.root(lambda x: tnp.stack([x[0] ** 2 - a, x[0] * x[1] - 1.0]), [1.0, 1.0])


def of_fsolve(a):
    return optimize.fsolve(lambda x: x**3 - a, [1.0, 2.0], full_output=True)[1]


def of_leastsq(a):
    residuals = lambda q: a * q[0] * tnp.exp(-q[1] * TIMES) - DATA  # noqa: E731
    return optimize.leastsq(residuals, [1.0, 1.0], full_output=True)[2]


def scalar(name):
    return lambda a: getattr(optimize, name)(lambda x: x**3 - a, 0.0, 2.0, full_output=True)[1]


#: The program, and what of its result is differentiated; differences of solutions are right to a few digits only.
KNOWN = {
    "jac of least_squares": (fit, lambda r: r.jac),
    "grad of least_squares": (fit, lambda r: r["grad"]),
    "covariance": (fit, lambda r: tnp.linalg.inv(r.jac.T @ r.jac)),
    "jac of minimize": (minimum, lambda r: r.jac),
    "fun of root": (root, lambda r: r.fun),
    "fvec of fsolve": (of_fsolve, lambda r: r["fvec"]),
    "fvec of leastsq": (of_leastsq, lambda r: r.get("fvec")),
    "newton": (lambda a: optimize.newton(lambda x: x**3 - a, 1.0, full_output=True)[1], lambda r: r.root),
    **{name: (scalar(name), lambda r: r.root) for name in ("bisect", "brenth", "brentq", "ridder", "toms748")},
    **{
        f"{entry} of {group}": (vertex, lambda r, group=group, entry=entry: r[group][entry])
        for group in ("eqlin", "ineqlin", "lower", "upper")
        for entry in ("marginals", "residual")
    },
    "slack": (vertex, lambda r: r.slack),
    "con": (vertex, lambda r: r.con),
}


@pytest.mark.parametrize("name", KNOWN)
def test_value_and_derivative(name):
    run, entry = KNOWN[name]
    value, tangent = te.jvp(lambda a: entry(run(a)), (1.7,), (1.0,))
    np.testing.assert_allclose(value, entry(run(1.7)), rtol=1e-6, atol=1e-6)
    expected = (np.asarray(entry(run(1.701))) - entry(run(1.699))) / 2e-3
    np.testing.assert_allclose(tangent, expected, rtol=1e-4, atol=1e-4)


#: Of the solver's steps.
REFUSED = {
    "hess_inv": (minimum, lambda r: r.hess_inv),
    "optimality": (fit, lambda r: r["optimality"]),
    "fjac of root": (root, lambda r: r.fjac),
    "r of fsolve": (of_fsolve, lambda r: r["r"]),
    "fjac of leastsq": (of_leastsq, lambda r: r["fjac"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_entries_without_a_derivative_are_refused_where_they_are_read(name):
    run, entry = REFUSED[name]
    assert np.size(entry(run(1.7)))
    with pytest.raises(UnsupportedError, match=name.split()[0]):
        te.grad(lambda a: np.sum(entry(run(a))))(1.7)


def test_a_result_is_shown_and_counted_as_scipys():
    shown = []

    def program(a):
        result = minimum(a)
        assert isinstance(result, scipy.optimize.OptimizeResult)
        shown.append((sorted(result), result.nfev > 0, result.success, "hess_inv" in repr(result)))
        return result.x[0]

    te.grad(program)(1.7)
    assert shown == [(sorted(minimum(1.7)), True, True, True)]


def kinds(found, depth=0):
    """The classes of numbers, tuples and entries of results; the numbers of evaluations may differ."""
    if isinstance(found, np.ndarray):
        return found.dtype, found.shape
    if isinstance(found, tuple):
        return type(found), *(kinds(part) for part in found)
    if isinstance(found, dict):
        return {name: kinds(part) for name, part in found.items() if name not in ("nfev", "njev", "tr_radius")}
    return type(found)


def square(x, a):
    return (x - a) ** 2


def total(x, a):
    return ((x - a) ** 2).sum()


#: Calls whose numbers have classes that depend on the arguments.
OF_NUMBERS = [
    *(lambda s, a, b=b, f=f: s.optimize.golden(square, (a,), b, full_output=f)
      for b in (None, (0.0, 1.0), (0.0, 0.5, 3.0), (0, 1, 3), [0.0, np.float64(0.5), 3.0]) for f in (0, 1)),
    *(lambda s, a, b=b: s.optimize.brent(square, (a,), b, full_output=1) for b in (None, (0.0, 1.0), (0.0, 0.5, 3.0))),
    *(lambda s, a, m=m, x=x: s.optimize.minimize(total, x, (a,), m)
      for m in ("BFGS", "trust-constr", "Powell") for x in ([1.0], [1.0, 2.0])),
    *(lambda s, a, m=m, x=x: s.optimize.root(lambda x, a: x**3 - a, x, (a,), m)
      for m in ("hybr", "krylov", "df-sane") for x in (1.0, [1.0, 1.2])),
    lambda s, a: s.integrate.quad_vec(lambda x: x * a, 0, 1), lambda s, a: s.integrate.quad(lambda x: x * a, 0, 1),
    lambda s, a: s.optimize.fminbound(square, 0.0, 3.0, (a,), full_output=1),
]  # fmt: skip


@pytest.mark.parametrize("kind", [float, np.float64])
@pytest.mark.filterwarnings("ignore")
def test_classes_of_numbers(kind):
    for k, call in enumerate(OF_NUMBERS):
        wanted = kinds(call(scipy, kind(1.1)))
        assert kinds(te.vjp(lambda a, call=call: call(tapeengine_scipy, a), kind(1.1))[0]) == wanted, k


@pytest.mark.parametrize("a", [1.1, np.float64(1.1), np.float32(1.1), np.full(2, 1.1, "f4"), 1.1 + 0.5j], ids=repr)
def test_what_a_callable_gets_has_the_classes_of_the_program(a):
    seen = []

    def objective(x, a):
        seen.append((type(a), getattr(a, "dtype", None)))
        return abs(x - a.real) ** 2 if np.ndim(a) == 0 else ((x - a) ** 2).sum()

    te.vjp(lambda a: optimize.minimize_scalar(objective, args=(a,)).x, a)
    assert (type(a), getattr(a, "dtype", None)) in seen
    assert {dtype for _, dtype in seen} == {getattr(a, "dtype", None)}
