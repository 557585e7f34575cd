"""Data of staged and lifted functions that changes after a call which runs them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te


class Model:
    """An object that holds a number."""

    def __init__(self) -> None:
        self.k = 2.0


K = 2.0


def of_list() -> Any:
    held = [2.0]
    return lambda v: v * held[0], lambda k: held.append(held.pop() * 0.0 + k)


def of_array() -> Any:
    held = np.array([2.0, 1.0])
    return lambda v: v * held[0], lambda k: held.put(0, k)


def of_variable() -> Any:
    held = 2.0

    def change(k: float) -> None:
        nonlocal held
        held = k

    return lambda v: v * held, change


def of_global() -> Any:
    globals().update(K=2.0)
    return (lambda v: v * K), lambda k: globals().update(K=k)


def of_object() -> Any:
    held = Model()
    return lambda v: v * held.k, lambda k: vars(held).update(k=k)


def of_recursion() -> Any:
    held = [2.0]

    def times(v: Any, depth: int = 2) -> Any:
        return times(v, depth - 1) if depth else v * held[0]

    return times, lambda k: held.append(held.pop() * 0.0 + k)


#: Makers of a function that multiplies by two, and of what changes the factor.
HELD = {f.__name__: f for f in (of_list, of_array, of_variable, of_global, of_object, of_recursion)}


def called_before(f: Callable[..., Any]) -> Any:
    staged = te.stage(f)
    for k in (1.0, 2.0, 3.0):
        staged(k)
        te.grad(staged)(k)
    return staged


def in_itself(f: Callable[..., Any]) -> Any:
    staged = te.stage(lambda v, depth=2: staged(v, depth=depth - 1) if depth else f(v))
    return staged


#: Functions that stage or lift.
WRAPPED: dict[str, Callable[..., Any]] = {
    "stage": te.stage,
    "stage, called before": called_before,
    "stage, recursive": in_itself,
    "lift": te.lift,
    "lift of stage": lambda f: te.lift(te.stage(f)),
    "stage in a function": lambda f: (lambda staged: lambda v: staged(v))(te.stage(f)),
    "checkpoint of stage": lambda f: te.checkpoint(te.stage(f)),
    "checkpoint": te.checkpoint,
}


def with_reverse_rule(f: Callable[..., Any], x: Any) -> Any:
    g = te.custom_vjp(lambda v: f(v))
    g.defvjp(lambda v: (f(v), None), lambda _, ct: (f(ct),))
    return g(x)


def with_forward_rule(f: Callable[..., Any], x: Any) -> Any:
    g = te.custom_jvp(lambda v: f(v))
    g.defjvp(lambda primals, tangents: (f(primals[0]), f(tangents[0])))
    return g(x)


#: Calls that run a function again.
CALLS: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "custom_vjp": with_reverse_rule,
    "custom_jvp": with_forward_rule,
    "checkpoint": lambda f, x: te.checkpoint(lambda v: f(v))(x),
    "iterate": lambda f, x: te.iterate(lambda v: f(v), 1, x),
    "fork_map": lambda f, x: te.fork_map(lambda v: f(v), [x])[0],
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("held", HELD)
def test_derivatives_are_those_of_the_call(held: str, wrapped: str, call: str) -> None:
    def program(x: Any) -> Any:
        f, change = HELD[held]()
        y = CALLS[call](WRAPPED[wrapped](f), x * x)
        change(5.0)
        z = CALLS[call](WRAPPED[wrapped](f), y)
        change(7.0)
        return z

    for _ in range(2):
        assert te.value_and_grad(program)(3.0) == (90.0, 60.0)
        assert te.jvp(program, (3.0,), (1.0,)) == (90.0, 60.0)
        assert te.hessian(program)(3.0) == 20.0


@pytest.mark.parametrize("wrap", [te.stage, te.lift])
def test_rules_use_the_staged_function_itself_while_its_data_does_not_change(wrap: Callable[..., Any]) -> None:
    held, used = np.array([2.0, 1.0]), list[int]()
    times = wrap(lambda v: v * held[0])

    def back(_: Any, ct: Any) -> Any:
        used.append(id(times))
        return (times(ct),)

    f = te.custom_vjp(lambda v: times(v))
    f.defvjp(lambda v: (times(v), None), back)
    assert [te.grad(f)(k) for k in (1.0, 2.0)] == [2.0, 2.0]
    assert used == [id(times)] * 2
