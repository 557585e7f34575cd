import functools
import re

import numpy as np
import pytest
import scipy.optimize
from differences import assert_gradient, assert_second_order, gradient

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import optimize

WEIGHTS = np.array([1.0, 2.0])


class Hidden:
    """Holds a value in a class attribute, where the search does not look."""

    value = 0.0


GLOBAL = []


def equations(x, p):
    return [x[0] ** 3 + p[0] * x[1] - 1.0, x[1] ** 3 - x[0] * p[1] + x[1]]


def test_brentq_to_third_order():
    root = lambda a: optimize.brentq(lambda x: x * x - a, 0.0, 10.0)  # noqa: E731
    assert root(4.0) == pytest.approx(2.0)
    assert te.grad(root)(4.0) == pytest.approx(1 / 4)
    assert te.grad(te.grad(root))(4.0) == pytest.approx(-1 / 32)
    assert te.grad(te.grad(te.grad(root)))(4.0) == pytest.approx(3 / 256)


@pytest.mark.parametrize("how", ["args", "closure", "partial", "default", "method", "nested"])
def test_parameters_are_found_wherever_the_callable_holds_them(how):
    class Model:
        def __init__(self, p):
            self.settings = {"p": p}

        def residual(self, x):
            return equations(x, self.settings["p"])

    def program(p):
        def inner(x):
            return equations(x, p)

        callables = {
            "args": (equations, (p,)),
            "closure": (lambda x: tnp.array(equations(x, p)), ()),
            "partial": (functools.partial(equations, p=p), ()),
            "default": (lambda x, p=p: equations(x, p), ()),
            "method": (Model(p).residual, ()),
            "nested": (lambda x: inner(x), ()),
        }
        fun, args = callables[how]
        return np.sum(optimize.fsolve(fun, np.array([0.6, 0.3]), args, xtol=1e-13) * WEIGHTS)

    assert_gradient(program, [1.3, 0.7])
    assert_second_order(program, [1.3, 0.7])


def test_traced_globals_are_found_and_attributes_of_classes_refused_with_advice():
    def program(a):
        GLOBAL[:] = [a]
        return optimize.brentq(lambda x, b: x * x - GLOBAL[0] - b, 0.0, 10.0, args=(a,))

    def hidden(a):
        Hidden.value = a
        return optimize.brentq(lambda x, b: x * x - Hidden.value - b, 0.0, 10.0, args=(a,))

    np.testing.assert_allclose(te.grad(program)(2.0), 0.5, rtol=1e-12)
    with pytest.raises(UnsupportedError, match="args="):
        te.grad(hidden)(2.0)


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov"])
def test_root(method):
    def program(p):
        found = optimize.root(equations, np.array([0.6, 0.3]), args=(p,), method=method, tol=1e-13)
        assert found.success
        return np.sum(found.x * WEIGHTS)

    if method != "krylov":
        assert_gradient(program, [1.3, 0.7])
    np.testing.assert_allclose(gradient(program, [1.3, 0.7]), gradient(lambda p: fsolved(p), [1.3, 0.7]), rtol=1e-5)


def fsolved(p):
    return np.sum(optimize.fsolve(equations, np.array([0.6, 0.3]), (p,), xtol=1e-13) * WEIGHTS)


def test_root_with_a_jacobian_and_a_scalar_root():
    slope = lambda x, a: np.array([[2 * x[0]]])  # noqa: E731
    program = lambda a: optimize.root(lambda x, a: x**2 - a, np.array([1.0]), args=(a,), jac=slope).x[0]  # noqa: E731
    assert te.grad(program)(4.0) == pytest.approx(0.25)
    scalar = lambda a: optimize.root_scalar(lambda x: x * x - a, bracket=(0.0, 9.0)).root  # noqa: E731
    assert te.grad(scalar)(4.0) == pytest.approx(0.25)


def test_no_solution_is_no_derivative():
    with pytest.raises(UnsupportedError, match="did not converge"):
        te.grad(lambda a: optimize.root(lambda x: x**2 + a, np.array([1.0])).x[0])(1.0)


