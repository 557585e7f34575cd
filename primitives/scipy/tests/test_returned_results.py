"""Results of SciPy's functions that leave a trace keep their class, their attributes and what their methods compute."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from scipy.optimize import OptimizeResult

import tapeengine as te
from tapeengine_scipy import integrate, optimize, stats
from tapeengine_scipy._own_code import NAMES

POINT, OTHER, PLACES = np.array([1.0, 2.0, 3.0, 2.5, 4.0]), np.array([2.0, 1.0, 4.0, 4.1, 5.0]), np.arange(5.0)
#: Arguments that are tried for the functions whose rule is SciPy's own code, with data x.
GIVEN: list[Callable[[Any], tuple[Any, ...]]] = [
    lambda x: (x,),
    lambda x: (x, OTHER),
    lambda x: (x, 0.3),
    lambda x: (1.0, x),
    lambda x: (x[:3], x[1:]),
]


def quadratic(x: Any) -> Any:
    return lambda y: ((y - x[: len(y)]) ** 2).sum()


def bounds(a: Any, b: Any) -> Any:
    return np.array([a[0], b[0] - 1.0])


SOLVERS: dict[str, Callable[[Any], Any]] = {
    **{
        f"minimize {method}": lambda x, method=method: optimize.minimize(quadratic(x), np.zeros(5), method=method)
        for method in ("BFGS", "CG", "L-BFGS-B", "TNC", "SLSQP")
    },
    **{
        f"minimize_scalar {method}": lambda x, method=method: optimize.minimize_scalar(
            lambda y: (y - x[0]) ** 2, bounds=(0.0, 5.0) if method == "bounded" else None, method=method
        )
        for method in ("brent", "golden", "bounded")
    },
    **{
        f"root {method}": lambda x, method=method: optimize.root(lambda y: y - x, np.zeros(5), method=method)
        for method in ("hybr", "lm", "krylov")
    },
    **{
        f"root_scalar {method}": lambda x, method=method: optimize.root_scalar(
            lambda y: y**3 - x[0], bracket=(0.0, 9.0), method=method
        )
        for method in ("brentq", "bisect", "toms748")
    },
    **{
        name: lambda x, name=name: getattr(optimize, name)(lambda y: y**3 - x[0], 0.0, 9.0, full_output=True)
        for name in ("brentq", "brenth", "bisect", "ridder", "toms748")
    },
    "newton": lambda x: optimize.newton(lambda y: y - x[0], 0.0, full_output=True),
    "least_squares": lambda x: optimize.least_squares(lambda y: y - x, np.zeros(5)),
    "linprog": lambda x: optimize.linprog(np.ones(5), A_ub=-np.eye(5), b_ub=-x),
    "fsolve": lambda x: optimize.fsolve(lambda y: y - x, np.zeros(5), full_output=True),
    "leastsq": lambda x: optimize.leastsq(lambda y: y - x, np.zeros(5), full_output=True),
    "quad": lambda x: integrate.quad(lambda t: t * x[0], 0.0, 1.0, full_output=True),
    "quad_vec": lambda x: integrate.quad_vec(lambda t: t * x, 0.0, 1.0, full_output=True),
    "solve_ivp": lambda x: integrate.solve_ivp(lambda t, y: -y * x[0], (0.0, 1.0), [1.0]),
    "solve_ivp with events": lambda x: integrate.solve_ivp(
        lambda t, y: -y * x[0], (0.0, 1.0), [1.0], events=lambda t, y: y[0] - 0.5, dense_output=True
    ),
    "odeint": lambda x: integrate.odeint(lambda y, t: -y * x[0], 1.0, PLACES, full_output=True),
    "solve_bvp": lambda x: integrate.solve_bvp(
        lambda t, y: np.stack([y[1], -y[0] * x[0]]), bounds, np.linspace(0.0, 1.0, 5), np.ones((2, 5))
    ),
}


def of_own_code() -> dict[str, Callable[[Any], Any]]:
    """The functions whose rule is SciPy's own code and whose result is of a class of SciPy's."""
    found: dict[str, Callable[[Any], Any]] = {}
    for path, names in NAMES.items():
        for name, given in itertools.product(names.split(), GIVEN):
            with contextlib.suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if is_result(getattr(import_module(path), name)(*given(POINT))):
                    ours = getattr(import_module(f"tapeengine_{path}"), name)
                    found.setdefault(name, lambda x, ours=ours, given=given: ours(*given(x)))
    return found


def is_result(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.")


#: Entries that depend on how a minimum was found, and those that QUADPACK leaves undefined.
OF_THE_RUN = "nfev njev nit alist blist elist iord rlist".split()
PROGRAMS = {**SOLVERS, **of_own_code()}
LEAVING: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "vjp": lambda program: te.vjp(program, POINT)[0],
    "jvp": lambda program: te.jvp(program, (POINT,), (np.ones(5),))[0],
    "staged": lambda program: [te.vjp(again, x)[0] for again in [te.stage(program)] for x in (2 * POINT, POINT)][1],
    "has_aux": lambda program: te.grad(lambda x: (x.sum(), program(x)), has_aux=True)(POINT)[1],
}


def test_there_are_results_of_tests() -> None:
    assert {"pearsonr", "linregress", "ttest_ind", "ttest_rel", "ttest_1samp", "describe"} <= {*PROGRAMS}


def assert_alike(found: Any, wanted: Any, path: str) -> None:
    """Require a value of the same kind, with the same attributes and methods."""
    if getattr(wanted, "dtype", None) == np.dtype(object):
        assert_alike([*found], [*wanted], path)
    elif isinstance(wanted, (tuple, list)) and not is_result(wanted):
        assert isinstance(found, type(wanted)) and len(found) == len(wanted), path
        for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
            assert_alike(a, b, f"{path}[{k}]")
    elif is_result(wanted) or type(wanted) is dict:
        assert isinstance(found, type(wanted)), path
        assert_same_entries(found, wanted, path)
    elif isinstance(wanted, (np.ndarray, float, complex, np.inexact)):
        assert type(found) is type(wanted), path
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4, err_msg=path)
    else:
        assert type(found) is type(wanted), path


def assert_same_entries(found: Any, wanted: Any, path: str) -> None:
    if isinstance(wanted, dict):
        assert [*found] == [*wanted], path
        for key, value in wanted.items():
            if key not in OF_THE_RUN:
                assert_alike(found[key], value, f"{path}[{key!r}]")
    for name in () if isinstance(wanted, dict) else dir(wanted):
        if not name.startswith("_") and name not in ("count", "index", "interpolants"):
            value, other = getattr(wanted, name), getattr(found, name)
            with contextlib.suppress(TypeError, AttributeError):
                value, other = (value(), other()) if callable(value) else (value, other)
            if not callable(value):
                assert_alike(other, value, f"{path}.{name}")


@pytest.mark.parametrize("leave", LEAVING)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_a_result_that_leaves_a_trace_is_scipys(name: str, leave: str) -> None:
    wanted = PROGRAMS[name](POINT)
    assert_alike(LEAVING[leave](PROGRAMS[name]), wanted, name)


def test_an_entry_without_a_derivative_is_a_constant_of_the_value_alone() -> None:
    def program(x: Any) -> Any:
        return optimize.minimize(quadratic(x), np.zeros(5))

    value, tangent = te.jvp(program, (POINT,), (np.ones(5),))
    assert isinstance(value, OptimizeResult) and value.hess_inv.shape == (5, 5)
    assert tangent.hess_inv is None and tangent.x == pytest.approx(np.ones(5))
    value, pull = te.vjp(program, POINT)
    cotangent = type(value)({**dict.fromkeys(value), "x": np.ones(5), "fun": 0.0, "jac": np.zeros(5)})
    assert pull(cotangent)[0] == pytest.approx(np.ones(5))
    with pytest.raises(te.errors.CotangentError, match=r"hess_inv must be None"):
        pull(type(value)({**cotangent, "hess_inv": np.eye(5)}))


def test_attributes_of_a_result_have_derivatives() -> None:
    def tested(x: Any) -> Any:
        return stats.ttest_1samp(x, 0.3)

    def tangent(program: Callable[[Any], Any]) -> Any:
        return te.jvp(program, (POINT,), (PLACES,))[1]

    wanted = tangent(lambda x: tested(x).confidence_interval())
    again = te.checkpoint(lambda found: found.confidence_interval())
    assert tangent(lambda x: again(tested(x))) == pytest.approx(wanted)
    assert tangent(tested).statistic == pytest.approx(tangent(lambda x: tested(x).statistic))
    assert te.vjp(tested, POINT)[0].confidence_interval() == scipy.stats.ttest_1samp(POINT, 0.3).confidence_interval()


def test_newton_of_a_vector_gives_scipys_fields():
    def program(x):
        return optimize.newton(lambda y: y - x * x, np.zeros(2), full_output=True)

    wanted = scipy.optimize.newton(lambda y: y - np.array([4.0, 9.0]), np.zeros(2), full_output=True)
    value, back = te.vjp(lambda x: program(x).root, np.array([2.0, 3.0]))
    np.testing.assert_allclose(value, [4.0, 9.0])
    np.testing.assert_allclose(back(np.ones(2))[0], [4.0, 6.0])
    assert te.vjp(program, np.array([2.0, 3.0]))[0]._fields == wanted._fields
