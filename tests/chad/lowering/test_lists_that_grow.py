"""Numbers are added at the end of a list, however many at a time, without copying the list in each step of a loop."""

from collections.abc import Callable

import numpy as np
import pytest

import tapeengine as te


def extended(v: te.Vec, n: int) -> float:
    out = [0.0]
    for _ in range(n):
        out.extend(v)
    return sum(out)


def of_rows(v: te.Vec, n: int) -> float:
    return sum([x * x for k in range(n) for x in v[:k]])


def concatenated(v: te.Vec, n: int) -> float:
    return np.sum(np.concatenate([v * k for k in range(n)]))  # type: ignore[no-any-return,operator]


def in_a_row(v: te.Vec, n: int) -> float:
    return np.sum(np.hstack([v[:k] * v[0] for k in range(n)]))  # type: ignore[no-any-return]


PROGRAMS = [extended, of_rows, concatenated, in_a_row]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_each_number_is_appended_once(function: Callable[..., float]) -> None:
    program = te.program(function)
    text = program.inspect()
    forward = text[text.index("def forward") : text.index("def reverse")]
    loops = forward[forward.index(".append(x") :]
    assert "np.zeros" not in loops and "] * " not in loops
    v = np.array([0.5, 1.5, -2.0])
    value, back = te.vjp(program, v, 5)
    np.testing.assert_allclose(value, function(v, 5), rtol=1e-14)
    np.testing.assert_allclose(back(1.0)[0], te.vjp(program.python, v, 5)[1](1.0)[0], rtol=1e-13)
