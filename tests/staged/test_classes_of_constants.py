"""A constant in the result of a staged program has the program's class in each run, and its tangent has it too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeengine as te

CONSTANTS = [
    *(1j, complex(-0.0, 0.0), 1.0, -0.0, 1e400, 2, True, "s", b"x", None, range(3), slice(1, 2)),
    *(np.complex128(1j), np.complex64(1j), np.float64(1.0), np.float32(2.0), np.float16(2.0), np.longdouble(2.0)),
    *(np.int64(3), np.int8(2), np.bool_(True), np.array(1.0), np.array(1j), np.array(3), np.array([1.0, 2.0])),
    *(np.array([1, 2]), np.array([1j]), np.array(["a"])),
]


def told(value: Any) -> Any:
    """The classes and texts of a structure's leaves."""
    if isinstance(value, (list, tuple)):
        return type(value), [told(item) for item in value]
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return type(value), repr(value)


@pytest.mark.parametrize("x", [1.5, np.ones(2)], ids=["number", "array"])
@pytest.mark.parametrize("constant", CONSTANTS, ids=repr)
def test_each_run_returns_the_programs_classes(constant: Any, x: Any) -> None:
    programs = [lambda x: (x * 2, constant, [constant, constant], {"a": constant}), lambda x: constant]
    for program in programs:
        staged = te.stage(program)
        for _ in range(3):
            assert told(staged(x)) == told(program(x))
            assert told(te.vjp(staged, x)[0]) == told(program(x))


@pytest.mark.parametrize("constant", [1j, np.complex128(1j), np.complex64(1j), np.array(1j)], ids=repr)
def test_the_tangent_of_a_constant_has_its_class(constant: Any) -> None:
    for program in (lambda x: (constant, x), te.stage(lambda x: (constant, x))):
        for _ in range(3):
            tangent = te.jvp(program, (1.0,), (1.0,))[1]
            assert (type(tangent[0]), tangent[1]) == (type(constant), 1.0)
            assert type(te.linearize(program, 1.0)[1](1.0)[0]) is type(constant)
