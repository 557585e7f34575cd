"""Programs of users have the value, the kinds and the errors of plain Python, and the derivatives of dual numbers."""

import numpy as np
import pytest
from chad import everyday_classes, everyday_functions, everyday_generators, everyday_numpy
from chad.backends.runs import BACKENDS
from chad.everyday import EVERYDAY
from chad.outsiders import OUTSIDERS
from chad.users import CALLS
from leaves import direction, numbers, parts
from outcomes import outcome

import tapeengine as te

assert everyday_classes and everyday_functions and everyday_generators and everyday_numpy  # which add their programs


def kinds(x):
    """A structure with the kinds of its leaves; numpy's numbers are Python's."""
    if isinstance(x, dict):
        return {key: kinds(part) for key, part in x.items()}
    inside = parts(x)
    if inside is not None:
        return type(x), [kinds(part) for part in inside]
    return (
        (np.ndarray, x.ndim, x.dtype)
        if isinstance(x, np.ndarray)
        else type(x.item() if isinstance(x, np.generic) else x)
    )


def drawn():
    """The same numbers each time."""
    return iter(np.random.default_rng(3).normal(size=2000).tolist())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", EVERYDAY)
def test_an_everyday_program(name, backend):
    function, args, named = EVERYDAY[name]
    program = te.program(function, backend=backend)
    value, found = outcome(lambda: function(*args, **named)), outcome(lambda: te.vjp(program, *args, **named))
    alone = outcome(lambda: program.value(*args, **named))
    if isinstance(value, Exception):
        assert {(type(error), str(error)) for error in (found, alone)} == {(type(value), str(value))}
        return
    assert kinds(alone) == kinds(value)
    np.testing.assert_array_equal(numbers(alone), numbers(found[0]))
    assert kinds(found[0]) == kinds(value)
    np.testing.assert_allclose(numbers(found[0]), numbers(value), rtol=1e-13, atol=1e-15)
    cotangent = direction(value, drawn())
    got = found[1](cotangent)
    wanted = te.vjp(program.python, *args, **named)[1](cotangent)
    np.testing.assert_allclose(numbers(got), numbers(wanted), rtol=1e-9, atol=1e-11)
    assert kinds([*got]) == kinds([*wanted])
    if not named:
        tangents = direction(args, drawn())
        forward = te.jvp(program, args, tangents)
        assert kinds(forward[0]) == kinds(value)
        expected = te.jvp(program.python, args, tangents)[1]
        np.testing.assert_allclose(numbers(forward[1]), numbers(expected), rtol=1e-9, atol=1e-11)


WRITTEN = {**{n: (f, a, {}) for n, (f, a) in {**CALLS, **OUTSIDERS}.items()}, **EVERYDAY}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_value_has_the_kinds_of_the_plain_programs_value(name):
    function, args, named = WRITTEN[name]
    value = outcome(lambda: function(*args, **named))
    if isinstance(value, Exception):
        pytest.skip("it raises an error")
    found = te.vjp(te.program(function), *args, **named)[0]
    assert kinds(found) == kinds(value)


def test_numbers_of_a_list_may_be_changed_between_the_passes():
    def f(p, rows):
        return sum(p["w"] * x * x for row in rows for x in row)

    p, rows = {"w": np.array([2.0, 3.0])}, [[1.0, 2.0], [3.0, 4.0]]
    for _ in range(3):
        _, back = te.vjp(te.program(f), p, rows)
        p["w"][:] = 0.0
        rows[0][0] = 9.0
        np.testing.assert_array_equal(back(np.ones(2))[0]["w"], [30.0, 30.0])
        np.testing.assert_array_equal(back(np.ones(2))[1], [[10.0, 20.0], [30.0, 40.0]])
        p["w"][:] = 2.0, 3.0
        rows[0][0] = 1.0


@pytest.mark.parametrize("digits", [0, 1, 2, 5, 12])
def test_rounding_is_pythons(digits):
    def f(x):
        return round(x, digits)

    program = te.program(f)
    draws = np.random.default_rng(digits)
    ties = [(k + 0.5) / 10**digits for k in range(-40, 40)]
    for x in [*ties, *draws.normal(size=200), *(draws.normal(size=20) * 1e9), 2.665, 1.005, -0.0, 1e300]:
        value, back = te.vjp(program, float(x))
        assert str(value) == str(round(float(x), digits))
        assert back(1.0) == (0.0,)


@pytest.mark.parametrize("seed", range(20))
def test_an_exact_sum_is_pythons(seed):
    import math

    def f(xs):
        return math.fsum(xs)

    draws = np.random.default_rng(seed)
    xs = (draws.normal(size=50) * 10.0 ** draws.integers(-seed, seed + 1, size=50)).tolist()
    value, back = te.vjp(te.program(f), [*xs, *(-x for x in xs[:20])])
    assert value == math.fsum([*xs, *(-x for x in xs[:20])])
    assert back(1.0) == ([1.0] * 70,)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 700])
def test_pairs_are_those_of_itertools(n):
    import itertools

    def f(n):
        return [(i, j) for i, j in itertools.combinations(range(n), 2)]

    assert te.vjp(te.program(f), n)[0] == list(itertools.combinations(range(n), 2))
