"""Forks in staged programs: tasks are recorded and replayed, in both passes, with the bits of the program."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from fork_programs import run, trees
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te

POINTS = st.lists(st.floats(-1.5, 1.5), min_size=2, max_size=2)


@pytest.fixture(scope="module")
def executors() -> Iterator[list[Executor]]:
    nobody = ThreadPoolExecutor(1)
    nobody.shutdown()
    with ThreadPoolExecutor(3) as three:
        yield [nobody, three]


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@settings(max_examples=80, deadline=None)
@given(trees, st.lists(POINTS, min_size=1, max_size=5))
def test_random_forks_are_replayed_to_the_last_bit(
    executors: list[Executor], tree: Any, points: list[list[float]]
) -> None:
    for executor in executors:

        def program(xs: Any, executor: Executor = executor) -> Any:
            return run(lambda *tasks: te.fork(*tasks, executor=executor), tree, xs)

        staged = te.stage(lambda xs, program=program: program(xs))
        for xs in [*points, *points]:
            wanted, wanted_back = te.vjp(program, xs)
            value, back = te.vjp(staged, xs)
            assert (value, back(1.0), back(-0.5)) == (wanted, wanted_back(1.0), wanted_back(-0.5))
            assert staged(xs) == wanted
        if "'array'" not in repr(tree):
            assert staged.refused is None
            assert staged.stats().replays >= len(points)
            if "'branch'" not in repr(tree):
                assert staged.stats().recordings == 1


RUNS = SimpleQueue[None]()  # which a recording does not compare


def noted(value: Any) -> Any:
    RUNS.put(None)
    return value


def test_tasks_run_once_for_each_path() -> None:
    def program(x: float, y: float) -> Any:
        def left() -> Any:
            return noted(x * y if x > y else te.math.sin(x))

        return te.fork(left, lambda: noted([te.math.exp(y), {"of": x}]))

    staged = te.stage(program)
    value, back = te.vjp(staged, 2.0, 1.0)
    assert RUNS.qsize() == 2
    assert te.vjp(staged, 3.0, 1.0)[0] == (3.0, [np.exp(1.0), {"of": 3.0}])
    assert RUNS.qsize() == 2
    te.vjp(staged, 1.0, 3.0)
    assert RUNS.qsize() == 4
    for x, y in ((2.0, 0.5), (0.5, 2.0)):
        value, back = te.vjp(staged, x, y)
        wanted, wanted_back = te.vjp(lambda x, y: program(x, y), x, y)
        ct = (1.5, [0.25, {"of": -1.0}])
        assert (value, back(ct)) == (wanted, wanted_back(ct))
    assert staged.stats().paths == 1
    assert staged.refused is None


def test_outcomes_of_tasks_that_the_program_looks_at() -> None:
    """A task's discrete results, its structure and its errors make ways of the program."""

    def task(x: Any) -> Any:
        if x > 3.0:
            raise ValueError("too large")
        return (1, x * x) if x > 1.0 else (2, -x) if x > 0.0 else (0, x, x)

    def program(x: float) -> Any:
        (found,) = te.fork(lambda: task(x))
        return found[1] * found[0] + len(found)

    staged = te.stage(program)
    for x in (2.0, 0.5, -1.0, 2.5, 0.25, -2.0, 2.0):
        assert te.value_and_grad(staged)(x) == te.value_and_grad(program)(x)
        with pytest.raises(ValueError, match="too large"):
            te.grad(staged)(4.0)
    assert staged.stats().recordings == 3 + 7


def test_maps_and_numbers_of_numpy() -> None:
    def program(xs: Any, scale: Any) -> Any:
        parts = te.fork_map(lambda x: te.math.sin(x) * scale, xs, chunksize=2)
        return sum(te.fork_map(lambda x: x * x if x > 0.1 else scale, parts))

    staged = te.stage(program)
    points = [
        ([0.1, 0.5, 1.0], np.float64(2.0)),
        ([0.3, -0.5, 1.5], np.float64(1.0)),
        ([0.3, 0.2, -1.5], np.float64(3.0)),
    ]
    for xs, scale in [(xs, np.float64(scale)) for xs, scale in points + points]:
        assert te.value_and_grad(staged, (0, 1))(xs, scale) == te.value_and_grad(program, (0, 1))(xs, scale)
    assert staged.stats().recordings == 3
    assert staged.stats().replays == 3


