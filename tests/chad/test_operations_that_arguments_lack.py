"""Operations on arguments whose class lacks them, or has other ones: what Python gives or raises."""

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

ARGUMENTS = {
    "None": None,
    "text": "ab",
    "tuple": (1.5, 2.5),
    "empty tuple": (),
    "nested tuple": ((1.5, 2.0), 3.0),
    "array without axes": np.array(1.5),
    "integer without axes": np.array(2),
}
EXPRESSIONS = [
    *("len(x)", "tuple(x)", "x[1:]", "x[::-1]", "x[-1]", "x[-1] * 2.0", "x[0]", "sum(x)", "[v for v in x]", "[*x]"),
    *("x.sum()", "x.copy()", "x.tolist()", "x.reshape(-1)", "x.mean(axis=0)", "x.index(1.5)", "x.count(1.5)"),
    *("x * [1.0, 2.0]", "isinstance(x, float)", "round(x)", "round(x, 1)", "x * 2.0", "x + x", "x == x", "not x"),
]


def plain(value):
    """A value with its classes, in which numpy's numbers are Python's."""
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    return (np.ndarray, value.tolist()) if getattr(value, "shape", ()) else getattr(value, "tolist", lambda: value)()


def outcome(function, *args):
    """What a call gives, or the class of its error."""
    try:
        return plain(function(*args))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_arguments_of_other_classes(expression):
    function = function_of("x", [f"return {expression}"])
    program = te.program(function)
    for name, x in ARGUMENTS.items():
        assert outcome(lambda x: te.vjp(program, x)[0], x) == outcome(function, x), name
