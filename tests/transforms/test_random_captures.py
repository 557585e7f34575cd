"""Random compositions: functions of captured numbers, hidden in objects in each other, in calls that run again."""

from __future__ import annotations

import collections
import functools
import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

Function = Callable[[Any], Any]


class Own:
    """An object of the program."""

    def __init__(self, f: Function) -> None:
        self.f = f


class Foreign:
    """An object of a class of a library, which contains itself."""

    __module__ = "queue"
    __slots__ = ("held", "me")

    def __init__(self, f: Function) -> None:
        self.held, self.me = [f], self


def with_reverse_rule(f: Function) -> Function:
    made = te.custom_vjp(f)
    made.defvjp(lambda y: (f(y), y), lambda y, ct: te.vjp(f, y)[1](ct))
    return made


def with_forward_rule(f: Function) -> Function:
    made = te.custom_jvp(f)
    made.defjvp(lambda primals, tangents: te.jvp(f, primals, tangents))
    return made


def called(held: Any, read: Callable[[Any], Function]) -> Function:
    return lambda y: read(held)(y)


#: Functions that do what another one does, which they contain.
AROUND: list[Callable[[Function], Function]] = [
    lambda f: called({"f": f}, lambda held: held["f"]),
    lambda f: called(Own(f), lambda held: held.f),
    lambda f: called(Foreign(f), lambda held: held.me.held[0]),
    lambda f: called(types.MappingProxyType({"f": f}), lambda held: held["f"]),
    lambda f: called({"f": f}.values(), lambda held: next(iter(held))),
    lambda f: called(collections.UserDict(f=f), lambda held: held["f"]),
    lambda f: called(collections.ChainMap({}, {"f": f}), lambda held: held["f"]),
    lambda f: functools.partial(lambda g, y: g(y), f),
    lambda f: te.lift(lambda y: f(y)),
    te.stage,
    te.checkpoint,
    with_reverse_rule,
    with_forward_rule,
]
#: Functions of two captured numbers.
PLAIN: list[Callable[[Any], Function]] = [
    lambda k: lambda y: y * k[0] + k[1],
    lambda k: lambda y: np.sin(y * k[0]) * k[1],
    lambda k: lambda y: y * y * 0.3 + k[1],
]
#: Calls that run again, and how often they apply the function.
RUNS: list[tuple[int, Callable[[Function, Any], Any]]] = [
    (1, lambda f, x: te.checkpoint(f)(x)),
    (2, lambda f, x: te.iterate(lambda y: f(y), 2, x)),
    (1, lambda f, x: te.fork_map(f, [x, x])[1]),
    (1, lambda f, x: te.fork(lambda: f(x), lambda: x)[0]),
    (1, lambda f, x: te.checkpoint(lambda y: te.iterate(f, 1, y))(x)),
    (1, lambda f, x: te.checkpoint(te.checkpoint(f))(x)),
]


def program(seed: int, is_plain: bool) -> Function:
    def composed(k: Any) -> Any:
        draw, x = random.Random(seed), 0.7 * k + 0.2
        for _ in range(draw.randint(1, 2)):
            f = draw.choice(PLAIN)([k * draw.random(), np.sin(k)] if draw.random() < 0.5 else (k, 0.5 * k))
            around, (times, run) = draw.choices(AROUND, k=draw.randint(1, 3)), draw.choice(RUNS)
            if is_plain:
                for _ in range(times):
                    x = f(x)
            else:
                x = run(functools.reduce(lambda inner, make: make(inner), around, f), x)
        return x

    return composed


ORDERS: list[Callable[[Function], Any]] = [
    lambda f: te.value_and_grad(f)(1.3),
    lambda f: te.jvp(f, (1.3,), (1.0,)),
    lambda f: te.hessian(f)(1.3),
    lambda f: te.jvp(lambda k: te.jvp(f, (k,), (1.0,))[1], (1.3,), (1.0,)),
    lambda f: te.grad(lambda k: te.jvp(f, (k,), (1.0,))[1])(1.3),
]


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("seed", range(100))
def test_a_composition_has_the_derivatives_of_the_plain_one(seed: int) -> None:
    for order in ORDERS:
        found, wanted = (np.ravel(order(program(seed, is_plain))) for is_plain in (False, True))
        np.testing.assert_allclose(found, wanted, rtol=1e-10)
