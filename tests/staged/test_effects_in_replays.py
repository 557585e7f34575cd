"""A function that a replay calls may have an effect at some arguments only: the program then runs as Python."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

COUNT = 0


def by_rule(f: Callable[[Any], Any], x: Any) -> Any:
    custom = te.custom_vjp(f)
    custom.defvjp(lambda y: (f(y), None), lambda _, ct: (1.5 * ct,))
    return custom(x)


def by_tangents(f: Callable[[Any], Any], x: Any) -> Any:
    custom = te.custom_jvp(f)
    custom.defjvp(lambda primals, tangents: (f(*primals), 1.5 * tangents[0]))
    return custom(x)


WAYS: list[Callable[[Callable[[Any], Any], Any], Any]] = [
    by_rule,
    by_tangents,
    lambda f, x: te.checkpoint(f)(x),
    lambda f, x: te.iterate(f, 1, x),
    lambda f, x: te.fork(lambda: f(x), lambda: x)[0],
]


class Captured:
    """Objects of one run of a program; the effects on them, by name."""

    def __init__(self) -> None:
        self.parts: Any = {"list": [3.0, 1.0], "set": set(), "dict": {}, "deque": collections.deque(), "inner": [[0.0]]}
        self.counter = collections.Counter[str]()
        self.array, self.bytes = np.zeros(3), bytearray(2)
        self.generators: Any = np.random.default_rng(3), random.Random(4)

    def total(self) -> float:
        lists = self.parts["list"], self.array.tolist(), list(self.bytes), self.parts["inner"][0]
        sizes = sum(map(len, self.parts.values())) + sum(self.counter.values())
        return float(sum(map(sum, lists)) + sizes + self.parts["list"][0] + COUNT)


def counted(_: Captured) -> None:
    global COUNT
    COUNT += 1


def drawn(k: int) -> Callable[[Captured], float]:
    return lambda c: c.generators[k].random()


EFFECTS: dict[str, Callable[[Captured], Any]] = {
    "append": lambda c: c.parts["list"].append(1.0),
    "pop": lambda c: c.parts["list"].pop(),
    "sort": lambda c: c.parts["list"].sort(),
    "nested": lambda c: c.parts["inner"][0].append(2.0),
    "set": lambda c: c.parts["set"].add(1),
    "dict": lambda c: c.parts["dict"].update(k=1),
    "deque": lambda c: c.parts["deque"].append(1),
    "counter": lambda c: c.counter.update("a"),
    "attribute": lambda c: setattr(c, "counter", collections.Counter("ab")),
    "array": lambda c: c.array.fill(1.0),
    "view": lambda c: c.array[1:].__setitem__(0, 2.0),
    "bytes": lambda c: c.bytes.__setitem__(0, 3),
    "global": counted,
    "generator": drawn(0),
    "random": drawn(1),
    "global generator": lambda _: random.random(),
    "numpy's global generator": lambda _: np.random.random(),
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("way", WAYS)
def test_effects_at_some_arguments_only(way: Callable[..., Any], name: str) -> None:
    def program(x: Any) -> Any:
        captured = Captured()

        def function(y: Any) -> Any:
            found = EFFECTS[name](captured) if y > 10.0 else None
            return y * 1.5 if type(found) is not float else y * found

        y = way(function, x)
        return y * captured.total() + captured.generators[0].random() + captured.generators[1].random()

    def outcomes(f: Any) -> list[Any]:
        global COUNT
        COUNT, found = 0, []
        random.seed(1), np.random.seed(1)
        for x in (1.0, 2.0, 20.0, 3.0, 30.0, 2.0):
            try:
                found.append(te.value_and_grad(f)(x))
            except te.errors.TapeEngineError as error:
                found.append(type(error))  # type: ignore[arg-type]
        return [*found, random.random(), np.random.random()]

    staged = te.stage(program)
    assert outcomes(staged) == outcomes(program)
    assert staged.refused is not None


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("way", WAYS[:4])
def test_writes_to_arguments_at_some_arguments_only(way: Callable[..., Any]) -> None:
    """They are refused as they are without staging."""

    def function(y: Any) -> Any:
        if np.sum(y) > 10.0:
            y[0] = 0.0
        return y * 1.5

    staged = te.stage(lambda x: np.sum(way(function, x)))
    for _ in range(3):
        staged(np.ones(2))
    for _ in range(2):
        with pytest.raises(te.errors.DroppedDerivativeError, match="writes into arrays"):
            te.grad(staged)(np.full(2, 9.0))
    assert te.grad(staged)(np.ones(2)).tolist() == [1.5, 1.5]
