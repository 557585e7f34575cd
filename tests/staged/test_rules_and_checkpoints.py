"""Staged programs that call functions with rules of their own, and checkpoints: each call is one operation."""

from __future__ import annotations

import math
import queue
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from branching_programs import EXPRESSION, NUMBER, evaluated
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
from tapeengine.errors import StagingWarning
from tapeengine.transforms.repeated.recorded_tasks import RecordedFunction

SCALE = [2.0]
WEIGHT = [1.0]
ERRORS = (ArithmeticError, ValueError)


@te.custom_vjp
def clipped(x: Any, factor: float = 1.0) -> Any:
    return x * x * factor * SCALE[0]


clipped.defvjp(
    lambda x, factor: (x * x * factor * SCALE[0], (x, factor)),
    lambda kept, ct: (np.minimum(2.0 * kept[0] * kept[1] * ct * WEIGHT[0], 1.0), None),
)


@te.custom_jvp
def cube(x: Any) -> Any:
    return x**3 if not np.ndim(x) else np.where(x > 0, x**3, 0.5 * x)


cube.defjvp(lambda primals, tangents: (cube(*primals), 3.0 * primals[0] ** 2 * tangents[0]))


@te.custom_vjp
def pair(x: Any, y: Any) -> Any:
    return {"sum": x + y, "rest": [x * y, 3]}


pair.defvjp(
    lambda x, y: (pair(x, y), (x, y)),
    lambda kept, ct: (ct["sum"] + ct["rest"][0] * kept[1], ct["sum"] * 2.0 + ct["rest"][0] * kept[0]),
)


def branching(x: Any) -> Any:
    """A function whose branches a replay does not check, because it runs."""
    return x * x if np.sum(x) > 1.0 else np.sin(x) if np.ndim(x) else te.math.sin(x)


def of_rules(x: Any) -> Any:
    y = clipped(x) + cube(x) * pair(x, 2.0 * x)["rest"][0]
    return np.sum(y) if np.sum(y) > 0.5 else np.sum(pair(x, y)["sum"])


def of_checkpoints(x: Any) -> Any:
    y = te.checkpoint(branching)(x) * x
    return np.sum(te.checkpoint(lambda z: branching(z) * x + y)(y + x))


def of_nested(x: Any) -> Any:
    return np.sum(te.checkpoint(lambda z: clipped(te.checkpoint(branching)(z)) * z)(x) * cube(x))


def of_keywords(x: Any) -> Any:
    return np.sum(clipped(x, factor=3.0) + te.checkpoint(lambda *, z: z * z)(z=x))


def of_loop(x: Any) -> Any:
    for k in range(3):
        x = te.checkpoint(lambda z, k=k: branching(z) + k)(x) * 0.5
    return np.sum(x)


def of_iterations(x: Any) -> Any:
    """Steps that branch, on a state of two parts, with a captured value."""

    def step(state: Any) -> Any:
        y, total = state
        return branching(y) * 0.5 + x * 0.1, total + np.sum(y * x)

    y, total = te.iterate(step, 9, (x, 0.0 * np.sum(x)), checkpoints=3)
    return np.sum(y * te.iterate(lambda z: z - 0.1 * te.grad(lambda w: np.sum(w * w * w))(z), 3, x)) * total


def of_effects_between(x: Any) -> Any:
    """Each call sees what its function captures as it was then."""
    factor = [1.0]
    scaled = te.custom_vjp(lambda z: z * factor[0])
    scaled.defvjp(lambda z: (z * factor[0], factor[0]), lambda held, ct: (held * ct,))
    first = scaled(x) + te.checkpoint(lambda z: z * z * factor[0])(x)
    factor[0] = 5.0
    return np.sum(first * (scaled(x) + te.checkpoint(lambda z: z * z * factor[0])(x)))


PROGRAMS = [of_rules, of_checkpoints, of_nested, of_keywords, of_loop, of_iterations, of_effects_between]


def bits(value: Any) -> bytes:
    return np.asarray(value, float).tobytes()


def agree(program: Callable[..., Any], points: list[Any]) -> Any:
    """Compare a staged program with the program, twice at each point; cotangents after all runs."""
    staged, backs = te.stage(program), []
    for x in points * 2:
        value, back = te.vjp(program, x)
        found, again = te.vjp(staged, x)
        assert bits(found) == bits(value) == bits(staged(x))
        backs.append((back, again))
    for back, again in backs:
        for ct in (1.0, -0.75):
            assert bits(again(ct)[0]) == bits(back(ct)[0])
    return staged


