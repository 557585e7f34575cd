"""Objects that SciPy itself has made, whose methods and operators get traced arrays: right, or an error of the engine.

All classes of SciPy's modules are tried with some arguments, and their methods with some traced ones.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.sparse.linalg
import scipy.spatial
import scipy.stats

import tapeengine as te
from tapeengine.errors import TapeEngineError

MODULES = "integrate interpolate optimize signal sparse.linalg spatial spatial.transform stats".split()
POINTS, GRID = np.random.default_rng(0).normal(size=(12, 2)), np.arange(6.0)
X = np.array([0.7, 1.9, 2.6])
#: Arguments of constructors, each of which is tried.
MADE: list[tuple[Any, ...]] = [
    (), (GRID, GRID**2), (GRID, GRID**2, GRID), (POINTS,), (POINTS, POINTS[:, 0]), (np.eye(3),),
    ((GRID,), GRID**2), (GRID,), (3,), (np.ones(3), 1, 1.0), ([1.0], [1.0, 1.0]), ([0.0, 1.0], [2.0]),
    (lambda t, y: -y,), (lambda t, y: -y, 0.0, np.ones(3), 1.0), (np.eye(3), 0.0, 1.0), (np.eye(2), 0.5),
    (lambda x: x, 0.0, 1.0), (GRID, GRID, np.outer(GRID, GRID)), (np.eye(2), np.ones((2, 1)), np.ones((1, 2)), 0.0),
]  # fmt: skip
#: Traced arguments of methods, each of which is tried.
GIVEN: list[Callable[[Any], tuple[Any, ...]]] = [
    lambda x: (x,), lambda x: (x[0],), lambda x: (x, x), lambda x: (x[:2],), lambda x: (x[None, :2],),
    lambda x: (x[:1],), lambda x: (x[0], x[1]), lambda x: (x[:2], x[2]), lambda x: (0, x), lambda x: (x, 3),
]  # fmt: skip
OPERATORS = "__call__ __matmul__ __rmatmul__ __mul__ __rmul__ __add__ __sub__ __truediv__ __pow__ __getitem__".split()
#: Objects that only a function makes.
OTHERS: dict[str, Callable[[], Any]] = {
    "splu": lambda: scipy.sparse.linalg.splu(scipy.sparse.csc_array(np.eye(3) + 0.1)),
    "spilu": lambda: scipy.sparse.linalg.spilu(scipy.sparse.csc_array(np.eye(3) + 0.1)),
    "LinearOperator": lambda: scipy.sparse.linalg.aslinearoperator(np.eye(3)),
    "hess_inv": lambda: scipy.optimize.minimize(lambda y: (y**2).sum(), X, method="L-BFGS-B").hess_inv,
    "frozen norm": lambda: scipy.stats.norm(0.5, 2.0),
    "frozen gompertz": lambda: scipy.stats.gompertz(2.0),
    "frozen multivariate_normal": lambda: scipy.stats.multivariate_normal(np.zeros(3)),
    "make_interp_spline": lambda: scipy.interpolate.make_interp_spline(GRID, GRID**2),
    "dense output": lambda: scipy.integrate.solve_ivp(lambda t, y: -y, (0.0, 3.0), [1.0], dense_output=True).sol,
}
#: Methods that draw numbers, and those that are a segmentation fault in SciPy for a plain number.
DRAWING, OF_ARRAYS = ("rvs", "random", "sample", "resample", "integers"), ("plane_distance", "lift_points")


def objects() -> dict[str, Callable[[], Any]]:
    found = dict(OTHERS)
    for module in MODULES:
        for name, cls in vars(import_module(f"scipy.{module}")).items():
            if isinstance(cls, type) and not issubclass(cls, Exception | dict) and name[0] != "_":
                made = next((args for args in MADE if attempted(lambda a=args, c=cls: c(*a))), None)
                if made is not None:
                    found[f"{module}.{name}"] = lambda a=made, c=cls: c(*a)
    return found


def attempted(program: Callable[[], Any]) -> bool:
    try:
        with quiet():
            program()
    except Exception:
        return False
    return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


OBJECTS = objects()


def numbers(value: Any) -> list[Any]:
    """The numbers of a result, as far as it shows them."""
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in numbers(item)]
    if isinstance(value, (te.Dual, float, complex, np.inexact)):
        return [value]
    return [value] if isinstance(value, (np.ndarray, te.Array)) and value.dtype.kind in "fcO" else []


def programs(make: Callable[[], Any]) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    methods = [name for name in dir(type(make())) if name[0] != "_" or name in OPERATORS]
    for name in methods:
        for given in GIVEN:
            if name in OF_ARRAYS and np.ndim(given(X)[0]) == 0:
                continue

            def program(x: Any, name: str = name, given: Any = given) -> Any:
                return numbers(getattr(make(), name)(*given(x)))

            if attempted(lambda program=program: program(X)):
                yield name, program


def test_the_classes_are_tried() -> None:
    assert len(OBJECTS) > 60
    assert {"interpolate.CubicSpline", "spatial.cKDTree", "spatial.Delaunay", "stats.gaussian_kde"} <= {*OBJECTS}


@pytest.mark.parametrize("name", OBJECTS)
def test_methods_of_an_object_that_scipy_has_made(name: str) -> None:
    faults = []
    with quiet():
        for method, program in programs(OBJECTS[name]):
            fault = None if method in DRAWING else fault_of(program)
            faults += [] if fault is None else [f"{method}: {fault}"]
    assert faults == []


def fault_of(program: Callable[[Any], Any]) -> str | None:
    """What is wrong with the derivative of a program; None if it is right or refused."""
    try:
        value, pull = te.vjp(program, X)
        gradient = pull([np.ones_like(v) * np.isrealobj(v) for v in value])[0]
    except TapeEngineError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    wanted = np.array([(total(program, X + h) - total(program, X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
    settled = np.isfinite(wanted) & (np.abs(wanted) < 1e3)
    return None if np.allclose(gradient[settled], wanted[settled], rtol=1e-3, atol=1e-4) else f"{gradient} {wanted}"


def total(program: Callable[[Any], Any], x: Any) -> float:
    return float(sum(np.sum(v) for v in program(x) if np.isrealobj(v)))


KNOTS = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 5.0, 5.0, 5.0])
#: Objects of classes with rules, and a use of each in lifted code.
BEFORE: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    **{
        name: (getattr(scipy.interpolate, name)(GRID, GRID**2), lambda it, x: it(x))
        for name in "CubicSpline PchipInterpolator KroghInterpolator BarycentricInterpolator interp1d".split()
    },
    "BSpline": (scipy.interpolate.BSpline(KNOTS, GRID[:5], 2), lambda it, x: it(x)),
    "grid": (scipy.interpolate.RegularGridInterpolator((GRID,), GRID**2), lambda it, x: it(x[:, None])),
    "norm": (scipy.stats.norm(0.5, scale=2.0), lambda it, x: it.logpdf(x) + it.cdf(x)),
    "gamma": (scipy.stats.gamma(2.5), lambda it, x: it.pdf(x)),
    "poisson": (scipy.stats.poisson(2.5), lambda it, x: it.pmf(2) * x),
}


@pytest.mark.parametrize("name", BEFORE)
def test_an_object_that_was_made_before_has_derivatives_in_lifted_code(name: str) -> None:
    made, use = BEFORE[name]
    lifted = te.lift(lambda x: use(made, x).sum())
    wanted = [(use(made, X + h).sum() - use(made, X - h).sum()) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(te.grad(lifted)(X), wanted, rtol=1e-6)
    assert lifted(X) == use(made, X).sum()


NAMED: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any]]] = {
    "cKDTree": (lambda: scipy.spatial.cKDTree(np.eye(3)), lambda made, x: made.query(x)[0]),
    "SuperLU": (OTHERS["splu"], lambda made, x: made.solve(x)),
    "MatrixLinearOperator": (OTHERS["LinearOperator"], lambda made, x: made @ x),
    "CubicSpline": (lambda: scipy.interpolate.CubicSpline(GRID, GRID), lambda made, x: made(x)),
}


@pytest.mark.parametrize("named", NAMED)
def test_the_error_names_the_class_of_the_object(named: str) -> None:
    make, use = NAMED[named]
    made = make()
    program = lambda x: use(made, x)  # noqa: E731
    with pytest.raises(TapeEngineError, match=rf"The object is a [\w.]*\b{named}\."):
        te.vjp(program, X)
