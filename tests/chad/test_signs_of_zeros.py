"""Zeros of both signs, ones of all classes and NaN as constants: values and slopes have the bits of plain Python."""

import itertools
import math
import re
import struct

import pytest
from chad.written_functions import function_of
from leaves import leaves

import tapeengine as te

CONSTANTS = ("0.0", "-0.0", "0", "1.0", "True", "nan")
POINTS = (0.7, -0.7, 0.0, -0.0, math.inf)
#: Pairs of uses of two constants; where they were one, the second would be the first.
FORMS = (
    "math.copysign(x, {0}) + 2.0 * math.copysign(x, {1})",
    "math.atan2({0}, -x), math.atan2({1}, -x)",
    "x * {0}, x * {1}",
    "{0} * x, {1} + x",
    "x - {0}, {1} - x",
    "x + {0}, x / (3.0 + {1})",
    "{0} if x > 0.0 else {1}",
    "math.copysign(3.0, {0} + {1}) * x, math.copysign(3.0, {0} * {1}) * x, math.copysign(3.0, {0} - {1}) * x",
    "max(x, {0}), min(x, {1})",
    "sum([{0}, {1}, x])",
    "[{0}, {1}, x][1] + x",
    "np.sum(np.array([{0}, {1}, x])) * x",
)


def bits(value):
    """Give the bits of numbers; a branch may give the float that is equal to an integer."""
    if isinstance(value, tuple | list):
        return [bits(v) for v in value]
    return "nan" if math.isnan(value) else struct.pack("d", value)


def program_of(form):
    """Give a function that returns the values of a form for all pairs of constants, of one class in lists."""
    pairs = [
        p for p in itertools.product(CONSTANTS, repeat=2) if re.match(r".*[\[if]|max", form) is None or "True" not in p
    ]
    names = {"math": te.math, "np": te.numpy, "inf": math.inf, "nan": math.nan}
    return function_of("x", [f"return ({', '.join(f'({form.format(*pair)})' for pair in pairs)})"], **names)


@pytest.mark.filterwarnings("ignore:.*runs without native code. a value or a cotangent")
@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("form", FORMS)
def test_constants_that_are_equal_and_not_the_same(form, backend):
    if backend == "native":
        pytest.importorskip("llvmlite")
    f = program_of(form)
    program = te.program(f, backend=backend)
    for x in POINTS:
        assert bits(te.vjp(program, x)[0]) == bits(f(x)), x


@pytest.mark.parametrize("form", FORMS)
def test_slopes_of_such_constants(form):
    f = program_of(form)
    for x in POINTS[:2]:
        found, wanted = te.jvp(te.program(f), (x,), (1.0,))[1], te.jvp(f, (x,), (1.0,))[1]
        assert [d or 0.0 for d in leaves(found)] == pytest.approx([d or 0.0 for d in leaves(wanted)], nan_ok=True)


def test_the_tangent_of_a_constant_is_zero_at_a_pole():
    f = function_of("x, y", ["r = math.sqrt(y - 2.0) if x > 0.0 else y", "return x * x * x + r * 2.0"], math=te.math)
    program = te.program(f)
    assert te.jvp(lambda x: te.grad(program)(x, 2.0), (2.0,), (1.0,))[1] == 12.0