@pytest.mark.parametrize("program", PROGRAMS)
def test_replays_have_the_bits_of_the_program(program: Callable[..., Any]) -> None:
    large = [np.random.default_rng(k).normal(size=(5, 9)) + 0.2 * k for k in range(4)]
    arrays = [np.array(x) for x in ([0.1, 2.0], [0.3, -1.0], [2.0, 3.0], [-1.0, 0.5])]
    for points in ([2.0, 0.25, -1.0, 3.0], arrays, large):
        staged = agree(program, points)
        assert staged.refused is None
        assert staged.stats().recordings <= 2 and staged.stats().replays >= 12
        for x in points:
            staged.verify(x)
            assert bits(te.jvp(staged, (x,), (x,))) == bits(te.jvp(program, (x,), (x,)))
    assert te.hessian(staged)(points[0]) == pytest.approx(te.hessian(program)(points[0]))


@pytest.mark.parametrize("program", PROGRAMS)
def test_shapes_and_lanes(program: Callable[..., Any]) -> None:
    staged = te.stage(program)
    for shape in ((2,), (3, 2), (), (2,), (3, 2), ()):
        x = np.random.default_rng(0).normal(size=shape)
        assert bits(te.grad(staged)(x)) == bits(te.grad(program)(x))
    assert staged.stats().forms == 3 and staged.stats().replays >= 3
    lanes = np.linspace(-1.0, 2.0, 5)
    value, back = te.vjp(te.vmap(staged), lanes)
    wanted, wanted_back = te.vjp(te.vmap(program), lanes)
    assert bits(value) == bits(wanted) and bits(back(lanes)[0]) == bits(wanted_back(lanes)[0])


def test_arrays_that_the_program_writes_into() -> None:
    def program(x: Any) -> Any:
        b = x.copy()
        y = clipped(b) + te.checkpoint(branching)(b)
        b[0] = y[1] * 3.0
        b *= 2.0
        z = te.checkpoint(branching)(b)
        z[1] = b[0]
        return np.sum(b * y * z)

    staged = agree(program, [np.array([0.5, x]) for x in (0.25, 1.0, -2.0)])
    assert staged.refused is None and staged.stats().recordings == 1


@pytest.mark.parametrize("data", [SCALE, WEIGHT])
def test_data_that_rules_read(data: list[float]) -> None:
    staged, before = te.stage(lambda x: clipped(x) + te.checkpoint(lambda y: y * SCALE[0])(x)), data[0]
    try:
        for scale in (1.0, 1.5, 1.0):
            data[0] = scale
            for x in (0.1, 0.2, 0.3):
                wanted = x * x * SCALE[0] + x * SCALE[0], 2.0 * x * WEIGHT[0] + SCALE[0]
                assert te.value_and_grad(staged)(x) == pytest.approx(wanted, rel=1e-15)
        assert (staged.stats().changes, staged.stats().recordings) == (2, 3)
    finally:
        data[0] = before


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_errors_of_the_function() -> None:
    checked = te.custom_vjp(math.log)
    checked.defvjp(lambda x: (math.log(x), x), lambda x, ct: (ct / x,))
    for f in (checked, te.checkpoint(te.math.log)):

        def handled(x: Any, f: Any = f) -> Any:
            try:
                return f(x) * x
            except ValueError:
                return -x

        staged = te.stage(handled)
        for x in (1.0, 2.0, -1.0, -2.0, 3.0):
            assert te.value_and_grad(staged)(x) == te.value_and_grad(handled)(x)
        staged = te.stage(lambda x, f=f: f(x) * x)
        assert [staged(x) for x in (1.0, 2.0, math.e)] == [0.0, 2.0 * math.log(2.0), math.e]
        for _ in range(2):
            with pytest.raises(ValueError, match=r"math domain error|positive input"):
                staged(-1.0)
        assert staged(math.e) == math.e and staged.refused is None and staged.stats().replays == 3


