"""numpy's functions and classes that read only dtypes and shapes answer for traced values as for plain ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy

VALUES: dict[str, Any] = {
    "a float": 2.0,
    "a number of numpy": np.float64(2.0),
    "a single number": np.float32(2.0),
    "a complex number": np.complex128(2.0 + 1.0j),
    "a vector": np.ones(2),
    "a single vector": np.ones(2, np.float32),
    "a complex matrix": np.ones((2, 2), complex),
    "an array of no axes": np.array(2.0),
}
READ: dict[str, Callable[[Any, Any], Any]] = {
    **{name: lambda np, x, name=name: getattr(np, name)(x) for name in ("shape", "ndim", "size")},
    "finfo": lambda np, x: np.finfo(x if hasattr(x, "dtype") else float),  # not of a Python float: that asks no number
    "iinfo": lambda np, x: np.iinfo(x if hasattr(x, "dtype") else int),
    **{name: lambda np, x, name=name: getattr(np, name)(x) for name in ("isscalar", "iterable", "result_type")},
    **{name: lambda np, x, name=name: getattr(np, name)(x) for name in ("iscomplexobj", "isrealobj", "common_type")},
    "min_scalar_type": lambda np, x: np.min_scalar_type(x),
    "can_cast": lambda np, x: np.can_cast(np.result_type(x), np.float32),
    "promote_types": lambda np, x: np.promote_types(np.result_type(x), np.float32),
    "result_type of several": lambda np, x: np.result_type(x, np.float32, 1.0),
    "issubdtype": lambda np, x: np.issubdtype(np.result_type(x), np.floating),
    "isdtype": lambda np, x: np.isdtype(np.result_type(x), "real floating"),
    "mintypecode": lambda np, x: np.mintypecode([np.result_type(x).char]),
    "broadcast_shapes": lambda np, x: np.broadcast_shapes(np.shape(x), (2, 1)),
    "ndindex": lambda np, x: list(np.ndindex(np.shape(x))),
    "zeros_like": lambda np, x: (np.zeros_like(x).shape, np.zeros_like(x).dtype),
    "isfortran": lambda np, x: np.isfortran(x),
    "eps of sums": lambda np, x: np.finfo(np.sum(x)).eps,
    "eps of elements": lambda np, x: np.finfo(np.ravel(x)[0]).eps,
}
#: Classes in C, which `tapeengine.numpy` and lifted code replace.
REPLACED: dict[str, Callable[[Any, Any], Any]] = {
    "broadcast": lambda np, x: [getattr(np.broadcast(x, [[1.0], [2.0]]), k) for k in ("shape", "nd", "ndim", "size")],
    "broadcast of one": lambda np, x: (np.broadcast(x).shape, np.broadcast(x, x, x).numiter),
    "nditer": lambda np, x: np.nditer(x).itersize,
    "ndenumerate": lambda np, x: [index for index, _ in np.ndenumerate(x)],
}


def answers(function: Callable[..., Any], x: Any) -> tuple[str, str]:
    """What a function gives for the plain value and for the traced one; errors by their texts."""
    found: list[str] = []

    def program(x: Any) -> Any:
        try:
            found.append(repr(function(x)))
        except (ValueError, TypeError, AttributeError) as error:
            found.append(repr(error))
        return x * 1.0

    program(x)
    te.vjp(program, x)
    return found[0], found[1]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", READ)
def test_numpys_own(name: str, value: str) -> None:
    plain, traced = answers(lambda x: READ[name](np, x), VALUES[value])
    assert traced == plain


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", {**READ, **REPLACED})
def test_in_tapeengine_numpy_and_lifted_code(name: str, value: str) -> None:
    called = {**READ, **REPLACED}[name]
    plain, traced = answers(lambda x: called(tapeengine.numpy, x), VALUES[value])
    assert traced == plain
    assert answers(te.lift(lambda x: called(np, x)), VALUES[value])[1] == plain


def test_numpys_broadcast_yields_traced_elements() -> None:
    program = te.lift(lambda x: sum(a * b for a, b in np.broadcast(x, [[2.0], [3.0]])))
    np.testing.assert_array_equal(te.grad(program)(np.ones(2)), [5.0, 5.0])
    np.testing.assert_array_equal(te.hessian(lambda x: program(x) * x[0])(np.ones(2)), [[10.0, 5.0], [5.0, 0.0]])
