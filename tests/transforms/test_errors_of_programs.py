"""Every exception of Python that a program raises passes each transform unchanged, and the program may catch it."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tapeengine as te

KINDS = {
    kind
    for kind in vars(builtins).values()
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, (UnicodeError, ExceptionGroup))
}


def with_rule(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    made = te.custom_vjp(f)
    made.defvjp(lambda x: (f(x), x), lambda x, ct: (ct,))
    return made


def in_a_pool(f: Callable[[Any], Any], x: Any) -> Any:
    with ThreadPoolExecutor(2) as pool:
        return te.fork_map(f, [x, x, x], executor=pool)[0]


WAYS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "call": lambda f, x: f(x),
    "checkpoint": lambda f, x: te.checkpoint(f)(x),
    "iterate": lambda f, x: te.iterate(f, 2, x),
    "fork": lambda f, x: te.fork(lambda: f(x), lambda: x)[0],
    "fork_map": lambda f, x: te.fork_map(f, [x, x])[0],
    "chunks": lambda f, x: te.fork_map(f, [x, x, x], chunksize=2)[0],
    "pool": in_a_pool,
    "vmap": lambda f, x: te.vmap(f)(np.stack([x, x]))[0],
    "stage": lambda f, x: te.stage(f)(x),
    "lift": lambda f, x: te.lift(f)(x),
    "rule": lambda f, x: with_rule(f)(x),
    "vjp": lambda f, x: te.vjp(f, x)[0],
    "jvp": lambda f, x: te.jvp(f, (x,), (x,))[0],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", sorted(KINDS, key=lambda kind: kind.__name__))
def test_it_passes(kind: Any, way: str) -> None:
    error = kind("text")

    def fails(x: Any) -> Any:
        raise error

    def program(x: Any) -> Any:
        try:
            return WAYS[way](fails, x)
        except kind as found:
            assert found is error
            return x * x

    assert te.value_and_grad(program)(3.0) == (9.0, 6.0)
    assert te.jvp(program, (3.0,), (1.0,)) == (9.0, 6.0)
    with pytest.raises(kind, match="text"):
        te.grad(lambda x: WAYS[way](fails, x))(3.0)
