"""Steps whose traced runs round in another way than plain ones, as those of other libraries on plain values."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import RepeatError
from tapeengine.structure import Structures
from tapeengine.transforms.repeated import passed_states
from tapeengine.transforms.repeated.rerun import beyond_rounding

START = np.array([0.3, 1.7, 2.9, 0.1, 5.3])
WEIGHT = np.array([0.1, 0.7, 1.3, 0.9, 1.1])


def rounding(x: Any, weight: Any) -> Any:
    """0.3 x + weight, in one order of operations for traced values and in another one for plain ones."""
    if isinstance(x, te.Array) or isinstance(weight, te.Array):
        return x * 0.1 * 3.0 + weight
    return x * (0.1 * 3.0) + weight


STEPS = {
    "traced state": lambda x: np.sin(rounding(x, WEIGHT)),
    "constants of the trace": lambda x: np.sin(x) * rounding(tnp.array([0.3, 0.7, 0.9, 1.1, 1.3]), tnp.ones(5)),
    "growing": lambda x: 1.5 * rounding(x, WEIGHT),
}
AROUND = {
    "iterate": lambda step, n: lambda x: te.iterate(step, n, x),
    "checkpoint around": lambda step, n: te.checkpoint(lambda x: te.iterate(step, n, x)),
    "checkpoint within": lambda step, n: lambda x: te.iterate(te.checkpoint(step), n, x),
    "fork": lambda step, n: lambda x: te.fork(lambda: te.iterate(step, n, x), lambda: 1.0)[0],
}
ORDERS = {
    "grad": lambda f: te.grad(f),
    "jvp": lambda f: lambda x: te.jvp(f, (x,), (np.ones(5),))[1],
    "hessian": lambda f: te.hessian(f),
    "grad of grad": lambda f: te.grad(lambda x: te.grad(f)(x) @ WEIGHT),
    "jvp of jvp": lambda f: lambda x: te.jvp(lambda y: te.jvp(f, (y,), (WEIGHT,))[1], (x,), (np.ones(5),))[1],
}


@pytest.mark.parametrize("blocks", [passed_states.MOST, 3])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("step", STEPS)
def test_rounding_in_later_runs_is_no_difference(
    step: str, around: str, order: str, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passed_states, "MOST", blocks)

    def loop(x: Any) -> Any:
        for _ in range(7):
            x = STEPS[step](x)
        return x

    ours, theirs = (
        ORDERS[order](lambda x, f=f: np.sum(f(x) ** 2))(START) for f in (AROUND[around](STEPS[step], 7), loop)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("blocks", [passed_states.MOST, 3])
@pytest.mark.parametrize("order", ORDERS)
def test_a_step_that_rounds_and_does_not_repeat(
    order: str, blocks: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It counts its calls in a file: the fifth call of all has another value."""
    monkeypatch.setattr(passed_states, "MOST", blocks)
    counted = tmp_path / "calls"

    def step(x: Any) -> Any:
        with counted.open("a") as file:
            file.write(".")
        return rounding(x, WEIGHT) * (1.0 + 1e-3 * (counted.stat().st_size == 5))

    with pytest.raises(RepeatError, match="differs after"):
        ORDERS[order](lambda x: np.sum(te.iterate(step, 7, x)))(START)


def test_states_in_other_containers_differ() -> None:
    state = [1.0, 2.0]
    found = [beyond_rounding(Structures(), state, other) for other in ((1.0, 2.0), [1.0], {"a": 1.0, "b": 2.0})]
    assert found == [1, 1, 1]
    assert [beyond_rounding(Structures(), state, [1.0, x]) for x in (2.0, 2.0 + 1e-15, 2.1)] == [0, 0, 2]
