"""A bool on one path and a float on another: the class is that of the plain program, in arrays and tuples as well."""

import pytest
from chad.written_functions import function_of
from outcomes import outcome

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

#: What is of bools on one path, and of floats on the other.
PAIRS = {
    "number": ("x > 1", "x"),
    "array": ("np.array([x, 2.0]) > 1", "np.array([x, 2.0])"),
    "matrix": ("np.ones((2, 2)) > x", "np.ones((2, 2)) * x"),
    "list": ("[True, x > 1]", "[x, x]"),
    "tuple": ("(x > 1, 2.0)", "(x, x)"),
    "dict": ('{"a": x > 1}', '{"a": x}'),
    "pair in a tuple": ("((x > 1, 1), x)", "((x, 1), x)"),
}
SHAPES = {
    "expression": ["return {0} if x > 0 else {1}"],
    "branch": ["y = {1}", "if x > 0:", "    y = {0}", "return y"],
    "return": ["if x > 0:", "    return {0}", "return {1}"],
    "loop": ["y = {1}", "for k in range(2):", "    if x > k:", "        y = {0}", "return y"],
    "while": ["y, t = {1}, x", "while t > 0:", "    y, t = {0}, t - 1", "return y"],
    "left": ["for k in range(3):", "    if x > k + 1:", "        return {0}", "return {1}"],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pair", PAIRS)
def test_values_have_the_classes_of_the_plain_programs(pair, shape):
    lines = [line.format(*PAIRS[pair]) for line in SHAPES[shape]]
    function = function_of("x", lines)
    program = te.program(function)
    for x in (2.5, 0.5, -2.5):
        for found in (program.value(x), te.vjp(program, x)[0]):
            assert repr(found) == repr(function(x))
    with pytest.raises(ProgramError, match="bool"):
        te.grad(te.program(function_of("x: float", lines)))(2.5)


def test_a_bool_that_stays_one_is_compiled():
    lines = ["found, n = False, 0", "for k in range(3):", "    if x > k:", "        found, n = True, n + (x > 1)"]
    program = te.program(function_of("x: float", [*lines, "return x * n if found else -x"]))
    assert outcome(lambda: te.grad(program)(2.5)) == 3.0
