"""Branches in branches, some of which change a list: the value and the derivative of the plain program."""

import itertools

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te

ARMS = ["s = sum(ys)", "pass", "ys[1:2] = [a, a]", "ys[0] = a * ys[1]", "ys = [a, a, a]", "ys = xs[1:]", "ys.append(a)"]
RESULTS = ["a, ys, 5", "ys"]


def made(first, second, third, result):
    text = f"""def f(a, xs):
    ys = list(xs)
    if a > 5.0:
        {first}
    elif a > 1.0:
        {second}
    else:
        {third}
    return {result}
"""
    return defined(text)


def numbers(value):
    """The floats of a value."""
    if isinstance(value, list | tuple):
        return [x for part in value for x in numbers(part)]
    return [value] if isinstance(value, float) else []


def cotangent_of(value):
    if isinstance(value, list | tuple):
        return type(value)(map(cotangent_of, value))
    return 0.5 + len(str(value)) % 3 if isinstance(value, float) else None


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("arms", [(a, b, c) for a, b in itertools.permutations(ARMS, 2) for c in (a, "pass") if b != c])
def test_a_branch_that_changes_a_list_is_pythons(arms, result):
    f, h = made(*arms, result), 1e-6
    program = te.program(f)
    for a in (6.3, 2.5, 0.5):
        xs = [1.25, 2.0, 3.0]
        expected = f(a, list(xs))
        value, backpropagator = te.vjp(program, a, xs)
        assert value == expected
        ct = cotangent_of(expected)
        for k, d in enumerate(numbers(list(backpropagator(ct)))):
            up, down = ([v + sign * h * (i == k) for i, v in enumerate([a, *xs])] for sign in (1, -1))
            change = np.subtract(*(numbers(f(at, list(rest))) for at, *rest in (up, down)))
            assert abs(d - np.dot(change, numbers(ct)) / (2 * h)) < 1e-6
