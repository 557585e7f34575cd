"""Options that are counts take whole numbers; anything else is refused by name, traced or not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StructureError, TapeEngineError


def square(x: Any) -> Any:
    return x * x


def backpropagated(**options: Any) -> Any:
    return te.backpropagate(te.vjp(square, 3.0)[1], 1.0, lambda done: None, **options)


#: The option, the least count, and a call with it of a known result.
CALLS: dict[str, tuple[str, int, Callable[[Any], Any], Any]] = {
    "steps": ("n", 0, lambda k: te.iterate(square, k, 1.0), 1.0),
    "steps of a trace": ("n", 0, lambda k: te.vjp(lambda x: te.iterate(square, k, x), 1.0)[0], 1.0),
    "checkpoints": ("checkpoints", 1, lambda k: te.iterate(square, 2, 2.0, checkpoints=k), 16.0),
    "checkpoints of a trace": (
        "checkpoints",
        1,
        lambda k: te.grad(lambda x: te.iterate(square, 2, x, checkpoints=k))(2.0),
        32.0,
    ),
    "parts": ("parts", 1, lambda k: backpropagated(parts=k), (6.0,)),
    "paths": ("paths", 1, lambda k: te.grad(te.stage(square, paths=k))(3.0), 6.0),
    "threads": ("threads", 1, lambda k: te.vmap(te.stage(square), threads=k)(np.full(2, 3.0)).tolist(), [9.0, 9.0]),
    "threads of plain lanes": (
        "threads",
        1,
        lambda k: te.vmap(square, threads=k)(np.full(2, 3.0)).tolist(),
        [9.0, 9.0],
    ),
}


class Whole:
    def __index__(self) -> int:
        return 2


@pytest.mark.parametrize("call", CALLS)
def test_whole_numbers_of_any_class_are_counts(call: str) -> None:
    _, least, program, expected = CALLS[call]
    for count in (1, 2, np.int8(2), True, Whole(), *[0] * (least == 0)):
        assert program(count) == expected


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("count", [1.5, 2.0, np.float64(2), "2", None, [1], -1, 0, 2j], ids=repr)
def test_what_is_no_count_is_refused_by_its_name(call: str, count: Any) -> None:
    option, least, program, _ = CALLS[call]
    if least == 0 and isinstance(count, int) and count == 0:
        return
    with pytest.raises(StructureError, match=f"{option} must be a whole number of at least {least}, not "):
        program(count)


def test_a_traced_count_is_refused() -> None:
    for program in (lambda x: te.iterate(square, x, 2.0), lambda x: te.iterate(square, 2, x, checkpoints=x)):
        with pytest.raises(TapeEngineError):
            te.grad(program)(2.0)


@pytest.mark.parametrize("given", [3, 1.5, None, "a"])
def test_backpropagate_tells_what_it_takes(given: Any) -> None:
    for options in ({}, {"progress": print}):
        with pytest.raises(StructureError, match="backpropagate takes a backpropagator, a result of vjp, not"):
            te.backpropagate(given, 1.0, **options)
