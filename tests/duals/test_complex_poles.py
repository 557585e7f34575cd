"""Ufuncs of complex scalars at poles, infinities and NaN: numpy's values, classes and errors."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te

POINTS = [
    0j,
    -1 + 0j,
    1j,
    -1j,
    complex(np.inf, 0),
    complex(0, np.inf),
    complex(-np.inf, 1),
    complex(np.nan, 0),
    800 + 1j,
]
NAMES = (
    *("log", "log10", "log2", "log1p", "exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin"),
    *("arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sqrt", "square", "reciprocal", "absolute", "conjugate"),
)


def known(f: Any, *args: Any) -> tuple[type, str]:
    """The class and the text of a value or of an error."""
    try:
        value = f(*args)
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)
    return type(value), repr(value)


@pytest.mark.parametrize("z", POINTS, ids=repr)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("errors", ["ignore", "raise"])
def test_values(name: str, z: complex, errors: Any) -> None:
    f = getattr(np, name)
    with np.errstate(all=errors):
        for program in (f, lambda z: f(z + 0j)):
            assert known(lambda z, p=program: te.vjp(p, z)[0], z) == known(program, z)
    with np.errstate(all="ignore"):
        te.vjp(lambda z: np.real(f(z)), z)[1](1.0)  # infinite, not an error
