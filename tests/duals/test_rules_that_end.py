"""No rule passes a call on to itself: whatever its arguments, numpy's functions return or raise an error of their own.

A rule that passes a traced argument on to numpy's function is called again with it, without an end.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te

PLAIN = np.array([[0.5, 1.5], [2.0, 1.0]])
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{function.__module__}.{function.__name__}": function
    for function in te.Engine().rules.table
    if callable(function) and not isinstance(function, np.ufunc)
}


def calls(x: Any) -> Iterator[tuple[Any, ...]]:
    """Arguments in several positions, of which some are traced."""
    for a in (x, x[0], x[0, 0], PLAIN, [x[0], x[1]], 1, (0, 1), [0.5, 1.5], [x[0, 0], 2.0]):
        yield (a,)
        for b in (x, x[0], x[0, 0], PLAIN, 1, [x[0, 0], 1.0], (x[0], x[1])):
            yield from ((a, b), (a, b, x[0, 0]), (a, b, x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_ends(name: str) -> None:
    function, endless = FUNCTIONS[name], []

    def program(x: Any) -> Any:
        for args in calls(x):
            for options in ({}, {"axis": x[0, 0]}, {"axis": 0}):
                try:
                    function(*args, **options)
                except RecursionError:
                    endless.append((args, options))
                except (te.errors.TapeEngineError, Exception):  # whatever numpy raises, or a refusal
                    continue
        return x.sum()

    with contextlib.suppress(te.errors.TapeEngineError):  # what numpy itself has caught, as `array_equal` does
        te.vjp(program, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert not endless
