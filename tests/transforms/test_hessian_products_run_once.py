"""`hvp` runs a program once for any kind of values; a program that changes from scalars to arrays must repeat."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import programs

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine.errors import RepeatError


def of_scalars(x, k):
    return x**k * tm.sin(x)


def of_arrays(x, k):
    return np.sum(tnp.array([x, 2.0 * x]) ** k) * tm.sin(x)


def of_elements(x, k):
    values = tnp.zeros(2)
    values[0] = x
    return values[0] ** k + values[1]


@pytest.mark.parametrize("function", [of_scalars, of_arrays, of_elements])
def test_what_a_program_changes_while_it_runs_is_changed_once(function):
    exponents, rng, runs = [1.0], np.random.default_rng(3), []

    def program(x):
        runs.append(1)
        exponents.append(exponents[-1] + 1.0)
        return function(x, exponents[-1]) + rng.normal() * np.random.rand() * x * x

    for k in range(2, 6):
        state, own = np.random.get_state(), rng.bit_generator.state
        found = te.hvp(program, (0.7,), (1.0,))
        after = np.random.get_state()[1:], rng.bit_generator.state
        np.random.set_state(state)
        rng.bit_generator.state = own
        exponents.pop()
        wanted = te.grad(te.grad(program))(0.7)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert len(runs) == 2 * (k - 1) and exponents[-1] == k
        np.testing.assert_equal((np.random.get_state()[1:], rng.bit_generator.state), after)


def test_a_program_that_turns_to_arrays_runs_once_more_and_must_repeat():
    drawn = np.random.default_rng(3)

    def program(x, noise=0.0):
        return of_scalars(x, 3.0) if x > 0 else of_arrays(x, 4.0) + noise

    def noisy(x):
        return of_scalars(x, 3.0) if x > 0 else of_arrays(x, 4.0) * drawn.random()

    for x in (0.7, 0.7, -0.7, -0.7, 0.7, 0.7):
        np.testing.assert_allclose(te.hvp(program, (x,), (1.0,)), te.grad(te.grad(program))(x), rtol=1e-12)
    te.hvp(noisy, (0.7,), (1.0,))
    with pytest.raises(RepeatError, match="noisy"):
        te.hvp(noisy, (-0.7,), (1.0,))
    assert np.isfinite(te.hvp(noisy, (-0.7,), (1.0,)))


@settings(max_examples=60, deadline=None)
@given(programs, st.sampled_from([float, np.float64, np.float32]), st.booleans())
def test_a_later_product_has_the_bits_and_types_of_the_first(program, kind, inside):
    """A callable other than a Python function is never known to be scalar: its products are computed afresh."""

    def last(*xs):
        return program(tm, *xs)[-1] * 1.0

    primals = tuple(map(kind, program.inputs))
    tangents = tuple(kind(0.5 + k) for k in range(len(primals)))

    def products(function):
        if not inside:
            return [te.hvp(function, primals, tangents) for _ in range(3)]
        return te.vjp(lambda y: [te.hvp(lambda *xs: function(*xs) * y, primals, tangents) for _ in range(3)], 1.0)[0]

    first, *later = products(partial(last))
    for found in [*products(last), *later]:
        assert repr(found) == repr(first)


def test_a_fresh_function_of_code_that_has_run_is_known() -> None:
    engine = te.Engine()

    def power(k):
        return lambda x: x**k * tm.sin(x) if isinstance(k, float) else np.sum(x**k)

    engine.hvp(power(2.0), (0.7,), (1.0,))
    assert power(3.0) in engine.of_scalars and power(np.ones(2)) not in engine.of_scalars
    assert not np.isnan(engine.hvp(power(np.ones(2)), (0.7,), (1.0,))) and power(3.0) in engine.of_scalars


class Powers:
    def method(self, x, k=2.0):
        return of_scalars(x, k)


@pytest.mark.parametrize(
    "made",
    [lambda k: partial(Powers().method, k=k), lambda k: partial(of_scalars, k=k), lambda k: partial(Powers.method, k)],
)
def test_a_partial_call_and_a_method_are_known_by_what_they_run(made) -> None:
    engine, k = te.Engine(), Powers() if made(2.0).func is Powers.method else 2.0
    engine.hvp(made(k), (0.7,), (1.0,))
    assert made(k) in engine.of_scalars and made(3) not in engine.of_scalars
