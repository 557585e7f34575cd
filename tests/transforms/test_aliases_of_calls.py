"""Results of calls that are one record share memory with arguments or results: writes are refused, reading is exact."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

from .test_layouts_in_calls import CALLS

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda y: y,
    "part": lambda y: y[1:],
    "reshaped": lambda y: y.reshape(2, 2),
    "twice": lambda y: (z := y * 2.0, z),
    "a view of a result": lambda y: (z := y * 2.0, z.reshape(2, 2)),
    "with another": lambda y: [y * 2.0, y[::-1]],
    "copy": lambda y: y.copy(),
    "other elements": lambda y: (z := y * 2.0, z[::2], z[1::2])[1:],
    "two": lambda y: (y * 2.0, y * 3.0),
}
X = np.array([1.0, 2.0, 3.0, 4.0])


def arrays_of(y: Any, result: Any) -> list[Any]:
    return [y, *(result if isinstance(result, (tuple, list)) else (result,))]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("call", [name for name in CALLS if name not in ("iterate", "fork", "fork_map")])
@pytest.mark.parametrize("order", [1, 2])
def test_a_write_is_that_of_the_plain_program_or_refused(call: str, program: str, order: int) -> None:
    f = CALLS[call](PROGRAMS[program])

    def run(function: Callable[..., Any], write: int, x: Any) -> Any:
        y = x * 1.0
        arrays = arrays_of(y, function(y))
        if write < len(arrays):
            arrays[write][(0,) * arrays[write].ndim] = 7.0 * x[1]
        return sum(np.sum(a * np.arange(1.0, 1.0 + a.size).reshape(a.shape)) for a in arrays)

    refused = set()
    plain = PROGRAMS[program]
    count = len(arrays_of(X, plain(X)))
    for write in range(count + 1):
        try:
            seen = te.vjp(lambda x, w=write: run(f, w, x), X)[0]
            if order == 2:
                te.hessian(lambda x, w=write: run(f, w, x))(X)
            found = te.grad(lambda x, w=write: run(f, w, x))(X)
        except UnsupportedError as error:
            assert "shares memory" in str(error)
            refused.add(write)
        else:
            assert seen == run(plain, write, X)
            np.testing.assert_allclose(found, te.grad(lambda x, w=write: run(plain, w, x))(X))
    y = X * 1.0
    arrays = arrays_of(y, plain(y))
    assert refused == {
        i for i, a in enumerate(arrays) for j, b in enumerate(arrays) if i != j and np.shares_memory(a, b)
    }


@pytest.mark.parametrize("call", ["fork", "fork_map"])
@pytest.mark.parametrize("write", [0, 1])
def test_results_of_a_task_that_share_memory_are_not_written_to(call: str, write: int) -> None:
    def run(x: Any) -> Any:
        both = CALLS[call](PROGRAMS["a view of a result"])(x)
        both[write][0] = x[0]
        return np.sum(both[0])

    with pytest.raises(UnsupportedError, match="shares memory"):
        te.grad(run)(X)


def test_a_state_that_steps_pass_on_is_not_written_to() -> None:
    def run(x: Any, write: int) -> Any:
        state = (x * 1.0, x * 2.0)
        final = te.iterate(lambda s: (s[0] * s[1], s[1]), 2, state)
        (*state, *final)[write][0] = 1.0
        return np.sum(final[0] * final[1])

    for write in (1, 3):
        with pytest.raises(UnsupportedError, match="shares memory"):
            te.vjp(run, X, write)
    assert te.vjp(run, X, 2)[0] == run(X, 2)
