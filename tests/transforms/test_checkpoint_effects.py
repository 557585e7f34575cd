"""What a checkpointed function leaves behind elsewhere: as in the plain program where it is constant, else refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

X = np.array([1.0, 2.0, 3.0])


class Model:
    """An object of a program's own."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight
        self.left: Any = 0


@dataclass
class Record:
    """A dataclass that can be written to."""

    weight: Any
    left: Any = 0


# Each place makes (write, read) around a weight, which may be traced.
def in_list(weight: Any) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    kept = [weight, 0]
    return lambda v: kept.__setitem__(1, v), lambda: kept[1] * kept[0]


def appended(weight: Any) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    kept: list[Any] = [weight]
    return lambda v: kept.append(v), lambda: kept[-1] * kept[0]


def in_dict(weight: Any) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    kept: dict[str, Any] = {"weight": weight}
    return lambda v: kept.update(left=v), lambda: kept["left"] * kept["weight"]


def in_object(weight: Any) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    kept = Model(weight)
    return lambda v: setattr(kept, "left", v), lambda: kept.left * kept.weight


def in_dataclass(weight: Any) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    kept = Record(weight)
    return lambda v: setattr(kept, "left", v), lambda: kept.left * kept.weight


def in_cell(weight: Any) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    left: Any = 0

    def write(value: Any) -> None:
        nonlocal left
        left = value

    return write, lambda: left * weight


PLACES = [in_list, appended, in_dict, in_object, in_dataclass, in_cell]
LEFT: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "an integer": (lambda v: 3, lambda left: left),
    "a constant": (lambda v: 1.5, lambda left: left),
    "a value without derivative": (lambda v: float(te.value(v.sum())), lambda left: left),
    "a number": (lambda v: v.sum(), lambda left: left),
    "an array": (lambda v: v * 2.0, lambda left: left.sum()),
}


def program(place: Any, left: Any, checkpoint: Any, weighted: bool) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        write, read = place(x.sum() if weighted else 2.0)

        def step(v: Any) -> Any:
            write(left(v))
            return (v * v).sum()

        return checkpoint(step)(x) + np.sum(read())

    return run


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("what", LEFT)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_left_in_captured_objects(place: Any, what: str, weighted: bool) -> None:
    left = LEFT[what][0]
    plain = program(place, left, lambda f: f, weighted)
    again = program(place, left, te.checkpoint, weighted)
    depends = what in ("a number", "an array")
    try:
        value, back = te.vjp(again, X)
        gradient = back(1.0)[0]
    except TapeEngineError:
        assert depends
        return
    assert value == plain(X)
    np.testing.assert_allclose(gradient, te.grad(plain)(X), rtol=1e-14)


@pytest.mark.parametrize("captured", [False, True])
def test_a_write_into_an_array_that_is_given_is_refused(captured: bool) -> None:
    def run(x: Any) -> Any:
        y = x * 1.0

        def step(v: Any) -> Any:
            v[0] = 5.0
            return (v * v).sum()

        return (te.checkpoint(lambda: step(y))() if captured else te.checkpoint(step)(y)) + y.sum()

    with pytest.raises(TapeEngineError):
        te.grad(run)(X)


@pytest.mark.parametrize(
    "hide",
    [
        lambda v: (a * a for a in v),
        lambda v: map(np.sin, v),
        lambda v: lambda: v.sum(),
        lambda v: Model(v.sum()),
        lambda v: v.sum,
    ],
)
def test_a_result_that_hides_numbers_is_refused(hide: Any) -> None:
    with pytest.raises(TapeEngineError):
        te.grad(lambda x: (te.checkpoint(hide)(x), x.sum())[1])(X)