@pytest.mark.parametrize("method", [None, "BFGS", "Newton-CG", "L-BFGS-B", "Nelder-Mead"])
def test_minimize(method):
    options = {"Nelder-Mead": {"xatol": 1e-10, "fatol": 1e-14}, "L-BFGS-B": {"gtol": 1e-10, "ftol": 1e-15}}.get(method)

    def program(k):
        loss = lambda x: np.sum((x - k) ** 2) + x[0] * x[1] + 0.1 * np.sum(x**4)  # noqa: E731
        found = optimize.minimize(loss, np.array([0.5, 0.5]), method=method, tol=1e-10, options=options)
        return np.sum(found.x * WEIGHTS) + found.fun

    expected = gradient(newton_minimum, [0.7, 1.2])
    np.testing.assert_allclose(gradient(program, [0.7, 1.2]), expected, rtol=1e-4)


def newton_minimum(k):
    slope = lambda x: 2 * (x - k) + x[::-1] + 0.4 * x**3  # noqa: E731
    x = optimize.fsolve(slope, np.array([0.5, 0.5]), xtol=1e-13)
    return np.sum(x * WEIGHTS) + np.sum((x - k) ** 2) + x[0] * x[1] + 0.1 * np.sum(x**4)


def test_minimize_reference_is_right():
    assert_gradient(newton_minimum, [0.7, 1.2])


def test_components_on_a_bound_are_constant():
    def program(k, bounds):
        loss = lambda x: np.sum((x - k) ** 2) + x[0] * x[1]  # noqa: E731
        return np.sum(optimize.minimize(loss, np.array([0.0, 0.5]), bounds=bounds).x * WEIGHTS)

    for bounds in ([(None, 0.1), (0.0, None)], scipy.optimize.Bounds([-np.inf, 0.0], [0.1, np.inf])):
        np.testing.assert_allclose(gradient(lambda k, b=bounds: program(k, b), [0.7, 1.2]), [0.0, 2.0], atol=1e-12)


def test_minimize_with_jac():
    both = lambda x, k: (np.sum((x - k) ** 2), 2 * (x - k))  # noqa: E731
    program = lambda k: np.sum(optimize.minimize(both, np.zeros(2), (k,), jac=True).x * WEIGHTS)  # noqa: E731
    np.testing.assert_allclose(gradient(program, [0.7, 1.2]), WEIGHTS)
    loss, slope = (lambda x, k: np.sum((x - k) ** 2)), (lambda x, k: 2 * (x - k))
    program = lambda k: np.sum(optimize.minimize(loss, np.zeros(2), (k,), jac=slope).x * WEIGHTS)  # noqa: E731
    np.testing.assert_allclose(gradient(program, [0.7, 1.2]), WEIGHTS)


def test_constraints_are_refused():
    constraint = {"type": "eq", "fun": lambda x: x[0]}
    with pytest.raises(UnsupportedError, match="constrained"):
        gradient(
            lambda k: optimize.minimize(lambda x: np.sum((x - k) ** 2), np.zeros(2), constraints=constraint).fun,
            [1.0, 2.0],
        )


def test_plain_values_are_scipys():
    start = np.array([0.6, 0.3])
    ours, theirs = (
        module.root(equations, start, args=(np.array([1.3, 0.7]),)) for module in (optimize, scipy.optimize)
    )
    np.testing.assert_array_equal(ours.x, theirs.x)
    assert optimize.brentq(np.cos, 1.0, 2.0) == scipy.optimize.brentq(np.cos, 1.0, 2.0)


def test_large_and_shared_captures_are_visited_once():
    shared = [1.0]
    for _ in range(60):
        shared = [shared, shared]  # 2^60 paths

    class Model:
        def __init__(self, a):
            self.a, self.table, self.itself = a, shared, self

        def residual(self, x):
            return x * x - self.a

    assert te.grad(lambda a: optimize.brentq(Model(a).residual, 0.0, 10.0))(4.0) == pytest.approx(0.25)


FORMS = {
    "vector": lambda x, b: (x - b) ** 2,
    "kept axes": lambda x, b: tnp.sum((x - b) ** 2, keepdims=True),
    "list": lambda x, b: [tnp.sum((x - b) ** 2)],
    "matrix": lambda x, b: tnp.array([[tnp.sum((x - b) ** 2)]]),
    "no axes": lambda x, b: tnp.array(tnp.sum((x - b) ** 2)),
}


