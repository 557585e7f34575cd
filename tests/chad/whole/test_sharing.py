"""What callers change in place between the two passes: small arguments and values are theirs alone."""

import numpy as np
import pytest
from chad.whole.programs import PROGRAMS
from chad.whole.programs_arrays import ARRAYS
from chad.whole.test_programs import filled, flat

import tapeengine
from tapeengine import chad as te
from tapeengine._core.programs.native import COPIED
from tapeengine.chad.backends.whole.passes import kept_as

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


def test_arguments_are_copied_unless_they_were_made_for_the_call():
    given, made = np.zeros(3), np.zeros(3)
    assert kept_as(given, given) is not given
    assert kept_as(given[:2], (given,)).base is None
    assert kept_as(made, [0.0, 0.0, 0.0]) is made
    assert kept_as(made, given) is made


def test_a_product_that_is_used_twice_is_computed_once():
    @te.program
    def damped(xs: te.Vec, ys: te.Vec) -> float:
        total = 0.0
        for x, y in zip(xs, ys):
            p = x * y
            total += p * np.exp(p)
        return total

    forward = damped.executable.whole.text.partition("def reverse")[0]
    assert forward.count(" * ") == 2
