"""check_vjp on programs, and on engines that each break one rule of the contract."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine import Engine
from tapeengine import math as tm
from tapeengine.testing import CheckError, check_vjp, report_vjp


def spiral(x: float, y: float) -> float:
    total = x
    for k in range(5):
        total = total * tm.sin(y) + x / (k + 1.0) if total > 0.5 else total * x - y
    return total


def structured(p: dict[str, Any]) -> tuple[Any, list[Any]]:
    return p["a"] * p["b"][0], [p["b"][1] ** 2, 3, "text"]


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: x, (1.5,)),
    (spiral, (0.7, 1.3)),
    (structured, ({"a": 2.0, "b": (3.0, -1.0), "n": 4},)),
    (lambda x, n: x**n, (1.3, 3)),
    (lambda x, y: x * 2.0, (1.0, 5.0)),
]


@pytest.mark.parametrize(("program", "primals"), PROGRAMS)
def test_right_derivatives_pass(program: Callable[..., Any], primals: tuple[Any, ...]) -> None:
    report = check_vjp(program, *primals, seed=3)
    runs = {"value", "space", "zero", "linearity", "adjoint", "differences", "repeat", "order2"}
    assert set(report.runs) == runs
    assert report.skipped == []


class Wrong(Engine):
    """An engine whose value, backpropagator, or both, are changed."""

    def __init__(
        self,
        backward: Callable[[Any, Any], Any],
        forward: Callable[[Any], Any] = lambda value: value,
        tangent: Callable[[Any], Any] = lambda tangent: tangent,
    ) -> None:
        super().__init__()
        self.backward, self.forward, self.tangent = backward, forward, tangent

    def jvp(self, *args: Any, **keywords: Any) -> Any:
        value, tangent = super().jvp(*args, **keywords)
        return value, self.tangent(tangent)

    def vjp(self, program: Callable[..., Any], *primals: Any, **keywords: Any) -> Any:
        value, backpropagator = super().vjp(program, *primals, **keywords)
        return self.forward(value), lambda ct: self.backward(backpropagator, ct)


def scaled(factor: Callable[[Any], float]) -> Callable[[Any, Any], Any]:
    def backward(backpropagator: Any, ct: Any) -> Any:
        by = factor(ct)
        return tuple(d * by for d in backpropagator(ct))

    return backward


CALLS = itertools.count()
WRONG = {
    "another value": ("value", Wrong(lambda b, ct: b(ct), lambda value: value * 1.0001)),
    "a value of another structure": ("value", Wrong(lambda b, ct: b(ct), lambda value: (value,))),
    "a cotangent too few": ("space", Wrong(lambda b, ct: b(ct)[:1])),
    "a cotangent of another shape": ("space", Wrong(lambda b, ct: (np.ones(2), *b(ct)[1:]))),
    "a wrong cotangent": ("adjoint", Wrong(scaled(lambda ct: 1.001))),
    "both wrong in the same way": ("differences", Wrong(scaled(lambda ct: 1.001), tangent=lambda t: t * 1.001)),
    "a clipped cotangent": ("linearity", Wrong(lambda b, ct: tuple(min(max(d, -1e4), 1e4) for d in b(ct)))),
    "a cotangent that changes": ("repeat", Wrong(scaled(lambda ct: 1.0 + 2.0**-52 * (next(CALLS) % 2)))),
    "a zero that is not": ("zero", Wrong(lambda b, ct: tuple(d if ct else d + 1e-300 for d in b(ct)))),
}


@pytest.mark.parametrize(("check", "engine"), WRONG.values(), ids=WRONG)
def test_exactly_one_check_fails(check: str, engine: Engine) -> None:
    assert report_vjp(lambda x, y: x * y * y, 1.5, 2.5, engine=engine, order=1).failed == {check}


def test_a_program_that_drops_its_derivative_in_second_order_only() -> None:
    """The first derivative uses a constant that depends on x: correct at order 1, wrong at order 2."""

    def sine(engine: Engine, x: float) -> tuple[float, Callable[[float], tuple[float]]]:
        cosine = math.cos(float(getattr(x, "value", x)))
        return tm.sin(x), lambda ct: (ct * cosine,)

    class Program:
        def __call__(self, x: Any) -> Any:
            return tm.sin(x)

        def __tapeengine_vjp__(self, engine: Engine, x: Any) -> Any:
            return sine(engine, x)

    assert report_vjp(Program(), 0.7, order=1).failed == set()
    assert report_vjp(Program(), 0.7).failed == {"order2"}


def test_a_program_that_is_not_smooth_is_told_so() -> None:
    with pytest.raises(CheckError, match="if it is not smooth"):
        check_vjp(lambda x: x if x > 0 else 0.0 * x, 0.0, order=1)


class Layer:
    """A class that is registered with the default engine, whose functions people call."""

    def __init__(self, weights: Any, offset: float) -> None:
        self.weights, self.offset = weights, offset


te.register_container(Layer)


def test_registered_classes_are_parameters_and_results() -> None:
    def doubled(layers: Any) -> Any:
        return Layer(2.0 * layers[0].weights ** 2, layers[0].offset * layers[1].offset)

    layers = [Layer(np.ones(2), 3.0), Layer(np.zeros(1), -1.0)]
    assert check_vjp(doubled, layers).failures == []
    with pytest.raises(CheckError, match="differences"):
        check_vjp(lambda layers: te.value(layers[0].offset) * layers[0].offset, layers)
