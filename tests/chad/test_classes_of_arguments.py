"""isinstance of an argument without annotation: what the class of each call's argument says, in any order of calls."""

import itertools

import numpy as np
import pytest

import tapeengine as te


def summed(a):
    if isinstance(a, np.ndarray):
        return np.sum(a) * 2.0
    return sum(a)


def of_lists(a):
    if isinstance(a, list):
        return sum(a)
    return np.sum(a * 3.0)


def of_three(a):
    if isinstance(a, float):
        return a
    elif isinstance(a, np.ndarray):
        return a @ a
    else:
        return sum(v * 5.0 for v in a)


VALUES = {"list": [1.0, 2.0], "array": np.array([1.0, 2.0]), "number": 1.5}
GRADIENTS = {
    ("summed", "list"): [1.0, 1.0],
    ("summed", "array"): np.array([2.0, 2.0]),
    ("of_lists", "list"): [1.0, 1.0],
    ("of_lists", "array"): np.array([3.0, 3.0]),
    ("of_three", "list"): [5.0, 5.0],
    ("of_three", "array"): np.array([2.0, 4.0]),
    ("of_three", "number"): 1.0,
}
TAKEN = {summed: ("list", "array"), of_lists: ("list", "array"), of_three: ("list", "array", "number")}


@pytest.mark.parametrize("function", TAKEN)
def test_a_class(function):
    for order in itertools.permutations(TAKEN[function]):
        program = te.program(function, backend="machine")
        for name in (*order, *order):
            value, gradient = te.value_and_grad(program)(VALUES[name])
            assert value == function(VALUES[name])
            assert repr(gradient) == repr(GRADIENTS[function.__name__, name])
