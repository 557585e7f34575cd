"""A captured method of a container captures the container: later runs use a copy of it."""

from __future__ import annotations

import collections
import functools
import random
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import RepeatError

Case = tuple[Callable[[], Any], str, Callable[[Any], Any]]

#: How to make a container, the name of a method, and a call of it that returns a number.
CASES: list[Case] = [
    (lambda: [2.0, 3.0, 5.0, 7.0], "pop", lambda m: m()),
    (lambda: [2.0, 3.0], "append", lambda m: m(1.0) or 2.0),
    (lambda: [2.0, 3.0], "__getitem__", lambda m: m(1)),
    (lambda: [2.0, 3.0], "__iadd__", lambda m: m([1.0])[-1]),
    (lambda: [2.0, 3.0], "__setitem__", lambda m: m(0, 4.0) or 2.0),
    (lambda: [2.0, 3.0, 5.0], "reverse", lambda m: m() or m.__self__[0]),
    (lambda: {1: 2.0, 2: 3.0, 3: 5.0}, "popitem", lambda m: m()[1]),
    (lambda: {1: 2.0}, "setdefault", lambda m: m(5, 3.0)),
    (lambda: collections.OrderedDict({1: 2.0, 2: 3.0, 3: 5.0}), "popitem", lambda m: m(last=False)[1]),
    (lambda: collections.defaultdict(lambda: 2.0), "__getitem__", lambda m: m(0)),
    (lambda: collections.Counter("aab"), "update", lambda m: m("b") or m.__self__["b"]),
    (lambda: {2.0, 3.0, 5.0}, "pop", lambda m: m()),
    (lambda: {2.0}, "add", lambda m: m(3.0) or 1.0),
    (lambda: collections.deque([2.0, 3.0, 5.0]), "popleft", lambda m: m()),
    (lambda: collections.deque([2.0, 3.0, 5.0, 7.0]), "rotate", lambda m: m() or m.__self__[0]),
    (lambda: bytearray([2, 3, 5]), "pop", lambda m: m()),
    (lambda: array("d", [2.0, -0.0, 5.0]), "pop", lambda m: m(0)),
    (lambda: array("d", [0.0, 5.0]), "__setitem__", lambda m: m(0, -0.0) or 2.0),
    (lambda: random.Random(1), "random", lambda m: m()),
    (lambda: random.Random(1), "gauss", lambda m: m(0.0, 1.0)),
    (lambda: np.random.default_rng(1), "normal", lambda m: m()),
    (lambda: np.random.RandomState(1), "normal", lambda m: m()),
    (lambda: np.array([2.0, 3.0]), "item", lambda m: m(0)),
    (lambda: np.array([2.0, 3.0]), "put", lambda m: m(0, 4.0) or 1.0),
    (lambda: iter([2.0, 3.0, 5.0]), "__next__", lambda m: m()),
    (lambda: (y for y in [2.0, 3.0, 5.0]), "__next__", lambda m: m()),
]
NAMES = [f"{type(make()).__name__}.{name}" for make, name, _ in CASES]


class Holder:
    pass


METHODS: list[Any] = [None]


def functions(method: Any, call: Callable[[Any], Any]) -> Iterator[Callable[[Any], Any]]:
    """One function for each way to capture a method."""
    METHODS[0], holder, held = method, Holder(), [{"method": method}]
    holder.method = method  # type: ignore[attr-defined]
    yield lambda x: np.sin(x * call(method))
    yield lambda x, m=method: np.sin(x * call(m))
    yield functools.partial(lambda m, x: np.sin(x * call(m)), method)
    yield lambda x: np.sin(x * call(holder.method))  # type: ignore[attr-defined]
    yield lambda x: np.sin(x * call(METHODS[0]))
    yield lambda x: np.sin(x * call(held[0]["method"]))


RUNS: dict[str, Callable[[Any, Any], Any]] = {
    "checkpoint": lambda f, x: (g := te.checkpoint(f))(x) + g(x),
    "fork": lambda f, x: sum(te.fork(lambda: f(x), lambda: f(x))),
    "fork_map": lambda f, x: sum(te.fork_map(f, [x, x])),
    "in a checkpoint": lambda f, x: te.checkpoint(lambda y: f(y) + te.checkpoint(f)(y))(x),
}


def state(container: Any) -> Any:
    """All that a container shows of itself."""
    if isinstance(container, (random.Random, np.random.RandomState)):
        return repr(container.getstate() if isinstance(container, random.Random) else container.get_state())
    if isinstance(container, np.random.Generator):
        return repr(container.bit_generator.state)
    return "read" if hasattr(container, "__next__") else repr(list(container))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_later_runs_use_a_copy(case: Case, run: str) -> None:
    make, name, call = case
    for k in range(6 if run == "checkpoint" else 1):
        plain, traced = make(), make()
        f, g = (list(functions(getattr(container, name), call))[k] for container in (plain, traced))
        METHODS[0] = getattr(plain, name)
        expected, expected_back = te.vjp(lambda x, f=f: f(x) + f(x), 1.5)
        METHODS[0] = getattr(traced, name)
        value, back = te.vjp(lambda x, g=g: RUNS[run](g, x), 1.5)
        assert (value, state(traced)) == (expected, state(plain))
        for _ in range(2):
            try:
                found = back(1.0)[0]
            except RepeatError as error:
                assert name == "__next__" and "Capture a list" in str(error)
                break
            assert found == pytest.approx(expected_back(1.0)[0], rel=1e-14)
            assert state(traced) == state(plain)


@pytest.mark.parametrize("case", [case for case in CASES if case[0]().__class__ not in (bytearray, array)])
def test_iterate_treats_a_method_as_the_container(case: Case) -> None:
    make, name, call = case
    outcomes = []
    for is_direct in (True, False):
        container = make()
        method = getattr(container, name)
        f = (lambda x: np.sin(x * call(getattr(container, name)))) if is_direct else next(functions(method, call))  # noqa: B023
        value, back = te.vjp(lambda x, f=f: te.iterate(f, 3, x, checkpoints=1), 1.5)
        before = state(container)
        try:
            outcomes.append((value, before, back(1.0)))
        except RepeatError as error:
            outcomes.append((value, before, str(error).split(":")[0]))
        assert state(container) == before
    assert outcomes[0] == outcomes[1]
