"""Staged functions that call a `te.program`, or are one: each call is replayed as one operation, with its own rule."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

SCALE = 2.0


@te.program
def wave(x: float) -> float:
    return math.sin(x) * x if x > 0 else x * x


@te.program
def scaled(x: te.Vec, y: float) -> te.Vec:
    return np.tanh(x) * y


@te.program
def several(x, y):  # type: ignore[no-untyped-def]
    return {"a": [x * y, y], "n": 3}


@te.program
def logarithm(x: float) -> float:
    return math.log(x)


@te.program
def with_global(x: float) -> float:
    return x * SCALE


def of_number(x: Any) -> Any:
    return wave(x) + 1.0


def of_list(xs: Any) -> Any:
    return sum(wave(x) * te.math.cos(x) for x in xs)


def of_results(xs: Any) -> Any:
    found = several(xs[0], 2.0 * xs[1])
    return found["a"][0] * found["n"] if wave(xs[0]) > 0.2 else wave(found["a"][1])


def of_array(x: Any) -> Any:
    return np.sum(scaled(x, x[0] * 2)) * x[1]


def of_written_array(x: Any) -> Any:
    b = x.copy()
    v = scaled(b, 2.0)
    b[0] = v[1] * 3
    b *= 2
    return np.sum(b * v)


def checkpointed(x: Any) -> Any:
    return te.checkpoint(wave)(x) * x


NUMBERS = [2.0, 3.0, -1.0, 0.25]
LISTS = [[0.1, 2.0], [0.3, -1.0], [2.0, 3.0], [-1.0, 0.5]]
ARRAYS = [np.array(x) for x in LISTS]


@pytest.mark.parametrize(
    ("program", "points"),
    [
        (wave, NUMBERS),
        (of_number, NUMBERS),
        (of_list, LISTS),
        (of_results, LISTS),
        (of_array, ARRAYS),
        (of_written_array, ARRAYS),
        (checkpointed, NUMBERS),
    ],
)
def test_replays_have_the_bits_of_the_program(program: Callable[..., Any], points: list[Any]) -> None:
    staged = te.stage(program)
    backs = []
    for point in points * 2:
        value, back = te.vjp(program, point)
        found, again = te.vjp(staged, point)
        assert float(found).hex() == float(value).hex() == float(staged(point)).hex()
        backs.append((back, again))
    for back, again in backs:  # after all runs, whose arrays later runs reuse
        assert np.array(again(1.5)[0]).tobytes() == np.array(back(1.5)[0]).tobytes()
    assert staged.refused is None
    assert staged.stats().recordings <= 2
    assert staged.stats().replays >= 2 * len(points) + 4


@pytest.mark.parametrize("program", [wave, of_number, checkpointed])
def test_second_derivatives_and_lanes(program: Callable[..., Any]) -> None:
    staged = te.stage(program)
    staged(1.0)
    for x in NUMBERS:
        assert te.hessian(staged)(x) == te.hessian(program)(x)
        assert te.jvp(staged, (x,), (2.0,)) == te.jvp(program, (x,), (2.0,))
    x = np.array(NUMBERS)
    wanted = te.vjp(te.vmap(program), x)
    found = te.vjp(te.vmap(staged), x)
    assert found[0].tobytes() == wanted[0].tobytes()
    assert found[1](np.ones(4))[0].tobytes() == wanted[1](np.ones(4))[0].tobytes()


def test_errors_of_the_program() -> None:
    staged = te.stage(lambda x: logarithm(x) * 2.0)
    assert staged(1.0) == 0.0
    assert staged(math.e) == 2.0
    for _ in range(2):
        with pytest.raises(ValueError, match=r"math domain error|positive input"):
            staged(-1.0)
        with pytest.raises(ValueError, match=r"math domain error|positive input"):
            te.vjp(staged, -1.0)
    assert staged(math.e) == 2.0


def test_globals_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = te.stage(lambda x: with_global(x) + 1.0)
    assert [staged(x) for x in (1.0, 2.0)] == [3.0, 5.0]
    monkeypatch.setitem(globals(), "SCALE", 10.0)
    assert [staged(x) for x in (1.0, 2.0)] == [with_global(x) + 1.0 for x in (1.0, 2.0)]
    assert te.grad(staged)(3.0) == te.grad(with_global)(3.0)
