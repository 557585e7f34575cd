"""What functions that are run apart (checkpoints, tasks, steps) leave behind: as in the plain program, or refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError, TapeEngineError

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


# Who runs a function apart from the rest of the program; each takes (function, argument).
def checkpointed(f: Any, x: Any) -> Any:
    return te.checkpoint(f)(x)


def capturing(f: Any, x: Any) -> Any:
    return te.checkpoint(lambda: f(x))()


def forked(f: Any, x: Any) -> Any:
    return te.fork(lambda: f(x), lambda: 0.0)[0]


def mapped(f: Any, x: Any) -> Any:
    return te.fork_map(f, [x])[0]


def iterated(f: Any, x: Any) -> Any:
    return te.iterate(lambda state: (state[0], f(state[0])), 1, (x, 0.0 * x.sum()))[1]


def iterated_once_more(f: Any, x: Any) -> Any:
    return te.iterate(lambda state: (f(x), state[0]), 2, (0.0 * x.sum(), 0.0))[1]


RUNNERS = [checkpointed, capturing, forked, mapped, iterated, iterated_once_more]
ORDERS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: te.grad(f)(X),
    "jvp": lambda f: te.jvp(f, (X,), (X,))[1],
    "hvp": lambda f: te.hvp(f, (X,), (X,)),
    "nested": lambda f: te.grad(lambda x: te.jvp(f, (x,), (x,))[1])(X),
}


def program(place: Any, left: Any, run: Any, weighted: bool) -> Callable[[Any], Any]:
    def whole(x: Any) -> Any:
        write, read = place(x.sum() if weighted else 2.0)

        def step(v: Any) -> Any:
            write(left(v))
            return (v * v).sum()

        return run(step, x) + np.sum(read())

    return whole


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("what", LEFT)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("run", RUNNERS)
@pytest.mark.parametrize("order", ORDERS)
def test_what_is_left_in_captured_objects(order: str, run: Any, place: Any, what: str, weighted: bool) -> None:
    plain = program(place, LEFT[what][0], lambda f, x: f(x), weighted)
    again = program(place, LEFT[what][0], run, weighted)
    try:
        value, found = te.vjp(again, X)[0], ORDERS[order](again)
    except DroppedDerivativeError:
        assert what in ("a number", "an array")
        return
    assert value == plain(X)
    np.testing.assert_allclose(found, ORDERS[order](plain), rtol=1e-13)


WRITES: dict[str, Callable[[Any], Any]] = {
    "a constant": lambda v: v.__setitem__(0, 5.0),
    "its own value": lambda v: v.__setitem__(0, 2.0),
    "what depends on it": lambda v: v.__setitem__(0, v[1]),
    "through a view": lambda v: v[1:].__setitem__(0, 5.0),
    "in place": lambda v: v.__imul__(2.0),
    "by a ufunc": lambda v: np.add(v, 1.0, out=v),
}


@pytest.mark.parametrize("run", [*RUNNERS, "custom_vjp", "custom_jvp"])
@pytest.mark.parametrize("what", WRITES)
@pytest.mark.parametrize("order", ORDERS)
def test_a_write_into_an_array_that_is_given_or_captured_is_refused(order: str, what: str, run: Any) -> None:
    def step(v: Any) -> Any:
        WRITES[what](v)
        return (v * v).sum()

    def whole(x: Any) -> Any:
        y = x * 2.0
        if run == "custom_vjp":
            ruled = te.custom_vjp(step)
            ruled.defvjp(lambda v: (step(v), v), lambda v, ct: (2.0 * ct * v,))
            return ruled(y) + y.sum()
        if run == "custom_jvp":
            forward = te.custom_jvp(step)
            forward.defjvp(lambda primals, tangents: (step(primals[0]), 2.0 * (primals[0] * tangents[0]).sum()))
            return forward(y) + y.sum()
        return run(step, y) + y.sum()

    if isinstance(run, str) and what == "its own value":
        return  # a function with rules has no derivative of its own that the write could change
    with pytest.raises(DroppedDerivativeError):
        ORDERS[order](whole)


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
@pytest.mark.parametrize("run", RUNNERS)
def test_a_result_that_hides_numbers_is_refused(run: Any, hide: Any) -> None:
    with pytest.raises(TapeEngineError):
        te.grad(lambda x: (run(hide, x), x.sum())[1])(X)
