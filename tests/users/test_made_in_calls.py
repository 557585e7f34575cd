"""Functions that are made anew in each call leave nothing in memory, whatever makes programs of them."""

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp


def annotated(k: Any) -> Callable[..., Any]:
    def program(x: float) -> float:
        return x * k[0]

    return program


def calling(k: Any) -> Callable[..., Any]:
    def twice(x: float) -> float:
        return 2.0 * x

    def program(x: float) -> float:
        return twice(x) * k[0]

    return program


MAKERS: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "lift": te.lift,
    "program": te.program,
    "stage": te.stage,
    "checkpoint": te.checkpoint,
    "vmap": lambda f: lambda x: te.vmap(f)(np.array([x]))[0],
    "iterate": lambda f: lambda x: te.iterate(f, 2, x),
    "fork": lambda f: lambda x: te.fork_map(f, [x])[0],
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("program", [annotated, calling])
def test_functions_made_in_each_call_are_collected(program: Callable[..., Any], maker: str) -> None:
    class Data(list[float]):
        """What a function captures."""

    def alive() -> int:
        gc.collect()
        return sum(type(o) is Data for o in gc.get_objects())

    for _ in range(5):
        te.grad(MAKERS[maker](program(Data([2.0]))))(3.0)
    assert alive() <= 1  # the engine may keep the last one


def test_an_array_made_in_a_thread_of_the_program() -> None:
    """A thread has no trace of its own: what the program's thread makes may be written to, what it makes may not."""

    def run(x: Any, made: Any) -> Any:
        found: list[Any] = []

        def work() -> None:
            try:
                array = tnp.zeros(2) if made is None else made
                array[0] = x * x
                found.append(array)
            except te.errors.DroppedDerivativeError as error:
                found.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if isinstance(found[0], Exception):
            raise found[0]
        return np.sum(found[0])

    assert te.grad(lambda x: run(x, tnp.zeros(2)))(3.0) == 6.0
    with pytest.raises(te.errors.DroppedDerivativeError, match=r"In a thread of the program.s own they are plain"):
        te.grad(lambda x: run(x, None))(3.0)
