"""A backpropagator is linear in its cotangent: the derivative by a traced one is the tangent of the program."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

Function = Callable[[Any], Any]


def number(x: float) -> float:
    return x * x * te.math.sin(x) if x > 0 else -x


def numbers(x: list[float]) -> list[float]:
    return [v * x[0] for v in x]


def array(x: np.ndarray) -> Any:
    return np.exp(x) * x[::-1] + np.sum(x)


PROGRAMS: dict[str, tuple[Function, Any, Any, Any]] = {
    "number": (number, 1.3, 0.7, 2.0),
    "numbers": (numbers, [1.2, 0.4, 3.0], [0.5, -1.0, 2.0], [1.0, 0.3, -2.0]),
    "array": (array, np.array([0.3, 1.1]), np.array([1.0, -0.5]), np.array([0.2, 0.9])),
}


def after_two_calls(f: Function) -> Any:
    """A staged program whose next call is a replay."""
    staged = te.stage(f)
    for _ in range(2):
        for program, x, _, cotangent in PROGRAMS.values():
            if program is f:
                te.vjp(staged, x)[1](cotangent)
    return staged


KINDS: dict[str, Callable[[Function], Any]] = {
    "plain": lambda f: f,
    "recorded": te.stage,
    "replayed": after_two_calls,
    "unreduced": lambda f: te.stage(f, optimise=False),
    "checkpoint": te.checkpoint,
    "lifted": te.lift,
}


def paired(a: Any, b: Any) -> Any:
    """The pairing of two structures of numbers."""
    if isinstance(a, (list, tuple)):
        return sum(paired(x, y) for x, y in zip(a, b, strict=True))
    return np.sum(a * b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_derivative_by_the_cotangent_is_the_tangent(name: str, kind: str) -> None:
    f, x, tangent, cotangent = PROGRAMS[name]
    made = KINDS[kind](f)
    wanted = te.jvp(f, (x,), (tangent,))[1]

    def pulled(c: Any) -> Any:
        return paired(te.vjp(made, x)[1](c)[0], tangent)

    back = te.vjp(made, x)[1]
    for program in (
        pulled,
        lambda c: paired(back(c)[0], tangent),
        lambda c: paired(te.backpropagate(back, c)[0], tangent),
    ):
        np.testing.assert_allclose(te.grad(program)(cotangent), wanted, rtol=1e-13)
        assert paired(wanted, cotangent) == pytest.approx(te.jvp(program, (cotangent,), (cotangent,))[1], rel=1e-13)