@pytest.mark.parametrize("method", [None, "CG", "Nelder-Mead", "SLSQP"])
@pytest.mark.parametrize("form", FORMS)
def test_an_objective_may_be_an_array_of_one_element(form, method):
    """SciPy reads the number in it."""

    def found(module, b):
        return module.minimize(FORMS[form], [1.0], args=[b], method=method, options={"disp": False})

    plain, (value, back) = found(scipy.optimize, 2.0), te.vjp(lambda b: found(optimize, b).fun, 2.0)
    assert type(value) is type(plain.fun) and value == pytest.approx(plain.fun, abs=1e-8)
    assert back(1.0)[0] == pytest.approx(0.0, abs=1e-6)
    assert te.grad(lambda b: found(optimize, b).x[0])(2.0) == pytest.approx(1.0, abs=1e-6)


#: Calls of solvers, whose callables have more arguments in each form that SciPy takes or refuses.
SOLVERS = {
    "newton": lambda o, args: o.newton(lambda x, *p: x * x - np.sum(p), 1.0, args=args),
    "newton of arrays": lambda o, args: o.newton(lambda x, *p: x * x - np.sum(p), np.ones(2), args=args),
    "fsolve": lambda o, args: o.fsolve(lambda x, *p: x * x - np.sum(p), 1.0, args=args),
    "root": lambda o, args: o.root(lambda x, *p: x * x - np.sum(p), 1.0, args=args).x,
    "root_scalar": lambda o, args: o.root_scalar(lambda x, *p: x - np.sum(p), bracket=(0, 9), args=args).root,
    "brentq": lambda o, args: o.brentq(lambda x, *p: x - np.sum(p), 0, 9, args=args),
    "least_squares": lambda o, args: o.least_squares(lambda x, *p: x - np.sum(p), 1.0, args=args).x,
    "minimize": lambda o, args: o.minimize(lambda x, *p: np.sum((x - np.sum(p)) ** 2), [0.0], args=args).x,
    "minimize_scalar": lambda o, args: o.minimize_scalar(lambda x, *p: (x - np.sum(p)) ** 2, args=args).x,
}


@pytest.mark.parametrize("form", [tuple, list, sum, lambda p: [[*p]]], ids=["tuple", "list", "number", "nested"])
@pytest.mark.parametrize("name", SOLVERS)
def test_arguments_of_callables_in_each_form(name, form):
    def run(module, p):
        return tnp.sum(SOLVERS[name](module, form([p, 1.5])))

    try:
        plain = run(scipy.optimize, 0.5)
    except TypeError:
        with pytest.raises(TypeError):
            te.vjp(lambda p: run(optimize, p), 0.5)
        return
    value, back = te.vjp(lambda p: run(optimize, p), 0.5)
    step = 1e-4
    slope = (run(scipy.optimize, 0.5 + step) - run(scipy.optimize, 0.5 - step)) / (2 * step)
    assert value == pytest.approx(plain, rel=1e-7) and back(1.0)[0] == pytest.approx(slope, rel=1e-3)


def kinked(p, x):
    return abs(x - p) + 0.1 * x**2


def smooth(p, x):
    return (x - p) ** 4 + 0.1 * x**2


@pytest.mark.parametrize("method", ["powell", "nelder-mead", "L-BFGS-B", "brent", "bounded", "golden"])
@pytest.mark.parametrize("derivative", [te.grad, lambda f: lambda p: te.jvp(f, (p,), (1.0,))[1]])
def test_minima_at_kinks_are_refused(method, derivative):
    """There the gradient jumps, and the implicit function theorem says nothing: the minimum is x = p."""

    def minimum(objective):
        if method in ("brent", "bounded", "golden"):
            bounds = (-1.0, 2.0) if method == "bounded" else None
            return lambda p: optimize.minimize_scalar(lambda x: objective(p, x), method=method, bounds=bounds).x
        return lambda p: optimize.minimize(lambda x: objective(p, x[0]), [0.3], method=method).x[0]

    with pytest.raises(UnsupportedError, match=r"a kink|did not converge"):
        derivative(minimum(kinked))(0.7)
    f = minimum(smooth)
    assert derivative(f)(0.7) == pytest.approx((f(0.75) - f(0.65)) / 0.1, rel=1e-2)


