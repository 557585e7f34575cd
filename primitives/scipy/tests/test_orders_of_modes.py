"""Derivatives of solutions, of every order, by every sequence of forward and reverse mode.

Each solution is that of one equation, ``cos(x) = a x`` or one of the same solution.
"""

import itertools

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
from tapeengine_scipy import optimize

#: The solution at a = 1 and its first three derivatives, by mpmath with 40 digits.
EXACT = [0.739085133215160642, -0.441610791705328381, 0.441610791705328381, -0.567895355203113845]
MODES = {
    "grad": te.grad,
    "jvp": lambda f: lambda a: te.jvp(f, (a,), (1.0,))[1],
    "jacfwd": te.jacfwd,
}
CLOSE = {"xtol": 1e-14, "rtol": 1e-14}


def equation(x, a):
    return tm.cos(x) - a * x


def of_arrays(x, a):
    return np.cos(x) - a * x


def by_bracket(name, **options):
    return lambda a: getattr(optimize, name)(lambda x: equation(x, a), 0.0, 2.0, **options)


def by_args(name, *start):
    return lambda a: getattr(optimize, name)(equation, *start, args=(a,))


def nested(a):
    inner = lambda x: optimize.brentq(lambda y: y - equation(x, a), -9.0, 9.0, **CLOSE)  # noqa: E731
    return optimize.brentq(inner, 0.0, 2.0, **CLOSE)


def least(a, **options):
    return optimize.minimize(lambda x: np.sum(a * x**2 / 2 - np.sin(x)), np.full(2, 0.7), tol=1e-10, **options)


SOLVERS = {
    **{name: by_bracket(name, **CLOSE) for name in ("brentq", "brenth", "bisect", "ridder", "toms748")},
    "brentq of args": by_args("brentq", 0.0, 2.0),
    "newton": by_args("newton", 0.7),
    "root_scalar": lambda a: optimize.root_scalar(lambda x: equation(x, a), bracket=(0.0, 2.0), xtol=1e-14).root,
    "nested brentq": nested,
    "fsolve": lambda a: optimize.fsolve(lambda x: of_arrays(x, a), 0.7)[0],
    "fsolve of args": lambda a: optimize.fsolve(of_arrays, 0.7, (a,))[0],
    "root": lambda a: optimize.root(lambda x: of_arrays(x, a), 0.7).x[0],
    "minimize_scalar": lambda a: optimize.minimize_scalar(lambda x: a * x**2 / 2 - tm.sin(x), tol=1e-12).x,
    "minimize": lambda a: least(a).x[1],
    "minimize with bounds": lambda a: least(a, bounds=[(0, 2), (0, 2)]).x[1],
    "Nelder-Mead": lambda a: least(a, method="Nelder-Mead").x[1],
    "least_squares": lambda a: optimize.least_squares(lambda x: of_arrays(x, a), np.full(1, 0.7), xtol=1e-14).x[0],
}
ORDERS = [*itertools.product(MODES, repeat=2), ("jvp", "jvp", "jvp"), ("grad", "jvp", "grad"), ("jvp", "grad", "jvp")]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_sequence_of_modes_gives_the_same_derivative(solver):
    for modes in ORDERS:
        derivative = SOLVERS[solver]
        for mode in modes:
            derivative = MODES[mode](derivative)
        assert float(derivative(1.0)) == pytest.approx(EXACT[len(modes)], rel=1e-5), modes


@pytest.mark.parametrize("modes", ORDERS)
def test_the_least_value_has_the_derivatives_of_the_function_there(modes):
    derivative = lambda a: least(a).fun  # noqa: E731
    for mode in modes:
        derivative = MODES[mode](derivative)
    # The slope of the least value is the partial derivative of the sum, the square of the solution.
    x, slope, bend = EXACT[:3]
    assert float(derivative(1.0)) == pytest.approx((2 * x * slope, 2 * (slope**2 + x * bend))[len(modes) - 2], rel=1e-5)
