"""Reductions with an axis by place or by name, of one array or several: numpy's value or its error."""

import itertools

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import comparable

import tapeengine as te

NAN = float("nan")
MATRIX = np.array([[1.0, 7.0, NAN], [2.0, NAN, 0.5]])
VALUES = {"vector": MATRIX[0], "matrix": MATRIX, "cube": np.stack([MATRIX, 2.0 * MATRIX])}
CALLS = [
    "np.gradient(np.nan_to_num(a))[0]",
    "np.median(a, 0)",
    *(f"np.{name}(a, axis=2)" for name in ("sum", "max", "sort", "cumsum", "flip", "median", "argmax", "expand_dims")),
    "np.nansum(a, axis=(0, 1))",
    *(f"np.{name}(a, ())" for name in ("nansum", "nanmean", "flip", "transpose")),
    *(f"np.{name}(a{axis})" for name in ("nansum", "nanmean") for axis in ("", ", 0", ", 1", ", axis=-1", ", None")),
    *(f"np.{name}(a[-1:], {qs}{axis})" for name, qs in (("percentile", "[10, 20.0]"), ("quantile", "(0.1, 0.5, 1.0)"))
      for axis in ("", ", 0", ", axis=1", ", None")),
]  # fmt: skip


@pytest.mark.parametrize(("call", "value"), list(itertools.product(CALLS, VALUES)))
def test_reductions(call: str, value: str) -> None:
    f = defined(f"def f(a):\n    return {call}\n", "f", np=np)
    program = te.program(f, backend="machine")
    expected = comparable(f, VALUES[value])
    found = comparable(lambda a: te.vjp(program, a)[0], VALUES[value])
    assert found is expected if isinstance(expected, type) else np.allclose(found, expected, 1e-15, equal_nan=True)


@pytest.mark.parametrize("call", ["np.nansum(a, 0)", "np.nanmean(a, 1)", "np.percentile(a, [10, 20], axis=1)"])
def test_they_are_in_the_language(call: str) -> None:
    f = defined(f"def f(a):\n    return np.sum(np.cos({call}))\n", "f", np=np)
    value = np.arange(6.0).reshape(2, 3) ** 2
    program = te.program(f, backend="machine")
    assert np.allclose(te.grad(program)(value), te.grad(f)(value), 1e-12)
    assert program.derivative("reverse")
