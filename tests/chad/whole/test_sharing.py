"""What callers change in place between the two passes: small arguments and values are theirs alone."""

import numpy as np
import pytest
from chad.whole.programs import PROGRAMS
from chad.whole.programs_arrays import ARRAYS
from chad.whole.test_programs import filled, flat

import tapeengine
from tapeengine import chad as te
from tapeengine._core.programs.native import COPIED

ENGINE = tapeengine.Engine()
ALL = {**PROGRAMS, **ARRAYS}


def arrays(value):
    if isinstance(value, np.ndarray):
        return [value]
    return [a for v in value for a in arrays(v)] if isinstance(value, tuple | list) else []


def copied(value):
    if isinstance(value, np.ndarray):
        return value.copy()
    if not isinstance(value, tuple | list):
        return value
    parts = [copied(v) for v in value]
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


@pytest.mark.parametrize("name", ALL)
def test_changes_in_place_between_the_passes_change_no_cotangent(name):
    program, args = ALL[name]
    value, backpropagator = ENGINE.vjp(program, *args)
    ct = filled(value, iter(np.random.default_rng(1).normal(size=1000)))
    wanted = flat(backpropagator(ct))
    mine = copied(args)
    value, backpropagator = ENGINE.vjp(program, *mine)
    for array in [*arrays(mine), *arrays(value)]:
        array[...] = 7
    np.testing.assert_array_equal(flat(backpropagator(ct)), wanted)


def test_the_passes_that_are_written_later_see_what_was_given():
    @te.program
    def roots(xs: te.Vec) -> float:
        return sum(np.sqrt(x) * y for x, y in zip(xs, xs[::-1]))

    xs = np.array([0.0, 4.0])
    _, backpropagator = ENGINE.vjp(roots, xs)
    once = backpropagator(1.0)[0]
    _, backpropagator = ENGINE.vjp(roots, xs)
    xs[:] = 9.0
    np.testing.assert_array_equal(backpropagator(1.0)[0], once)


def test_large_arguments_are_not_copied():
    @te.program
    def squares(xs: te.Vec) -> float:
        return np.sum(xs * xs)

    for size, is_kept in ((COPIED // 8, False), (COPIED // 8 + 1, True)):
        xs = np.ones(size)
        _, backpropagator = ENGINE.vjp(squares, xs)
        xs[0] = 5.0
        assert bool(backpropagator(1.0)[0][0] == 10.0) is is_kept
