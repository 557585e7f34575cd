"""Operations on arrays with many rows, done a strip at a time: no bit of a value or a cotangent changes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from large_programs import ROWS, bits, random_program
from large_programs import agree as compare

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.staged import compiling, strips

pytestmark = pytest.mark.skipif(not compiling.is_installed(), reason="LLVM is not installed")


def agree(program: Any, *args: Any) -> Any:
    """Compare replays with the program, in strips from the second replay on."""
    return compare(program, *args, optimise="native")


def in_strips(staged: Any) -> int:
    """The number of operations that are done in strips."""
    return str(staged).count("(in strips)")


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, ROWS, 3))
    agree(random_program(seed), x, y, np.float64(0.7))


#: Operations on columns, which keep the three columns.
PARTS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b[:, :1],
    lambda a, b: a[:, 2:] - b,
    lambda a, b: a * b,
    lambda a, b: a[:, 1:2] * b,
    lambda a, b: a / (1.5 + b * b),
    lambda a, b: a[:, 1][:, None] / (1.5 + a * a),
    lambda a, b: -a,
    lambda a, b: np.sqrt(1.0 + a * a) + b[:, ::-1],
    lambda a, b: np.sum(a, axis=1)[:, None] * b,
    lambda a, b: np.mean(a * b, axis=1)[:, None] - a,
    lambda a, b: tnp.stack([a[:, 2], b[:, 0], a[:, 0]], axis=1),
    lambda a, b: tnp.concatenate([a[:, :1], b[:, 1:]], axis=1),
    lambda a, b: tnp.stack([a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1], a[:, 0], b[:, 1] + 0.5], axis=1),
    lambda a, b: tnp.where(CHOICE, a, b),
    lambda a, b: tnp.where(CHOICE[:, :1], a[:, :1], 1.0) * b,
    lambda a, b: a * WEIGHTS + b,
    lambda a, b: a + WEIGHTS[0],
    lambda a, b: np.sin(a) * b,
    lambda a, b: a[::-1] + b,
    lambda a, b: a * 0.0 + b,
    lambda a, b: a[ORDER] * b,
    lambda a, b: written(a, b),
    lambda a, b: a + b if np.all(a * b < 1e9) else a - b,
)
CHOICE = np.random.default_rng(1).normal(size=(ROWS, 3)) > 0
WEIGHTS = np.random.default_rng(2).normal(size=(3, ROWS)).T
ORDER = np.random.default_rng(3).integers(-9, 9, ROWS)


def written(a: Any, b: Any) -> Any:
    """Add, then write into what the sum was read from."""
    copy = a * 1.0
    total = copy + b * copy
    copy[:, 1] = b[:, 0]
    copy[5, 2] = 3.0
    return total * copy


def of_columns(seed: int) -> Callable[[Any, Any], Any]:
    """A program of operations on columns, some of whose results are not used and some are results of it."""
    rng = np.random.default_rng(seed)
    steps = [tuple(map(int, rng.integers(0, [len(PARTS), 100, 100]))) for _ in range(int(rng.integers(3, 25)))]

    def program(x: Any, y: Any) -> Any:
        values = [x, y]
        for kind, first, second in steps:
            values.append(0.5 * PARTS[kind](values[first % len(values)], values[second % len(values)]))
        return values[-1], values[-2][:, 1], np.sum(values[len(values) // 2] * values[-3])

    return program


@pytest.mark.parametrize("seed", range(60))
def test_columns(seed: int) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, ROWS, 3))
    x[::7], y[::5] = 0.0, -0.0
    assert in_strips(agree(of_columns(seed), x, y)) > 0


@pytest.mark.parametrize("seed", range(20))
def test_zero_cotangents(seed: int) -> None:
    """Cotangents of one part of the value only, with zeros of both signs."""
    x, y = np.random.default_rng(seed).normal(size=(2, ROWS, 3))
    program = of_columns(seed)
    staged = te.stage(program, optimise="native")
    for k in range(4):
        value, back = te.vjp(staged, x, y + k)
        _, wanted = te.vjp(program, x, y + k)
        for part in range(3):
            given = [np.zeros(np.shape(v)) for v in value]
            given[part] = np.where(np.random.default_rng(k).normal(size=np.shape(value[part])) > 0, 1.0, -0.0)
            cotangent = (given[0], given[1], float(given[2]))
            assert bits(back(cotangent)) == bits(wanted(cotangent))


@pytest.mark.parametrize("seed", range(10))
def test_second_order(seed: int) -> None:
    x, y, t = np.random.default_rng(seed).normal(size=(3, ROWS, 3))
    program = of_columns(seed)
    staged = te.stage(program, optimise="native")

    def scalar(f: Any) -> Any:
        return lambda x, y: sum(np.sum(part * part) for part in f(x, y))

    for k in range(4):
        wanted = te.hvp(scalar(program), (x, y + k), (t, t))
        assert bits(te.hvp(scalar(staged), (x, y + k), (t, t))) == bits(wanted)
        assert bits(te.jvp(staged, (x, y + k), (t, t))) == bits(te.jvp(program, (x, y + k), (t, t)))


def test_not_finite() -> None:
    """A zero cotangent contributes zero, whatever the partial is. The sign of a NaN depends on the compiler."""
    x = np.random.default_rng(0).normal(size=(ROWS, 3))
    x[3], x[7, 1], x[11] = 0.0, np.inf, np.nan

    def program(a: Any) -> Any:
        root = np.sqrt(a * a)
        return tnp.where(CHOICE, root, 1.0) * (a / root) * root[:, :1]

    staged = te.stage(program, optimise="native")
    with np.errstate(all="ignore"):
        for k in range(4):
            value, back = te.vjp(staged, x * (k + 1))
            wanted, wanted_back = te.vjp(program, x * (k + 1))
            np.testing.assert_array_equal(value, wanted)
            for ct in (CHOICE * WEIGHTS, ~CHOICE * WEIGHTS):
                np.testing.assert_array_equal(back(ct)[0], wanted_back(ct)[0])
    assert in_strips(staged) > 4


def test_what_is_done_in_strips() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, ROWS, 3))
    staged = agree(lambda a, b: np.sin(((a - b) * a) / b)[:, 0] * b[:, 1] + a[:, 2], x, y)
    assert in_strips(staged) == 5
    few = te.stage(lambda a, b: ((a - b) * a) / b, optimise="native")
    for _ in range(4):
        te.vjp(few, x[:9], y[:9])
    assert in_strips(few) == 0
    assert strips.ROWS > 9


def test_captured_array_that_changes_before_the_reverse_pass() -> None:
    x, captured = np.random.default_rng(0).normal(size=(2, ROWS, 3))
    held = captured.copy()

    def program(a: Any) -> Any:
        b = a * a + captured
        return b * b * captured

    staged = te.stage(program, optimise="native")
    for k in range(4):  # the engine refuses the change, and so does the first call, which it records
        value, back = te.vjp(staged, x)
        captured += 1.0 if k > 1 else 0.0
        (found,) = back(np.ones_like(value))
        captured[...] = held
    _, wanted = te.vjp(program, x)
    assert bits(found) == bits(wanted(np.ones_like(value))[0])
    assert in_strips(staged) == 4


def test_replays_allocate_no_intermediate_array() -> None:
    """Of the numbers between the operations of a group only strips exist."""
    x, y = np.random.default_rng(0).normal(size=(2, 100_000, 3))

    def program(a: Any, b: Any) -> Any:
        for _ in range(10):
            a = a * b + a / (1.5 + b * b)
        return a

    staged = te.stage(program, optimise="native")
    for _ in range(3):
        value, back = te.vjp(staged, x, y)
        back(value)
    tracemalloc.start()
    value, back = te.vjp(staged, x, y)
    back(value)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10 * x.nbytes


def test_a_fault_of_the_compiler_in_the_reverse_pass(monkeypatch: pytest.MonkeyPatch, recwarn: Any) -> None:
    """The run that needs the native code goes on operation by operation, and so do later ones."""
    x, y = np.random.default_rng(0).normal(size=(2, ROWS, 3))

    def program(a: Any, b: Any) -> Any:
        taken = a[ORDER] * b
        found = np.sum(np.exp(a * b - taken), axis=1) * b[:, 1] / (1.5 + b[:, 0] * b[:, 0])
        return np.sqrt(1.0 + found * found) * np.mean(taken * a, axis=1)

    def fault(*args: Any) -> Any:
        raise RuntimeError("no native code")

    staged = te.stage(program, optimise="native")
    runs = [te.vjp(staged, x * k, y) for k in range(1, 3)]
    assert in_strips(staged) > 4 and staged.stats().native == 1
    monkeypatch.setattr(strips.Cotangents, "all", fault)
    runs += [te.vjp(staged, x * k, y) for k in range(3, 6)]
    for _ in range(2):
        for k, (value, back) in enumerate(runs, 1):
            wanted, wanted_back = te.vjp(program, x * k, y)
            assert bits(value) == bits(wanted)
            for ct in (WEIGHTS[:, 0], -WEIGHTS[:, 1]):
                assert list(map(bits, back(ct))) == list(map(bits, wanted_back(ct)))
        assert in_strips(staged) == staged.stats().native == 0
        runs += [te.vjp(staged, x * k, y) for k in range(len(runs) + 1, len(runs) + 3)]
    assert [str(w.message) for w in recwarn] == ["program runs without native code: RuntimeError: no native code"]


@pytest.mark.parametrize("width", [1, 2, 3, 6, 7, 8, 9, 16, 17])
def test_sums_of_rows_have_numpys_bits(width: int) -> None:
    """numpy adds eight numbers and more in another order."""
    x = np.random.default_rng(width).normal(size=(ROWS, width)) * 10.0 ** np.arange(width)

    def program(x: Any) -> Any:
        return np.sum((x * 1.5 + 0.25).sum(axis=1) * 0.5)

    agree(program, x)
    kept = te.stage(lambda x: (x * 1.5 + 0.25).sum(axis=1), optimise="native")
    for _ in range(4):
        assert bits(te.vjp(kept, x)[0]) == bits(np.sum(x * 1.5 + 0.25, axis=1))
