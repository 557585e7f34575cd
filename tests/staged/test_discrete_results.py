"""Discrete results of numbers: a recording is valid where the result is the same, whatever the number is."""

import math
import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

pytestmark = pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning", "ignore::RuntimeWarning")

#: Programs of two numbers, and for how many numbers of `NEAR` they have how many results at most.
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "floor division": lambda x, y: x * (x // 0.75),
    "of a constant": lambda x, y: y * (1.75 // (x + 5.0)),
    "of two numbers": lambda x, y: x // y * x,
    "divmod": lambda x, y: divmod(x, 0.5)[0] * y + divmod(x, 0.5)[1],
    "divmod of two numbers": lambda x, y: divmod(x, y)[0] * x,
    "round": lambda x, y: round(x) * y,
    "round to tenths": lambda x, y: round(x, 1) * y,
    "round to tens": lambda x, y: round(x * 20.0, -1) * y,
    "modf": lambda x, y: te.math.modf(x)[0] * y + te.math.modf(x)[1],
    "frexp": lambda x, y: te.math.frexp(x)[0] * te.math.frexp(x)[1] * y,
    "floor": lambda x, y: math.floor(x) * y,
    "int": lambda x, y: int(x) * y,
}
NEAR = [4.0 * x - 2.0 for x in np.random.default_rng(3).random(200).tolist()]
EXTREME = [0.0, -0.0, 0.75, -0.75, 1.0, -1.0, 1e-20, -1e-20, 5e-324, -5e-324, 1e15, -1e15, 1e300, -1e300, 2.0**50]
EXTREME += [math.inf, -math.inf, math.nan, math.nextafter(0.75, 0.0), math.nextafter(-0.75, 0.0), 2.0**53 + 2]


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return struct.pack("<d", found) if (found := f(*args)) == found else "nan"
    except (ArithmeticError, ValueError) as error:
        return repr(error)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", [float, np.float64])
def test_every_number(name: str, kind: Any) -> None:
    program, staged = PROGRAMS[name], te.stage(PROGRAMS[name], paths=200)
    mixed = NEAR[::4] + EXTREME
    random.Random(7).shuffle(mixed)
    for x in mixed * 2:
        for y in (1.25, -0.5, 0.0):
            assert outcome(staged, kind(x), kind(y)) == outcome(program, kind(x), kind(y)), (x, y)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", [float, np.float64])
def test_results_are_replayed(name: str, kind: Any) -> None:
    program, staged = PROGRAMS[name], te.stage(PROGRAMS[name])
    for x in NEAR:
        value, back = te.vjp(staged, kind(x), 1.25)
        wanted, wanted_back = te.vjp(program, kind(x), 1.25)
        assert (value, back(1.0)) == (wanted, wanted_back(1.0))
    assert staged.stats().recordings < 50
    assert staged.refused is None


@pytest.mark.parametrize("name", PROGRAMS)
def test_lanes(name: str) -> None:
    x = np.array(NEAR)
    plain, lanes = te.vmap(PROGRAMS[name], (0, None)), te.vmap(te.stage(PROGRAMS[name]), (0, None))
    for _ in range(2):
        np.testing.assert_array_equal(lanes(x, 1.25), plain(x, 1.25))
        for found, wanted in zip(*(te.vjp(f, x, 1.25)[1](np.ones(200)) for f in (lanes, plain)), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_lanes_record_no_more_paths_than_are_kept() -> None:
    staged = te.stage(lambda x: x * round(x * 100), paths=8)
    x = np.random.default_rng(0).uniform(0, 3, 1500)
    for _ in range(3):
        np.testing.assert_array_equal(staged.batch(x), te.vmap(staged.program)(x))
        np.testing.assert_array_equal(te.vjp(staged.batch, x)[1](np.ones(1500))[0], np.round(x * 100))
    assert staged.stats().recordings <= 8 + 6  # in each call one path may replace another


def test_errors_of_rounding() -> None:
    def program(x: Any) -> Any:
        try:
            return round(x, -308) + x
        except OverflowError:
            return -x

    staged = te.stage(program)
    for x in (1.7e308, 1.0, 1.2e308, 1.7e308, 1.75e308, 1e290, -1.7e308) * 2:
        assert staged(x) == program(x)


CALLS = {
    "vjp": lambda f, x, k: te.vjp(f, x, k)[1](1.0)[0],
    "grad": lambda f, x, k: te.grad(f)(x, k),
    "value_and_grad": lambda f, x, k: te.value_and_grad(f)(x, k)[1],
    "several": lambda f, x, k: te.value_and_grad(f, argnums=(0, 1))(x, k)[1][0],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("places", [np.array([0, 1, 1]), np.array([True, False, True]), [0, 2]])
def test_calls_with_discrete_arrays_are_replayed(name, places):
    def program(x, k):
        return np.sum(np.square(x[k] * 2.0))

    staged, x = te.stage(program), np.arange(3.0)
    for k in range(4):
        assert CALLS[name](staged, x + k, places).tobytes() == CALLS[name](program, x + k, places).tobytes()
    assert staged.stats().replays == 3
    other = places[::-1]
    assert CALLS[name](staged, x, other).tobytes() == CALLS[name](program, x, other).tobytes()


#: Decisions on a number; each compares it, and is replayed where the comparison has the same outcome.
OUTCOMES = {
    "numpy.greater": lambda x: np.greater(x, 0.0),
    "numpy.less": lambda x: np.less(0.0, x),
    "numpy.equal": lambda x: not np.equal(x, 0.0),
    "numpy.not_equal": lambda x: np.not_equal(x, 0.0),
    "numpy.less_equal": lambda x: np.less_equal(0.0, x),
    "numpy.greater_equal": lambda x: np.greater_equal(x, 0.0),
    "of two": lambda x: np.greater(x, -x),
    "numpy.isinf": lambda x: not np.isinf(x),
    "operator": lambda x: x > 0.0,
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_comparisons_of_numbers_are_guards_of_their_outcome(name):
    for number in (lambda x: x[0], np.sum, lambda x: x[0] * 2.0):

        def program(x, number=number):
            value = number(x)
            return value * value if OUTCOMES[name](value) else -value

        staged = te.stage(program)
        for scale in (1.0, 2.0, 3.0, 4.0, -1.0, 5.0, -2.0, np.nan, 1.0, 0.0):
            x = np.array([0.5, 0.25]) * scale
            found, wanted = te.value_and_grad(staged)(x), te.value_and_grad(program)(x)
            assert [np.asarray(a).tobytes() for a in found] == [np.asarray(a).tobytes() for a in wanted]
        assert staged.stats().replays >= 5


def test_numbers_beyond_doubles_are_compared_as_numpy_does():
    x = 2.0**53
    for ufunc in (np.equal, np.less, np.greater_equal):
        found = []
        te.grad(lambda x, ufunc=ufunc, found=found: found.append(ufunc(x, 2**53 + 1)) or x)(x)
        assert found[0] == ufunc(x, 2**53 + 1)
        assert type(found[0]) is np.bool_


@pytest.mark.parametrize("function", [np.linalg.inv, np.linalg.cond, np.linalg.pinv, np.linalg.svdvals, np.nanstd])
def test_captured_functions_of_numpy_are_no_obstacle(function):
    staged = te.stage(lambda x: np.sum(function(x)))
    for k in range(3):
        te.grad(staged)(np.eye(2) + 0.125 * k + np.diag([0.0, 0.5]))
    assert staged.refused is None
    assert staged.stats().replays == 2
