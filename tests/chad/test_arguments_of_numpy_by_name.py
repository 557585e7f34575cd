"""Each choice of arguments by name of numpy's functions: the plain function's value, or a refusal."""

import inspect
import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.errors import TapeEngineError

ENGINE = tapeengine.Engine()
#: For each function an argument for each parameter that it may be given.
ARGUMENTS = {
    "arange": {"start_or_stop": "s", "stop": "7.0", "step": "0.5"},
    "reshape": {"a": "x", "shape": "(2, -1)"},
    "linspace": {"start": "s", "stop": "5.0", "num": "3", "endpoint": "False"},
    "full": {"shape": "3", "fill_value": "s"},
    "full_like": {"a": "x", "fill_value": "s"},
    "where": {"condition": "x > 1.0", "x": "x", "y": "s"},
    "power": {"x1": "x", "x2": "s"},
    "clip": {"a": "x", "a_min": "0.5", "a_max": "s"},
    "diff": {"a": "x", "n": "2"},
    "outer": {"a": "x", "b": "x"},
    "dot": {"a": "x", "b": "x"},
    "roll": {"a": "x", "shift": "1"},
    "tile": {"A": "x", "reps": "2"},
    "repeat": {"a": "x", "repeats": "2"},
    "eye": {"N": "2", "M": "3", "k": "1"},
    "transpose": {"a": "np.reshape(x, (2, 2))", "axes": "(1, 0)"},
    "sum": {"a": "x", "axis": "0", "keepdims": "True"},
    "cumsum": {"a": "x", "axis": "0"},
    "take": {"a": "x", "indices": "[0, 2]", "axis": "0"},
}


def calls(name):
    """Write the calls: some of the first arguments by position, and any of the others by name."""
    given = ARGUMENTS[name]
    parameters = inspect.signature(getattr(np, name)).parameters
    by_name = [n for n in given if parameters[n].kind is not inspect.Parameter.POSITIONAL_ONLY]
    for places in range(len(given) + 1):
        first = list(given)[:places]
        others = [n for n in by_name if n not in first]
        for count in range(len(others) + 1):
            for chosen in itertools.combinations(others, count):
                yield f"np.{name}({', '.join([*(given[n] for n in first), *(f'{n}={given[n]}' for n in chosen)])})"


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_by_name(name):
    x, s, taken = np.array([0.3, 1.7, 2.0, 4.0]), 2.25, 0
    for call in calls(name):
        f = function_of("x, s", [f"return {call} * s"])
        try:
            expected = f(x, s)
        except (TypeError, ValueError):
            continue
        try:
            value = ENGINE.vjp(te.program(f), x, s)[0]
        except TapeEngineError:
            continue
        taken += 1
        assert np.shape(value) == np.shape(expected) and np.allclose(value, expected), call
    assert taken
