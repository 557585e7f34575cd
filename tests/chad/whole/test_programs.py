"""What runs agrees with the evaluator, with dual numbers and with differences."""

import numpy as np
import pytest
from chad import evaluated as specification
from chad.whole.programs import PROGRAMS
from chad.whole.programs_arrays import ARRAYS

import tapeengine

ENGINE = tapeengine.Engine()


def flat(value):
    """All numbers of a value, None left out."""
    if value is None:
        return np.zeros(0)
    if isinstance(value, tuple | list):
        return np.concatenate([np.zeros(0), *map(flat, value)])
    return np.ravel(np.asarray(value, dtype=float))


def floats(value):
    """All floats of a value."""
    if isinstance(value, bool | int | np.integer):
        return np.zeros(0)
    if isinstance(value, tuple | list):
        return np.concatenate([np.zeros(0), *map(floats, value)])
    return flat(value) if np.asarray(value).dtype == float else np.zeros(0)


def filled(like, numbers):
    """A value of the same structure with other floats, from an iterator; None for what is discrete."""
    if isinstance(like, bool | int | np.integer):
        return None
    if isinstance(like, float):
        return next(numbers)
    if isinstance(like, np.ndarray):
        return np.array([next(numbers) for _ in range(like.size)]).reshape(like.shape) if like.dtype == float else None
    parts = [filled(x, numbers) for x in like]
    return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)


def moved(value, by, step):
    """A value plus a multiple of a tangent of the same structure."""
    if by is None:
        return value
    if isinstance(value, float | np.ndarray):
        return value + step * by
    parts = [moved(x, d, step) for x, d in zip(value, by, strict=True)]
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


ALL = {**PROGRAMS, **ARRAYS}


@pytest.fixture(params=ALL)
def case(request):
    return ALL[request.param]


def test_agrees_with_the_evaluator(case):
    program, args = case
    value, backpropagator = program.executable.vjp(args)
    wanted, evaluated = specification.vjp(program.executable, args)
    assert flat(value) == pytest.approx(flat(wanted), rel=1e-13, abs=1e-14)
    ct = filled(wanted, iter(np.random.default_rng(1).normal(size=1000)))
    got, expected = backpropagator(ct), evaluated(ct)
    assert [g is None for g in got] == [e is None for e in expected]
    assert flat(got) == pytest.approx(flat(expected), rel=1e-11, abs=1e-13)


def test_agrees_with_dual_numbers(case):
    program, args = case
    value, backpropagator = program.executable.vjp(args)
    wanted, dual = ENGINE.vjp(program.python, *args)
    assert flat(value) == pytest.approx(flat(wanted), rel=1e-12, abs=1e-13)
    ct = filled(wanted, iter(np.random.default_rng(3).normal(size=1000)))
    as_value = filled(value, iter(flat(ct)))
    assert flat(backpropagator(as_value)) == pytest.approx(flat(dual(ct)), rel=1e-10, abs=1e-12)


def test_agrees_with_differences(case):
    program, args = case
    if program.__name__ == "roots_of_the_positive":
        args = (np.array([0.5, 4.0, -1.0, 2.0]),)
    value, backpropagator = program.executable.vjp(args)
    numbers = iter(np.random.default_rng(2).normal(size=1000))
    ct, tangent = filled(value, numbers), filled(args, numbers)
    step = 1e-6
    ahead, behind = (floats(program.python(*moved(args, tangent, s))) for s in (step, -step))
    assert flat(backpropagator(ct)) @ flat(tangent) == pytest.approx(
        flat(ct) @ (ahead - behind) / (2 * step), rel=1e-7, abs=1e-8
    )


def test_is_what_the_engine_runs(case):
    program, args = case
    value, _ = ENGINE.vjp(program, *args)
    assert flat(value) == pytest.approx(flat(program.executable.vjp(args)[0]), rel=0, abs=0)
