"""The plain call of a program is the plain function's call, and derivatives refuse what they cannot take."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import pytest
from counted_calls import calls

import tapeengine as te
from tapeengine.errors import StructureError, TapeEngineError


def check(x, kind):
    return isinstance(x, kind)


def is_kind(x, kind):
    return type(x) is kind


def by_kind(x, kind):
    return {float: x, int: -1.0}[kind]


def checked(x: float) -> float:
    return x if check(x, float) else 0.0


def chosen_by_class(x: float) -> float:
    return 0.0 if check(x, int) else x


def chosen(x):
    return x if is_kind(x, float) else 0.0


def looked_up(x):
    return by_kind(x, float)


@pytest.mark.parametrize("function", [checked, chosen, looked_up])
def test_classes_that_are_passed_on(function):
    """A class that is passed to another function is the class itself."""
    assert te.program(function)(2.0) == function(2.0) == 2.0


@pytest.mark.parametrize("function", [checked, chosen_by_class])
def test_derivatives_where_classes_are_passed_on(function):
    """A class that is given to a parameter is known when the program is read."""
    value, back = te.vjp(te.program(function), 2.0)
    assert (value, back(1.0)) == (2.0, (1.0,))
    assert te.jvp(te.program(function), (2.0,), (3.0,)) == (2.0, 3.0)


def test_classes_in_variables_are_refused():
    """The refusal says that the class is a variable, where, and what to write."""

    def varying(x: float, y: float) -> float:
        return x if isinstance(x, y) else y

    with pytest.raises(TapeEngineError, match=r"(?s)the variable y as the class.*line.*write the class itself"):
        te.vjp(te.program(varying), 2.0, 3.0)


@dataclass
class Node:
    v: float
    parent: Node | None = None
    children: dict = field(default_factory=dict)


@dataclass
class Link:
    v: float
    next: Link | None = None


def up(n: Node, path: list) -> None:
    if n.parent:
        path.append(n.v)
        up(n.parent, path)


def total(n: Link | None, k: int) -> float:
    return 0.0 if n is None or k == 0 else n.v * n.v + total(n.next, k - 1)


def tree():
    a = Node(1.0)
    b = Node(2.0, a)
    a.children["b"] = b
    return b


def ring():
    a = Link(1.0)
    a.next = Link(2.0, a)
    return a


@te.program
def summed(n: int) -> int:
    return 0 if n == 0 else n + summed(n - 1)


def test_calls_of_itself():
    """A program that calls itself by its own name nests as deeply as the function does."""
    assert summed(700) == 700 * 701 // 2


def test_plain_calls_with_cycles():
    """Data that contain themselves are passed on as they are."""
    path: list[float] = []
    assert te.program(up)(tree(), path) is None
    assert path == [2.0]
    assert te.program(total)(ring(), 3) == total(ring(), 3) == 6.0


@pytest.mark.parametrize(
    "derivative",
    [
        te.vjp,
        lambda f, *xs: te.jvp(f, xs, (None,) * len(xs)),
        lambda f, *xs: te.grad(f)(*xs),
        lambda f, *xs: te.hvp(f, xs, (None,) * len(xs)),
        lambda f, *xs: te.value_and_grad(f)(*xs),
    ],
    ids=["vjp", "jvp", "grad", "hvp", "value_and_grad"],
)
@pytest.mark.parametrize(("function", "make", "other"), [(up, tree, []), (total, ring, 3)], ids=["tree", "ring"])
@pytest.mark.parametrize("is_used", [False, True])
def test_derivatives_with_cycles(derivative, function, make, other, is_used):
    """A derivative of data that contain themselves is refused, also once the program has run on other data."""
    made = te.program(function)
    if is_used and function is total:
        for _ in range(3):
            assert te.vjp(made, Link(1.0, Link(2.0)), other)[0] == 5.0
    with pytest.raises(StructureError, match="contains itself"):
        derivative(made, make(), other)


def test_traces_reach_through_cycles():
    """A traced value is found in data that contain themselves, and gets its derivative, by dual numbers."""

    def through(x):
        a = Link(x)
        a.next = a
        return te.program(lambda n: n.next.v * n.v)(a)

    assert te.grad(through)(3.0) == 6.0


def test_shared_parts_are_no_cycles():
    """What is there twice, but not inside itself, has derivatives."""
    shared = Link(2.0)

    def both(a: Link, b: Link) -> float:
        return total(a, 3) * b.v

    value, back = te.vjp(te.program(both), Link(1.0, shared), shared)
    assert value == 10.0
    assert back(1.0)[1].v == 5.0


@pytest.mark.parametrize("function", [functools.lru_cache(checked), functools.partial(checked), len, 3.0])
def test_what_is_no_def(function):
    """A program of anything else than a def is refused by an error of the engine, which is a TypeError as well."""
    with pytest.raises(TapeEngineError, match="write a def around it") as raised:
        te.program(function)
    assert isinstance(raised.value, TypeError)


def test_recursive_data_are_not_walked_in_python():
    """Where the core takes recursive data, no Python runs for each of their parts."""
    program = te.program(total, backend="native")
    long = Link(1.0)
    for _ in range(200):
        long = Link(1.0, long)
    for _ in range(3):
        te.vjp(program, long, 500)[1](1.0)
    assert len(calls(lambda: te.vjp(program, long, 500)[1](1.0), ("call",))) < 60
