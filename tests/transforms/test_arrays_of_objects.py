"""Results and primals that are arrays of objects: numbers are an array of numbers, anything else is refused."""

import datetime
import decimal
import fractions

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

#: Objects beside a traced number that are no numbers, and numbers with their class in an array of floats.
OBJECTS = [
    "a",
    b"a",
    None,
    np.datetime64("2020-01-01"),
    np.timedelta64(3, "s"),
    decimal.Decimal(2),
    [1.0],
    {},
    object(),
]
OBJECTS += [fractions.Fraction(1, 2), datetime.date(2020, 1, 1), print, slice(1), "", b"", "1.5", (1, 2)]
NUMBERS = [1.5, 2, True, np.float32(1.5), np.int8(3), np.float64(1.5), np.bool_(True)]
TRANSFORMS = {
    "vjp": lambda f, x: te.vjp(f, x)[0],
    "jvp": lambda f, x: te.jvp(f, (x,), (1.0,))[0],
    "checkpoint": lambda f, x: te.vjp(te.checkpoint(f), x)[0],
    "fork_map": lambda f, x: te.vjp(lambda x: te.fork_map(f, [x])[0], x)[0],
    "nested": lambda f, x: te.jvp(lambda x: te.vjp(f, x)[0], (x,), (1.0,))[0],
    "in a list": lambda f, x: te.vjp(lambda x: [f(x), x], x)[0][0],
    "auxiliary": lambda f, x: te.value_and_grad(lambda x: (x, f(x)), has_aux=True)(x)[0][1],
    "stage": lambda f, x: [te.vjp(staged := te.stage(f), x), te.vjp(staged, x)][1][0],
    "custom_vjp": lambda f, x: te.vjp(te.checkpoint(te.checkpoint(f)), x)[0],
    "iterate": lambda f, x: te.vjp(lambda x: te.iterate(f, x, 1), x)[0],
}


def pair(x, other):
    """An array of objects of two elements."""
    made = np.empty(2, object)
    made[0], made[1] = other, x * 2.0
    return made


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("other", OBJECTS, ids=lambda x: repr(x)[:20])
def test_other_objects_are_refused(other, transform):
    with pytest.raises((TapeEngineError, TypeError)):
        TRANSFORMS[transform](lambda x: pair(x, other), 1.5)


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("transform", [name for name in TRANSFORMS if name != "iterate"])
@pytest.mark.parametrize("other", NUMBERS, ids=repr)
def test_numbers_are_an_array_of_them(other, transform):
    value = TRANSFORMS[transform](lambda x: pair(x, other), 1.5)
    assert value.dtype == float
    assert value.tolist() == [float(other), 3.0]


@pytest.mark.parametrize("other", NUMBERS, ids=repr)
def test_the_derivative_of_numbers_among_objects(other):
    assert te.vjp(lambda x: pair(x, other), 1.5)[1](np.array([7.0, 1.0])) == (2.0,)
    primal = np.array([other, 1.5], dtype=object)
    value, back = te.vjp(lambda a: a * a, primal)
    assert value.tolist() == [float(other) ** 2, 2.25]
    assert back(np.ones(2))[0].tolist() == [2.0 * float(other), 3.0]


@pytest.mark.parametrize("other", OBJECTS, ids=lambda x: repr(x)[:20])
def test_primals_of_other_objects_are_refused(other):
    primal = np.empty(2, object)
    primal[0], primal[1] = other, 1.5
    with pytest.raises(TapeEngineError):
        te.vjp(lambda a: a[1], primal)
