"""Arrays of objects that hold traced numbers, as `numpy.frompyfunc` returns them, become arrays of floats again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy
from tapeengine.errors import DroppedDerivativeError

CALLS: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, x[::-1]).astype(float),
    "a text": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, x[::-1]).astype("float64"),
    "single": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, x[::-1]).astype(np.float32),
    "complex": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, x[::-1]).astype(complex),
    "by name": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, x[::-1]).astype(dtype=float, copy=False),
    "of a matrix": lambda x: np.frompyfunc(lambda a: a * a, 1, 1)(np.outer(x, x)).astype(float),
    "of several results": lambda x: np.frompyfunc(divmod, 2, 2)(x, 0.7)[1].astype(float),
    "a written array": lambda x: written(x).astype(float),
    "integers": lambda x: x * np.frompyfunc(lambda a: a * a, 1, 1)(x).astype(int),
    "of constants": lambda x: x * np.frompyfunc(len, 1, 1)(np.array(["a", "bc"], object)).astype(float),
    "of texts": lambda x: x * np.array(["1.5", 2], object).astype(float),
    "objects": lambda x: np.asarray(np.frompyfunc(lambda a: a * a, 1, 1)(x).astype(object), float),
}


def written(x: Any) -> Any:
    """An array of objects, filled by a loop."""
    made = np.empty(2, object)
    for k in range(2):
        made[k] = x[k] * 3.0 if k else 1.0
    return made


@pytest.mark.parametrize("name", CALLS)
def test_astype(name: str) -> None:
    f, x = CALLS[name], np.array([1.25, 2.5])
    value, back = te.vjp(te.lift(f), x)
    assert np.array_equal(value, f(x)) and value.dtype == f(x).dtype
    ct = np.ones_like(value)
    numeric = [(f(x + h) - f(x - h)).real.sum() / 2e-3 for h in 1e-3 * np.eye(2)]
    np.testing.assert_allclose(back(ct)[0], numeric, rtol=1e-3 if value.dtype == np.float32 else 1e-6)


def test_elsewhere_the_error_names_what_works() -> None:
    def program(x: Any, np: Any = tapeengine.numpy) -> Any:
        return np.sum(np.frompyfunc(lambda a: a * a, 1, 1)(x).astype(float))

    with pytest.raises(DroppedDerivativeError, match=r"Write np\.asarray\(a, float\)"):
        te.grad(program)(np.ones(2))
    np.testing.assert_array_equal(
        te.grad(
            lambda x: tapeengine.numpy.sum(tapeengine.numpy.asarray(np.frompyfunc(lambda a: a * a, 1, 1)(x), float))
        )(np.array([1.0, 3.0])),
        [2.0, 6.0],
    )
