"""Programs give what Python gives where there are NaNs, too few parts to unpack, classes as arguments, or odd calls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.errors import TapeEngineError

NAN = float("nan")


def three(x: Any) -> Any:
    a, b, c = x
    return a + b * c


def in_pairs(x: Any) -> Any:
    (a, b), (c, d) = x
    return a * d - b * c


def with_rest(x: Any) -> Any:
    a, b, *rest = x
    return a * b + len(rest)


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize(
    "shape", [(0,), (1,), (2,), (3,), (4,), (0, 3), (1, 3), (2, 2), (2, 3), (3, 0), (3, 2), (4, 3)]
)
@pytest.mark.parametrize("program", [three, in_pairs, with_rest])
def test_parts_of_arrays_are_as_many_as_names(program: Callable[..., Any], shape: Any, backend: str | None) -> None:
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    try:
        wanted = program(x)
    except (TypeError, ValueError) as error:
        with pytest.raises((type(error), TapeEngineError)):
            te.vjp(te.program(program, backend=backend), x)
        return
    value, _ = te.vjp(te.program(program, backend=backend), x)
    assert np.array_equal(value, wanted)


ORDERED = (
    "np.median(x)",
    "np.median(x, axis=0)",
    "np.quantile(x, 0.3)",
    "np.percentile(x, 2)",
    "np.quantile(x, [0.1, 0.9])",
    "np.max(x)",
    "np.argmin(x)",
    "np.sort(x)",
    "np.argsort(x)",
    "np.ptp(x)",
    "np.unique(x)",
)


def written(expression: str) -> Any:
    """The function of an expression of x."""
    return function_of("x", [f"return {expression}"])


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("numbers", [[1.0, NAN, 0.5], [NAN, 1.0], [0.5, 2.0, NAN, 1.0], [1.0, 3.0, 2.0]], ids=str)
@pytest.mark.parametrize("expression", ORDERED)
@pytest.mark.filterwarnings("ignore:.*runs without:RuntimeWarning")
def test_the_order_of_numbers_with_a_nan(expression: str, numbers: list[float], backend: str | None) -> None:
    f, x = written(expression), np.array(numbers)
    value, _ = te.vjp(te.program(f, backend=backend), x)
    assert np.array_equal(value, f(x), equal_nan=True)


def test_a_class_as_a_default() -> None:
    def doubled(x: Any, dtype: Any = np.float64) -> Any:
        return x * 2

    assert te.vjp(te.program(doubled), np.ones(2))[0].tolist() == [2.0, 2.0]


def of_class(x: Any) -> Any:
    return x if isinstance(x, (float, "no type")) else 0.0  # type: ignore[arg-type]


def test_a_text_for_a_class_is_refused() -> None:
    with pytest.raises(TapeEngineError):
        te.vjp(te.program(of_class), 1.5)


def test_an_output_runs_as_on_dual_numbers() -> None:
    def to_array(x: Any, out: Any) -> Any:
        return np.isposinf(x, out)

    results = [np.ones(2), np.ones(2)]
    program = te.program(to_array)
    assert np.array_equal(te.vjp(program, np.array([1.0, np.inf]), results[0])[0], [0.0, 1.0])
    assert np.array_equal(to_array(np.array([1.0, np.inf]), results[1]), [0.0, 1.0])


def test_a_lambda_among_others_is_refused() -> None:
    functions = {
        "twice": lambda x: 2.0 * x,
    }
    with pytest.raises(TapeEngineError, match="a program is a def"):
        te.vjp(te.program(functions["twice"]), 1.5)
