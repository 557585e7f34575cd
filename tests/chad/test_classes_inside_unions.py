"""Lists, tuples and arrays where another path gives None or another record keep the classes of the plain program."""

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.backends.tiers import is_installed

ENGINE = tapeengine.Engine()
BACKENDS = (None, *(("native",) if is_installed() else ()))


@dataclasses.dataclass
class Row:
    x: object
    scale: float


@dataclasses.dataclass
class Other:
    y: object


class Named(NamedTuple):
    x: object
    scale: float


OUTSIDE = {"Row": Row, "Other": Other, "Named": Named}
PARTS = """
xs
xs[1:]
[v * 2.0 for v in xs]
[[v, 1.0] for v in xs]
tuple([v * 2.0 for v in xs])
np.array(xs) * 2.0
list(map(lambda v: v * v, xs))
""".strip().splitlines()
HELD = ("{}", "({}, xs)", "{{'a': {}}}", "Named({}, xs[0])", "[({}, 1.0)]")
WHERE = """
return {} if xs[0] > 1.0 else None
if xs[0] < 1.0:|    return None|return {}
if xs[0] < 1.0:|    return None, xs[0]|return {}, xs[1]
found = None|if xs[0] > 1.0:|    found = {}|return found
return {} if xs[0] > 1.0 else Other({})
return (Row({}, 1.0) if xs[0] > 1.0 else Other({})), xs
return [Row({}, 1.0) if x > 1.0 else Other({}) for x in xs]
""".strip().splitlines()


def classes(value):
    """The classes of a value and of its parts; numbers of numpy's count as those of Python's."""
    if dataclasses.is_dataclass(value):
        return type(value), classes(vars(value))
    if isinstance(value, dict):
        return type(value), [(key, classes(part)) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return type(value), list(map(classes, value))
    return type(value.item() if isinstance(value, np.generic) else value)


def numbers(value):
    """All numbers of a value, in order."""
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | np.ndarray):
        return [number for part in value for number in numbers(part)]
    return [] if value is None else [float(value)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what runs without native code
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_unions_have_the_classes_of_the_plain_program(part, where):
    for held in HELD if "Row" not in where else ("{}",):
        whole = held.format(part)
        if "Other({})" in where and not whole.startswith(("Row", "Named")) and where.startswith("return {}"):
            continue  # a union of a record and another class is not in the language
        lines = where.format(*(whole,) * where.count("{}")).split("|")
        function = function_of("xs", lines, **OUTSIDE)
        for xs, backend in itertools.product(([2.0, 0.5], [0.5, 2.0], np.array([2.0, 0.5])), BACKENDS):
            expected = function(xs)
            program = te.program(function, backend=backend)
            value, tangent = ENGINE.jvp(program, (xs,), (xs,))
            for found in (ENGINE.vjp(program, xs)[0], value, tangent):
                assert classes(found) == classes(expected), (lines, xs)
            assert numbers(value) == numbers(expected)
