"""Uses of numpy's functions that have no meaning in the language are refused, and say why."""

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.errors import StructureError

REFUSED = {
    "np.squeeze(x[:1])": "an array of no axes",
    "np.matmul(np.outer(x, x), x, None)": "3 arguments where 2 are wanted",
    "np.sum(x, 0, None, x)": "out= inside an expression",
    "np.einsum('...i...', x)": "letters for axes",
    "np.diff(x, n=int(x[0]))": "differences of order 0",
    "np.diff(x, 0)": "differences of order 0",
    "np.array(x, copy=False)": "copy=False may return its argument",
    "np.r_(x, x)": "np.r_ and np.c_ are indexed, not called",
    "np.c_(x)": "np.r_ and np.c_ are indexed, not called",
    "np.clip(x, 0.0)": "np.clip with one end",
    "np.clip(x, 0.0, 1.0, min=2.0)": "np.clip with one end",
    "len(*x)": r"\* of Array\[float\] in a call",
    "y = np.atleast_1d(x); y[0] = 2.0; y": r"y = np.atleast_1d\(x\) may be the same array",
    "y = np.squeeze(x); y[0] = 2.0; y": r"y = np.squeeze\(x\) may be the same array",
    "y = x; np.add.at(y, [0, 1], 1.0); x": "y = x may be the same array",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_use_is_refused(text):
    *lines, last = text.split("; ")
    with pytest.raises(te.ProgramError, match=REFUSED[text]):
        refused(te.program(function_of("x", [*lines, f"return {last}"])), np.arange(5.0))


def test_a_list_of_the_programs_own_is_no_array_for_a_function_that_reads_it():
    def read(a):
        return (-a)[0]

    program = te.program(function_of("x", ["y = list(x)", "y[0] = read(y)", "return y"], read=read))
    with pytest.raises(StructureError, match="an operand is a list"):
        refused(program, np.arange(5.0))
    with pytest.raises(TypeError, match="bad operand"):
        te.vjp(program, np.arange(5.0))


@pytest.mark.parametrize("at", ["[0], 1.0", "0, 1.0", "x > 1.0, x[0]", "(0, 1), 1.0", "([0], [1]), 1.0"])
@pytest.mark.parametrize("made", ["list(x)", "[[x[0]] * 5 for _ in range(5)]"])
def test_what_ufuncs_change_is_no_list(made, at):
    function = function_of("x", [f"y = {made}", f"np.add.at(y, {at})", "return y"])
    with pytest.raises(te.ProgramError):
        refused(te.program(function), np.arange(5.0))
    for each in (function, te.program(function)):
        with pytest.raises(TypeError):
            te.vjp(each, np.arange(5.0))
