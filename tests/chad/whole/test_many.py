"""Jacobians of whole-array programs: the rows of a block in one run of the reverse pass."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.transforms import jacobians

A = np.random.default_rng(5).normal(size=(7, 40))
X, Y = np.random.default_rng(6).normal(size=40), np.random.default_rng(7).normal(size=7)


def bent(x: te.Vec, a: te.Array[te.Vec]) -> te.Vec:
    return np.tanh(a @ x) * 2.0 + np.sin(a @ x)


def branches(x: te.Vec, a: te.Array[te.Vec]) -> te.Vec:
    return np.where(x > 0.0, np.exp(x), x * x) * np.sum(a)


def of_matrices(x: te.Vec, a: te.Array[te.Vec]) -> te.Array[te.Vec]:
    return np.outer(a @ x, x[:3]) + a[:, 2:5] * np.maximum(x[3:6], 0.0)


def shifted(x: te.Vec, a: te.Array[te.Vec]) -> te.Vec:
    return x[1:] * x[:-1] + np.cumsum(x)[1:] * a[0][1:]


def gathered(x: te.Vec, a: te.Array[te.Vec]) -> te.Vec:
    return np.array([x[len(x) - 1 - i] * a[i % 7][0] for i in range(len(x))])


def with_poles(x: te.Vec, a: te.Array[te.Vec]) -> te.Vec:
    return np.sqrt(np.abs(x) - np.abs(x)) * 2.0 + x * a[0][0]


def constant(x: te.Vec, a: te.Array[te.Vec]) -> te.Vec:
    return np.sin(a[1])


FUNCTIONS = [bent, branches, of_matrices, shifted, gathered, with_poles, constant]


@pytest.mark.parametrize("argnums", [0, 1, (1, 0)], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_jacobians_by_blocks_are_those_of_dual_numbers(function: Callable[..., Any], argnums: Any) -> None:
    program = te.program(function)
    found = te.jacobian(program, argnums, mode="reverse")(X, A)
    wanted = te.jacobian(program.python, argnums, mode="reverse")(X, A)
    each = zip(found, wanted, strict=True) if isinstance(argnums, tuple) else [(found, wanted)]
    for ours, theirs in each:
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


def test_a_block_is_one_run_of_the_reverse_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    program = te.program(bent)
    te.jacobian(program)(X, A)
    passes = program.executable.whole
    assert passes is not None
    (made,) = passes.many.values()
    assert made is not None
    runs: list[int] = []
    reverse = made["reverse"]
    made.namespace["reverse"] = lambda kept, block: (runs.append(len(block)), reverse(kept, block))[1]
    whole = te.jacobian(program)(X, A)
    assert runs == [7]
    monkeypatch.setattr(jacobians, "BLOCK", 3 * X.size)
    told: list[int] = []

    def progress(parts: Iterable[int], total: int, desc: str) -> Iterator[int]:
        for part in parts:
            told.append(part)
            yield part

    parts = te.jacobian(program, progress=progress)(X, A)
    assert runs == [7, 3, 3, 1] and len(told) == 7
    np.testing.assert_array_equal(parts, whole)


def test_rows_of_a_program_on_few_numbers() -> None:
    program = te.program(bent)
    x, a = X[:3], A[:2, :3]
    np.testing.assert_allclose(te.jacobian(program)(x, a), te.jacobian(bent)(x, a), rtol=1e-12)
