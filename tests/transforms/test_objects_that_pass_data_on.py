"""Writes of functions that run again into objects of Python's library: as in the plain program, or refused."""

import argparse
import array
import collections
import concurrent.futures
import contextvars
import queue
import threading
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

Way = tuple[Callable[[Any], Any], Callable[[], Any]]


class Station:
    """An object of the program's own that holds a queue."""

    def __init__(self) -> None:
        self.waiting: Any = queue.Queue()


def ways() -> dict[str, Way]:
    """New objects: for each, a write and a read."""
    chain, user, row, space = (
        collections.ChainMap({}),
        collections.UserDict(),
        collections.UserList([0]),
        argparse.Namespace(),
    )
    waiting, stack, local = queue.Queue(), queue.LifoQueue(), threading.local()
    variable, future, station, items = contextvars.ContextVar("v"), concurrent.futures.Future(), Station(), [0.0]
    return {
        "ChainMap": (lambda y: chain.__setitem__("a", y), lambda: chain["a"]),
        "UserDict": (lambda y: user.__setitem__("a", y), lambda: user["a"]),
        "UserList": (lambda y: row.__setitem__(0, y), lambda: row[0]),
        "Namespace": (lambda y: setattr(space, "v", y), lambda: space.v),
        "Queue": (waiting.put, waiting.get),
        "LifoQueue": (stack.put, stack.get),
        "local": (lambda y: setattr(local, "v", y), lambda: local.v),
        "ContextVar": (variable.set, variable.get),
        "Future": (future.set_result, future.result),
        "queue in an object": (lambda y: station.waiting.put(y), lambda: station.waiting.get()),
        "list": (lambda y: items.__setitem__(0, y), lambda: items[0]),
    }


CALLS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "checkpoint": lambda f, x: te.checkpoint(f)(x),
    "iterate": lambda f, x: te.iterate(f, 1, x),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ways())
def test_a_derivative_does_not_get_lost(name: str, call: str) -> None:
    def program(way: Way, call: Callable[[Callable[[Any], Any], Any], Any], x: Any) -> Any:
        put, get = way

        def f(y: Any) -> Any:
            put(y * y)
            return y

        call(f, x)
        return get() * x

    assert te.grad(lambda x: program(ways()[name], lambda f, x: f(x), x))(2.0) == 12.0
    with pytest.raises(TapeEngineError):
        te.grad(lambda x: program(ways()[name], CALLS[call], x))(2.0)


@pytest.mark.parametrize("name", ways())
def test_a_write_without_a_derivative_happens_once_or_is_refused(name: str) -> None:
    put, get = ways()[name]
    count = []

    def f(y: Any) -> Any:
        count.append(1)
        put(3.0)
        return y * y

    try:
        found = te.grad(te.checkpoint(f))(2.0)
    except TapeEngineError:
        return
    assert found == 4.0
    assert get() == 3.0
    assert len(count) == 1


def kept_numbers() -> dict[str, Way]:
    """Objects of Python's library that hold the number 1: for each, a write and a read."""
    of_attribute: list[Any] = [types.SimpleNamespace(v=1.0), argparse.Namespace(v=1.0), Space(v=1.0)]
    of_key = [{"a": 1.0}, collections.ChainMap({"a": 1.0}), collections.UserDict(a=1.0), collections.OrderedDict(a=1.0)]
    of_place = [[1.0], collections.UserList([1.0]), collections.deque([1.0]), array.array("d", [1.0])]
    found: dict[str, Way] = {}
    for held in of_attribute:
        found[type(held).__name__] = (partial(setattr, held, "v"), partial(getattr, held, "v"))
    for key, holders in (("a", of_key), (0, of_place)):
        for held in holders:
            found[type(held).__name__] = (partial(held.__setitem__, key), partial(held.__getitem__, key))
    return found


class Space(argparse.Namespace):
    """A program's own options."""


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", kept_numbers())
def test_a_number_that_a_library_s_object_holds_is_put_back_for_the_second_run(name: str, call: str, n: int) -> None:
    """The derivative runs the function again from the state before it; the object ends as after one run."""

    def run(through: Callable[[Callable[[Any], Any], Any], Any], x: Any) -> tuple[Any, Any]:
        write, read = kept_numbers()[name]

        def f(y: Any) -> Any:
            write(read() * 1.5 + 0.25)
            return y * y * read() + 0.5

        for _ in range(n):
            x = through(f, x)
        return x, read()

    value, number = run(lambda f, x: f(x), 0.75 + 1e-30j)
    numbers = []

    def program(x: Any) -> Any:
        found, kept = run(CALLS[call], x)
        numbers.append(kept)
        return found

    found, slope = te.value_and_grad(program)(0.75)
    assert (found, numbers) == (value.real, [number])
    assert slope == pytest.approx(value.imag * 1e30, rel=1e-13)


def test_signals_between_threads_are_no_effect() -> None:
    ready, steps = threading.Event(), queue.Queue[int]()

    def f(y: Any) -> Any:
        ready.set()
        steps.put(1)
        return y * y

    assert te.grad(te.checkpoint(f))(2.0) == 4.0
    assert te.grad(lambda x: sum(te.fork_map(f, [x, x])))(2.0) == 8.0
