"""Texts, which Python computes when a program is read; values that are a list in one case and an array in another."""

import functools
import itertools
import math

import numpy as np
import pytest
from chad.source_programs import Source, function_of
from chad.written_functions import refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

#: Expressions of a text; each is a number, a condition or a text.
OF_TEXTS = [
    "len(name)", "'in' in name", "'cos' not in name", "name in ('sin_x', 'b')", "name in 'a sin_x b'",
    "name.startswith('sin')", "name.endswith('y')", "name.upper() == 'SIN_X'", "name + '!' == 'sin_x!'",
    "f'{name}{3}' == 'sin_x3'", "f'{name!r:>8}'.strip() == name", "name.find('_')", "name.replace('sin', '') == '_x'",
    "len(name.split('_')[0])" , "bool(name)", "name.count('s') + len('ab' + name)",
]  # fmt: skip


@pytest.mark.parametrize("text", OF_TEXTS)
@pytest.mark.parametrize("name", ["sin_x", "cos", "b", ""])
def test_operations_on_texts(text, name):
    source = f"def program(x, name):\n    if {text}:\n        return x * x * ({text})\n    return math.sin(x)\n"
    plain = function_of(Source(hash((text, name)), source, ()))
    program = te.program(plain)
    try:
        wanted = plain(1.5, name)
    except IndexError:
        wanted = None
    try:
        value, back = te.vjp(program, 1.5, name)
    except ProgramError:
        assert "split" in text  # lists of texts are not in the language
        return
    assert value == wanted
    assert back(1.0)[0] == pytest.approx((plain(1.5 + 1e-6, name) - plain(1.5 - 1e-6, name)) / 2e-6, rel=1e-8)


FIRST = ["xs", "xs * 1.0", "[x for x in xs]", "np.sin(xs)", "list(xs)", "[a, a * a]"]
STEPS = ["[2.0 * y for y in ys]", "np.cos(ys)", "[a * y for y in ys] + [a]", "ys"]


@pytest.mark.parametrize(("first", "step", "last"), itertools.product(FIRST, STEPS, ["ys", "(a, ys)", "{'ys': ys}"]))
@pytest.mark.parametrize("kind", [np.array, list])
def test_a_state_that_is_a_list_in_one_step_and_an_array_in_another(first, step, last, kind):
    source = (
        f"def program(xs, a, n):\n    ys = {first}\n    for _ in range(n):\n        ys = {step}\n    return {last}\n"
    )
    plain = function_of(Source(hash((first, step, last)), source, ()))
    program, xs = te.program(plain), kind([0.5, 1.5])
    for n in (0, 1, 2):
        try:
            wanted = plain(xs, 2.0, n)
            value, _ = te.vjp(program, xs, 2.0, n)
            along, moved = te.jvp(program, (xs, 2.0, n), (kind([1.0, 0.5]), 1.0, None))
        except (TypeError, te.errors.TapeEngineError) as error:
            assert kind is list and "xs *" in first, error  # a list times a float
            continue
        for found in (value, along, moved):
            assert structure(found) == structure(wanted)
        np.testing.assert_allclose(flat(value), flat(wanted), rtol=1e-15)


def structure(value):
    """The types of a value and its parts."""
    if isinstance(value, dict):
        return {key: structure(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value), list(map(structure, value))
    return type(value) if isinstance(value, np.ndarray) else float


def flat(value):
    """All numbers of a value."""
    parts = value.values() if isinstance(value, dict) else value
    return np.concatenate([np.ravel(part) for part in parts])


def test_an_operation_on_what_is_a_list_in_one_case_is_refused():
    def program(xs, n):
        ys = np.sin(xs)
        for _ in range(n):
            ys = [y * 2.0 for y in ys]
        return ys * 2.0

    with pytest.raises(ProgramError, match="a list in one case, an array in another"):
        refused(te.program(program), np.ones(2), 1)


def test_a_constant_index_out_of_range_matters_where_it_is_read():
    @te.program
    def program(t: tuple[float, float], k: int) -> float:
        if k > 1:
            return t[5] + 1.0
        return t[0] * t[-2]

    assert te.grad(program)((3.0, 1.0), 0) == (6.0, 0.0)
    with pytest.raises(IndexError, match="tuple index out of range"):
        te.vjp(program, (3.0, 1.0), 2)


@pytest.mark.parametrize("given", [3, "f", math.sin, np.sin, int, functools.partial(math.sin, 1.0)], ids=str)
def test_what_is_no_def_is_no_program(given):
    with pytest.raises(TypeError, match="written as a def"):
        te.program(given)


def test_methods_of_ufuncs_are_not_functions_of_the_same_name():
    def program(xs: te.Vec):
        return np.subtract.reduce(xs)

    def other(xs):
        return np.logaddexp.reduce(xs)

    with pytest.raises(ProgramError, match="reduce is not a function"):
        te.program(program).derivative()
    value, back = te.vjp(te.program(program), np.array([0.5, 2.0]))
    assert (value, back(1.0)[0].tolist()) == (-1.5, [1.0, -1.0])
    assert te.vjp(te.program(other), np.array([0.5, 1.0]))[0] == pytest.approx(np.logaddexp(0.5, 1.0), rel=1e-15)
