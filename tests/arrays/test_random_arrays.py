"""Random array programs: what numpy computes and aliases, the traced program computes and aliases, and its derivatives
are those of complex steps, or of differences where a program is not analytic.

`TAPEENGINE_NIGHTLY=1` runs 20,000 programs; `TAPEENGINE_PROGRAMS=first:last` runs those of some seeds.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

from .random_arrays import Program, same

NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"
FIRST, LAST = map(int, os.environ.get("TAPEENGINE_PROGRAMS", "0:20000" if NIGHTLY else "0:500").split(":"))
GROUP = 25
STEP = 1e-20


def programs(first: int, last: int) -> Iterator[Program]:
    for seed in range(first, last):
        for attempt in itertools.count():
            try:
                yield Program(seed + 10**7 * attempt)
                break
            except RuntimeError:  # numbers grow too large, or a statement fails half-way
                continue


@pytest.mark.parametrize("first", range(FIRST, LAST, GROUP))
def test_a_random_program_is_numpys(first: int) -> None:
    for program in programs(first, min(first + GROUP, LAST)):
        try:
            with warnings.catch_warnings(), numpy.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check(program)
        except BaseException as error:
            raise AssertionError(
                f"this program fails:\n\n{program.script()}\n{type(error).__name__}: {error}"
            ) from error


def check(program: Program) -> None:
    function = program.function()
    plain: list[dict[str, Any]] = []
    value = function(numpy, lambda **live: plain.append(live), *program.primals())

    def traced(*primals: Any, look: Any = lambda **live: None) -> Any:
        return function(np, look, *primals)

    found, back = te.vjp(
        lambda *primals: traced(*primals, look=lambda **live: compare(plain[0], live)), *program.primals()
    )
    loose = 1e-5 if program.dtype == "f" else 1e-12
    assert numpy.allclose(found, value, rtol=loose, atol=loose), f"value {found} for {value}"
    first_order(program, function, traced, back)
    second_order(program, function, traced)


# -- values and aliases -----------------------------------------------------------------------------------------------
def compare(plain: dict[str, Any], live: dict[str, Any]) -> None:
    """The variables at the end of a program: values, kinds, memory order and shared memory."""
    for name, x in plain.items():
        y = live[name]
        assert close(x, numbers(y)), f"{name} is {numbers(y)!r} for {x!r}"
        if isinstance(x, numpy.ndarray):
            assert isinstance(y, (numpy.ndarray, te.Array)), f"{name} is a number for an array"
            spread = x.size == 0 or any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))
            spread = spread or "WARN_ON_WRITE" in repr(x.flags)  # numpy writes with a warning, which a trace refuses
            for flag in ("c_contiguous", "f_contiguous", *(() if spread else ("writeable",))):
                assert getattr(y.flags, flag) == getattr(x.flags, flag), (
                    f"{flag} of {name} is not {getattr(x.flags, flag)}"
                )
        elif numpy.asarray(x).dtype == float:
            assert not isinstance(y, te.Array), f"{name} is an array for a number"  # constants are Python's floats
    arrays = [name for name, x in plain.items() if isinstance(x, numpy.ndarray)]
    for one, other in itertools.combinations(arrays, 2):
        shared = numpy.shares_memory(plain[one], plain[other])
        assert np.shares_memory(live[one], live[other]) == shared, f"{one} and {other} share memory: numpy {shared}"


def numbers(x: Any) -> Any:
    return te.value(x)


def close(x: Any, y: Any) -> bool:
    x, y = numpy.asarray(x), numpy.asarray(y)
    loose = 1e-5 if x.dtype.char in "fF" else 1e-13
    return same(x, y) or (
        x.dtype == y.dtype and x.shape == y.shape and numpy.allclose(x, y, rtol=loose, atol=loose, equal_nan=True)
    )


# -- derivatives ------------------------------------------------------------------------------------------------------
def paired(cotangents: Any, tangents: Any) -> float:
    return float(sum(numpy.sum(c * t).real for c, t in zip(cotangents, tangents, strict=True)))


def moved(program: Program, function: Any, steps: list[tuple[Any, Any]], dtype: Any) -> Any:
    """The plain program's value at the primals plus steps along directions."""
    shift = [sum(h * directions[k] for h, directions in steps) for k in range(2)]
    return function(numpy, lambda **live: None, *program.primals(shift, dtype))


def slope(program: Program, function: Any, t: Any, at: tuple[Any, ...] = (), h: float = 1e-3) -> float:
    """The derivative along t, by a complex step or by differences of the plain program in double precision."""
    if program.analytic:
        return float(numpy.imag(moved(program, function, [*at, (STEP * 1j, t)], complex)) / STEP)
    wide = numpy.complex128 if program.dtype == "D" else float
    a, b, c, d = (moved(program, function, [*at, (k * h, t)], wide) for k in (1, -1, 2, -2))
    return float((8 * (a - b) - (c - d)) / (12 * h))


def first_order(program: Program, function: Any, traced: Any, back: Any) -> None:
    t = program.tangents
    expected, other = (slope(program, function, t, h=h) for h in (1e-3, 2e-4))
    reverse = paired(back(numpy.float32(1.0) if program.dtype == "f" else 1.0), t)
    _, forward = te.jvp(traced, tuple(program.primals()), tuple(t))
    scale = max(1.0, abs(expected))
    assert abs(forward - reverse) <= (1e-4 if program.dtype == "f" else 1e-12) * scale, f"jvp {forward}, vjp {reverse}"
    error = min(abs(reverse - expected), abs(reverse - other))
    assert error <= tolerance(program) * scale, f"vjp {reverse}, expected {expected} or {other}"


def second_slope(program: Program, function: Any, t: Any, s: Any, h: float) -> float:
    """The derivative along s of the derivative along t, by differences."""
    a, b, c, d = (slope(program, function, t, ((k * h, s),)) for k in (1, -1, 2, -2))
    return (8 * (a - b) - (c - d)) / (12 * h)


def second_order(program: Program, function: Any, traced: Any) -> None:
    t, s = program.tangents, program.others
    expected, other = (second_slope(program, function, t, s, h) for h in (1e-3, 2.5e-4))

    def gradient(*primals: Any) -> Any:
        return te.grad(traced, (0, 1))(*primals)

    def directional(*primals: Any) -> Any:
        return sum(np.sum(np.real(g * k)) for g, k in zip(gradient(*primals), t, strict=True))

    _, forward = te.jvp(directional, tuple(program.primals()), tuple(s))
    reverse = paired(te.grad(directional, (0, 1))(*program.primals()), s)
    scale = max(1.0, abs(expected))
    assert abs(forward - reverse) <= (1e-3 if program.dtype == "f" else 1e-11) * scale, f"second: {forward}, {reverse}"
    error = min(abs(reverse - expected), abs(reverse - other))
    assert error <= 100 * tolerance(program) * scale, f"second: {reverse}, expected {expected} or {other}"


def tolerance(program: Program) -> float:
    return 2e-3 if program.dtype == "f" else 1e-8 if program.analytic else 1e-6
