"""Operands of a class of the program that has numpy leave operators to it, as a quaternion or a polynomial does."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError


class Held:
    """A number with operators of its own; numpy calls the reflected ones, once for a whole array."""

    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self.value = value

    def __radd__(self, other: Any) -> Held:
        return Held(other + 3.0 * self.value)

    def __rsub__(self, other: Any) -> Held:
        return Held(3.0 * other - self.value)

    def __rmul__(self, other: Any) -> Held:
        return Held(3.0 * other * self.value)

    def __rtruediv__(self, other: Any) -> Held:
        return Held(3.0 * other / self.value)

    def __rpow__(self, other: Any) -> Held:
        return Held(3.0 * other**self.value)

    def __rmatmul__(self, other: Any) -> Held:
        return Held(3.0 * np.sum(other * self.value))

    def __eq__(self, other: object) -> Any:
        return "equal"

    def __gt__(self, other: object) -> Any:
        return "greater"


class Readable(Held):
    """A class that numpy can also read as an array, and leaves operators to all the same."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value, dtype)


class WithoutPriority(Readable):
    """A class whose priority is no number, which numpy takes for none: it reads the array."""

    __array_priority__ = None  # type: ignore[assignment]


class OfLowPriority(Readable):
    """A class that numpy's numbers leave operators to, and its arrays do not."""

    __array_priority__ = -1.0


class OfNoPriority:
    """A class that only Python's numbers leave operators to."""

    __hash__ = None  # type: ignore[assignment]
    __init__, __array__, __eq__, __gt__ = Held.__init__, Readable.__array__, Held.__eq__, Held.__gt__
    __radd__, __rsub__, __rmul__ = Held.__radd__, Held.__rsub__, Held.__rmul__


OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, operator.eq),
    *(operator.lt, operator.mod),
]
PRIMALS = [3.0, np.float64(3.0), np.float32(3.0), 1.0 + 2.0j, np.array([1.0, 2.0]), np.array([[1.0, 2.0], [0.5, 4.0]])]


def outcome(f: Callable[[], Any]) -> Any:
    try:
        found = f()
    except (TypeError, ValueError) as error:
        return type(error)
    return found.value if isinstance(found, Held) else found


@pytest.mark.parametrize("primal", PRIMALS, ids=repr)
@pytest.mark.parametrize("operate", OPERATORS)
@pytest.mark.parametrize("kind", [Held, Readable])
def test_the_class_of_the_operand_computes(kind: Any, operate: Callable[..., Any], primal: Any) -> None:
    for take in (lambda x: x, lambda x: x[0] if np.ndim(primal) else x):

        def program(x: Any, take: Callable[[Any], Any] = take) -> Any:
            return outcome(lambda: operate(take(x), kind(2.0)))

        wanted, found = program(primal), te.vjp(program, primal)[0]
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found, wanted)
        if not isinstance(wanted, (str, type)) and type(primal) is not np.float32:
            change = te.jvp(program, (primal,), (np.ones_like(primal)[()],))[1]
            np.testing.assert_allclose(change, (program(primal + 1e-6) - program(primal - 1e-6)) / 2e-6, rtol=1e-8)


def test_functions_of_numpy_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="Held"):
        te.grad(lambda x: np.multiply(x, Held(2.0)).value)(3.0)


@pytest.mark.parametrize("primal", [x for x in PRIMALS if type(x) is not np.float32], ids=repr)
@pytest.mark.parametrize("operate", OPERATORS)
@pytest.mark.parametrize("kind", [WithoutPriority, OfLowPriority, OfNoPriority])
def test_operands_that_numpy_reads_are_used_as_in_the_plain_program(
    kind: Any, operate: Callable[..., Any], primal: Any
) -> None:
    def program(x: Any) -> Any:
        return outcome(lambda: operate(x, kind(2.0)))

    try:
        found = te.vjp(program, primal)[0]
    except UnsupportedError:
        return
    wanted = program(primal)
    assert type(found) is type(wanted)
    np.testing.assert_array_equal(found, wanted)


def test_an_operand_on_the_left_that_numpy_reads_is_refused() -> None:
    for primal in (np.float64(3.0), np.array([1.0, 2.0])):
        with pytest.raises(UnsupportedError, match="Readable"):
            te.vjp(lambda x: Readable(2.0) * x, primal)
