"""A program's Jacobian by several independent methods, for structures of floats."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import forward_mode

Matrix = list[list[float]]


def is_number(x: Any) -> bool:
    return isinstance(x, (float, forward_mode.Forward))


def children(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, (list, tuple)):
        return list(x)
    if dataclasses.is_dataclass(x):
        return [getattr(x, field.name) for field in dataclasses.fields(x)]
    return []


def rebuilt(x: Any, parts: list[Any]) -> Any:
    if isinstance(x, dict):
        return dict(zip(x, parts, strict=True))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*parts)
    return type(x)(*parts) if dataclasses.is_dataclass(x) else type(x)(parts)


def leaves(x: Any) -> list[Any]:
    """The floats of a structure, from left to right."""
    return [x] if is_number(x) else [leaf for child in children(x) for leaf in leaves(child)]


def with_leaves(x: Any, new: Iterator[Any]) -> Any:
    """The same structure with other floats."""
    if is_number(x):
        return next(new)
    parts = children(x)
    return rebuilt(x, [with_leaves(part, new) for part in parts]) if parts else x


def at(program: Callable[..., Any], inputs: tuple[Any, ...], xs: list[Any]) -> list[Any]:
    """The program's scalars when the inputs' floats are xs."""
    return leaves(program(forward_mode, *with_leaves(inputs, iter(xs))))


def transposed(columns: Matrix) -> Matrix:
    return [list(row) for row in zip(*columns, strict=True)]


def by_differences(program: Callable[..., Any], inputs: tuple[Any, ...], step: float) -> Matrix:
    """Central differences of order 6."""
    xs, columns = leaves(inputs), []
    for j, x in enumerate(xs):
        h = step * max(1.0, abs(x))
        moved = {k: at(program, inputs, [*xs[:j], x + k * h, *xs[j + 1 :]]) for k in (-3, -2, -1, 1, 2, 3)}
        pairs = [zip(moved[k], moved[-k], strict=True) for k in (1, 2, 3)]
        slopes = [[(a - b) / h for a, b in pair] for pair in pairs]
        columns.append([0.75 * a - 0.15 * b + c / 60 for a, b, c in zip(*slopes, strict=True)])
    return transposed(columns)


def by_forward_mode(program: Callable[..., Any], inputs: tuple[Any, ...]) -> Matrix:
    """One run of the independent forward mode for each input."""
    xs, columns = leaves(inputs), []
    for j in range(len(xs)):
        ys = at(program, inputs, [forward_mode.Forward(x, float(i == j)) for i, x in enumerate(xs)])
        columns.append([float(forward_mode.tangent(y)) for y in ys])
    return transposed(columns)


def by_reverse_mode(core: Any, program: Callable[..., Any], inputs: tuple[Any, ...]) -> Matrix:
    """One call of the backpropagator for each scalar of the result."""
    value, backpropagator = core.vjp(lambda *xs: program(core.math, *xs), *inputs)
    rows, n = [], len(leaves(value))
    for i in range(n):
        cotangent = with_leaves(value, iter([float(i == j) for j in range(n)]))
        rows.append([float(x) for x in leaves(backpropagator(cotangent))])
    return rows


def hessian_by_forward_mode(program: Callable[..., Any], xs: list[float]) -> Matrix:
    """Forward over forward, for a scalar program of one list."""
    n = len(xs)

    def second(i: int, j: int) -> float:
        inner = [forward_mode.Forward(x, float(k == i)) for k, x in enumerate(xs)]
        outer = [forward_mode.Forward(x, forward_mode.Forward(float(k == j), 0.0)) for k, x in enumerate(inner)]
        y = forward_mode.tangent(program(forward_mode, outer))
        return float(forward_mode.plain(forward_mode.tangent(y)))

    return [[second(i, j) for j in range(n)] for i in range(n)]


def close(a: Matrix, b: Matrix, tolerance: float) -> bool:
    """Whether two matrices agree relative to their largest element."""
    if [len(row) for row in a] != [len(row) for row in b]:
        return False
    pairs = [(x, y) for rows in zip(a, b, strict=True) for x, y in zip(*rows, strict=True)]
    scale = max([1.0, *(abs(y) for _, y in pairs if math.isfinite(y))])
    return all(x == y or abs(x - y) <= tolerance * scale for x, y in pairs)
