"""What a program does just before it raises need not be in the language: the plain function does it."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tapeengine as te


def named(x: float) -> float:
    if x < 0.0:
        msg = f"negative: {x!r}"
        raise ValueError(msg)
    return x * x


def in_two_steps(x: float) -> float:
    if x > 1.0:
        return x
    elif x < 0.0:
        text = "negative: {}".format(x)  # noqa: UP032
        text += "!"
        raise ValueError(text)
    text = "%g is between" % x  # noqa: UP031
    raise LookupError(text)


def in_a_loop(x: float) -> float:
    total = 0.0
    for k in range(3):
        total += x * k
        if total < 0.0:
            error = ArithmeticError("negative", k)
            raise error
    return total


def another_fails_first(x: float) -> float:
    if x < 0.0:
        message = {"a": x}["b"]
        raise ValueError(message)
    return 2.0 * x


def of_a_name_read_elsewhere(x: float) -> float:
    scale = 2.0
    if x < 0.0:
        scale = 3.0
        raise ValueError(scale)
    return scale * x


PROGRAMS: tuple[Callable[[float], Any], ...] = (
    named, in_two_steps, in_a_loop, another_fails_first, of_a_name_read_elsewhere,
)  # fmt: skip


def outcome(call: Callable[[], Any]) -> tuple[Any, ...]:
    try:
        return (call(),)
    except Exception as error:
        return type(error), error.args


@pytest.mark.parametrize("backend", ["machine", "native"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_errors_are_those_of_the_plain_function(program: Callable[[float], Any], backend: Any) -> None:
    typed = te.program(program, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a program that the language does not have would warn
        for x in (2.0, -1.0, 0.5, -0.25):
            assert outcome(lambda x=x: te.vjp(typed, x)[0]) == outcome(lambda x=x: program(x))  # type: ignore[misc]
        assert te.grad(typed)(2.0) == pytest.approx((program(2.0 + 1e-6) - program(2.0 - 1e-6)) / 2e-6)
