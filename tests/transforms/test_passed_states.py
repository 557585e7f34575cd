"""The states that `iterate` passed are compared block by block; memory does not grow with the steps."""

import tracemalloc

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
from tapeengine.errors import RepeatError
from tapeengine.structure import Structures
from tapeengine.transforms.repeated import passed_states
from tapeengine.transforms.repeated.passed_states import Comparison, PassedStates, hashes, sketch
from tapeengine.transforms.repeated.rerun import beyond_rounding


@pytest.fixture(params=[1, 4, 7, 100])
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


def peak(run):
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("order", [lambda f, x: te.grad(f)(x), lambda f, x: te.jvp(f, (x,), (x,))])
def test_long_blocks_keep_no_arrays(monkeypatch, order):
    x, peaks = np.linspace(0.5, 1.5, 50_000), []

    def program(x):
        return np.sum(te.iterate(np.tanh, 48, x, checkpoints=2))

    for most in (2**16, 2):
        monkeypatch.setattr(passed_states, "MOST", most)
        peaks.append(peak(lambda: order(program, x)))
    assert peaks[1] < peaks[0] + 3 * x.nbytes


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_a_sketch_tells_other_states_and_not_rounding(dtype):
    rng, structures = np.random.default_rng(0), Structures()
    eps = np.finfo(dtype).eps

    def far(a, b):
        return bool(beyond_rounding(structures, sketch(a), sketch(b)))

    for size in (4, 7, 50, 1000):
        x = (rng.normal(size=size) * 10.0 ** rng.integers(-2, 3)).astype(dtype)
        assert not far(x, x * (1 + 2 * eps * rng.integers(-1, 2, size)).astype(dtype))
        for k in range(min(size, 20)):
            for other in (2.0, -1.0, np.nan, np.inf):
                y = x.copy()
                y[k] = other * y[k].real
                assert far(x, y) and far(y, x)
            y = np.roll(x, k)
            assert far(x, y) == bool(k)
            y, z = x.copy(), x.copy()
            y[0] = z[k] = np.nan
            assert far(y, z) == bool(k)
