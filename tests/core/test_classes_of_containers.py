"""Containers are taken apart by what they store: methods of their classes that show something else are not called."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import tapeengine as te


class Pair(NamedTuple):
    a: Any
    b: Any


OTHERS: dict[str, Callable[..., Any]] = {
    "__iter__": lambda self: iter(("odd", 7.0, 8.0)),
    "__len__": lambda self: 7,
    "__getitem__": lambda self, key: 5.0,
    "__contains__": lambda self, key: False,
    "__bool__": lambda self: False,
    "__eq__": lambda self, other: True,
    "values": lambda self: [5.0],
    "keys": lambda self: ["odd"],
    "items": lambda self: [("odd", 5.0)],
    "copy": lambda self: None,
    "update": lambda self, *others: None,
    "__setitem__": lambda self, key, value: None,
    "__getattr__": lambda self, name: dict.__getitem__(self, name),
}


def stored(value: Any) -> tuple[Any, Any]:
    """The two items as the class of the container stores them."""
    if isinstance(value, tuple):
        return tuple.__getitem__(value, 0), tuple.__getitem__(value, 1)
    return dict.__getitem__(value, "a"), dict.__getitem__(value, "b")


def pair(cls: Any, a: Any, b: Any) -> Any:
    """A container of a class with two items."""
    if issubclass(cls, tuple):
        return tuple.__new__(cls, (a, b))
    found = cls.__new__(cls)
    dict.update(found, {"a": a, "b": b})
    return found


WAYS: dict[str, Callable[[Any, Any, Any], list[Any]]] = {
    "grad": lambda f, p, one: [te.grad(lambda q: stored(f(q))[0])(p)],
    "vjp": lambda f, p, one: [(found := te.vjp(f, p))[0], *found[1](one)],
    "jvp": lambda f, p, one: list(te.jvp(f, (p,), (one,))),
    "linearize": lambda f, p, one: [(found := te.linearize(f, p))[0], found[1](one)],
    "jacobian": lambda f, p, one: [te.jacobian(lambda q: stored(f(q))[0])(p)],
    "stage": lambda f, p, one: [(staged := te.stage(f))(p), staged(p), staged(p)],
    "checkpoint": lambda f, p, one: [(found := te.vjp(te.checkpoint(f), p))[0], *found[1](one)],
    "fork": lambda f, p, one: [te.vjp(lambda q: te.fork(lambda: f(q), lambda: q), p)[0][0]],
    "stop_gradient": lambda f, p, one: [te.stop_gradient(p)],
}
#: What the program returns, and the derivatives in direction (1, 1) and of both results added up.
WANTED = {
    "grad": [(3.0, 2.0)],
    "vjp": [(6.0, 8.0), (4.0, 4.0)],
    "jvp": [(6.0, 8.0), (5.0, 3.0)],
    "linearize": [(6.0, 8.0), (5.0, 3.0)],
    "jacobian": [(3.0, 2.0)],
    "stage": [(6.0, 8.0)] * 3,
    "checkpoint": [(6.0, 8.0), (4.0, 4.0)],
    "fork": [(6.0, 8.0)],
    "stop_gradient": [(2.0, 3.0)],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("base", [Pair, dict])
def test_a_method_of_the_class_changes_nothing(base: Any, name: str, way: str) -> None:
    if base is Pair and name == "__getattr__":
        pytest.skip("a namedtuple has no keys")
    cls = type("Odd", (base,), {name: OTHERS[name]})

    def program(p: Any) -> Any:
        a, b = stored(p)
        return pair(cls, a * b, a + 2.0 * b)

    found = WAYS[way](program, pair(cls, 2.0, 3.0), pair(cls, 1.0, 1.0))
    assert [type(x) for x in found] == [cls] * len(found)
    assert [stored(x) for x in found] == WANTED[way]


class Parameters(dict):  # type: ignore[type-arg]
    """A dict whose items are read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def test_a_dict_keeps_its_class_and_its_attributes() -> None:
    point = Parameters(a=2.0, b=3.0)
    point.__dict__["scale"] = 10.0
    gradient = te.grad(lambda p: p.scale * p.a * p.b)(point)
    assert (type(gradient), dict(gradient), gradient.scale) == (Parameters, {"a": 30.0, "b": 20.0}, 10.0)


def test_an_ordered_dict_keeps_its_order() -> None:
    point = OrderedDict(a=2.0, b=3.0)
    point.move_to_end("a")
    for program in (lambda p: p, te.checkpoint(lambda p: p)):
        value, back = te.vjp(program, point)
        assert [list(value.items()), list(back(point)[0].items())] == [[("b", 3.0), ("a", 2.0)]] * 2


def test_a_replay_makes_the_class_and_sees_the_attributes() -> None:
    staged = te.stage(lambda p: Parameters(a=p.scale * p.a * p.b, b=p.b))
    for scale in (10.0, 10.0, 10.0, 20.0, 10.0, 20.0, 30.0):
        point = Parameters(a=2.0, b=3.0)
        point.__dict__["scale"] = scale
        value, back = te.vjp(staged, point)
        gradient = back(Parameters(a=1.0, b=0.0))[0]
        assert (type(value), dict(value)) == (Parameters, {"a": 6.0 * scale, "b": 3.0})
        assert (type(gradient), dict(gradient)) == (Parameters, {"a": 3.0 * scale, "b": 2.0 * scale})
