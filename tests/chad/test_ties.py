"""Ties and poles in random expressions: gradients and Hessians of programs are those of dual numbers."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp

ONE = ("np.sqrt({})", "np.exp({})", "np.sin({})", "abs({})", "np.tanh({})", "np.log1p({})", "-{}", "({}) ** 2")
TWO = ("({} + {})", "({} * {})", "np.maximum({}, {})", "np.minimum({}, {})", "max({}, {})", "np.hypot({}, {})")
ARRAYS = ("xs", "np.sort(xs)", "xs * xs", "np.maximum(xs, 1.0)", "np.clip(xs, 1.0, 2.0)", "xs - np.max(xs)")
OF_ARRAYS = (
    "np.max({})",
    "np.min({})",
    "({})[int(np.argmax(xs))]",
    "np.sum({})",
    "max({})",
    "(2.0 * {}).max()",
    "({})[1]",
)


def expression(draw: random.Random, depth: int) -> str:
    """Draw an expression of an array ``xs``."""
    if depth == 0:
        return draw.choice(OF_ARRAYS).format(draw.choice(ARRAYS))
    form = draw.choice(ONE + TWO)
    return form.format(*(expression(draw, depth - 1) for _ in range(form.count("{}"))))


def written(body: str) -> Callable[[np.ndarray], float]:
    text = f"def f(xs: te.Vec) -> float:\n  return {body}\n"
    return defined(text, te=te, np=tnp, math=tm)  # type: ignore[no-any-return]


def outcome(function: Callable[..., Any], x: np.ndarray) -> Any:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(function(x))
        except (ArithmeticError, ValueError) as error:
            return type(error)


def pushed(function: Callable[..., Any]) -> Callable[[np.ndarray], Any]:
    return lambda x: te.jvp(function, (x,), (np.array([0.5, -1.0, 2.0, 0.25]),))[1]


def agree(a: Any, b: Any) -> bool:
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    return np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("seed", range(30))
def test_equals_share_the_cotangent(seed: int) -> None:
    draw = random.Random(seed)
    body = expression(draw, draw.choice((0, 1, 2)))
    function = written(body)
    program = te.program(function)
    for _ in range(2):
        x = np.array([draw.choice((1.0, 2.0, 3.0)) for _ in range(4)])
        assert agree(outcome(te.grad(program), x), outcome(te.grad(function), x)), (body, x)
        assert agree(outcome(te.hessian(program), x), outcome(te.hessian(function), x)), (body, x)
        assert agree(outcome(pushed(program), x), outcome(pushed(function), x)), (body, x)


@pytest.mark.parametrize(
    "body", [*("np.max(xs)", "np.min(xs)", "xs.max()", "np.amax(xs)", "np.max(np.array([xs, xs]))")]
)
def test_all_equals_have_the_same_part(body: str) -> None:
    gradient = te.grad(te.program(written(body)))
    np.testing.assert_allclose(gradient(np.full(3, 2.0)), np.full(3, 1.0 / 3.0), rtol=1e-15)


@pytest.mark.parametrize(
    "body",
    [
        *(
            "np.exp(xs[0] * xs[1]) ** 2",
            "np.tanh(np.maximum(np.exp(xs[0]), np.exp(-xs[1])))",
            "np.sqrt(np.sin(np.log(xs[1])))",
        ),
        *("np.sqrt(xs[0]) ** 2 * np.square(xs[1])", "np.sin(np.minimum(xs[1], xs[0])) - np.arctan(xs[0] * 0.5)"),
    ],
)
@pytest.mark.parametrize("x", [(0.0, 1.0), (np.inf, 1.0), (0.0, np.inf), (-np.inf, 0.0), (1.0, 1.0)])
def test_second_derivatives_at_poles(body: str, x: tuple[float, float]) -> None:
    function = written(body)
    assert agree(outcome(te.hessian(te.program(function)), np.array(x)), outcome(te.hessian(function), np.array(x)))


#: Operations on a list; Python's own lists do each of them differently from arrays, or refuse it.
ON_LISTS = (
    *(
        "sum(xs * 2.0)",
        "sum(-xs)",
        "sum(abs(xs))",
        "xs @ xs",
        "xs.sum()",
        "sum(xs + xs)",
        "sum(np.where(xs > 1.0, xs, 0.0))",
    ),
    *("sum(xs // 2.0)", "sum(pow(xs, 2.0))", "sum(2.0 ** xs)", "xs.T @ xs", "np.sum(xs > 1.0) * 1.0"),
    *(
        "sum(np.sqrt(xs))",
        "sum(np.maximum(xs, 1.0))",
        "sum(np.square(xs) * 2.0)",
        "sum(xs[::2])",
        "sum(np.exp(xs) + xs)",
    ),
)


@pytest.mark.parametrize("body", ON_LISTS)
def test_lists_are_no_arrays(body: str) -> None:
    function = written(body)
    program = te.program(function)
    array = np.array([1.0, 2.0])
    np.testing.assert_allclose(te.vjp(program, array)[0], function(array), rtol=1e-14)
    for _ in range(2):  # before and after the short way is there
        try:
            value = function([1.0, 2.0])  # type: ignore[arg-type]
        except (TypeError, AttributeError):
            value = None
        try:
            found = te.vjp(program, [1.0, 2.0])[0]
        except TypeError as error:
            assert "numpy.array" in str(error)
            continue
        assert value is not None
        np.testing.assert_allclose(found, value, rtol=1e-14)
