"""Jacobians and Hessians of whole-array programs: a block of rows or columns in one run."""

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.transforms.derivatives import jacobians

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


def counted(blocks: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list to which each run of a pass appends the length of its block."""
    runs: list[int] = []
    run = blocks.run
    assert not isinstance(run, functools.partial)  # numpy runs it, not a loop
    monkeypatch.setattr(
        blocks, "run", lambda primals, given, others: (runs.append(len(others[0])), run(primals, given, others))[1]
    )
    return runs


def test_a_block_is_one_run_of_the_reverse_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    program = te.program(bent)
    te.jacobian(program)(X, A)
    runs = counted(program.executable.blocks_of("rows", (0,))[0], monkeypatch)
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


B = np.random.default_rng(8).normal(size=(20, 40))


def network(x: te.Vec, a: te.Array[te.Vec], b: te.Array[te.Vec]) -> float:
    return np.sum(np.tanh(a @ np.maximum(b @ x, 0.0)) * x[0]) + np.sum(a[0] ** 2)


def likelihood(x: te.Vec, a: te.Array[te.Vec], y: te.Vec) -> float:
    return np.sum(np.log(1.0 + np.exp(-y * (a @ x)))) + 0.1 * np.sum(x * x)


def by_rows(x: te.Vec, a: te.Array[te.Vec]) -> float:
    return sum(math.sin(sum(row[j] * x[j] for j in range(len(x)))) * row[0] for row in a)


def not_of_x(x: te.Vec, a: te.Array[te.Vec]) -> float:
    return np.sum(a @ a[0])


C = np.random.default_rng(9).normal(size=(7, 20))
HESSIANS: list[tuple[Callable[..., Any], int, tuple[Any, ...]]] = [
    (network, 0, (X, C, B)),
    (likelihood, 0, (X, A, Y)),
    (likelihood, 2, (X, A, Y)),
    (likelihood, -3, (X, A, Y)),
    (by_rows, 0, (X, A)),
    (not_of_x, 0, (X, A)),
]


@pytest.mark.parametrize(("function", "argnum", "args"), HESSIANS)
def test_hessians_by_blocks_are_those_of_dual_numbers(
    function: Callable[..., Any], argnum: int, args: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = te.program(function)
    wanted = te.hessian(program.python, argnum)(*args)
    found = te.hessian(program, argnum)(*args)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    monkeypatch.setattr(jacobians, "BLOCK", 3 * sum(map(np.size, args)))
    np.testing.assert_allclose(te.hessian(program, argnum)(*args), found, rtol=1e-13, atol=1e-14)


def test_a_hessian_of_whole_arrays_is_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    program = te.program(likelihood)
    te.hessian(program)(X, A, Y)
    found = program.__tapeengine_directional__().executable.blocks_of("products", (3, 0))[0]
    runs = counted(found, monkeypatch)
    te.hessian(program)(X, A, Y)
    assert runs == [40]


def test_a_hessian_at_a_pole_raises_what_python_raises() -> None:
    program = te.program(likelihood)
    with np.errstate(all="ignore"):
        found = te.hessian(program)(-800.0 * np.sign(A[0]), A, Y)
        wanted = te.hessian(program.python)(-800.0 * np.sign(A[0]), A, Y)
    np.testing.assert_allclose(found, wanted, rtol=1e-10)
