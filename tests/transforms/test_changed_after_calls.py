"""Data of staged and lifted functions that changes after a call which runs them again."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import pytest

import tapeengine as te
from tapeengine.transforms.captures.closures import Snapshot


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


def table_by(keys: list[Any], table: Any) -> Any:
    """A function that multiplies by the number at the first key, and what changes that number."""
    return lambda v: v * table[keys[0]], lambda k: table.update({keys[0]: k})


def members(keys: list[Any], table: Any) -> Any:
    """A function that multiplies by two if the table has the first key, and what takes the key away."""
    return lambda v: v * (2.0 if keys[0] in table else 5.0), lambda k: table.discard(keys[0])


def by_keyword(count: int) -> Any:
    f = functools.partial(lambda v, **table: v * table["k0"], **{f"k{i}": 2.0 for i in range(count)})
    return f, lambda k: f.keywords.update(k0=k)


#: Makers of the same from the number of entries of a table.
TABLES: dict[str, Callable[[int], Any]] = {
    "names": lambda n: table_by(names := [str(i) for i in range(n)], dict.fromkeys(names, 2.0)),
    "objects": lambda n: table_by(keys := [Model() for _ in range(n)], dict.fromkeys(keys, 2.0)),
    "one object of many keys": lambda n: table_by(keys := [Model(), *range(n - 1)], dict.fromkeys(keys, 2.0)),
    "pairs": lambda n: table_by(keys := [(i, Model()) for i in range(n)], OrderedDict.fromkeys(keys, 2.0)),
    "weak keys": lambda n: table_by(keys := [Model() for _ in range(n)], WeakKeyDictionary(dict.fromkeys(keys, 2.0))),
    "a set of numbers": lambda n: members(keys := list(range(n)), set(keys)),
    "a set of objects": lambda n: members(keys := [Model() for _ in range(n)], set(keys)),
    "a weak set": lambda n: members(keys := [Model() for _ in range(n)], WeakSet(keys)),
    "keywords": by_keyword,
}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("table", TABLES)
def test_tables_of_several_entries(table: str, call: str, count: int) -> None:
    def program(x: Any) -> Any:
        f, change = TABLES[table](count)
        y = CALLS[call](f, x * x)
        change(5.0)
        z = CALLS[call](f, y)
        return z

    assert te.value_and_grad(program)(3.0) == (90.0, 60.0)
    assert te.hessian(program)(3.0) == 20.0


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("table", TABLES)
def test_only_tables_that_have_changed_are_copied(table: str, count: int) -> None:
    engine, (f, change) = te.Engine(), TABLES[table](count)
    snapshot = Snapshot(engine.structures, f, engine.copies)
    snapshot.written = frozenset()
    assert snapshot.to_copy() == []
    change(5.0)
    assert snapshot.to_copy() != []


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