@pytest.mark.parametrize(
    "options",
    [{"maxfev": 5000}, {"epsfcn": 1e-8}, {"col_deriv": 0}, {"factor": 10}, {"method": "lm", "maxfev": 500},
     {"method": "dogbox"}, {"method": "trf", "max_nfev": 500}, {"method": "nonsense"},
     {"method": "lm", "bounds": (0, 3)}, {"nonsense": 3}],
)  # fmt: skip
def test_options_of_curve_fit_are_those_of_its_methods(options):
    x = np.linspace(0, 1, 8)
    y = 2 * np.exp(-1.3 * x) + 0.01 * np.cos(40 * x)

    def fit(module, y):
        return module.curve_fit(lambda x, a, b: a * tnp.exp(-b * x), x, y, p0=[1.0, 1.0], **options)[0]

    try:
        wanted = fit(scipy.optimize, y)
    except Exception as error:
        with pytest.raises(type(error), match="keyword argument" if "nonsense" in options else re.escape(str(error))):
            te.vjp(lambda y: fit(optimize, y), y)
    else:
        np.testing.assert_allclose(te.vjp(lambda y: fit(optimize, y), y)[0], wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["rosen", "rosen_der", "rosen_hess"])
@pytest.mark.parametrize("shape", [(1,), (2,), (5,), (3, 2), ()])
def test_rosenbrocks_function(name, shape):
    x = np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape)
    ours, theirs = getattr(optimize, name), getattr(scipy.optimize, name)
    try:
        wanted = theirs(x)
    except Exception as error:
        with pytest.raises(type(error)):
            te.vjp(ours, x)
        return
    np.testing.assert_allclose(te.vjp(ours, x)[0], wanted, rtol=1e-14)
    assert_gradient(lambda x: np.sum(np.sin(ours(x) / 100)), x)
    assert_second_order(lambda x: np.sum(np.sin(ours(x) / 100)), x)


def test_derivatives_of_rosenbrocks_function():
    x = np.array([0.3, -0.7, 1.2, 0.4])
    np.testing.assert_allclose(te.grad(optimize.rosen)(x), scipy.optimize.rosen_der(x), rtol=1e-13)
    np.testing.assert_allclose(te.hessian(optimize.rosen)(x), scipy.optimize.rosen_hess(x), rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(te.jacobian(optimize.rosen_der)(x), scipy.optimize.rosen_hess(x), rtol=1e-13, atol=1e-12)
    rows = te.vmap(te.grad(optimize.rosen))(np.stack([x, 2 * x]))
    np.testing.assert_allclose(rows, [scipy.optimize.rosen_der(x), scipy.optimize.rosen_der(2 * x)], rtol=1e-13)


def _bowl(t, a):
    return (t[0] - a) ** 2 * (1 + t[0] ** 2) + (t[1] - t[0] * a) ** 2 + a


OLDER = {
    "fmin": {"disp": 0, "xtol": 1e-9, "ftol": 1e-12},
    "fmin_powell": {"disp": 0, "xtol": 1e-9, "ftol": 1e-13},
    "fmin_cg": {"disp": 0, "gtol": 1e-8, "fprime": lambda t, a: te.grad(lambda t: _bowl(t, a))(t)},
    "fmin_bfgs": {"disp": 0},
    "fmin_l_bfgs_b": {"approx_grad": True, "factr": 10.0, "pgtol": 1e-9},
    "fmin_l_bfgs_b on a bound": {"approx_grad": True, "bounds": [(0.0, 0.5), (None, None)], "factr": 10.0},
}


@pytest.mark.parametrize("name", OLDER)
def test_older_functions_for_minima(name):
    def minimum(module, a):
        found = getattr(module, name.split(" ")[0])(_bowl, [0.0, 1.0], args=(a,), **OLDER[name])
        return found[:2] if isinstance(found, tuple) else (found, _bowl(found, a))

    for k in (0, 1):
        value, slope = te.jvp(lambda a, k=k: minimum(optimize, a)[k], (0.7,), (1.0,))
        wanted = minimum(scipy.optimize, 0.7)[k]
        np.testing.assert_array_equal(value, wanted)
        assert type(value) is type(wanted)
        ends = [minimum(scipy.optimize, 0.7 + h)[k] for h in (1e-3, -1e-3)]
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-3, rtol=1e-3, atol=1e-4)


def test_older_functions_with_value_and_gradient_together_or_further_results():
    def both(t, a):
        value, back = te.vjp(lambda t: _bowl(t, a), t)
        return value, back(1.0)[0]

    solve = lambda a: optimize.fmin_l_bfgs_b(both, [0.0, 1.0], args=(a,), factr=10.0, pgtol=1e-10)[0][1]  # noqa: E731
    assert te.grad(solve)(0.7) == pytest.approx(1.4, rel=1e-6)
    with pytest.raises(te.errors.UnsupportedError, match="use minimize"):
        te.grad(lambda a: optimize.fmin(_bowl, [0.0, 1.0], args=(a,), full_output=1)[1])(0.7)
