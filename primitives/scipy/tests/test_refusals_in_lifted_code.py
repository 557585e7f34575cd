"""SciPy's own names in lifted code: without rules they refuse traced values, and are SciPy's for plain ones."""

import inspect
import pickle
from importlib import import_module

import numpy as np
import pytest
import scipy.differentiate
import scipy.integrate
import scipy.optimize
import scipy.stats

import tapeengine as te
from tapeengine.errors import TapeEngineError, UnsupportedError
from tapeengine_scipy import stats
from tapeengine_scipy._names import _UNCLEAR

UNRULED = [
    name
    for name, value in vars(scipy.stats).items()
    if isinstance(value, (scipy.stats.rv_continuous, scipy.stats.rv_discrete)) and name not in stats.__all__
]
CALLS = {
    "ode": lambda a: scipy.integrate.ode(lambda t, y: -a * y).set_initial_value([1.0], 0.0).integrate(1.0)[0],
    "tanhsinh": lambda a: scipy.integrate.tanhsinh(lambda t: np.exp(-a * t), 0.0, 1.0).integral,
    "nsum": lambda a: scipy.integrate.nsum(lambda k: 1.0 / k ** (1.0 + a), 1, 9).sum,
    "derivative": lambda a: scipy.differentiate.derivative(lambda x: a * x**2, 1.0).df,
    "direct": lambda a: scipy.optimize.direct(lambda x: (x[0] - a) ** 2, [(-1.0, 1.0)], maxiter=9).x[0],
    "Normal": lambda a: scipy.stats.Normal(mu=a, sigma=1.0).logpdf(0.3),
    "Uniform": lambda a: scipy.stats.Uniform(a=0.0, b=a).mean(),
    "Binomial": lambda a: scipy.stats.Binomial(n=3, p=a).mean(),
    "truncate": lambda a: scipy.stats.truncate(scipy.stats.Normal(mu=0.0), lb=a).mean(),
    "milp": lambda a: scipy.optimize.milp(np.ones(1) * a).x[0],
}
INSTEAD = {"ode": "solve_ivp", "tanhsinh": "quad", "derivative": r"tapeengine\.grad"}


@pytest.mark.parametrize("name", UNRULED)
@pytest.mark.parametrize("fixed", [False, True])
def test_distributions_without_rules(name, fixed):
    def density(s):
        distribution = getattr(scipy.stats, name)
        return distribution(s).cdf(0.5) if fixed else distribution.cdf(0.5, s)

    with pytest.raises(UnsupportedError, match=name):
        te.vjp(te.lift(density), 2.5)


@pytest.mark.parametrize("name", CALLS)
def test_functions_of_callables_without_rules(name):
    with pytest.raises(UnsupportedError, match=INSTEAD.get(name, name)):
        te.grad(te.lift(CALLS[name]))(0.7)
    plain = CALLS[name](0.7)
    assert te.value_and_grad(te.lift(lambda a: a * CALLS[name](0.7)))(2.0) == (2.0 * plain, plain)


def test_distributions_of_plain_parameters_at_traced_points():
    def density(x):
        return scipy.stats.Normal(mu=0.5, sigma=2.0).logpdf(x) + scipy.stats.Uniform(a=0.0, b=4.0).cdf(x)

    assert te.value_and_grad(te.lift(density))(1.3) == (density(1.3), pytest.approx(-0.2 + 0.25))


def test_errors_of_distributions_are_the_engines():
    for program in (lambda a: scipy.stats.Normal(mu=a).mean(), te.lift(lambda a: (scipy.stats.Normal() * a).mean())):
        with pytest.raises(UnsupportedError, match=r"real dtype.*functions of SciPy take plain numbers"):
            te.grad(program)(1.2)


X, A = np.linspace(0.5, 2.0, 12), np.diag([2.0, 3.0, 4.0]) + 0.1
#: Arguments that one of the functions takes, each of which is tried.
GIVEN = [(1.5,), (1.5, 2.5), (A, X[:3]), (A,), ([1.0, 0.5], [1.0, 0.4, 0.3]), (X, X[::-1]), (X, 0.5), (A, A)]


@pytest.mark.parametrize(
    "path", [f"{module}.{name}" for module, names in _UNCLEAR.items() for name in names.split() if name not in CALLS]
)
@pytest.mark.filterwarnings("ignore")
def test_functions_with_errors_of_their_own_that_are_unclear(path):
    module, _, name = path.rpartition(".")
    theirs, tried = getattr(import_module(module), name), 0
    program = te.lift(eval(f"lambda *args: theirs.{name}(*args)", {"theirs": import_module(module)}))
    for args in GIVEN:
        try:
            theirs(*args)
        except Exception:
            continue
        tried += 1
        with pytest.raises(UnsupportedError, match=name):
            te.vjp(lambda *args: program(*args) and 0.0, *args)
    assert tried or {"f", "func"} & set(inspect.signature(theirs).parameters)  # tried by test_direct.py


def test_arrays_that_depend_on_no_input_are_plain():
    def scaled(k):
        places = np.linspace(0.1, 1.0, 3)
        return k * (scipy.stats.fisk.pdf(places, 2.0) + scipy.stats.fisk(np.ones(3) + 1.0).cdf(places)).sum()

    assert te.value_and_grad(te.lift(scaled))(2.0) == (scaled(2.0), scaled(1.0))


class Solver(scipy.integrate.ode):
    pass


def test_objects_without_rules_are_scipys_to_lifted_code():
    def of_lifted():
        class Mine(scipy.integrate.ode):
            pass

        assert isinstance(Solver(lambda t, y: y), scipy.integrate.ode)
        there = pickle.loads(pickle.dumps((scipy.stats.fisk, scipy.stats.fisk(2.0))))
        assert isinstance(scipy.stats.fisk, scipy.stats.rv_continuous)
        assert isinstance(Mine(lambda t, y: y), scipy.integrate.ode)
        return there[0].pdf(0.5, 2.0) + there[1].mean()

    assert te.lift(of_lifted)() == of_lifted()


SOLVERS = {
    "fsolve": lambda a: scipy.optimize.fsolve(lambda p: p**2 - a, [1.0])[0],
    "leastsq": lambda a: scipy.optimize.leastsq(lambda p: p**2 - a, [1.0])[0][0],
    "root": lambda a: scipy.optimize.root(lambda p: p**2 - a, [1.0]).x[0],
    "curve_fit": lambda a: scipy.optimize.curve_fit(lambda t, p: a * p * t, [1.0, 2.0], [1.0, 2.0])[0][0],
}


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_of_scipy_itself_raise_the_engines_error(name):
    with pytest.raises(TapeEngineError, match=rf"{name}\(.*tapeengine_scipy\.optimize"):
        te.grad(SOLVERS[name])(0.7)


def test_an_error_of_minpack_about_plain_values_stays():
    with pytest.raises(Exception, match="not a proper array of floats") as error:
        te.grad(lambda a: scipy.optimize.fsolve(lambda p: [p[0]] if p[0] == 1.0 else "no", [1.0])[0] * a)(0.7)
    assert not isinstance(error.value, TapeEngineError)
