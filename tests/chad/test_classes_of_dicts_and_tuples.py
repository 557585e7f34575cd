"""Values under the keys of dicts, and tuples that meet arrays: classes and operators of the plain program."""

import itertools

import numpy as np
import pytest
from chad.test_classes_inside_unions import classes, numbers
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.errors import TapeEngineError

ENGINE = tapeengine.Engine()
ARGUMENTS = {
    "xs": [2.0, 0.5],
    "a": np.array([0.5, 2.5]),
    "t": (1.5, 0.25),
    "d": {"l": [1.0, 2.0], "a": np.array([1.0, 3.0]), "t": (1.0, 2.0)},
}
VALUES = ("[1.0, xs[0]]", "-a", "t", "(xs[0], 1.0)", "d['l']", "d['a']")
#: Statements that give the variable `y` one of two values.
MADE = """
e = {{}}|e['k'] = {0}|y = e['k']
e = {{'k': {1}}}|e['k'] = {0}|y = e['k']
e = {{'k': {1}}}|e.update({{'k': {0}}})|y = e['k']
e = {{'k': {1}}}|e.update(k={0})|y = e['k']
e = {{}}|for k in ('k', 'm'):|    e[k] = {0}|y = e['k']
e = dict(k={0})|e['m'] = {1}|y = e['k']
e = {{'k': {0}}}|y = e.get('m', {1})
e = {{'k': {0}}}|y = e.get('k', {1})
y = d.get('l', {0})
y = list(d.values())[0]|y = [y, {0}][1]
y = {1}|if c:|    y = {0}
y = {0} if c else {1}
y = [{0}, {1}][0]
""".strip().splitlines()
RESULTS = ("y, a", "[y]", "y + y", "(a * 2.0 if c else [1.0, 2.0]) + y", "e")


def gives(function, primals):
    """Give a function's value, or the class of the error that it raises."""
    try:
        return function(*primals)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("first", VALUES)
def test_values_have_the_classes_of_the_plain_program(first, made):
    taken = 0
    for second, result in itertools.product(("xs", "a", "t"), RESULTS):
        if (result == "e" and not made.startswith("e =")) or (second != "xs" and "{1}" not in made):
            continue
        lines = [*made.format(first, second).split("|"), f"return {result}"]
        function = function_of(", ".join((*ARGUMENTS, "c")), lines)
        for c in (True, False) if "c" in made.split() else (True,):
            primals = (*ARGUMENTS.values(), c)
            try:
                value, tangent = ENGINE.jvp(te.program(function), primals, primals)
            except (TapeEngineError, TypeError) as error:
                refused = isinstance(error, TapeEngineError)  # as if the class of an operand is not known
                assert refused or gives(function, primals) is TypeError
                continue
            expected = function(*primals)
            assert classes(value) == classes(tangent) == classes(expected), (lines, c)
            assert numbers(value) == numbers(expected), (lines, c)
            taken += 1
    assert taken >= 2
