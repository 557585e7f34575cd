"""Backpropagators of replays at traced cotangents, and plain primals: as those of the programs, or refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tmath
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError

#: Programs of numbers, their primals, and cotangents of their values.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "number": (lambda x: x * x, (2.0,), 3.0),
    "branches": (lambda x: tmath.sin(x) if x > 0 else -x, (2.0,), 3.0),
    "numpy's number": (lambda x: x * x, (np.float64(2.0),), np.float64(3.0)),
    "list": (lambda x: [v * x[0] for v in x], ([1.0, 2.0],), [0.5, -1.0]),
    "dict": (lambda x: {"a": x["a"] * x["b"], "b": tmath.exp(x["a"])}, ({"a": 0.3, "b": 2.0},), {"a": 1.0, "b": 2.0}),
    "two arguments": (lambda x, y: (x * y, x + y), (2.0, 3.0), (0.5, 4.0)),
    "maximum": (lambda x, y: max(x, y) * x, (2.0, 3.0), 0.5),
    "constant": (lambda x: (x, 1.0), (2.0,), (3.0, 4.0)),
    "rule": (lambda x: te.checkpoint(lambda y: y * y)(x), (2.0,), 3.0),
}

#: What is computed from a function of the cotangent.
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "jacobian": lambda f, c: te.jacobian(f)(c),
    "jacfwd": lambda f, c: te.jacfwd(f)(c),
    "jvp": lambda f, c: te.jvp(f, (c,), (c,)),
    "vjp": lambda f, c: te.vjp(f, c)[1](f(c)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_replays_are_as_the_program(name: str, transform: str) -> None:
    program, primals, cotangent = PROGRAMS[name]
    staged = te.stage(program)
    for _ in range(3):
        te.vjp(staged, *primals)

    def outcome(f: Callable[..., Any], kept: bool) -> Any:
        back = te.vjp(f, *primals)[1] if kept else None
        return TRANSFORMS[transform](lambda c: (back or te.vjp(f, *primals)[1])(c), cotangent)

    for kept in (True, False):
        assert outcome(staged, kept) == outcome(program, kept)


def test_rules_may_call_replays() -> None:
    square = te.stage(lambda x: x * x)
    square(2.0)
    called = te.primitive(lambda x: square(x), name="tests.square")
    called.def_vjp(x=lambda ct, x: te.vjp(square, x)[1](ct)[0])
    assert te.jvp(called, (2.0,), (1.0,)) == (4.0, 4.0)


OF_ARRAYS: dict[str, tuple[Callable[..., Any], Any]] = {
    "array": (lambda x: x * x, np.ones(2)),
    "sum": (lambda x: np.sum(x * x), 2.0),
    "numbers beside": (lambda x: (x[0] * 2.0, np.sin(x)), (1.0, np.ones(2))),
}


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_replays_of_arrays_are_refused(name: str) -> None:
    program, cotangent = OF_ARRAYS[name]
    staged = te.stage(program)
    for _ in range(3):
        back = te.vjp(staged, np.ones(2))[1]
    assert staged.stats().replays
    with pytest.raises(UnsupportedError, match="__wrapped__"):
        te.vjp(back, cotangent)
    # plain numbers in arrays of an enclosing trace are cotangents
    plain = (lambda: tnp.ones(2)) if name == "array" else lambda: cotangent
    found = te.grad(lambda c: c * np.sum(back(plain())[0]))(2.0)
    assert math.isclose(found, np.sum(te.vjp(program, np.ones(2))[1](cotangent)[0]))
