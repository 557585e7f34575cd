"""Random programs as source text: a program gives the value, the derivatives and the exceptions of dual numbers."""

import math
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.source_programs import Source, draw, function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import TapeEngineError

ENGINE = tapeengine.Engine()
NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"
COUNT, CHUNK = (6000, 100) if NIGHTLY else (160, 40)
#: At most so many programs of a chunk may lie outside the language; those that do are refused at a place.
MOST_REFUSED = 0.15


def numbers(value: Any) -> list[float]:
    """The numbers of a structure in order; where there is no derivative it is zero."""
    if value is None:
        return [0.0]
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in numbers(part)]
    return [float(x) for x in np.ravel(np.asarray(value, float))]


def direction(value: Any, draws: random.Random) -> Any:
    """A cotangent or tangent for a value: the same numbers in the same places, whatever kind of sequence there is."""
    if isinstance(value, np.ndarray):
        return np.array([direction(float(x), draws) for x in value])
    if isinstance(value, (tuple, list)):
        parts = [direction(x, draws) for x in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    chosen = draws.choice((1.0, -0.5, 2.0))
    return chosen if isinstance(value, float) else None


def outcome(run: Callable[[], Any]) -> Any:
    """What a call gives: its numbers, or the type of what it raises."""
    try:
        return [numbers(part) for part in run()]
    except TapeEngineError:
        raise
    except Exception as error:
        return type(error)


def reverse(f: Callable[..., Any], source: Source) -> Any:
    def run() -> Any:
        value, backpropagator = ENGINE.vjp(f, *source.primals)
        return value, backpropagator(direction(value, random.Random(source.seed)))

    return outcome(run)


def forward(f: Callable[..., Any], source: Source) -> Any:
    draws = random.Random(source.seed)
    tangents = tuple(direction(x, draws) for x in source.primals)
    return outcome(lambda: ENGINE.jvp(f, source.primals, tangents))


def agree(a: Any, b: Any) -> bool:
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    pairs = [(x, y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True)]
    return all(x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= 1e-9 * max(1.0, abs(y)) for x, y in pairs)


@pytest.mark.parametrize("start", range(0, COUNT, CHUNK))
def test_programs_mean_what_python_means(start: int) -> None:
    refused = 0
    for seed in range(start, start + CHUNK):
        source = draw(seed)
        function = function_of(source)
        try:
            program = te.program(function)
        except ProgramError:
            refused += 1
            continue
        plain = outcome(lambda function=function, source=source: (function(*source.primals),))
        for derivative in (reverse, forward):
            found, expected = derivative(program, source), derivative(function, source)
            assert agree(found, expected), f"{derivative.__name__}: {found} and not {expected} for\n{source}"
            if isinstance(plain, type):
                assert found is plain, f"{derivative.__name__} does not raise {plain.__name__} for\n{source}"
            else:
                assert agree([found[0]], plain), f"the value is {found[0]} and not {plain} for\n{source}"
    assert refused <= MOST_REFUSED * CHUNK


def test_what_is_drawn_is_varied() -> None:
    """Every kind of statement is drawn, and about as many programs raise as give a value."""
    texts = [draw(seed) for seed in range(300)]
    whole = "\n".join(source.text for source in texts)
    parts = ["break", "continue", "return", "lambda", "def f", ".append(", "] +=", "while", "enumerate", "Point("]
    added = ["nonlocal", "= None", '{"a":', "finally", "strict=True", "pairwise", "combinations", "fsum", "round("]
    for part in (*parts, *added):
        assert whole.count(part) >= 10, part
    raised = sum(isinstance(outcome(lambda s=s: (function_of(s)(*s.primals),)), type) for s in texts)
    assert 60 < raised < 240
