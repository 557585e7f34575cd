"""Replays of solvers see what the solver saw at its call, and leave alone what other replays of it use."""

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine_scipy import integrate, optimize

#: For each solver a number that depends on a function of one number.
SOLVERS: dict[str, Callable[[Any], Any]] = {
    "quad": lambda f: integrate.quad(f, 0.0, 2.0)[0],
    "odeint": lambda f: integrate.odeint(lambda y, t: [-f(y[0])], [1.5], [0.0, 0.5])[1, 0],
    "solve_ivp": lambda f: integrate.solve_ivp(lambda t, y: [-f(y[0])], (0.0, 0.5), [1.5]).y[0, -1],
    "brentq": lambda f: optimize.brentq(f, -1.0, 9.0),
    "newton": lambda f: optimize.newton(f, 1.0),
    "root_scalar": lambda f: optimize.root_scalar(f, bracket=(-1.0, 9.0)).root,
    "root": lambda f: optimize.root(lambda z: [f(z[0])], np.ones(1)).x[0],
    "fsolve": lambda f: optimize.fsolve(lambda z: [f(z[0])], np.ones(1))[0],
    "least_squares": lambda f: optimize.least_squares(lambda z: [f(z[0])], np.ones(1)).x[0],
    "minimize_scalar": lambda f: optimize.minimize_scalar(lambda z: (z - 1.0) ** 2 - 0.1 * f(z), (0.0, 0.5)).x,
}


def cubic(x: Any, k: Any, j: Any) -> Any:
    return 0.1 * x * x * x + x - k * (j + 1.0)


def a_variable(solve: Any, k: Any) -> Any:
    total = 0.0
    for j in (0.0, 1.0):
        total = total + solve(lambda x: cubic(x, k, j))  # noqa: B023
    return total


def a_traced_variable(solve: Any, k: Any) -> Any:
    total, j = 0.0, 0.5 * k
    for _ in range(2):
        total = total + solve(lambda x: cubic(x, k, j))  # noqa: B023
        j = 0.1 * total
    return total


def a_list(solve: Any, k: Any) -> Any:
    total, found = 0.0, [0.5]
    for _ in range(2):
        total = total + solve(lambda x: cubic(x, k, sum(found)))
        found.append(0.3)
    return total


def a_traced_list(solve: Any, k: Any) -> Any:
    found = [0.5 * k]
    for _ in range(2):
        found.append(0.2 * solve(lambda x: cubic(x, k, sum(found))))
    return sum(found)


def an_array(solve: Any, k: Any) -> Any:
    total, j = 0.0, np.zeros(2)
    for _ in range(2):
        total = total + solve(lambda x: cubic(x, k, j[1]))
        j[1] += 1.0
    return total


def a_dict(solve: Any, k: Any) -> Any:
    total, j = 0.0, {"j": 0.0}
    for _ in range(2):
        total = total + solve(lambda x: cubic(x, k, j["j"]))
        j["j"] += 1.0
    return total


def an_object(solve: Any, k: Any) -> Any:
    total, j = 0.0, SimpleNamespace(j=0.0)
    for _ in range(2):
        total = total + solve(lambda x: cubic(x, k, j.j))
        j.j += 1.0
    return total


def a_log(solve: Any, k: Any) -> Any:
    """The function writes into what it captures."""
    total, calls = 0.0, [0.0]

    def logged(x: Any) -> Any:
        calls[0] = calls[0] + 1.0
        return cubic(x, k, 0.5)

    for _ in range(2):
        total = total + solve(logged)
    return total + calls[0]


CHANGES = [a_variable, a_traced_variable, a_list, a_traced_list, an_array, a_dict, an_object, a_log]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_after_the_call_is_as_it_was(change: Any, solver: str) -> None:
    def program(k: Any) -> Any:
        return change(SOLVERS[solver], k)

    staged = te.stage(program)
    for k in (0.5, 0.6, 0.5, 0.6, 0.5):
        assert te.value_and_grad(staged)(k) == te.value_and_grad(program)(k)
    assert (staged.refused, staged.stats().replays) == (None, 3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_backpropagators_outlive_other_replays(solver: str) -> None:
    """Threads hold several at a time: any order of calls, products and ends of backpropagators gives the same."""

    def program(k: Any) -> Any:
        return SOLVERS[solver](lambda x: cubic(x, k, 0.5))

    staged, points, draw = te.stage(program), (0.5, 0.6, 0.7), random.Random(1)
    wanted = {k: te.value_and_grad(program)(k) for k in points}
    held: list[Any] = []
    for _ in range(40):
        if held and draw.random() < 0.5:
            k, value, back = held.pop(draw.randrange(len(held)))
            assert (value, back(1.0)[0]) == wanted[k]
        else:
            k = draw.choice(points)
            held.append((k, *te.vjp(staged, k)))
            if draw.random() < 0.4:
                held.pop()
    assert staged.refused is None
    assert staged.stats().replays > 8
