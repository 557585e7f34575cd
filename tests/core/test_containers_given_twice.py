"""One container in two places of the primals is read as two, and a program that changes it is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError


@dataclass
class Point:
    x: float
    y: list[float]


LIST: dict[str, Callable[[Any], Any]] = {
    "item": lambda xs: xs.__setitem__(0, 3.0),
    "slice": lambda xs: xs.__setitem__(slice(1, None), [2.0]),
    "append": lambda xs: xs.append(1.0),
    "insert": lambda xs: xs.insert(0, 1.0),
    "pop": lambda xs: xs.pop(),
    "clear": lambda xs: xs.clear(),
    "extend": lambda xs: xs.__iadd__([1.0]),
    "reverse": lambda xs: xs.reverse(),
    "sort": lambda xs: xs.sort(),
}
DICT: dict[str, Callable[[Any], Any]] = {
    "item": lambda d: d.__setitem__("a", 3.0),
    "new": lambda d: d.__setitem__("c", 3.0),
    "update": lambda d: d.update(b=2.5),
    "pop": lambda d: d.pop("a"),
    "order": lambda d: d.__setitem__("a", d.pop("a")),
}
POINT: dict[str, Callable[[Any], Any]] = {
    "number": lambda p: setattr(p, "x", p.x * 2),
    "list": lambda p: setattr(p, "y", [1.0, 2.0]),
    "inside": lambda p: p.y.append(1.0),
}
CHANGES = {
    **{f"list {name}": (lambda: [2.0, 1.0, 0.5], change) for name, change in LIST.items()},
    **{f"dict {name}": (lambda: {"a": 1.0, "b": 2.0}, change) for name, change in DICT.items()},
    **{f"point {name}": (lambda: Point(1.0, [2.0]), change) for name, change in POINT.items()},
    "empty": (list, LIST["append"]),
    "whole numbers": (lambda: [2, 1, 3], LIST["item"]),
}
PLACES: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "primals": lambda one: (one, one),
    "list": lambda one: ([one, 1.0, one], 2.0),
    "dict": lambda one: ({"a": one}, (one, 3.0)),
    "far": lambda one: ([2.0, [3.0]], [one], {"k": [one]}),
}
READERS: dict[str, Callable[..., Any]] = {
    "primals": lambda a, b: a,
    "list": lambda a, b: a[2],
    "dict": lambda a, b: a["a"],
    "far": lambda a, b, c: c["k"][0],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_refused(name: str, place: str) -> None:
    make, change = CHANGES[name]

    def program(x: float, *args: Any) -> float:
        change(READERS[place](*args))
        return x * x

    given = PLACES[place](make())
    for transform in (te.vjp, lambda f, *args: te.grad(f, tuple(range(len(args))))(*args)):
        with pytest.raises(UnsupportedError, match="in two places of its arguments"):
            transform(program, 2.0, *given)
    one = make()
    apart = {"primals": (one, make()), "list": ([make(), 1.0, one], 2.0), "dict": ({"a": one}, (make(), 3.0))}
    assert te.vjp(program, 2.0, *apart.get(place, ([2.0, [3.0]], [make()], {"k": [one]})))[0] == 4.0


def test_reading_gives_each_place_its_own_derivative() -> None:
    xs = [1.0, 2.0]
    value, back = te.vjp(lambda a, b: sum(x * y * y for x, y in zip(a, b, strict=True)), xs, xs)
    assert (value, back(1.0)) == (9.0, ([1.0, 4.0], [2.0, 8.0]))
    point = Point(3.0, [2.0])
    assert te.grad(lambda a, b: a.x * b.y[0] ** 2, (0, 1))(point, point) == (Point(4.0, [0.0]), Point(0.0, [12.0]))
    assert te.grad(lambda rows: sum(k * sum(row) for k, row in enumerate(rows)))([[0.5]] * 3) == [[0.0], [1.0], [2.0]]


@pytest.mark.parametrize("name", CHANGES)
def test_a_replay_is_refused_as_well(name: str) -> None:
    make, change = CHANGES[name]

    def program(x: float, a: Any, b: Any) -> float:
        change(a)
        return x * x

    staged = te.stage(program)
    for _ in range(3):
        assert te.vjp(staged, 2.0, make(), make())[0] == 4.0
        one = make()
        with pytest.raises(UnsupportedError, match="in two places of its arguments"):
            te.vjp(staged, 2.0, one, one)


def test_a_replay_that_only_reads() -> None:
    staged = te.stage(lambda a, b: sum(x * y for x, y in zip(a, b, strict=True)))
    for k in range(3):
        xs = [1.0 + k, 2.0]
        assert te.grad(staged, (0, 1))(xs, xs) == (xs, xs)
    assert staged.stats().recordings == 1
