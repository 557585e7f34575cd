"""The choice of a back end changes no bit: values, cotangents and tangents of random programs, and their exceptions."""

import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from chad.source_programs import Source, draw, function_of
from chad.test_differential import direction, outcome

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError

pytest.importorskip("llvmlite")

ENGINE = tapeengine.Engine()
COUNT, CHUNK = (3000, 60) if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else (60, 20)


def bits(run: Callable[[], Any]) -> Any:
    """The numbers of what a run gives, exactly; or the type of what it raises."""
    found = outcome(run)
    return found if isinstance(found, type) else [[float(x).hex() for x in part] for part in found]


def results(function: Callable[..., Any], backend: Any, source: Source) -> tuple[Any, Any]:
    """What both directions give in a back end."""
    program = te.program(function, backend=backend)

    def backward() -> Any:
        value, backpropagator = ENGINE.vjp(program, *source.primals)
        return value, backpropagator(direction(value, random.Random(source.seed)))

    def forward() -> Any:
        draws = random.Random(source.seed)
        return ENGINE.jvp(program, source.primals, tuple(direction(x, draws) for x in source.primals))

    return bits(backward), bits(forward)


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("start", range(0, COUNT, CHUNK))
def test_the_choice_of_a_back_end_changes_no_bit(start: int) -> None:
    compared = 0
    for seed in range(start, start + CHUNK):
        source = draw(seed)
        function = function_of(source)
        try:
            native, machine, default = (results(function, b, source) for b in ("native", "machine", None))
        except ProgramError:
            continue
        compared += 1
        assert native == machine == default, source
        plain = bits(lambda function=function, source=source: (function(*source.primals),))
        assert (native[0] is plain) if isinstance(plain, type) else native[0][0] == plain[0], source
    assert compared > 0.8 * CHUNK
