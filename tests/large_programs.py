"""Programs of elementwise operations on large arrays, and the comparison of their replays with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeengine as te

ROWS = 4001

BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (2.0 + b * b),
    lambda a, b: np.maximum(a, b),
    lambda a, b: 1.5 - a * b,
)
UNARY: tuple[Callable[[Any], Any], ...] = (
    np.tanh,
    np.sin,
    np.exp,
    lambda a: a * a,
    lambda a: -a,
    lambda a: np.sqrt(1.0 + a * a),
)
#: Views of arrays of three columns that have as many rows: some reach into other rows.
VIEWS: tuple[Callable[[Any], Any], ...] = (
    lambda a: a,
    lambda a: a[:, 1:2],
    lambda a: a[:, :1],
    lambda a: a[:, ::-1],
    lambda a: a[::-1],
    lambda a: a[:1],
    lambda a: np.concatenate([a[1:], a[:1]]),
    lambda a: a.reshape(3, -1).T,
    lambda a: a[:, 2][:, None],
    lambda a: np.sum(a, axis=1)[:, None],
)


def random_program(seed: int) -> Callable[[Any, Any, Any], Any]:
    """A program of elementwise operations on views of arrays that it has made, with other operations between."""
    rng = np.random.default_rng(seed)
    steps = [
        (*map(int, rng.integers(0, [12, 100, 100, len(VIEWS), len(VIEWS)])), float(rng.normal())) for _ in range(14)
    ]

    def program(x: Any, y: Any, scale: Any) -> Any:
        values = [x, y, np.array([[0.25, 0.5, 0.75]]) * x]
        for kind, first, second, view, other, number in steps:
            a = VIEWS[view if kind % 3 == 0 else 0](values[first % len(values)])
            b = VIEWS[other if kind % 3 == 1 else 0](values[second % len(values)])
            if kind < len(BINARY):
                made = BINARY[kind](a, b)
            elif kind < 10:
                made = UNARY[(kind + first) % len(UNARY)](a) + 0.0 * b
            elif kind == 10:
                made = a * scale + b * number
            else:
                made = a + b
                made[first % ROWS] = number
            if made.shape == x.shape:
                values.append(0.1 * made)
        return values[-1], np.sum(values[-2] * values[3]), values[-3][:, 0]

    return program


def agree(program: Any, *args: Any, optimise: bool | str = True) -> Any:
    """Compare replays with the program, twice, because the second replay finds buffers that the first one filled."""
    staged = te.stage(program, optimise=optimise)
    for k in range(4):
        now = [a * (1.0 + 0.01 * k) for a in args]
        wanted, back = te.vjp(program, *now)
        found, found_back = te.vjp(staged, *now)
        rng = np.random.default_rng(k)
        given = (
            [rng.normal(size=np.shape(part)) for part in wanted]
            if type(wanted) is tuple
            else rng.normal(size=wanted.shape)
        )
        given = tuple(given) if type(wanted) is tuple else given
        assert bits(found) == bits(wanted)
        assert bits(found_back(given)) == bits(back(given))
        assert bits(found_back(given)) == bits(back(given))
    assert staged.refused is None
    assert staged.stats().replays == 3
    return staged


def bits(value: Any) -> Any:
    return tuple(map(bits, value)) if isinstance(value, tuple) else (np.shape(value), np.asarray(value).tobytes())
