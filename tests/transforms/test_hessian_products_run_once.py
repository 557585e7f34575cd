"""`hvp` runs the program once, whatever it computes with; a program that turns from scalars to arrays must repeat."""

import numpy as np
import pytest

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
