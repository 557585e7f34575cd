"""Staged programs that differentiate a part of themselves: the inner sweeps are recorded, and what they decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from branching_programs import EXPRESSION, NUMBER, evaluated
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.numpy as tnp

ERRORS = (ArithmeticError, ValueError)
MIXED = np.array([[0.3, -0.2], [0.5, 0.7]])


def bits(value: Any) -> bytes:
    return np.asarray(value, float).tobytes()


def outcome(f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """The bits of the value and the cotangents, or the error."""
    try:
        with np.errstate(all="ignore"):
            value, back = te.vjp(f, *args)
            return bits(value), *(bits(part) for ct in (1.0, -0.75) for part in back(ct))
    except ERRORS as error:
        return type(error), str(error)


def agree(program: Callable[..., Any], points: list[Any]) -> Any:
    """Compare a staged program with the program, twice at each point."""
    staged = te.stage(program)
    for args in points * 2:
        wanted = outcome(program, *args)
        assert outcome(staged, *args) == wanted, args
        if type(wanted[0]) is bytes:  # a program that is not traced may take other sweeps
            assert bits(staged(*args)) == wanted[0]
    return staged


# -- numbers -----------------------------------------------------------------------------------------------------------
def force(x: Any, y: Any) -> Any:
    return te.grad(lambda z: z * z * x if z > y else te.math.sin(z) * abs(z) * max(z, y))(x) * y


def value_and_force(x: Any, y: Any) -> Any:
    value, found = te.value_and_grad(lambda z: max(z, y, 0.5) * te.math.exp(-z) / (1.0 + z * z))(x * y)
    return value * found + x


def second(x: Any, y: Any) -> Any:
    return te.hvp(lambda z: z * z * z * y, (x,), (y,)) * te.hessian(lambda z: te.math.sin(z) * z * y)(x)


def along(x: Any, y: Any) -> Any:
    return te.jvp(lambda z: (max(z, y) * z, z), (x,), (y,))[1][0] * te.grad(lambda z: abs(round(z) - z))(x)


def nested(x: Any, y: Any) -> Any:
    return te.grad(lambda z: te.grad(lambda w: w * w * w * z * x if w > y else w * z)(z))(x)


def rows(x: Any, y: Any) -> Any:
    found = te.jacobian(lambda zs: [zs[0] * zs[1], zs[0] * x if zs[1] > 0.3 else zs[1]])([x, y])
    return found[0][0] * found[1][0] + found[0][1]


def caught(x: Any, y: Any) -> Any:
    try:
        return te.grad(lambda z: te.math.sqrt(z - y))(x)
    except ValueError:
        return x * y


def by_numpy(x: Any, y: Any) -> Any:
    return te.grad(lambda z: np.exp(z) * te.math.gamma(z * z + 1.0) * y)(x)


def constant(x: Any, y: Any) -> Any:
    return te.grad(lambda z: z * z if z > 1.0 else z)(2.0) * x + y


def with_rules(x: Any, y: Any) -> Any:
    def cube(z: Any) -> Any:
        return z * z * z if z > 0.2 else z * y

    custom = te.custom_vjp(cube)
    custom.defvjp(lambda z: (cube(z), z), lambda z, ct: (3.0 * z * z * ct if z > 0.5 else ct,))
    return te.grad(lambda z: custom(z) * te.checkpoint(cube)(z))(x)


NUMBERS = [(0.7, 0.5), (0.3, 0.5), (1.5, 0.2), (-0.4, 0.9), (2.0, 3.0), (0.6, 0.4), (0.5, 0.5)]
OF_NUMBERS = [force, value_and_force, second, along, nested, rows, caught, by_numpy, constant]


@pytest.mark.parametrize("program", OF_NUMBERS)
def test_numbers(program: Callable[..., Any]) -> None:
    staged = agree(program, NUMBERS)
    assert staged.refused is None
    assert staged.stats().replays >= 2 * len(NUMBERS) and staged.stats().paths <= 6
    for args in NUMBERS:
        staged.verify(*args)
    lanes = [np.array(column) for column in zip(*NUMBERS, strict=True)]
    value, back = te.vjp(staged.batch, *lanes)
    assert [bits(x) for x in value] == [outcome(program, *args)[0] for args in NUMBERS]
    cotangents = list(zip(*back(np.ones(len(NUMBERS))), strict=True))
    assert [bits(x) for x in cotangents] == [bits(te.grad(program, (0, 1))(*args)) for args in NUMBERS]


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_rules_within() -> None:
    agree(with_rules, NUMBERS)


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@settings(max_examples=200)
@given(EXPRESSION, EXPRESSION, st.lists(st.lists(NUMBER, min_size=3, max_size=3), min_size=1, max_size=3))
def test_random_programs_of_numbers(inner: Any, outer: Any, points: list[list[float]]) -> None:
    """Branches on derivatives, derivatives of branches, and captured numbers in both."""

    def program(xs: Any) -> Any:
        value, found = te.value_and_grad(lambda z: evaluated(inner, [z, xs[1], z * xs[2]]) * z)(xs[0])
        return evaluated(outer, [found, value, xs[2]]) * xs[0]

    agree(program, [(xs,) for xs in points])


@settings(max_examples=60)
@given(EXPRESSION, st.lists(st.lists(NUMBER, min_size=3, max_size=3), min_size=1, max_size=3))
def test_random_programs_that_capture_nothing_are_replayed(inner: Any, points: list[list[float]]) -> None:
    def program(xs: Any) -> Any:
        found = te.grad(lambda ys: evaluated(inner, ys) * ys[0])(xs)
        return found[0] * found[1] + found[2]

    assert agree(program, [(xs,) for xs in points]).refused is None


# -- arrays ------------------------------------------------------------------------------------------------------------
def loss(w: Any, x: Any) -> Any:
    return np.sum(np.tanh(w * x) ** 2) + np.sum(w) * 0.1


def gradient(w: Any, x: Any) -> Any:
    return np.sum(te.grad(lambda v: loss(v, x))(w) * x)


def branching(w: Any, x: Any) -> Any:
    value, found = te.value_and_grad(lambda v: np.sum(np.sin(v @ MIXED) * v) if np.sum(v) > 1.0 else np.sum(v * v * x))(
        w
    )
    return value * np.sum(found)


def descent(w: Any, x: Any) -> Any:
    for _ in range(3):
        w = w - 0.1 * te.grad(lambda v: loss(v, x))(w)
    return np.sum(w * w)


def written(w: Any, x: Any) -> Any:
    def f(v: Any) -> Any:
        b = v.copy()
        b[0] = b[1] * 2.0
        b *= x
        return np.sum(b * b) + b[0]

    found = te.grad(f)(w)
    found[1] = found[0] * x[0]
    return np.sum(found * x)


def products(w: Any, x: Any) -> Any:
    found = te.hvp(lambda v: loss(v, x), (w,), (x,)) + te.jvp(lambda v: np.exp(v) * x, (w,), (x,))[1]
    return np.sum(found * (te.jacobian(lambda v: np.sin(v * x) * v[0])(w) @ x))


def hessian(w: Any, x: Any) -> Any:
    return np.sum(te.hessian(lambda v: loss(v, x))(w) * MIXED)


def elements(w: Any, x: Any) -> Any:
    def f(v: Any) -> Any:
        total = 0.0
        for i in range(len(v)):
            total = total + v[i] * te.math.sin(x[i]) if v[i] > 0.2 else total - v[i] * v[i]
        return total

    return np.sum(te.grad(f)(w) * w)


def selected(w: Any, x: Any) -> Any:
    return np.sum(te.grad(lambda v: np.sum(tnp.where(v > x, v * v, v * x)) + np.sum(np.maximum(v, x) * v))(w) * x)


def pulled(w: Any, x: Any) -> Any:
    _, back = te.vjp(lambda v: {"a": np.cumsum(v) * x, "b": v[0], "c": np.sort(v)[::-1]}, w)
    return np.sum(back({"a": x, "b": w[1], "c": w * 2.0})[0])


def twice(w: Any, x: Any) -> Any:
    return np.sum(te.grad(lambda v: np.sum(te.grad(lambda u: np.sum(u**3 * x))(v) * v))(w))


def operations_between(w: Any, x: Any) -> Any:
    def f(v: Any) -> Any:
        if v[0] * v[1] > 0.3 and np.max(v) > x[0]:
            return np.sum(v * v) * x[1]
        return np.sum(abs(v)) * v[0]

    return np.sum(te.grad(f)(w))


def written_afterwards(w: Any, x: Any) -> Any:
    """Arrays that an inner program has kept, and the program around it changes or returns."""
    b = w * 1.0
    c = b * b
    b[0] = x[0]
    d = np.sin(b)
    value, back = te.vjp(lambda v: np.sum(np.sin(v * b) @ b) + np.sum(v * d), w)
    b[0] = 5.0 * x[1]
    first = back(1.0)[0]
    b[:] = 0.5
    return np.sum(first * c) + np.sum(b * d) + np.sum(back(value)[0] * te.grad(lambda v: np.sum(v * v * b))(w))


OF_ARRAYS = [gradient, branching, descent, written, products, hessian, elements, selected, pulled, twice]
OF_ARRAYS.append(written_afterwards)
ARRAYS = [tuple(np.random.default_rng(seed).normal(size=(2, 2))) for seed in range(5)]
ARRAYS.append((np.array([0.9, 0.8]), np.array([0.1, 0.4])))


@pytest.mark.parametrize("program", OF_ARRAYS)
def test_arrays(program: Callable[..., Any]) -> None:
    staged = agree(program, ARRAYS)
    assert staged.refused is None and staged.stats().replays >= 2 * len(ARRAYS)
    for args in ARRAYS:
        staged.verify(*args)


@pytest.mark.parametrize("program", [gradient, descent, written, products, hessian, pulled, twice, written_afterwards])
def test_one_recording_serves_all_arrays_of_a_shape(program: Callable[..., Any]) -> None:
    staged = te.stage(program)
    for w, x in ARRAYS[-3:]:
        assert outcome(staged, w, x) == outcome(program, w, x)
    if program is not pulled:  # the order of the elements makes a path
        assert staged.stats().recordings == 1
    for shape in ((2, 1), (2,)) if program in (gradient, descent, twice) else ():
        w, x = np.random.default_rng(0).normal(size=(2, *shape))
        assert outcome(staged, w, x) == outcome(program, w, x)
    assert staged.refused is None


def test_an_argument_that_an_inner_program_has_read_is_returned() -> None:
    staged = te.stage(lambda w, x: (te.grad(lambda v: np.sum(v * v * x))(w), w))
    for w, x in ARRAYS:
        (found, same), back = te.vjp(staged, w, x)
        assert bits(found) == bits(2.0 * w * x) and bits(same) == bits(w)
        assert np.allclose(back((w, x))[0], 2.0 * x * w + x, rtol=1e-14)
    assert staged.refused is None and staged.stats().recordings == 1


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_paths_that_cannot_be_told_apart_run() -> None:
    """The decision on a number of the inner program comes after the array operations that follow it."""
    staged = agree(operations_between, ARRAYS)
    assert staged.refused is not None


def test_captured_data_and_staged_programs_within() -> None:
    scale = [2.0]
    staged = te.stage(lambda x: te.grad(lambda z: z * z * scale[0])(x) * x)
    assert [staged(x) for x in (1.0, 2.0, 3.0)] == [4.0, 16.0, 36.0]
    scale[0] = 3.0
    assert [staged(x) for x in (1.0, 2.0, 3.0)] == [6.0, 24.0, 54.0]
    assert (staged.stats().recordings, staged.stats().changes) == (2, 1)


INNER: Callable[[Any], Any] = te.stage(lambda z: z * z * z if z > 0.75 else -z * z)
OF_ARRAY: Callable[[Any], Any] = te.stage(lambda z: np.sum(z * z * z) if np.max(z) > 1.0 else np.sum(np.sin(z)))
WITHIN = {
    "value": lambda x: INNER(x) * x,
    "grad": lambda x: te.grad(INNER)(x * x) * x,
    "both": lambda x: sum(te.value_and_grad(INNER)(x)),
    "along": lambda x: te.jvp(INNER, (x,), (x,))[1],
    "hessian": lambda x: te.hessian(INNER)(x) * x,
    "jacobian": lambda x: te.jacobian(INNER)(x),
    "in another trace": lambda x: te.grad(lambda q: te.grad(INNER)(q) * x)(x),
    "array": lambda x: np.sum(te.grad(OF_ARRAY)(np.ones(3) * x)),
}


@pytest.mark.parametrize("name", WITHIN)
def test_a_staged_program_within(name: str) -> None:
    """Within a recording it is an ordinary function, also where it has recordings of its own."""
    for x in (0.5, 2.0, 0.5, 2.0):
        te.grad(INNER)(x), te.grad(OF_ARRAY)(np.full(3, x))
    staged = agree(WITHIN[name], [(0.5,), (2.0,), (0.25,), (3.0,)])
    assert staged.refused is None and staged.stats().recordings <= 3
