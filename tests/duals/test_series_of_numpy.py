"""Functions of numpy.polynomial itself, which ask whether a point is a `numpy.ndarray`: right, or refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial
from outcomes import outcome, parts
from verdicts import attempted, verdict

import tapeengine as te
import tapeengine.numpy
from tapeengine.errors import TapeEngineError

MODULES = {polynomial: "poly", chebyshev: "cheb", legendre: "leg", hermite: "herm", hermite_e: "herme", laguerre: "lag"}
CALLS = {
    f"{start}{name}": getattr(module, f"{start}{name}")
    for module, start in MODULES.items()
    for name in ("val", "valfromroots", "val2d", "val3d", "grid2d", "grid3d")
    if hasattr(module, f"{start}{name}")
}
POINTS = [(), (1,), (3,), (2, 3)]
SERIES = [(1,), (3,), (3, 3), (4, 1), (2, 3, 4), (2, 1, 1, 1), (0,), (2, 0), (0, 2)]


def points_of(name: str) -> int:
    return int(name[-2]) if name.endswith("d") else 1


@pytest.mark.parametrize("tensor", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_the_plain_value_and_its_derivative_or_a_refusal(name: str, tensor: bool) -> None:
    options = {} if points_of(name) > 1 else {"tensor": tensor}
    for shape, series in product(POINTS, SERIES):
        c = numpy.arange(1.0, 1.0 + numpy.prod(series)).reshape(series) / 7.0

        def program(x: Any, c: Any = c) -> Any:
            return CALLS[name](*[x] * points_of(name), c, **options)

        point = numpy.linspace(0.3, 0.8, int(numpy.prod(shape))).reshape(shape)
        if attempted(program, point)[1] is None:
            found = verdict(program, point)
            assert found.right, (shape, series, found)


@pytest.mark.parametrize("name", [name for name in CALLS if name.endswith("val")])
def test_one_series_at_many_points_is_computed(name: str) -> None:
    for shape in POINTS:
        found = verdict(lambda x: CALLS[name](x, [0.5, 2.0, 3.0]), numpy.full(shape, 0.3))
        assert found.word == "traced"


#: Forms of nothing; those of a traced array may depend on it.
EMPTY: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: [],
    "tuple": lambda x: (),
    "array": lambda x: numpy.zeros(0),
    "traced": lambda x: x[:0],
    "integers": lambda x: numpy.zeros(0, int),
    "no series": lambda x: numpy.zeros((2, 0)),
    "series of none": lambda x: numpy.zeros((0, 2)),
    "traced columns": lambda x: x[:0].reshape(2, 0),
}
ONE = "der int roots companion fromroots trim add sub mul div val valfromroots pow vander fit line val2d grid2d".split()
WITH_EMPTY: dict[str, Callable[[Any, Any, Any], Any]] = {}
for module, start in MODULES.items():
    for name in (f"{start}{end}" for end in ONE if hasattr(module, f"{start}{end}")):
        path = (module.__name__.rpartition(".")[2], name)
        many = {"pow": (2,), "vander": (2,), "fit": (numpy.ones(3), 1)}.get(name.removeprefix(start), ())

        def called(np: Any, args: Any, path: Any = path, many: Any = many) -> Any:
            return getattr(getattr(np.polynomial, path[0]), path[1])(*args, *many)

        count = 3 if name.endswith("2d") else 2 if name.endswith(("val", "roots", "add", "sub", "mul", "div")) else 1
        WITH_EMPTY[name] = lambda np, x, e, f=called, n=count: f(np, [x] * (n - 1) + [e])
        WITH_EMPTY[f"{name} reversed"] = lambda np, x, e, f=called, n=count: f(np, [e] * max(n - 1, 1) + [x] * (n > 1))
for name in ("poly", "roots", "polyder", "polyint", "vander", "trim_zeros"):
    WITH_EMPTY[f"numpy.{name}"] = lambda np, x, e, name=name: getattr(np, name)(e)
for name in ("polyadd", "polysub", "polymul", "polydiv", "polyval", "convolve"):
    WITH_EMPTY[f"numpy.{name}"] = lambda np, x, e, name=name: getattr(np, name)(x, e)
    WITH_EMPTY[f"numpy.{name} reversed"] = lambda np, x, e, name=name: getattr(np, name)(e, x)
WITH_EMPTY["numpy.polyfit"] = lambda np, x, e: np.polyfit(e, e, 1)
WITH_EMPTY["numpy.polyfit of values"] = lambda np, x, e: np.polyfit(x, e, 1)
WITH_EMPTY["numpy.polyfit with weights"] = lambda np, x, e: np.polyfit(x, x, 1, w=e)
WITH_EMPTY["numpy.polyint with constants"] = lambda np, x, e: np.polyint(x, 1, e)


@pytest.mark.parametrize("name", WITH_EMPTY)
def test_empty_series(name: str) -> None:
    x = numpy.array([0.5, -1.2, 2.0])
    for kind, empty in EMPTY.items():
        expected = outcome(lambda empty=empty: WITH_EMPTY[name](numpy, x.copy(), empty(x)))
        for space in (numpy, tapeengine.numpy):
            found = outcome(lambda empty=empty, np=space: te.vjp(lambda x: WITH_EMPTY[name](np, x, empty(x)), x)[0])
            if isinstance(expected, Exception):
                assert isinstance(found, (type(expected), TapeEngineError)), (kind, expected, found)
            elif not isinstance(found, TapeEngineError):
                assert not isinstance(found, Exception), (kind, expected, found)
                for part, wanted in zip(parts(found), parts(expected), strict=True):
                    numpy.testing.assert_array_equal(part, wanted, kind)
                    assert (part.shape, part.dtype) == (wanted.shape, wanted.dtype), kind


def test_constants_of_modules_that_a_trace_imports_are_plain() -> None:
    code = (
        "import tapeengine as te, tapeengine.numpy as np\n"
        "te.grad(lambda x: np.polynomial.Polynomial([1.0, x])(2.0))(3.0)\n"
        "print(type(np.polynomial.polynomial.polydomain).__name__)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "ndarray"
