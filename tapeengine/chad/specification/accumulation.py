"""Evaluation of the environment vector monad on the core's accumulation (EC section 5), and of the keeping loops.

The value of a term of type `EVM` is a Python function without arguments; calling it runs the computation. The steps
of building a computation are counted when its term is evaluated, those of running it when it runs (EC appendix C).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language import target as T
from ..language.tables import entry, table
from ..language.types import Linear, LReal
from .evaluation import Environment, Evaluation

Computation = Callable[[], Any]


# cost(one t) = 1 + cost(t); running it: 1 + what the sum takes
@entry
def one(E: Evaluation, t: T.One, env: Environment) -> Computation:
    E.step()
    cotangent = E.eval(t.term, env)
    of = T.linear_type(t.term)

    def run() -> tuple[()]:
        E.step()
        if isinstance(of, LReal) and type(cotangent) is float:
            E.step()  # as much as `Sparse.plus` counts for two reals
            E.slots.one(t.slot, cotangent)
        else:
            E.slots.one(t.slot, cotangent, lambda a, b: E.linear.plus(of, a, b))
        return ()

    return run


# cost(scope t) = 1 + cost(0) + cost(t); running it: 1 + running t
@entry
def scope(E: Evaluation, t: T.Scope, env: Environment) -> Computation:
    E.step(2)
    inner = E.eval(t.body, env)

    def run() -> Any:
        E.step()
        value, (cotangent,) = _with_slots(E, ((t.slot, t.of),), inner)
        return value, cotangent

    return run


def _with_slots(
    E: Evaluation, slots: tuple[tuple[str, Linear], ...], inner: Computation
) -> tuple[Any, tuple[Any, ...]]:
    """Run a computation with additional open slots; return its result and their final values."""
    for name, of in slots:
        before = E.steps
        E.slots.open(name, E.linear.zero(of))
        E.step(before - E.steps)
    try:
        value = inner()  # called here and not by the core's scope, to save C stack
    finally:
        cotangents = [E.slots.close(name) for name, _ in reversed(slots)]
    return value, tuple(reversed(cotangents))


# cost(return t) = 1 + cost(t); running it: 1
@entry
def return_(E: Evaluation, t: T.Return, env: Environment) -> Computation:
    E.step()
    value = E.eval(t.term, env)

    def run() -> Any:
        E.step()
        return value

    return run


# cost(s >>= \x. t) = 1 + cost(s) + cost(\x. t); running it: 1 + running s + cost(t) + running t
@entry
def bind(E: Evaluation, t: T.Bind, env: Environment) -> Computation:
    first = E.eval(t.first, env)
    closure = E.captured(t, env)
    E.step(2 + len(closure))

    def run() -> Any:
        E.step()
        second = E.eval(t.body, {**closure, t.var.name: first()})
        return second()

    return run


# s >> t  =  let m = t in s >>= \_. m
@entry
def then(E: Evaluation, t: T.Then, env: Environment) -> Computation:
    E.step(4)
    first, second = E.eval(t.first, env), E.eval(t.second, env)

    def run() -> Any:
        E.step(2)
        first()
        return second()

    return run


@entry
def for_each(E: Evaluation, t: T.ForEach, env: Environment) -> Computation:
    E.step()
    n = E.eval(t.size, env)
    actions = [E.eval(t.body, {**env, t.index.name: i}) for i in range(n)]

    def run() -> tuple[()]:
        for action in actions:
            E.step()
            action()
        return ()

    return run


@entry
def descend(E: Evaluation, t: T.Descend, env: Environment) -> Computation:
    E.step()
    n = E.eval(t.size, env)
    init = E.eval(t.init, env)

    def run() -> Any:
        state = init
        kept: list[Any] = [None] * n
        for i in reversed(range(n)):
            E.step()
            state, kept[i] = E.eval(t.body, {**env, t.index.name: i, t.state.name: state})()
        return state, kept

    return run


# cost(run s t) = 1 + cost(s) + cost(t) + running it, where t is the tuple of zeros, and 1 + |slots| for (de)serialising
@entry
def run(E: Evaluation, t: T.Run, env: Environment) -> Any:
    E.step(1 + (1 + 2 * len(t.slots)) + (1 + len(t.slots)))
    return _with_slots(E, t.slots, E.eval(t.body, env))[1]


@entry
def map_accum(E: Evaluation, t: T.MapAccum, env: Environment) -> Any:
    n = E.eval(t.size, env)
    state = E.eval(t.init, env)
    E.step(1 + max(n, 0))
    kept = []
    for i in range(n):
        state, keep = E.eval(t.body, {**env, t.index.name: i, t.state.name: state})
        kept.append(keep)
    return state, kept


@entry
def while_accum(E: Evaluation, t: T.WhileAccum, env: Environment) -> Any:
    state = E.eval(t.init, env)
    E.step()
    kept = []
    while E.eval(t.condition, {**env, t.state.name: state}):
        E.step()
        state, keep = E.eval(t.body, {**env, t.state.name: state})
        kept.append(keep)
    return state, kept


RULES = table(globals())
