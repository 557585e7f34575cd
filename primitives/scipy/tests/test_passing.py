"""SciPy's names without rules: usable on plain values, refused on traced ones, wherever these are hidden."""

import copy
import functools
import inspect
from importlib import import_module

import numpy as np
import pytest
import scipy
import scipy.cluster.vq
import scipy.constants
import scipy.interpolate
import scipy.linalg
import scipy.sparse
import scipy.stats

import tapeengine as te
import tapeengine_scipy
from tapeengine.errors import TapeEngineError, UnsupportedError
from tapeengine_scipy import fft, integrate, interpolate, linalg, optimize, signal, sparse, stats
from tapeengine_scipy._passing import Passed

MODULES = (
    "fft integrate interpolate linalg ndimage optimize signal sparse sparse.linalg spatial.distance special stats"
).split()
CALLABLES = set("fun func f function integrand fprime operator callback statistic jac g mv matvec".split())


def public(module):
    theirs = import_module(f"scipy.{module}")
    return [name for name in theirs.__all__ if hasattr(theirs, name)]


def test_the_package_stands_in_for_scipy():
    for name in set(scipy.__all__):
        ours, theirs = getattr(tapeengine_scipy, name), getattr(scipy, name)
        assert name in dir(tapeengine_scipy)
        if inspect.ismodule(theirs):
            assert [other for other in getattr(theirs, "__all__", ()) if not hasattr(ours, other)] == []
    assert tapeengine_scipy.constants.c == scipy.constants.c
    assert tapeengine_scipy.cluster.vq.whiten(np.eye(2)).tolist() == scipy.cluster.vq.whiten(np.eye(2)).tolist()
    with pytest.raises(UnsupportedError, match=r"scipy\.constants\.convert_temperature"):
        te.grad(lambda x: tapeengine_scipy.constants.convert_temperature(x, "C", "K"))(1.0)
    with pytest.raises(AttributeError):
        tapeengine_scipy.nonsense  # noqa: B018


@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_scipys_is_there(module):
    ours = import_module(f"tapeengine_scipy.{module}")
    assert [name for name in public(module) if not hasattr(ours, name)] == []
    assert set(public(module)) <= {*dir(ours), *vars(ours)}
    with pytest.raises(AttributeError):
        ours.no_such_name  # noqa: B018


def passed_functions():
    for module in MODULES:
        ours = import_module(f"tapeengine_scipy.{module}")
        for name in public(module):
            if isinstance(getattr(ours, name), Passed) and callable(getattr(ours, name).__wrapped__):
                yield f"{module}.{name}"


class Holder:
    def __init__(self, value):
        self.value = value

    def power(self, x):
        return x**2


HIDDEN = {
    "number": lambda x: x[0],
    "array": lambda x: x,
    "list": lambda x: [1.0, x[0]],
    "closure": lambda x: lambda y: x[0] * y,
    "default": lambda x: lambda y, p=x: p * y,
    "partial": lambda x: functools.partial(np.multiply, x),
    "object": lambda x: Holder({"a": [x]}),
    "objects": lambda x: np.array([None, x[0]], dtype=object),
}


@pytest.mark.parametrize("path", list(passed_functions()))
def test_a_traced_value_that_gets_into_a_passed_function_is_refused(path):
    module, _, name = path.rpartition(".")
    function = getattr(import_module(f"tapeengine_scipy.{module}"), name)
    for hide in HIDDEN.values():
        for call in (lambda x, h=hide: function(h(x)), lambda x, h=hide: function(1.0, key=h(x))):
            with pytest.raises(UnsupportedError, match=name):
                te.vjp(call, np.ones(2))


def test_every_function_of_a_callable_takes_a_traced_closure_or_refuses_it():
    """Functions without rules refuse all traced values; the others are covered by this package's tests."""
    differentiated = set()
    for module in MODULES:
        ours, theirs = import_module(f"tapeengine_scipy.{module}"), import_module(f"scipy.{module}")
        for name in public(module):
            function = getattr(theirs, name)
            takes = inspect.isfunction(function) and CALLABLES & set(inspect.signature(function).parameters)
            if takes and not isinstance(getattr(ours, name), Passed):
                differentiated.add(name)
    elsewhere = (
        "newton odeint cg gmres bicgstab least_squares leastsq curve_fit linprog funm leslie dblquad tplquad nquad "
        "fmin fmin_bfgs fmin_cg fmin_l_bfgs_b fmin_powell quad_vec solve_bvp"
    )
    assert differentiated == {*SOLVERS, *elsewhere.split()}


