"""A derivative at an array is that at its values when the program ran, whatever is written to the array afterwards."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

X = numpy.array([0.3, -0.8, 0.55])
ONES = numpy.ones(3)


def cube(x: Any) -> Any:
    return x * x * x


def cube_by_its_slope(x: Any) -> Any:
    return te.vjp(lambda y: y * y * y * y, x)[1](ONES)[0] * 0.25


#: Each has the second derivative 6 x.
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "products": cube,
    "power": lambda x: x**3,
    "ufuncs": lambda x: np.multiply(np.square(x), x),
    "contraction": lambda x: np.einsum("i,i,i->i", x, x, x),
    "matrix": lambda x: np.diag(x) @ np.diag(x) @ x,
    "elements": lambda x: np.stack([x[k] ** 3 for k in range(3)]),
    "nested": cube_by_its_slope,
    "lanes": te.vmap(cube),
    "checkpoint": te.checkpoint(cube),
    "staged": te.stage(cube),
    "typed": te.program(cube),
}
#: Functions of the derivative's function and of an array: each gives a function that computes 3 x**2.
DERIVATIVES: dict[str, Callable[[Any, Any], Callable[[], Any]]] = {
    "vjp": lambda f, a: applied(te.vjp(f, a)[1]),
    "map": lambda f, a: partial(te.linearize(f, a)[1], ONES),
    "transpose": lambda f, a: partial(te.linearize(f, a)[1].T, ONES),
    "matrix": lambda f, a: summed(te.linearize(f, a)[1]),
    "view": lambda f, a: applied(te.vjp(lambda x: f(x[::-1]), a[::-1])[1], lambda found: found[::-1]),
    "container": lambda f, a: applied(te.vjp(lambda d: f(d["a"][0]), {"a": [a]})[1], lambda found: found["a"][0]),
}


def applied(back: Callable[[Any], Any], part: Callable[[Any], Any] = lambda found: found) -> Callable[[], Any]:
    return lambda: part(back(ONES)[0])


def summed(m: te.LinearMap) -> Callable[[], Any]:
    return lambda: m.matrix().sum(0)


WRITES: dict[str, Callable[[Any], Any]] = {
    "element": lambda a: a.__setitem__(0, 7.0),
    "multiple": lambda a: a.__imul__(3.0),
    "view": lambda a: a[1:].__iadd__(2.0),
    "out": lambda a: np.sin(a, out=a),
    "sorted": lambda a: a.sort(),
    "filled": lambda a: a.fill(0.5),
    "twice": lambda a: (a.fill(0.5), a.__setitem__(1, 2.0)),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_derivative_does_not_see_later_writes(program: str, derivative: str, write: str) -> None:
    f, of, change = PROGRAMS[program], DERIVATIVES[derivative], WRITES[write]

    def slope(x: Any) -> Any:
        a = x * 1.0
        found = of(f, a)
        change(a)
        return found()

    assert numpy.allclose(slope(X), 3 * X**2, rtol=1e-12)
    value, back = te.vjp(slope, X)
    assert numpy.allclose(value, 3 * X**2, rtol=1e-12)
    assert numpy.allclose(back(ONES)[0], 6 * X, rtol=1e-12)
    assert numpy.allclose(te.jvp(slope, (X,), (ONES,))[1], 6 * X, rtol=1e-12)


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_third_derivatives_do_not_see_later_writes(program: str, derivative: str) -> None:
    f, of = PROGRAMS[program], DERIVATIVES[derivative]

    def bend(x: Any) -> Any:
        a = x * 1.0

        def slope(y: Any) -> Any:
            b = y * 1.0
            found = of(f, b)
            b.fill(0.5)
            return found()

        _, back = te.vjp(slope, a)
        a[0] = 7.0
        return back(ONES)[0]

    assert numpy.allclose(bend(X), 6 * X, rtol=1e-12)
    assert numpy.allclose(te.jacobian(bend)(X), 6 * numpy.eye(3), rtol=1e-12)
