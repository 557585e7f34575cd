"""Effects of functions that run separately (checkpoints, tasks, steps): as in the plain program, or refused."""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError, TapeEngineError

X = np.array([1.0, 2.0, 3.0])


class Model:
    """An object of the user's program."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight
        self.left: Any = 0


@dataclass
class Record:
    """A dataclass that can be written to."""

    weight: Any
    left: Any = 0


# Each entry makes (write, read) for a weight, which may be traced.
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
    "its argument": (lambda v: v, lambda left: left.sum()),
}


# Transforms that run a function separately from the rest of the program; each takes (function, argument).
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
    return te.iterate(lambda state: (f(x), state[0]), 2, (0.0 * np.sum(x), 0.0))[1]


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
        assert what in ("a number", "an array") or "iterated" in run.__name__
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
        return  # the write cannot change the rule of a custom function
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


class Slotted:
    __slots__ = ("first", "second")


class Kept(list[Any]):
    """A list subclass of the program."""


class Named(dict[str, Any]):
    """A dict subclass with its own constructor."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)


class Finalised:
    def __del__(self) -> None:
        pass


@dataclass(slots=True)
class Narrow:
    first: Any
    second: Any


class Space:
    """A class with attributes that are written to."""

    first: Any
    second: Any


def of_attributes(kind: Any) -> Callable[[Any, Any], Any]:
    def make(a: Any, b: Any) -> Any:
        made = kind(a, b) if kind is Narrow else kind if kind is Space else kind()
        made.first, made.second = a, b
        return made

    return make


HOLDERS: dict[str, Callable[[Any, Any], Any]] = {
    "list": lambda a, b: [a, b],
    "own list": lambda a, b: Kept([a, b]),
    "deque": lambda a, b: deque([a, b], maxlen=3),
    "array of objects": lambda a, b: np.array([a, b], object),
    "dict": lambda a, b: {"first": a, "second": b},
    "own dict": lambda a, b: Named({"first": a, "second": b}),
    "ordered dict": lambda a, b: OrderedDict(first=a, second=b),
    "namespace": of_attributes(SimpleNamespace),
    "object": of_attributes(type("Object", (), {"__module__": __name__})),
    "slots": of_attributes(Slotted),
    "dataclass with slots": of_attributes(Narrow),
    "class": of_attributes(Space),
    "finalised": of_attributes(Finalised),
    "function": lambda a, b: of_attributes(lambda: lambda: None)(a, b),
}


def get(held: Any, k: int) -> Any:
    if isinstance(held, dict):
        return held[("first", "second")[k]]
    return held[k] if hasattr(held, "__setitem__") else getattr(held, ("first", "second")[k])


def put(held: Any, k: int, value: Any) -> None:
    if isinstance(held, dict):
        held[("first", "second")[k]] = value
    elif hasattr(held, "__setitem__"):
        held[k] = value
    else:
        setattr(held, ("first", "second")[k], value)


def take_out(held: Any, k: int) -> None:
    if isinstance(held, np.ndarray):
        held[k] = 0.25
    elif hasattr(held, "__setitem__"):
        del held[("first", "second")[k] if isinstance(held, dict) else k]
    else:
        delattr(held, ("first", "second")[k])


def swap(held: Any, v: Any) -> None:
    first, second = get(held, 0), get(held, 1)
    put(held, 0, second)
    put(held, 1, first)


MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "swapped": swap,
    "moved": lambda held, v: put(held, 0, get(held, 1)),
    "taken out": lambda held, v: take_out(held, 1),
    "its value": lambda held, v: put(held, 0, te.value(get(held, 1))),
    "a constant": lambda held, v: put(held, 1, 0.5),
    "what depends on it": lambda held, v: put(held, 1, v * 3.0),
    "taken out and put back": lambda held, v: (
        (take_out(held, 1), put(held, 1, 2.5)) if not isinstance(held, list | deque) else held.pop()
    ),
}


def left_in(held: Any) -> Any:
    """A number that encodes the content and its order."""
    whole = held if hasattr(held, "__iter__") and not isinstance(held, dict) else None
    if whole is None:
        named = (
            dict(held)
            if isinstance(held, dict)
            else {k: getattr(held, k) for k in ("first", "second") if hasattr(held, k)}
        )
        return sum((2 * k + 1 if key == "first" else 5 * k + 7) * x for k, (key, x) in enumerate(named.items()))
    return sum((k + 2) * x for k, x in enumerate(whole))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("run", [checkpointed, capturing, forked, mapped, iterated_once_more])
def test_what_is_moved_and_taken_out_in_captured_objects(run: Any, holder: str, move: str, weighted: bool) -> None:
    def whole(run: Any) -> Callable[[Any], Any]:
        def program(x: Any) -> Any:
            held = HOLDERS[holder](x * 2.0 if weighted else 1.5, x * 1.0 if weighted else 4.0)

            def step(v: Any) -> Any:
                MOVES[move](held, v)
                return v * v * get(held, 0)

            return run(step, x) + left_in(held)

        return program

    plain, again = whole(lambda f, x: f(x)), whole(run)
    if run is iterated_once_more:
        plain = whole(lambda f, x: (f(x), f(x))[0])
    try:
        value, slope = te.value_and_grad(plain)(1.75)
    except Exception as error:  # removed twice
        with pytest.raises(type(error)):
            te.value_and_grad(again)(1.75)
        return
    try:
        found = te.value_and_grad(again)(1.75), te.jvp(again, (1.75,), (1.0,))
    except TapeEngineError:
        reads_what_a_step_left = run is iterated_once_more and move == "swapped"
        assert holder in ("class", "finalised") or move == "what depends on it" or reads_what_a_step_left
        return
    np.testing.assert_allclose(found, [(value, slope)] * 2, rtol=1e-13)
