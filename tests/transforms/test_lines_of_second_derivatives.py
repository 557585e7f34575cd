"""A number of a second derivative that is not finite is named by the source line whose derivative it belongs to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import NotFiniteError

FILE = Path(__file__).read_text().splitlines()


def power(x: Any) -> Any:
    y = x - 2.0
    z = y**1.5  # here
    return z * 3.0


def powers(x: Any) -> Any:
    y = x * x - 4.0
    z = y**1.5 + 1.0  # here
    return tnp.sum(z * y)


def large(x: Any) -> Any:
    m = tnp.outer(x, x) * 1e150
    z = m @ (x * 1e-150)  # here
    return tnp.sum(z) * 1e200


def in_a_call(x: Any) -> Any:
    y = x * 1.0
    return power(y) + y


def elements(x: Any) -> Any:
    s = 0.0
    for v in x:
        s = s + (v - 2.0) ** 1.5  # here
    return s


def smoother(x: Any) -> Any:
    y = x - 2.0
    z = y**2.5  # here
    return z * 3.0


def smoother_array(x: Any) -> Any:
    y = x * x - 4.0
    z = y**2.5 + 1.0  # here
    return tnp.sum(z * 3.0)


SECOND: dict[str, Callable[[Any, Any], Any]] = {
    "gradient of a gradient": lambda f, x: te.grad(lambda y: np.sum(te.grad(f)(y)))(x),
    "tangent of a gradient": lambda f, x: te.jvp(te.grad(f), (x,), (x,)),
    "gradient of a tangent": lambda f, x: te.grad(lambda y: te.jvp(f, (y,), (x,))[1])(x),
    "hvp": lambda f, x: te.hvp(f, (x,), (x,)),
    "vhp": lambda f, x: te.vhp(f, (x,), (x,)),
    "hessian": lambda f, x: te.hessian(f)(x),
    "third": lambda f, x: te.grad(lambda z: np.sum(te.grad(lambda y: np.sum(te.grad(f)(y)))(z)))(x),
}
PROGRAMS = {
    power: 2.0,
    in_a_call: 2.0,
    powers: np.array([3.0, 2.0]),
    large: np.array([3.0, 2.0]),
    elements: np.array([3.0, 2.0]),
}


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("typed", [False, True])
def test_the_line_is_named(program: Any, second: str, typed: bool) -> None:
    with te.debug(nans=True), pytest.raises(NotFiniteError) as error:
        SECOND[second](te.program(program) if typed else program, PROGRAMS[program])
    line = int(str(error.value).partition(f"{Path(__file__).name}:")[2].partition(" ")[0])
    assert "# here" in FILE[line - 1], str(error.value)


THIRD: dict[str, Callable[[Any, Any], Any]] = {
    "gradients": lambda f, x: te.grad(lambda z: np.sum(te.grad(lambda y: np.sum(te.grad(f)(y)))(z)))(x),
    "tangent of gradients": lambda f, x: te.jvp(te.grad(lambda y: np.sum(te.grad(f)(y))), (x,), (x,)),
    "gradient of a hessian": lambda f, x: te.grad(lambda y: np.sum(te.hessian(f)(y)))(x),
    "gradient of hvp": lambda f, x: te.grad(lambda y: np.sum(te.hvp(f, (y,), (x,))))(x),
}


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("third", THIRD)
@pytest.mark.parametrize("program, at", [(smoother, 2.0), (smoother_array, np.array([3.0, 2.0]))])
def test_the_line_of_a_third_derivative_is_named(program: Any, at: Any, third: str) -> None:
    with te.debug(nans=True), pytest.raises(NotFiniteError) as error:
        THIRD[third](program, at)
    line = int(str(error.value).partition(f"{Path(__file__).name}:")[2].partition(" ")[0])
    assert "# here" in FILE[line - 1], str(error.value)


@pytest.mark.parametrize(
    "program, at", [(smoother, 2.5), (smoother_array, np.array([3.0, 2.5])), (powers, np.array([3.0, 2.5]))]
)
def test_an_outer_trace_knows_the_lines_of_all_inner_traces(program: Any, at: Any) -> None:
    inner: list[Any] = []

    def gradient_sum(x: Any) -> Any:
        value, backpropagator = te.vjp(lambda y: np.sum(te.grad(program)(y)), x)
        inner.append(backpropagator)
        return value

    with te.debug(nans=True):
        _, outer = te.vjp(gradient_sum, at)
        (inner_one,) = inner
        ids = range(1, len(inner_one.tape) + 1)
        assert len(outer.tape) == len(inner_one.tape)
        assert list(map(str, map(outer.line, ids))) == list(map(str, map(inner_one.line, ids)))
