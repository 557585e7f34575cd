"""Cotangents and tangents that are zero somewhere keep their places and their sizes."""

from random import Random

import numpy as np
import pytest
from chad.terms_of_language import program
from chad.whole import test_random, test_random_sums

import tapeengine as te
from tapeengine import chad
from tapeengine.chad.forward.tangents import tangents
from tapeengine.chad.language.terms import Definition, Module
from tapeengine.chad.lowering.passes import lower_reverse, lower_value
from tapeengine.chad.lowering.values import NotLowered
from tapeengine.chad.prepare.close import close
from tapeengine.chad.reverse import reverse

XS = np.array([0.3, -1.2, 0.8])


def rows_with_zeros_at_different_places(xs: te.Vec) -> float:
    rows = [[(-0.03, xs[0])], [(xs[1], 1.25), (2.0, xs[2])]]
    total = 0.0
    for k in range(2):
        for a, b in rows[k]:
            total += (k + 1.0) * a + b * b
    return total


def rows_some_of_which_are_zero(xs: te.Vec) -> float:
    rows = [[1.0, 2.0], [a * a for a in xs], [3.0]]
    return sum(rows[k][0] * xs[k] for k in range(len(rows)))


def state_that_is_not_used(xs: te.Vec) -> float:
    ys = chad.scan(lambda row, a: [a * a, 2.0 * a, a], xs, [b * b for b in xs])
    return sum(y[0] + y[1] * y[2] for y in ys)


def state_of_which_nothing_is_used(xs: te.Vec) -> float:
    ys = chad.scan(lambda row, a: [a, a * row[0]], xs, [xs[0], xs[1]])
    return sum(y[0] for y in ys)


def branch_with_rows(xs: te.Vec) -> float:
    total = 0.0
    for k in range(3):
        row = [xs[0], 1.0] if k == 1 else [2.0, 3.0, 4.0]
        total += sum(row) * xs[k]
    return total


def grid_that_begins_with_zeros(xs: te.Vec) -> float:
    total = np.zeros((2, 3))
    for k in range(3):
        total = total * xs + xs[k]
    return np.sum(total * total)


PROGRAMS = [
    rows_with_zeros_at_different_places, rows_some_of_which_are_zero, state_that_is_not_used,
    state_of_which_nothing_is_used, branch_with_rows, grid_that_begins_with_zeros,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_are_those_of_dual_numbers(function):
    typed = chad.Program(function)
    assert typed.executable.reverse_form and typed.executable.tangent_form
    value, back = te.vjp(typed, XS)
    expected, on_duals = te.vjp(typed.python, XS)
    assert value == pytest.approx(expected, rel=1e-14)
    np.testing.assert_allclose(back(1.5)[0], on_duals(1.5)[0], rtol=1e-12, atol=1e-13)
    for d in np.eye(3):
        assert te.jvp(typed, (XS,), (d,))[1] == pytest.approx(te.jvp(typed.python, (XS,), (d,))[1], rel=1e-12)


def module_of(env, term):
    return Module("f", {"f": Definition("f", env, term.type, term)})


def language(seed):
    env, _, term = program(3, True).chosen(Random(seed))
    return module_of(env, term)


def arrays(seed):
    env, _, term = test_random.program().chosen(Random(seed))
    return module_of(env, term)


def sums(seed):
    return test_random_sums.program().chosen(Random(seed))[0]


def is_lowered(write):
    try:
        write()
    except NotLowered:
        return False
    return True


@pytest.mark.parametrize(("draw", "least"), [(language, 0.92), (arrays, 0.95), (sums, 0.85)])
def test_random_programs_have_an_intermediate_form(draw, least):
    closed = [close(draw(seed)) for seed in range(40)]
    backward = sum(is_lowered(lambda m=m: lower_reverse(m, reverse(m), dense=False)) for m in closed)
    forward = sum(is_lowered(lambda m=m: lower_value(tangents(m), dense=False)) for m in closed)
    assert min(backward, forward) >= least * len(closed)
