"""Expressions of which only the type is used, such as a length or a rank, raise what they raise in Python."""

import numpy as np
import pytest
from chad.written_functions import function_of
from outcomes import comparable

import tapeengine
import tapeengine.numpy as tnp
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError

ENGINE = tapeengine.Engine()

#: Expressions that fail for the arguments below.
FAILING = {
    "number": ["bad(x)", "[1.0, 2.0][int(x) + 5]", "float(1 // int(x - x))", "max([y for y in [x] if y < 0.0])"],
    "array": ["a + b", "a @ b", "np.stack([a, b])", "a.reshape(5, 7)", "np.take(a, [9])", "np.where(True, a, a + b)"],
}
#: Uses of only their type.
USES = {
    "number": [
        "len(({e}, 2))",
        "len({{'p': {e}}})",
        "'p' in {{'p': {e}}}",
        "'q' not in {{'p': {e}, 'r': x}}",
        "np.ndim(({e}, x))",
        "len((x, (1.0, {e})))",
    ],
    "array": ["({e}).ndim", "np.ndim({e})", "len(({e}, x))", "'p' in {{'p': {e}}}", "({e}).T.ndim"],
}


def bad(x):
    if x > 0.0:
        raise ValueError("bad")
    return x


@pytest.mark.parametrize("kind", USES)
@pytest.mark.parametrize("place", ["return {u}, x", "y = {u}; return x * y", "return x if {u} else 2.0 * x"])
def test_what_fails_in_python_fails(kind, place):
    x, a, b = 1.5, np.arange(6.0).reshape(2, 3), np.ones((3, 4))
    read = 0
    for use in USES[kind]:
        for e in FAILING[kind]:
            text = place.format(u=use.format(e=e)).split("; ")
            function = function_of("x, a, b", text, bad=bad, np=tnp)
            wanted = comparable(function, x, a, b)
            found = comparable(lambda f=function: ENGINE.vjp(te.program(f), x, a, b)[0])
            assert found == wanted or found is ProgramError
            read += found is not ProgramError
    assert read >= {"number": 24, "array": 25}[kind]  # of 24 and 30; the others are refused