def root_of(solver):
    return lambda p: solver(lambda x: x**3 + x - p)


def minimum_of(solver):
    return lambda p: solver(lambda x: (x - p) ** 2 + 0.1 * x**4)


SOLVERS = {
    "quad": lambda p: integrate.quad(lambda x: np.sin(p * x), 0.0, 1.0)[0],
    "solve_ivp": lambda p: integrate.solve_ivp(lambda t, y: -p * y, (0.0, 1.0), [1.0], rtol=1e-10, atol=1e-12).y[0, -1],
    "root": root_of(lambda f: optimize.root(f, np.array([1.0]), tol=1e-13).x[0]),
    "fsolve": root_of(lambda f: optimize.fsolve(f, np.array([1.0]), xtol=1e-13)[0]),
    **{
        name: root_of(lambda f, name=name: getattr(optimize, name)(f, -5.0, 5.0))
        for name in ("bisect", "brenth", "brentq", "ridder", "toms748")
    },
    "root_scalar": root_of(lambda f: optimize.root_scalar(f, bracket=(-5.0, 5.0)).root),
    "minimize": minimum_of(lambda f: optimize.minimize(lambda x: f(x[0]), np.array([0.3]), tol=1e-12).x[0]),
    "minimize_scalar": minimum_of(lambda f: optimize.minimize_scalar(f, method="golden", tol=1e-9).x),
    "brent": minimum_of(optimize.brent),
    "golden": minimum_of(lambda f: optimize.golden(f, tol=1e-9)),
    "fminbound": minimum_of(lambda f: optimize.fminbound(f, -1.0, 4.0, xtol=1e-9)),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_of_traced_closures(name):
    solver, h = SOLVERS[name], 1e-2
    values = [float(solver(1.3 + k * h)) for k in (-2, -1, 1, 2)]
    expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert te.grad(solver)(1.3) == pytest.approx(expected, rel=2e-6)


HELD = {"p": 0.0}


def offset(x):
    return x**3 + x - HELD["p"]


def distance(x):
    return 0.1 * x**4 + (x - HELD["p"]) ** 2


OF_GLOBAL_DATA = {
    "quad": lambda: integrate.quad(offset, 0.0, 1.0)[0],
    "brentq": lambda: optimize.brentq(offset, -5.0, 5.0),
    "root_scalar": lambda: optimize.root_scalar(offset, bracket=(-5.0, 5.0)).root,
    "minimize_scalar": lambda: optimize.minimize_scalar(distance, method="golden", tol=1e-9).x,
}


@pytest.mark.parametrize("name", OF_GLOBAL_DATA)
def test_solvers_of_callables_that_read_traced_global_data(name):
    def solver(p):
        HELD["p"] = p
        return OF_GLOBAL_DATA[name]()

    h = 1e-2
    values = [float(solver(1.3 + k * h)) for k in (-2, -1, 1, 2)]
    expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert te.grad(solver)(1.3) == pytest.approx(expected, rel=2e-6)


class Attribute:
    p = 0.0


def least(**options):
    return lambda: optimize.minimize_scalar(lambda x: (x - Attribute.p) ** 2, **options).x


HIDING = {
    **{
        name: lambda name=name: getattr(optimize, name)(lambda x: x**3 + x - Attribute.p, -5.0, 5.0)
        for name in ("bisect", "brenth", "brentq", "ridder", "toms748")
    },
    "root": lambda: optimize.root(lambda x: x**3 + x - Attribute.p, np.array([1.0])).x[0],
    "fsolve": lambda: optimize.fsolve(lambda x: [x[0] - Attribute.p], [1.0])[0],
    "root_scalar": lambda: optimize.root_scalar(lambda x: x**3 - Attribute.p, bracket=(-5.0, 5.0)).root,
    "newton": lambda: optimize.newton(lambda x: x**3 - Attribute.p, 1.0),
    "slope": lambda: optimize.newton(lambda x: x**3 - 1.3, 1.0, lambda x: 3 * x**2 + 0.0 * Attribute.p),
    "golden": least(method="golden"),
    "golden with a bracket": least(method="golden", bracket=(0.0, 1.0, 2.5)),
    "brent": least(),
    "bounded": least(method="bounded", bounds=(0.0, 3.0)),
    "scipy's golden": lambda: optimize.golden(lambda x: (x - Attribute.p) ** 2, brack=(0.0, 1.0, 2.5)),
    "brute": lambda: optimize.brute(lambda x: (x[0] - Attribute.p) ** 2, ((0.0, 2.0),), finish=None),
    "minimize": lambda: optimize.minimize(lambda x: (x[0] - Attribute.p) ** 2, [1.0], method="Nelder-Mead").x[0],
    "minimize with derivatives": lambda: optimize.minimize(lambda x: (x[0] - Attribute.p) ** 2, [1.0]).x[0],
    "least_squares": lambda: optimize.least_squares(lambda x: [x[0] - Attribute.p], [1.0]).x[0],
    "curve_fit": lambda: optimize.curve_fit(lambda x, a: a * x * Attribute.p, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])[0][0],
    "fixed_point": lambda: optimize.fixed_point(lambda x: np.cos(x) * Attribute.p, 0.5),
    "quad": lambda: integrate.quad(lambda x: np.sin(Attribute.p * x), 0.0, 1.0)[0],
    "quad of numbers": lambda: integrate.quad(lambda x: te.math.sin(Attribute.p * x), 0.0, 1.0)[0],
    "dblquad": lambda: integrate.dblquad(lambda x, y: x * y * Attribute.p, 0.0, 1.0, 0.0, 1.0)[0],
    "solve_ivp": lambda: integrate.solve_ivp(lambda t, y: -Attribute.p * y, (0.0, 1.0), [1.0]).y[0, -1],
    "odeint": lambda: integrate.odeint(lambda y, t: -Attribute.p * y, 1.0, [0.0, 1.0])[-1, 0],
    "differential_evolution": lambda: optimize.differential_evolution(
        lambda x: (x[0] - Attribute.p) ** 2, [(0.0, 2.0)], rng=1, maxiter=2
    ).x[0],
}


