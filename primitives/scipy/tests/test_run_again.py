"""Callables of solvers behave the same when they run again: bound at the call, repeatable, without effects.

The expected derivative is that of the same program with a callable whose captured values do not change.
"""

from collections import UserDict

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError, RepeatError, UnsupportedError
from tapeengine_scipy import integrate, optimize


def by_odeint(f, k):
    return integrate.odeint(lambda y, t: -f(y, k), [1.0], [0.0, 0.4], rtol=1e-10, atol=1e-10)[-1, 0]


def by_solve_ivp(f, k, **options):
    options = {"rtol": 1e-10, "atol": 1e-10, **options}
    return integrate.solve_ivp(lambda t, y: -f(y, k), (0.0, 0.4), [1.0], **options).y[0, -1]


#: Each takes f(x, k) = x + k and a traced k, and returns a function of k.
SOLVERS = {
    "quad": lambda f, k: integrate.quad(lambda x: f(x, k) ** 2, 0.0, 1.0)[0],
    "quad to a traced end": lambda f, k: integrate.quad(lambda x: f(x, k) ** 2, 0.0, k)[0],
    "solve_ivp": by_solve_ivp,
    "solve_ivp by steps": lambda f, k: by_solve_ivp(f, k, differentiate="steps", rtol=1e-3),
    "odeint": by_odeint,
    "brentq": lambda f, k: optimize.brentq(lambda x: f(x, k) ** 3 - 2.0, -10.0, 10.0, xtol=1e-13),
    "root_scalar": lambda f, k: optimize.root_scalar(lambda x: f(x, k) ** 3 - 2.0, x0=1.0, x1=1.1).root,
    "root": lambda f, k: optimize.root(lambda x: f(x, k) ** 3 - 2.0, np.array([1.0]), tol=1e-13).x[0],
    "fsolve": lambda f, k: optimize.fsolve(lambda x: f(x, k) ** 3 - 2.0, np.array([1.0]), xtol=1e-13)[0],
    "minimize": lambda f, k: optimize.minimize(lambda x: np.sum((f(x, k) - 2.0) ** 2), np.array([1.0])).x[0],
    "minimize_scalar": lambda f, k: optimize.minimize_scalar(lambda x: (f(x, k) - 2.0) ** 2 * k, bracket=(0.0, 1.0)).x,
}
ORDERS = {
    "grad": lambda program: te.grad(program)(0.7),
    "jvp": lambda program: te.jvp(program, (0.7,), (1.0,))[1],
    "value": lambda program: te.vjp(program, 0.7)[0],
}


class Own:
    """An object of the user's program."""

    def __init__(self, value):
        self.value = value


def of_list(x):
    values = [x]
    return (lambda: values[0]), lambda: values.__setitem__(0, 7.0)


def of_array(x):
    values = np.array([x, 1.0])
    return (lambda: values[0]), lambda: values.fill(7.0)


def of_cell(x):
    value = x

    def change():
        nonlocal value
        value = 7.0

    return (lambda: value), change


def of_object(x):
    held = Own(x)
    return (lambda: held.value), lambda: setattr(held, "value", 7.0)


def of_dict(x):
    held = {"a": x}
    return (lambda: held["a"]), lambda: held.update(a=7.0)


def of_default(x):
    held = [x]

    def read(values=held):
        return values[0]

    return read, lambda: held.__setitem__(0, 7.0)


def of_class(x):
    Own.shared = x
    return (lambda: Own.shared), lambda: setattr(Own, "shared", 7.0)


def of_user_dict(x):
    held = UserDict(a=x)
    return (lambda: held["a"]), lambda: held.update(a=7.0)


NOT_BOUND = [of_class, of_user_dict]


@pytest.mark.parametrize("make", [of_list, of_array, of_cell, of_object, of_dict, of_default, *NOT_BOUND])
@pytest.mark.parametrize("solver", SOLVERS)
def test_what_the_callable_captures_is_bound_at_the_call(solver, make):
    def program(changes):
        def whole(k):
            read, change = make(1.0)
            found = SOLVERS[solver](lambda x, k: (x + k) * read(), k)
            if changes:
                change()
            return found

        return whole

    for order in ORDERS.values():
        try:
            found = order(program(True))
        except (RepeatError, UnsupportedError):
            assert make in NOT_BOUND
        else:
            np.testing.assert_array_equal(found, order(program(False)))


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_the_callable_leaves_behind(solver):
    def counting(k):
        runs, held = 0, Own(k)

        def f(x, k):
            nonlocal runs
            runs += 1
            held.runs = runs
            return x + held.value

        return SOLVERS[solver](f, k), runs, held.runs

    def keeping(k):
        last = None

        def f(x, k):
            nonlocal last
            last = x + k
            return last

        return np.sum(SOLVERS[solver](f, k) + last)

    plain = SOLVERS[solver](lambda x, k: x + k, 0.7)
    value, runs, known = te.vjp(counting, 0.7)[0]
    assert abs(value - plain) < 1e-6 and runs == known > 1
    for order in ORDERS.values():
        with pytest.raises(DroppedDerivativeError, match="writes"):
            order(keeping)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_callable_that_is_no_function_is_refused(solver):
    rng = np.random.default_rng(3)

    def noisy(draw):
        return lambda k: SOLVERS[solver](lambda x, k: (x + k) * (1.0 + 1e-9 * draw()), k)

    for draw in (np.random.normal, rng.normal, lambda: np.random.rand()):
        for order in ORDERS.values():
            with pytest.raises((RepeatError, UnsupportedError), match=r"does not give the same value twice|converge"):
                order(noisy(draw))


@pytest.mark.parametrize("solver", ["quad", "brentq", "root", "minimize"])
def test_a_callable_that_seeds_its_own_numbers_is_a_function(solver):
    def f(x, k):
        return (x + k) * (1.0 + 1e-3 * np.random.default_rng(0).random())

    found = te.grad(lambda k: SOLVERS[solver](f, k))(0.7)
    step = 1e-6
    wanted = (SOLVERS[solver](f, 0.7 + step) - SOLVERS[solver](f, 0.7 - step)) / (2 * step)
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
