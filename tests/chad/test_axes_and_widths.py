"""numpy's functions along each axis, also along one that the array does not have, and `np.pad` in each mode and width:
numpy's value and the cotangents of dual numbers, or an error."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

ALONG = """
flip sum mean prod max min cumsum cumprod sort median var std diff ptp any all argmax argmin quantile(0.3) roll(1)
take([0]) repeat(2) concatenate stack expand_dims
""".split()
WIDTHS = [(0, 0), (1, 0), (0, 2), (3, 1), (5, 7)]
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


def check(function, x):
    """Check a program of one array against the plain function; tell whether it is read and gives a value."""
    program = te.program(function)
    try:
        wanted = function(x)
    except Exception:
        with pytest.raises((ValueError, IndexError, ProgramError)):
            te.vjp(program, x)
        return False
    try:
        value, back = te.vjp(program, x)
    except ProgramError:
        return False
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    cotangent = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    expected = te.vjp(function, x)[1](cotangent)
    np.testing.assert_allclose(back(cotangent)[0], expected[0], rtol=1e-11, atol=1e-13)
    return True


@pytest.mark.parametrize("shape", [(3,), (2, 3)], ids=str)
@pytest.mark.parametrize("text", ALONG)
def test_along_each_axis(text, shape):
    name, _, others = text.partition("(")
    first = "(a, a)" if name in ("concatenate", "stack") else "a"
    given = ", ".join(filter(None, [first, others.removesuffix(")")]))
    x = np.sin(np.arange(1.0, 1.0 + np.prod(shape))).reshape(shape)
    wanted = 0 if (name, shape) == ("ptp", (3,)) else 2 * len(shape)  # the language refuses it
    texts = [f"return np.{name}({given}, axis={axis}) * 1.5" for axis in range(-3, 3)]
    assert sum(check(function_of("a", [text]), x) for text in texts) >= wanted


@pytest.mark.parametrize("mode", MODES)
def test_padded_by_each_width(mode):
    for n, width in itertools.product((1, 2, 3, 4), WIDTHS):
        function = function_of("a", [f"return np.pad(a, {width}, mode={mode!r}) * 1.5"])
        assert check(function, np.cos(np.arange(1.0, 1.0 + n)))
