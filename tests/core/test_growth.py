"""The tape's growth: block boundaries, long chains, deep graphs, and the limits."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine
import tapeengine.numpy as tnp
from tapeengine.errors import TapeLimitError
from tests.core.conftest import output_of

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


#: Steps on an array of 80 kB, with how many bytes each keeps, in arrays of that size.
STEPS: dict[str, tuple[Any, int]] = {
    "tanh": (lambda a: np.tanh(a), 1),
    "product": (lambda a: a * a, 1),
    "sum": (lambda a: a + a, 0),
    "factor": (lambda a: 1.5 * a, 0),
    "copy": (lambda a: a.copy(), 0),
    "view": (lambda a: a[::-1], 0),
    "quotient": (lambda a: a / (1.0 + a * a), 3),
    "primitive": (lambda a: np.sort(a), 1),
    "matrix product": (lambda a: (a.reshape(100, 100) @ MATRIX).ravel(), 0),
    "write": (lambda a: written(np.exp(-a)), 1),
}
MATRIX = np.eye(100)


def written(a: Any) -> Any:
    a[::2] = 0.5
    return a


def repeated(step: Any, n: int) -> Any:
    def program(a: Any) -> Any:
        for _ in range(n):
            a = step(a)
        return a

    return program


@pytest.mark.parametrize("name", STEPS)
def test_the_limit_counts_the_arrays_that_records_keep(name: str) -> None:
    step, kept = STEPS[name]
    engine, x = tapeengine.Engine(max_tape_bytes=3_000_000), np.linspace(0.1, 0.9, 10_000)
    for transform in (engine.vjp, lambda f, x: engine.jvp(f, (x,), (x,)), engine.linearize):
        transform(repeated(step, 8), x)
        if kept:
            with pytest.raises(TapeLimitError, match=r"3,000,000 bytes .* records, which keep arrays"):
                engine.vjp(repeated(step, 100), x)
        else:
            engine.vjp(repeated(step, 100), x)
    assert engine.vjp(repeated(step, 8), x)[1](x)[0].shape == x.shape


def test_a_program_that_catches_the_error_goes_on() -> None:
    engine, x = tapeengine.Engine(max_tape_bytes=3_000_000), np.linspace(0.1, 0.9, 10_000)
    for step, _ in STEPS.values():
        done = []

        def program(a: Any, step: Any = step, done: list[Any] = done) -> Any:
            total = a.sum()
            try:
                for _ in range(60):
                    a = step(a)
            except TapeLimitError:
                done.append(True)
            return total

        assert engine.grad(program)(x).tolist() == [1.0] * len(x)


def test_arrays_that_a_program_makes_and_forgets_are_not_counted() -> None:
    engine = tapeengine.Engine(max_tape_bytes=3_000_000)

    def program(x: float) -> Any:
        total = 0.0
        for k in range(200):
            total = total + tnp.sum(x + np.ones(10_000)) * k
        return total

    assert engine.grad(program)(1.0) == sum(range(200)) * 10_000


def test_a_limit_counts_every_trace_by_itself() -> None:
    engine = tapeengine.Engine(max_tape_bytes=3_000_000)
    kept = [engine.vjp(lambda x: chain(x, 50_000), 1.0)[1] for _ in range(10)]
    assert [b(1.0) for b in kept] == [(1.0,)] * 10


UNCOLLECTED = """
import gc
import {core} as core

def calls(n):
    for _ in range(n):
        core.vjp(lambda x, y: core.math.sin(x) * y + x, 1.0, 2.0)[1](1.0)

calls(1)  # which loads the plugins
gc.collect()
gc.disable()
before = len(gc.get_objects())
calls(200)
print(len(gc.get_objects()) - before, gc.collect())
"""


@pytest.mark.parametrize("core", ["tapeengine", "tapeengine.reference"])
def test_nothing_waits_for_the_garbage_collector(core: str, tmp_path: Path) -> None:
    """Tapes and duals are freed by reference counts alone. Other objects of this process are not counted with them."""
    assert output_of(UNCOLLECTED.format(core=core), tmp_path) == ["0", "0"]
