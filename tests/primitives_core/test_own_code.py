"""Functions whose rules are numpy's own code, and the same with one traced argument beside plain ones."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine_primitives.own_code import RULES

A, V = numpy.array([[0.5, 1.5, -0.7], [2.0, 0.3, 0.9]]), numpy.array([0.7, 1.9, 3.2, 4.1])
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "weights of an average": lambda x: np.average(V, weights=[x, 1.0, x, 2.0]),
    "blocks": lambda x: np.block([[A, np.reshape([x, 1.0], (2, 1))]]),
    "end of differences": lambda x: np.diff(V, append=x),
    "both ends of differences": lambda x: np.ediff1d(V, to_end=x, to_begin=x * x),
    "base": lambda x: np.emath.logn(x, -V),
    "distance": lambda x: np.gradient(V, x, edge_order=2),
    "distances": lambda x: np.gradient(V, np.array([0.0, 1.0, x, 9.0])),
    "inserted": lambda x: np.insert(A, [0, 2], [[x], [2.0]], axis=1),
    "Kronecker product": lambda x: np.kron(A, [x, 1.0]),
    "constants of a pad": lambda x: np.pad(A, 1, constant_values=((x, 1.0), (2.0, x))),
    "ends of a pad": lambda x: np.pad(A, 2, "linear_ramp", end_values=x),
    "piece": lambda x: np.piecewise(V, [V > 2.0], [x, 0.0]),
    "constant of an integral": lambda x: np.polyint(V, 2, [x, 1.0]),
    "divisor": lambda x: np.polydiv(V, np.array([2.0, x]))[0],
    "weights of a fit": lambda x: np.polyfit(V, V**2 - 1.0, 1, w=np.array([x, 1.0, 2.0, x])),
    "residuals of a fit": lambda x: np.polyfit(V, np.array([1.0, x, 2.0, x * x]), 1, full=True)[1],
    "covariance of a fit": lambda x: np.polyfit(V, np.array([1.0, x, 2.0, x * x]), 1, cov=True)[1],
    "bins of a sample": lambda x: np.histogramdd(A.T, bins=[2, [0.0, x, 4.0]], weights=[x, 1.0, x * x])[0],
    "argument of a polynomial": lambda x: np.polyval(V, x),
    "step of an integral": lambda x: np.trapezoid(A, dx=x),
    "sums": lambda x: np.cumulative_sum(np.array([x, 1.0]), include_initial=True),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_traced_argument(name: str) -> None:
    def program(x: Any) -> Any:
        return np.sum(np.real(np.sin(PROGRAMS[name](x))))

    assert te.vjp(program, 2.5)[0] == program(2.5)
    difference = (program(2.5 + 1e-6) - program(2.5 - 1e-6)) / 2e-6
    assert te.grad(program)(2.5) == pytest.approx(difference, rel=1e-7, abs=1e-8)


def test_a_rule_has_the_name_of_numpys_function() -> None:
    assert all(rule.__name__ == function.__name__ for function, rule in RULES.items())