@pytest.mark.parametrize("name", HIDING)
def test_solvers_refuse_values_that_their_callables_hide(name):
    """An attribute of a class is not found in a callable; the error is the engine's, whatever SciPy makes of it."""

    def program(p):
        Attribute.p = p
        return HIDING[name]()

    program(1.3)  # SciPy's function takes these arguments
    with pytest.raises(TapeEngineError, match=r"pass it in args|lose its derivative"):
        te.grad(program)(1.3)
    Attribute.p = 1.3
    assert te.grad(lambda x: x * HIDING[name]())(2.0) == HIDING[name]()  # plain values are SciPy's in a trace as well


CALLABLE_OBJECTS = {
    "spline": lambda: interpolate.splint(
        0.0, 2.0, scipy.interpolate.make_interp_spline(np.arange(5.0), np.arange(5.0))
    ),
    "operator": lambda: sparse.linalg.eigsh(
        scipy.sparse.linalg.aslinearoperator(np.diag(np.arange(1.0, 9.0))), k=1, v0=np.ones(8)
    )[0][0],
    "polynomial": lambda: integrate.quad(np.poly1d([1.0, 2.0]), 0.0, 1.0)[0],
    "method": lambda: integrate.quad(Holder(3.0).__class__.power.__get__(2.0), 0.0, 1.0)[0],
    "partial": lambda: optimize.brentq(functools.partial(np.subtract, 0.5), 0.0, 1.0),
    "ufunc": lambda: integrate.quad(np.sin, 0.0, 1.0)[0],
    "attributes": lambda: len(integrate.solve_ivp(lambda t, y: [-1.0], (0.0, 3.0), [1.0], events=ending).t_events[0]),
}


def ending(t, y):
    return y[0]


ending.terminal = True


