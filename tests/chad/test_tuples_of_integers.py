"""Functions of numpy make arrays of tuples of integers, also in lists and tuples, as they do of tuples of floats."""

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import outcome

import tapeengine as te

#: Functions of one array.
UNARY = """
atleast_1d atleast_2d squeeze copy ravel transpose flipud fliplr flip rot90 cumsum cumprod diff sort abs sqrt
negative square
sum mean prod max min ptp median std var argmax argmin any all unique diag trace argsort count_nonzero array asarray
ones_like zeros_like vstack hstack concatenate stack column_stack gradient size shape ndim
"""
#: Functions of two arrays, or of an array and what says how.
OTHERS = (
    "np.dot(x, x)",
    "np.outer(x, x)",
    "np.add(x, x)",
    "np.expand_dims(x, 1)",
    "np.repeat(x, 2)",
    "np.tile(x, 2)",
    "np.roll(x, 1)",
    "np.clip(x, 2, 3)",
    "np.reshape(x, (2, -1))",
    "np.asarray(x).T",
    "np.asarray(x)[..., 0]",
)
CALLS = (*(f"np.{name}(x)" for name in UNARY.split()), *OTHERS)
#: Arrays in lists and tuples.
ARRAYS = (
    ((1, 2), (3, 4)),
    [(1, 2), (3, 4)],
    [(1, 2)],
    (1, 2, 3, 4),
    [[(1, 2)], [(3, 4)]],
    ((1.5, 2.0), (3.0, 4.0)),
    [(1.5, 2.0), (3.0, 4.0)],
    [(1.5, 2.0)],
)
#: Where tuples of integers say a shape, axes or widths.
SHAPES = (
    "np.zeros((2, 3)) + x",
    "np.full((2, 2), x)",
    "np.reshape(np.arange(6) * x, (2, 3))",
    "np.sum(np.ones((2, 3)) * x, axis=(0, 1))",
    "np.pad(np.ones((2, 2)) * x, ((1, 1), (0, 1)))",
    "np.transpose(np.ones((2, 3)) * x, (1, 0))",
    "np.broadcast_to(x, (2, 3))",
    "np.tile(np.ones(2) * x, (2, 2))",
)


def described(value):
    """A value with its classes, dtypes and shapes; an array without axes is a number."""
    if isinstance(value, Exception):
        return type(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return value.dtype, value.shape, value.tolist()
    if isinstance(value, tuple | list):
        return type(value), [described(item) for item in value]
    number = np.asarray(value).item()
    return type(number), number


@pytest.mark.parametrize("call", CALLS)
def test_a_function_of_tuples(call):
    f = defined(f"def f(x):\n    return {call}\n", np=np)
    for x in ARRAYS:
        wanted = described(outcome(lambda x=x: f(x)))
        program = te.program(f)
        assert described(outcome(lambda x=x, p=program: p.value(x))) == wanted, x
        assert described(outcome(lambda x=x, p=program: te.vjp(p, x)[0])) == wanted, x


@pytest.mark.parametrize("call", SHAPES)
def test_a_shape_stays_a_tuple(call):
    f = defined(f"def f(x):\n    return {call}\n", np=np)
    assert described(te.program(f).value(1.5)) == described(f(1.5))