def test_other_transforms_and_arrays_around_a_fork() -> None:
    def program(x: Any) -> Any:
        y = np.sin(x)
        first, second = y[0], y[1]
        a, b = te.fork(lambda: first * 2.0, lambda: te.math.exp(second))
        y[2] = a * b
        return (y * x).sum()

    staged = te.stage(program)
    for x in (np.array([0.3, 0.6, 0.9]), np.array([1.3, 0.1, 0.2])):
        value, gradient = te.value_and_grad(staged)(x)
        wanted, wanted_gradient = te.value_and_grad(program)(x)
        assert (value, gradient.tolist()) == (wanted, wanted_gradient.tolist())
        np.testing.assert_array_equal(te.hvp(staged, (x,), (x,))[0], te.hvp(program, (x,), (x,))[0])
        assert te.jvp(staged, (x,), (x,)) == te.jvp(program, (x,), (x,))
    assert staged.refused is None
    with pytest.raises(te.errors.StagingError, match="forks"):
        staged.to_c()


def test_tasks_that_differentiate_are_replayed() -> None:
    def program(x: Any) -> Any:
        return sum(te.fork(*[lambda k=k: te.grad(lambda y: y * y * x if y > k else y)(x) for k in (1.0, 2.5)]))

    staged = te.stage(program)
    for x in (2.0, 3.0, 0.5, 2.0, 3.0, 0.5):
        assert te.value_and_grad(staged)(x) == te.value_and_grad(program)(x)
    assert staged.refused is None and staged.stats().replays == 3


def written(log: list[int], x: Any) -> Any:
    def task() -> Any:
        log.append(1)
        return x * x

    return te.fork(task)[0] * len(log)


def cube(x: float) -> float:
    return x * x * x


@pytest.mark.parametrize("what", ["arrays", "writes", "processes"])
def test_what_is_not_replayed_runs(what: str) -> None:
    with ProcessPoolExecutor(1) as pool:
        programs: dict[str, Callable[[float], Any]] = {
            "arrays": lambda x: te.fork(lambda: (np.ones(3) * x).sum())[0],
            "writes": lambda x: written([], x),
            "processes": lambda x: te.fork(partial(cube, x), executor=pool)[0],
        }
        check_runs(programs[what])


def check_runs(program: Callable[[float], Any]) -> None:
    staged = te.stage(program)
    with pytest.warns(te.errors.StagingWarning, match="forks tasks"):
        assert te.value_and_grad(staged)(2.0) == te.value_and_grad(program)(2.0)
    assert te.value_and_grad(staged)(3.0) == te.value_and_grad(program)(3.0)
    assert staged.stats().recordings == 1


def test_threads_replay_one_fork() -> None:
    def task(x: Any, y: Any) -> Any:
        total = x
        for _ in range(3000):
            total = total * 0.5 + te.math.sin(y)
        return total

    staged = te.stage(lambda x, y: te.fork(lambda: task(x, y), lambda: task(y, x)))
    wanted = {x: te.vjp(staged.program, x, 1.0)[1]((1.0, 2.0)) for x in (0.1, 0.2, 0.3, 0.4)}
    found: dict[float, list[Any]] = {x: [] for x in wanted}

    def work(x: float) -> None:
        found[x] += [te.vjp(staged, x, 1.0)[1]((1.0, 2.0)) for _ in range(20)]

    te.vjp(staged, 0.5, 1.0)
    threads = [threading.Thread(target=work, args=(x,)) for x in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {x: [gradient] * 20 for x, gradient in wanted.items()}