def test_what_is_not_replayed() -> None:
    def with_traced_residuals(x: Any) -> Any:
        f = te.custom_vjp(lambda y: y * 2.0)
        f.defvjp(lambda y: (y * 2.0, None), lambda _, ct: (ct * x,))
        return f(x * x)

    def with_traced_branch(x: Any) -> Any:
        f = te.custom_vjp(lambda y: y * 2.0 if x > 1.0 else y)
        f.defvjp(lambda y: (y * 2.0 if x > 1.0 else y, None), lambda _, ct: (ct,))
        return f(x * x)

    def with_effect(x: Any) -> Any:
        seen = [0]

        def count(y: Any) -> Any:
            seen[0] += 1
            return y * seen[0]

        return te.checkpoint(count)(x) * te.checkpoint(count)(x)

    def with_random_numbers(x: Any) -> Any:
        random.seed(1)
        return te.checkpoint(lambda y: y * random.random())(x)

    def with_effects_of_steps(x: Any) -> Any:
        seen = [0]

        def step(y: Any) -> Any:
            seen[0] += 1
            return y * 0.5

        return te.iterate(step, 4, x) * seen[0]

    def with_random_steps(x: Any) -> Any:
        random.seed(1)
        return te.iterate(lambda y: y * random.random(), 4, x)

    of_steps = with_effects_of_steps, with_random_steps
    for program in (with_traced_residuals, with_traced_branch, with_effect, with_random_numbers, *of_steps):
        staged = te.stage(program)
        with pytest.warns(StagingWarning, match="runs each time"):
            for x in (0.5, 2.0, 0.75, 3.0):
                assert te.value_and_grad(staged)(x) == te.value_and_grad(program)(x)
        assert staged.refused is not None


def test_steps_run_as_python_for_the_value_alone() -> None:
    """The reverse pass replays one recording of the step."""
    runs = queue.SimpleQueue[None]()  # shows nothing of its contents, so they are not compared

    def step(x: Any) -> Any:
        runs.put(None)
        return x * 0.5 if x > 0.1 else x - 0.25 * x * x

    staged = te.stage(lambda x: te.iterate(step, 100, x, checkpoints=100))
    for k in range(4):
        te.grad(staged)(2.0 + k)
    before = runs.qsize()
    te.grad(staged)(2.5)
    assert runs.qsize() - before == 100


@settings(max_examples=80)
@given(EXPRESSION, EXPRESSION, st.lists(st.lists(NUMBER, min_size=3, max_size=3), min_size=1, max_size=3))
def test_random_programs_of_numbers(inner: Any, outer: Any, points: list[list[float]]) -> None:
    def program(xs: Any) -> Any:
        kept = te.checkpoint(lambda given: evaluated(inner, given))(xs)
        y, z = te.iterate(lambda at: (evaluated(inner, [*at, xs[2]]) * 1.0, at[0] * 0.5), 3, (xs[0], 1.0 * xs[1]))
        return evaluated(outer, [kept, cube(y), z])

    staged = te.stage(program)
    for xs in [*points, *points, *reversed(points)]:
        outcomes = []
        for f in (program, staged):
            try:
                with np.errstate(all="ignore"):
                    value, back = te.vjp(f, xs)
                outcomes.append((bits(value), bits(back(1.0)[0])))
            except ERRORS as error:
                outcomes.append((type(error), str(error)))  # type: ignore[arg-type]
        assert outcomes[0] == outcomes[1]
    assert staged.refused is None


def growing(y: Any) -> Any:
    return y * y * 0.5 + 0.1


#: Steps, and how often each is recorded in all replays: once for each path, and once if it cannot be replayed.
RECORDED: dict[str, tuple[Callable[[Any], Any], Any, int]] = {
    "numbers": (growing, 0.5, 1),
    "paths": (lambda y: growing(y) if y > 0.2 else y * 1.5, 0.5, 2),
    "arrays": (growing, np.array([0.5, 0.25]), 1),
    "not replayed": (lambda y: growing(y) if np.sum(y) > 0.2 else y * 1.5, 0.5, 1),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_step_is_recorded_once_for_each_path_or_refused_once(name: str, monkeypatch: Any) -> None:
    step, start, count = RECORDED[name]
    recorded, calls = RecordedFunction.recorded, list[int]()
    monkeypatch.setattr(RecordedFunction, "recorded", lambda self, *args: calls.append(1) or recorded(self, *args))
    staged = te.stage(lambda x: np.sum(te.iterate(step, 6, x)))
    for k in range(4):
        x = start + 0.01 * k
        value, gradient = te.value_and_grad(staged)(x)
        x = x + 1e-30j
        for _ in range(6):
            x = growing(x) if step is growing or x.real > 0.2 else x * 1.5
        assert value == np.sum(np.real(x))
        np.testing.assert_allclose(gradient, np.imag(x) * 1e30, rtol=1e-13)
    assert len(calls) == count
