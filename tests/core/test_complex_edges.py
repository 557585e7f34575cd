"""Complex numbers at zeros, poles and infinities: values, classes, warnings and errors of the plain program."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

inf, nan = np.inf, np.nan
POINTS = [
    *(0j, complex(-0.0, 0.0), 1 + 0j, -1 + 0j, 2 + 0j, 1j, -1j, 1e308 + 1e308j, 1e308 + 0j, 1e308j, 1e-320 + 0j),
    *(complex(a, b) for a, b in itertools.product((0.0, inf, -inf, nan), repeat=2)),
]
FUNCTIONS = [
    *("log log10 log2 log1p exp exp2 expm1 sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh".split()),
    *("arctanh sqrt reciprocal absolute conjugate sign negative".split()),
]
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    **{f"z**{n!r}": lambda z, n=n: z**n for n in (0, 1, 2, 3, -1, 0.5, True, np.int64(0), np.int64(2))},
    **{f"z*{n!r}": lambda z, n=n: z * n for n in (0, 2.0, inf, np.float32(0.5))},
    "z*z": lambda z: z * z,
    "z-z": lambda z: z - z,
    "z+z": lambda z: z + z,
    "z/z": lambda z: z / z,
    "1/z": lambda z: 1 / z,
    "z/0": lambda z: z / 0,
    "z/0j": lambda z: z / 0j,
    "2**z": lambda z: 2**z,
    "z**z": lambda z: z**z,
    "abs": abs,
    **{name: getattr(np, name) for name in FUNCTIONS if hasattr(np, name)},
}
#: How a program gets a complex number from its primal.
SOURCES: dict[str, tuple[Callable[[complex], Any], Callable[[Any, complex], Any]]] = {
    "Python's": (lambda z: z, lambda x, z: x),
    "numpy's": (np.complex128, lambda x, z: x),
    "element": (lambda z: np.array([z]), lambda x, z: x[0]),
    "element and a constant": (lambda z: np.array([z.real]), lambda x, z: x[0] + complex(0.0, z.imag)),
}


def outcome(f: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = f()
        except (ArithmeticError, ValueError, TypeError) as error:
            return type(error)
    texts = {str(w.message).replace("scalar ", "") for w in seen if issubclass(w.category, RuntimeWarning)}
    return type(value), repr(value), texts


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_edges(name: str, source: str) -> None:
    made, number = SOURCES[source]
    for z in POINTS:
        primal = made(z)

        def program(x: Any, z: complex = z) -> Any:
            return OPERATIONS[name](number(x, z))

        wanted = outcome(lambda p=program, x=primal: p(x))
        assert outcome(lambda p=program, x=primal: te.vjp(p, x)[0]) == wanted, z
