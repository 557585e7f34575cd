"""Random programs with nested forks: equal bits for any number of workers, and the plain program's derivatives."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp

ENGINE = te.Engine()
Fork = Callable[..., Any]

UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": tm.sin,
    "tanh": tm.tanh,
    "half": lambda a: 0.5 * a,
    "same": lambda a: a,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "sub": lambda a, b: a - b,
}

# A program is a tree: each node computes a number, its children see the numbers computed before them.
leaves = st.tuples(st.just("leaf"), st.sampled_from(sorted(UNARY)), st.integers(0, 9))


def extended(children: Any) -> Any:
    let = st.tuples(st.just("let"), children, children)
    binary = st.tuples(st.sampled_from(sorted(BINARY)), st.integers(0, 9), children)
    array = st.tuples(st.just("array"), st.integers(0, 9), children)
    fork = st.tuples(st.just("fork"), st.lists(children, min_size=1, max_size=4))
    return st.one_of(let, binary, array, fork, fork)


trees = st.recursive(leaves, extended, max_leaves=12)


def run(fork: Fork, tree: Any, known: list[Any]) -> Any:
    """Compute a tree from the numbers known so far."""
    kind = tree[0]
    if kind == "leaf":
        return UNARY[tree[1]](known[tree[2] % len(known)])
    if kind == "let":
        return run(fork, tree[2], [*known, run(fork, tree[1], known)])
    if kind == "fork":
        parts = fork(*[lambda part=part: run(fork, part, known) for part in tree[1]])
        return sum((0.7 + 0.1 * k) * part for k, part in enumerate(parts))
    a, b = known[tree[1] % len(known)], run(fork, tree[2], known)
    if kind == "array":
        return tnp.sum(tnp.sin(tnp.asarray([a, b, a * 0.3])) * np.array([1.0, -0.5, 2.0]))
    return BINARY[kind](a, b)


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