@pytest.mark.parametrize("name", CALLABLE_OBJECTS)
def test_callable_objects_are_the_same_in_a_trace(name):
    found = []
    te.vjp(lambda x: [found.append(CALLABLE_OBJECTS[name]()), x][1], 1.0)
    assert found == [CALLABLE_OBJECTS[name]()]


def test_objects_of_scipys():
    assert stats.norm.ppf(0.5) == 0.0
    assert stats.norm(1.0, 2.0).std() == 2.0
    assert stats.norm.rvs(size=3, random_state=1).shape == (3,)
    assert stats.gompertz(3.0).mean() == scipy.stats.gompertz(3.0).mean()
    assert stats.poisson.ppf(0.5, 3.0) == scipy.stats.poisson.ppf(0.5, 3.0)
    assert stats.multivariate_normal.rvs(random_state=1) == scipy.stats.multivariate_normal.rvs(random_state=1)
    np.testing.assert_array_equal(fft.fftfreq(3), scipy.fft.fftfreq(3))
    np.testing.assert_array_equal(signal.windows.hann(4), scipy.signal.windows.hann(4))
    spline = interpolate.PchipInterpolator([0.0, 1.0], [0.0, 1.0])
    assert isinstance(spline, interpolate.PchipInterpolator)
    assert isinstance(scipy.sparse.eye_array(2), sparse.dia_array)
    assert interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0]).integrate(0.0, 2.0) > 1.0

    class Mine(stats.rv_continuous):
        pass

    assert issubclass(Mine, scipy.stats.rv_continuous)
    with pytest.raises(linalg.LinAlgError):
        linalg.inv(np.zeros((2, 2)))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: stats.skewnorm.isf(x, 2.0),
        lambda x: stats.norm(x).moment(2),
        lambda x: stats.skewnorm(2.0, 0.0, x).isf(0.3),
        lambda x: stats.gompertz(2.0).pdf(x),
        lambda x: stats.gompertz(x).mean(),
        lambda x: stats.gompertz.pdf(x, 2.0),
        lambda x: interpolate.Akima1DInterpolator([0.0, 1.0, 2.0], [0.0, 1.0, 3.0])(x),
        lambda x: interpolate.UnivariateSpline(np.arange(5.0), [0.0, x, 0.0, 1.0, 2.0]),
        lambda x: signal.windows.kaiser(3, x),
        lambda x: sparse.coo_array(([x], ([0], [0]))).tolil(),
    ],
)
def test_methods_of_scipys_objects_refuse_traced_values(program):
    with pytest.raises(TapeEngineError, match="derivative"):
        te.vjp(program, 0.4)


@pytest.mark.parametrize("module", MODULES)
def test_what_our_modules_need_themselves_hides_no_name_of_scipys(module):
    ours, theirs = import_module(f"tapeengine_scipy.{module}"), import_module(f"scipy.{module}")
    for name in set(vars(ours)) & set(theirs.__all__):
        value = vars(ours)[name]
        home = getattr(value, "__module__", None) or type(value).__module__
        if inspect.ismodule(value):
            assert inspect.ismodule(getattr(theirs, name)), name
        else:
            assert hasattr(value, "vjp_rules") or home.startswith(("tapeengine_scipy", "scipy")), name


@pytest.mark.parametrize("name", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_a_solvers_method_may_be_a_class_of_either_package(name):
    def end(k, method):
        return integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0], method=method).y[0, -1]

    for method in (getattr(integrate, name), getattr(scipy.integrate, name)):
        assert end(1.0, method) == end(1.0, name)
        assert te.value_and_grad(end)(1.0, method) == te.value_and_grad(end)(1.0, name)


def test_classes_that_are_passed_on_join_annotations_and_frozen_distributions_show_their_parameters():
    assert (optimize.OptimizeResult | None) == (scipy.optimize.OptimizeResult | None)
    assert (None | optimize.OptimizeResult) == (None | scipy.optimize.OptimizeResult)
    for made in (stats.norm(0.5, scale=2.0), copy.copy(stats.norm(0.5, scale=2.0))):
        theirs = scipy.stats.norm(0.5, scale=2.0)
        assert (made.args, made.kwds, made.dist.name) == (theirs.args, theirs.kwds, theirs.dist.name)
        with pytest.raises(AttributeError):
            _ = made.unknown
