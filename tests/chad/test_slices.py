"""Slices with written bounds and steps, also of arrays that end before a bound."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.source_programs import Source, function_of

import tapeengine as te

BOUNDS = ("", "-2", "-1", "0", "1", "2")


def program_of(text: str) -> Callable[..., Any]:
    return function_of(Source(hash(text), text, ()))


@pytest.mark.parametrize("step", ["1", "2", "-1", "-2"])
@pytest.mark.parametrize("start", BOUNDS)
def test_slices_with_written_bounds_are_those_of_python(start: str, step: str) -> None:
    """Also of arrays that end before a bound, and of empty ones."""
    lines = [f"    ys = xs[{start}:{stop}:{step}]\n    found.append(10.0 * len(ys) + sum(ys))" for stop in BOUNDS]
    text = "def program(xs: te.Vec) -> list[float]:\n    found = []\n" + "\n".join(lines) + "\n    return found\n"
    plain = program_of(text)
    program = te.program(plain)
    for n in range(4):
        assert te.vjp(program, np.arange(1.0, n + 1.0))[0] == plain(np.arange(1.0, n + 1.0))
