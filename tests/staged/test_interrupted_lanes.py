"""An interrupt, or an error, ends the lanes of a batch on all threads, and leaves the engine usable."""

import signal
import sys
import threading

import numpy as np
import pytest

import tapeengine as te
from tapeengine._core.programs.replay import Lanes, inputs_of_arguments
from tapeengine.staged import batch

WAIT = 20.0


def program(x):
    for _ in range(3000):
        x = x * 0.999 + 0.1
    return x


class Interrupted(list):
    """Errors of other threads, of which there is one from the second look on."""

    def __bool__(self):
        self.looks = getattr(self, "looks", 0) + 1
        return self.looks > 1


@pytest.mark.parametrize("count", [8, 4000, 40_000])
def test_lanes_look_often_for_an_error(count):
    """Two looks are at most about 2**16 instructions of a block apart, in both directions."""
    staged = te.stage(program)
    te.vmap(staged)(np.ones(3))
    (plan,) = staged.__tapeengine_plans__({})
    path, out = plan.paths[0], np.zeros((1, count))
    inputs = inputs_of_arguments(plan, (np.linspace(1.0, 2.0, count),), [True], [False])
    lanes = Lanes(path, inputs, np.arange(count))
    registers, places = np.array([len(path) + 1], np.uint32), np.zeros(1, np.uint32)
    most = 2 * 8 * (1 + 2**16 // len(path))
    if count < most:
        lanes.forward(registers, places, out, True, [])
        assert np.count_nonzero(out) == count
        return
    with pytest.raises(KeyboardInterrupt):
        lanes.forward(registers, places, out, True, Interrupted([KeyboardInterrupt]))
    assert 0 < np.count_nonzero(out) <= most
    lanes.forward(registers, places, out, True, [])
    cotangents = np.zeros((2, count))
    with pytest.raises(KeyboardInterrupt):
        lanes.backward(registers, places, np.ones((1, count)), cotangents, Interrupted([KeyboardInterrupt]))
    assert 0 < np.count_nonzero(cotangents) <= most
    lanes.backward(registers, places, np.ones((1, count)), cotangents, [])
    assert cotangents[1].tolist() == [te.grad(program)(1.0)] * count


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("first", [0, -1])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError("no room"), ZeroDivisionError])
def test_an_error_of_one_call_ends_the_others(error, first, threads):
    """Calls wait for the error of another one; those that have not begun are not made."""
    begun, together = [], threading.Barrier(threads)

    def call(errors):
        begun.append(threading.get_ident())
        together.wait(WAIT)
        while threading.get_ident() != begun[first] and not errors:
            pass
        raise errors[0] if errors else error

    raised = pytest.raises(error if isinstance(error, type) else type(error))
    workers = batch.Workers(threads, lambda lanes: None)
    with raised:
        workers.make([call] * 9)
    assert len(begun) == threads
    assert workers.make([lambda errors: 2] * 9) == [2] * 9  # the threads are free again


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.usefixtures("no_callbacks_of_collections")
def test_an_interrupted_batch_can_be_run_again(threads):
    batched = te.vmap(te.stage(program), threads=threads)
    batched(np.ones(3))  # the path is recorded
    x = np.linspace(0.1, 0.2, 1 << 17)
    value, back = te.vjp(batched, x[:999])
    expected = back(np.ones(999))[0]
    for run in (lambda: batched(x), lambda: [back(np.ones(999)) for _ in range(10_000)]):
        timer = threading.Timer(0.02, signal.raise_signal, [signal.SIGINT])
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            run()
        timer.join()
    assert np.array_equal(back(np.ones(999))[0], expected)
    assert np.array_equal(batched(x[:999]), value)
