"""Random programs with nested forks: equal bits for any number of workers, and the plain program's derivatives."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from fork_programs import run, trees
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te

ENGINE = te.Engine()
Fork = Callable[..., Any]


def in_order(*tasks: Callable[[], Any]) -> tuple[Any, ...]:
    return tuple(task() for task in tasks)


@pytest.fixture(scope="module")
def executors() -> Iterator[list[Executor]]:
    nobody = ThreadPoolExecutor(1)
    nobody.shutdown()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(4) as four:
        yield [nobody, one, four]


def forks(executors: list[Executor]) -> list[Fork]:
    return [lambda *tasks, e=e: ENGINE.fork(*tasks, executor=e) for e in executors]


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12 * (1.0 + np.abs(b).max(initial=0.0)))


@settings(max_examples=60, deadline=None)
@given(trees, st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=3))
def test_any_number_of_workers_gives_the_same_bits(executors: list[Executor], tree: Any, xs: list[float]) -> None:
    value, backpropagator = ENGINE.vjp(lambda xs: run(in_order, tree, xs), xs)
    found = []
    for fork in forks(executors):
        forked, its = ENGINE.vjp(lambda xs, fork=fork: run(fork, tree, xs), xs)
        found.append((forked, its(1.0)[0], its(1.0)[0]))
        assert forked == value
    assert found[0] == found[1] == found[2]
    assert found[0][1] == found[0][2]
    close(np.array(found[0][1]), np.array(backpropagator(1.0)[0]))


@settings(max_examples=40, deadline=None)
@given(
    trees,
    st.lists(st.floats(-1.5, 1.5), min_size=2, max_size=2),
    st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=2),
)
def test_tangents_and_second_derivatives(
    executors: list[Executor], tree: Any, xs: list[float], ts: list[float]
) -> None:
    def plain(xs: Any) -> Any:
        return run(in_order, tree, xs)

    def forked(xs: Any) -> Any:
        return run(forks(executors)[2], tree, xs)

    _, tangent = ENGINE.jvp(forked, (xs,), (ts,))
    close(tangent, ENGINE.jvp(plain, (xs,), (ts,))[1])
    close(tangent, np.dot(ENGINE.grad(forked)(xs), ts))
    for product in (ENGINE.hvp, ENGINE.vhp):
        close(np.array(product(forked, (xs,), (ts,))), np.array(product(plain, (xs,), (ts,))))
