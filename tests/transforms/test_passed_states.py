"""The states that `iterate` passed are compared block by block; memory does not grow with the steps."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
from tapeengine.errors import RepeatError
from tapeengine.structure import Structures
from tapeengine.transforms import passed_states
from tapeengine.transforms.passed_states import Comparison, PassedStates, hashes


@pytest.fixture(params=[1, 3, 7, 100])
def blocks(request, monkeypatch):
    monkeypatch.setattr(passed_states, "MOST", request.param)
    return request.param


def iterated(step, n=10):
    return lambda x: te.iterate(step, n, x, checkpoints=3)


@pytest.mark.usefixtures("blocks")
def test_derivatives_and_draws_are_those_of_the_loop():
    def with_draws(generator):
        return lambda x: x * tm.cos(x) + 0.1 * generator.normal()

    def loop(step):
        def run(x):
            for _ in range(10):
                x = step(x)
            return x

        return run

    for transform in (te.grad, lambda f: lambda x: te.jvp(f, (x,), (1.0,))[1]):
        ours = transform(iterated(with_draws(np.random.default_rng(2))))(0.7)
        assert ours == pytest.approx(te.grad(loop(with_draws(np.random.default_rng(2))))(0.7), rel=1e-13)


NUMBERS = [0.0, -0.0, 1.5, np.inf, 5e-324]


@pytest.mark.parametrize("x", [*NUMBERS, np.nan])
def test_a_number_is_remembered_by_its_bits_whatever_its_class(x):
    known = Structures()
    forms = [x, np.float64(x), np.array(x)]
    found = [hashes(known, form) for form in forms]
    assert all(len(one) == 1 for one in found)
    assert x != x or found == [[int(np.array(x).view(np.int64))]] * 3
    assert hashes(known, np.float32(x)) == hashes(known, np.array(x, np.float32))


def test_other_bits_are_remembered_as_others():
    known = Structures()
    states = [*NUMBERS, np.float32(1.5), 1.5 + 0j, complex(1.5, -0.0), *(np.array([x, 1.0]) for x in NUMBERS)]
    assert len({tuple(hashes(known, state)) for state in states}) == len(states)


@pytest.fixture
def changing(tmp_path, late):
    """A step that adds nothing at the step `late` in the first run, and something in every later one."""

    def step(state):
        k, x = state
        path = tmp_path / str(k)
        again = path.exists()
        path.touch()
        return k + 1, x * 0.5 + (1e-3 if again and k == late else 0.0)

    return lambda x: te.iterate(step, 10, (0, x), checkpoints=3)[1]


@pytest.mark.parametrize("late", range(10))
def test_one_step_that_differs_is_refused_by_its_block(blocks, late, changing):
    size = -(-10 // blocks)
    first = late - late % size
    last = min(first + size, 10)
    told = f"after step {first + 1}($|[^0-9])" if last - first == 1 else f"after one of the steps {first + 1} to {last}"
    with pytest.raises(RepeatError, match=told):
        te.jvp(changing, (1.0,), (1.0,))


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("late", range(10))
def test_one_step_that_differs_is_refused_in_reverse(changing):
    with pytest.raises(RepeatError, match="differs after"):
        te.grad(changing)(1.0)


def test_states_in_another_order_differ():
    states = PassedStates(4)
    states.block = 4
    for word in (5, 6, 7, 8):
        states.add([word, 0])
    for order, differs in (((5, 6, 7, 8), 0), ((6, 5, 7, 8), 1), ((5, 6, 8, 7), 1)):
        comparison = Comparison(states)
        for position in reversed(range(4)):
            comparison.add([order[position], 0], position)
        assert comparison.differs(3) == differs


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(passed_states, "MOST", 8)
    states = PassedStates(1000)
    for word in range(1000):
        states.add([word, -word])
    assert len(states.sums) <= 16 and sum(len(states.steps_of(k)) for k in range(0, 1000, states.block)) == 1000
