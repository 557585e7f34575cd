"""Conditions that are compared are in parentheses in the printed derivatives, since Python chains comparisons."""

import itertools

import pytest

import tapeengine as te


@te.program
def conditions(x: float, y: float) -> float:
    if ((x < 1.0) ^ (y > 3.0)) & ((x > 0.0) | ((x < y) == (y < 2.0))):
        return x * y
    return x + y


def test_comparisons_of_comparisons_are_in_parentheses():
    text = conditions.derivative("accumulate")
    assert "(x < 1.0) != (y > 3.0)" in text
    assert "(x < y) == (y < 2.0)" in text
    assert " and " in text


@pytest.mark.parametrize(("x", "y"), list(itertools.product((-1.0, 0.5, 2.0), (0.25, 2.5, 4.0))))
def test_the_printed_derivative_of_conditions_is_the_one_that_runs(x, y):
    names = {}
    exec(conditions.derivative("reverse"), names)
    value, kept = names["forward"](x, y)
    assert value == conditions(x, y) == te.vjp(conditions, x, y)[0]
    assert names["reverse"](kept, 1.0) == te.vjp(conditions, x, y)[1](1.0) == te.vjp(conditions.python, x, y)[1](1.0)
