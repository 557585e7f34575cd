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
    powers: np.array([1.0, 2.0]),
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
