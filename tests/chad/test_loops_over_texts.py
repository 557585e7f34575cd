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
    "u",
    "u.upper()",
    "(u + 'b')",
    "reversed(u)",
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
return x + sum((ord(c) - 90) * x for c in {0})
s = x|for c in {0}:|    s += x|    if c == 'b':|        return 3.0 * s|else:|    s *= 2.0|return s
s = x|for c in {0}:|    for d in {0}:|        if c == d:|            continue|        s += ord(d) * x|return s
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
    f = function_of("x", ["t = 'xby'", "u = 'bca' if x > 0.5 else 'ab'", *loop.format(text).split("|")])
    program = te.program(f)
    for x in (0.7, 0.3):
        value, back = te.vjp(program, x)
        assert repr(value) == repr(f(x))
        cotangent = [1.0] * len(value) if isinstance(value, list) else 1.0
        assert back(cotangent)[0] == pytest.approx(gradient(f, x), abs=1e-6)


@pytest.mark.parametrize("text", ["u", "u + 'b'", "u.upper() + u", "f'{u}!'", "u[0] + u", "'<' + u.upper()[1:] + '>'"])
def test_operations_on_a_text_that_a_branch_chooses(text):
    f = function_of(
        "x: float", ["u = 'bca' if x > 0.5 else 'ab'", f"return x * len({text}), {text}, {{c: x for c in u}}"]
    )
    for x in (0.7, 0.3):
        assert te.program(f).value(x) == f(x)
        assert te.vjp(te.program(f), x)[1]((1.0, None, dict.fromkeys(f(x)[2], 1.0)))[0] == len(f(x)[1]) + len(f(x)[2])


@pytest.mark.parametrize("value", ["x > 1.0", "not x > 1.0", "x > 0.1 and x < 1.0", "True"])
def test_a_result_annotated_as_an_integer_may_be_a_bool(value):
    lines = ["def own(x: float) -> int:", f"    return {value}", "k = own(x)", "return k, x * k"]
    program = te.program(f := function_of("x: float", lines))
    assert repr(te.vjp(program, 0.7)[0]) == repr(f(0.7))
    assert te.vjp(program, 0.7)[1]((None, 1.0)) == (float(f(0.7)[0]),)
