"""The tape's growth: block boundaries, long chains, deep graphs, and the limits."""

import gc
import math
from typing import Any

import pytest

import tapeengine
from tapeengine.errors import TapeLimitError

BLOCK = 2**15
BOUNDARIES = [1, 4000, BLOCK - 3, BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 2, 2 * BLOCK - 1, 2 * BLOCK]


def chain(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x + 1.0
    return x


@pytest.mark.parametrize("n", BOUNDARIES)
def test_a_chain_across_a_blocks_boundary(core: Any, n: int) -> None:
    value, backpropagator = core.vjp(lambda x: chain(x, n), 1.0)
    assert value == 1.0 + n
    assert backpropagator(2.5) == (2.5,)
    assert len(backpropagator.tape) == n
    assert tuple(backpropagator.count(1.0)) == (n, n)


@pytest.mark.parametrize("n", [BLOCK - 2, BLOCK - 1, BLOCK, 3 * BLOCK + 1])
def test_inputs_across_a_blocks_boundary(core: Any, n: int) -> None:
    xs = [float(i % 7) for i in range(n)]
    value, backpropagator = core.vjp(lambda ys: ys[0] * 2 + ys[-1] * 3 + ys[n // 2], xs)
    (gradient,) = backpropagator(1.0)
    assert value == xs[0] * 2 + xs[-1] * 3 + xs[n // 2]
    assert sum(gradient) == 6.0
    assert (gradient[0], gradient[-1], gradient[n // 2]) == (2.0, 3.0, 1.0)


@pytest.mark.parametrize("n", [BLOCK - 2, BLOCK - 1, BLOCK])
def test_a_record_of_two_parents_from_different_blocks(core: Any, n: int) -> None:
    def program(x: Any, y: Any) -> Any:
        z = chain(y, n)
        return x * z + z * y

    value, backpropagator = core.vjp(program, 2.0, 3.0)
    assert value == 2.0 * (3.0 + n) + (3.0 + n) * 3.0
    assert backpropagator(1.0) == (3.0 + n, 2.0 + 3.0 + 3.0 + n)


@pytest.mark.parametrize("n", [BLOCK - 2, BLOCK, 2 * BLOCK + 5])
def test_nesting_across_a_blocks_boundary(cores: Any, n: int) -> None:
    """The inner tape, its copy and the recorded sweep each cross their own boundaries."""
    compiled, _ = cores
    slope = compiled.grad(lambda x: chain(x, n) * x)
    assert slope(3.0) == 6.0 + n
    assert compiled.grad(slope)(3.0) == 2.0
    assert compiled.grad(lambda x: x * compiled.grad(lambda y: chain(y * x, n))(2.0))(3.0) == 6.0


def test_ten_million_records_in_one_chain(cores: Any) -> None:
    """Built, resolved and freed with a flat stack."""
    compiled, _ = cores
    n = 10_000_000
    value, backpropagator = compiled.vjp(lambda x: chain(x, n), 0.0)
    assert value == n
    assert backpropagator(1.0) == (1.0,)
    assert backpropagator.count(1.0) == (n, n)
    del backpropagator


def test_a_graph_a_million_deep_is_freed(cores: Any) -> None:
    """micrograd PR 90: a graph of that depth overflows the stack if each record holds its parents."""
    compiled, _ = cores
    duals: list[Any] = []

    def program(x: Any) -> Any:
        duals.append(x)
        for _ in range(1_000_000):
            x = x * 1.0000001
        duals.append(x)
        return x

    _, backpropagator = compiled.vjp(program, 1.0)
    assert backpropagator(1.0)[0] == pytest.approx(math.exp(0.1), rel=1e-6)
    duals.clear()
    del backpropagator


def test_the_limit_that_a_user_sets() -> None:
    engine = tapeengine.Engine(max_tape_bytes=3_000_000)
    assert engine.vjp(lambda x: chain(x, 50_000), 1.0)[1](1.0) == (1.0,)
    with pytest.raises(TapeLimitError, match=r"3,000,000 bytes is reached with [\d,]+ records.*max_tape_bytes"):
        engine.vjp(lambda x: chain(x, 1_000_000), 1.0)
    assert engine.vjp(lambda x: chain(x, 50_000), 1.0)[1](1.0) == (1.0,)
    assert isinstance(TapeLimitError(), MemoryError)


def test_a_limit_counts_every_trace_by_itself() -> None:
    engine = tapeengine.Engine(max_tape_bytes=3_000_000)
    kept = [engine.vjp(lambda x: chain(x, 50_000), 1.0)[1] for _ in range(10)]
    assert [b(1.0) for b in kept] == [(1.0,)] * 10


def test_nothing_waits_for_the_garbage_collector(core: Any) -> None:
    """Tapes and duals are freed by reference counts alone."""
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(200):
            core.vjp(lambda x, y: core.math.sin(x) * y + x, 1.0, 2.0)[1](1.0)
        assert len(gc.get_objects()) - before < 50
        assert gc.collect() < 20
    finally:
        gc.enable()
