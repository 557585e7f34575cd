"""Programs that ask for the class of a number that may be an integer or a float: what Python answers."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te


def branches(x):
    return 1 if x > 1.0 else x


def element(x):
    return [1, x][0 if x > 1.0 else 1]


def of_dict(x):
    return {"a": 1, "b": x}["a" if x > 1.0 else "b"]


def largest(x):
    return max(2, x)


def total(x):
    return sum([x][1:]) if x > 1.0 else x


def swapped(x):
    a, b = 1, x
    for _ in range(1 if x > 1.0 else 2):
        a, b = b, a
    return a


def in_order(x):
    return sorted([2, x, 1.0])[-1]


def put(x):
    v = [0] * 2
    v[1 if x > 1.0 else 0] = x
    return v[0]


def is_int(v):
    return isinstance(v, int)


def is_no_float(v):
    return not isinstance(v, float)


def of_type(v):
    return type(v) is int


def of_class(v):
    return v.__class__ is int


def matched(v):
    match v:
        case int():
            return True
    return False


def each(v):
    return any(isinstance(e, int) for e in [v, 2.5])


MADE = (branches, element, of_dict, largest, total, swapped, in_order, put)
ASKED = (is_int, is_no_float, of_type, of_class, matched, each)


@pytest.mark.parametrize(("made", "asked"), list(itertools.product(MADE, ASKED)))
def test_integers_and_floats_on_different_paths(made, asked):
    def f(x):
        return 5.0 * x if asked(made(x)) else x * x

    program = te.program(f)
    for x in (0.5, 1.5, 2.5):
        assert te.vjp(program, x)[0] == f(x), x
        assert te.grad(program)(x) == (5.0 if asked(made(x)) else 2.0 * x), x


def test_elements_of_arguments():
    @te.program
    def program(xs, d):
        counts = sum(isinstance(x, int) for x in xs) + 10 * isinstance(d["n"], int)
        return counts * xs[-1]

    for first, n in itertools.product((1, 1.0), repeat=2):
        assert te.vjp(program, [first, 2.0], {"n": n})[0] == program.python([first, 2.0], {"n": n})


def annotated(x: float) -> float:
    y = 2 * x if isinstance(x, float) else x
    return y * 3.0 if isinstance(y, float) else 0.0


def rebound(x):
    for _ in range(2):
        x = x * 3 / 2 if isinstance(x, float) else 0.0
    return float(x) if not isinstance(x, int) else 0.0


@pytest.mark.parametrize("function", [annotated, rebound])
def test_numbers_that_the_text_shows_to_be_floats_are_compiled(function):
    program = te.program(function)
    assert te.vjp(program, 1.5)[0] == function(1.5)
    assert program.for_values((1.5,)).is_read


def test_ranges_and_tuples_of_any_length_in_results():
    @te.program
    def program(n: int, xs: list[float]):
        steps = range(1, n)
        return steps, [steps], {"all": (*xs, 2.0), "more": (*steps, xs[0])}, xs[0] * sum(steps)

    value, gradient = te.vjp(program, 3, [1.5, 2.5])
    assert repr(value) == repr(program.python(3, [1.5, 2.5]))
    assert gradient((None, [None], {"all": (1.0, 0.0, 0.0), "more": (None, None, 5.0)}, 1.0))[1] == [9.0, 0.0]


NUMBERS_OF = {
    "element": "x[0]",
    "loop": "sum([v for v in x])",
    "reduction": "np.max(x)",
    "product": "2.0 * x[1]",
    "constant": "ROW[0] * 1.0",
    "plain": "float(x[0])",
    "list": "x.tolist()[0]",
    "largest": "max(float(x[0]), 0.5)",
    "sum": "sum([float(v) for v in x])",
}


@pytest.mark.parametrize("of", NUMBERS_OF)
def test_digits_are_rounded_as_pythons_or_numpys_numbers(of):
    """A number of numpy's is scaled, rounded and divided; one of Python's is rounded exactly."""
    lines = [f"v = {NUMBERS_OF[of]}", "return round(v, 1) + x[1] * 0.0"]
    function = function_of("x", lines, np=np, ROW=np.array([1.95]))
    for row in ([1.95, 0.15], [0.15, 2.675], [2.5, 1.45]):
        assert te.vjp(te.program(function), np.array(row))[0] == function(np.array(row)), row
