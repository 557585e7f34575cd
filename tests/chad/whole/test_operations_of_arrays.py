"""Operations on whole arrays give, for each element, what the operation on numbers gives, or leave the run to it."""

import itertools
import math

import numpy as np
import pytest

from tapeengine.chad.backends.whole.operations import whole_text
from tapeengine.chad.backends.whole.running import Running
from tapeengine.chad.intermediate.operations import OPERATIONS_BY_NAME, REAL, TRUTH, WHOLE

NUMBERS = {
    REAL: [0.3, -1.2, 2.5, 0.5, -0.5, 3.0, 0.0, -0.0, 1.0, 40.0, -800.0, 1e-200, 1e200],
    WHOLE: [-3, -2, -1, 0, 1, 2, 3, 62],
    TRUTH: [False, True],
}


def computed(operation, args):
    """The operation on numbers; None at a pole, and where the result has more than 64 bits."""
    try:
        found = operation.compute(*args)
    except (ArithmeticError, ValueError):
        return None
    is_whole = isinstance(found, int) and abs(found) < 2**62
    return None if isinstance(found, complex) or (operation.gives == WHOLE and not is_whole) else found


def on_arrays(name, *args, is_value=True):
    """The operation on whole arrays, as it is written in a program."""
    names = dict(zip("abc", args, strict=False))
    text, _ = whole_text(OPERATIONS_BY_NAME[name], list(names), is_value)
    with np.errstate(all="ignore"):
        return eval(text, {"np": np, "ops": Running(), **names})


@pytest.mark.parametrize("name", OPERATIONS_BY_NAME)
def test_each_element_is_that_of_numbers(name):
    operation = OPERATIONS_BY_NAME[name]
    pairs = itertools.product(*(NUMBERS[of] for of in operation.takes))
    if name == "polygamma":
        pairs = ((n, x) for n in (0.0, 1.0, 2.0) for x in NUMBERS[REAL] if abs(x) < 100.0)
    given = [(args, each) for args in pairs if (each := computed(operation, args)) is not None]
    columns = [np.array(column) for column in zip(*(args for args, _ in given), strict=True)]
    found = on_arrays(name, *columns)
    wanted = np.array([each for _, each in given])
    assert np.asarray(found).dtype.kind == wanted.dtype.kind
    np.testing.assert_allclose(np.asarray(found, float), wanted.astype(float), rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "args"),
    [("floor", (1e300,)), ("round", (-1e19,)), ("imul", (2**40, 2**30)), ("ipow", (3, 62)), ("ipow", (2, -1))],
)
def test_whole_numbers_of_more_than_64_bits_are_left_to_python(name, args):
    with pytest.raises(FloatingPointError):
        on_arrays(name, *(np.array([x, x]) for x in args))


def test_lengths_have_no_squares_out_of_range():
    x = np.array([3.0, 1e-200, 1e200, 0.0])
    for a, b in ((x, x[::-1]), (x[:1], x[:1] + 1.0)):
        found = on_arrays("hypot", a, b, is_value=False)
        np.testing.assert_allclose(found, [math.hypot(*each) for each in zip(a, b, strict=True)])
