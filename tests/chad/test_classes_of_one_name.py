"""Records are told apart by the names of their classes in types and in texts: classes of one name are not mixed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import tapeengine as te
from tapeengine.errors import StructureError, UnsupportedError


def near() -> Any:
    @dataclass
    class Point:
        x: float
        y: float

        def size(self) -> float:
            return self.x * self.x + self.y

    return Point


def far() -> Any:
    @dataclass
    class Point:
        x: float
        y: float

        def size(self) -> float:
            return 3.0 * self.x

    return Point


def again() -> Any:
    """As a cell of a notebook that runs once more, with another field."""

    @dataclass
    class Point:
        x: float
        y: float
        z: float = 1.0

        def size(self) -> float:
            return self.z * self.x

    return Point


Near, Far, Again = near(), far(), again()


def size(p: Any) -> Any:
    return p.size()


def both(p: Any, q: Any) -> Any:
    return p.size() + 2.0 * q.size()


def sizes(ps: Any) -> Any:
    return sum([p.size() for p in ps])


def made(p: Any) -> Any:
    return Far(p.x * p.x, 1.0).size() + p.size()


def inner(p: Any) -> Any:
    return both(p, Far(p.x, 2.0))


CALLS = [
    (size, (Near(2.0, 3.0),)),
    (size, (Far(2.0, 3.0),)),
    (size, (Again(2.0, 3.0),)),
    (both, (Near(2.0, 3.0), Far(1.0, 5.0))),
    (both, (Far(2.0, 3.0), Near(1.0, 5.0))),
    (both, (Again(2.0, 3.0), Near(1.0, 5.0))),
    (sizes, ([Near(2.0, 3.0), Near(1.0, 5.0)],)),
    (sizes, ([Near(2.0, 3.0), Far(1.0, 5.0)],)),
    (made, (Near(2.0, 3.0),)),
    (inner, (Near(2.0, 3.0),)),
]


@pytest.mark.parametrize("function, arguments", CALLS)
def test_a_program_without_annotations_means_the_plain_function(function: Any, arguments: Any) -> None:
    value, backpropagator = te.vjp(te.program(function), *arguments)
    wanted, wanted_backpropagator = te.vjp(function, *arguments)
    assert value == wanted == function(*arguments)
    assert backpropagator(1.0) == wanted_backpropagator(1.0)


def size_of_near(p: Near) -> float:
    return p.size()


def sizes_of_near(ps: list[Near]) -> float:
    return sum([p.size() for p in ps])


def size_of_one(p: Near | None) -> float:
    return 0.0 if p is None else p.size()


def size_of_both(p: Near, q: Far) -> float:
    return p.size() + q.size()


@pytest.mark.parametrize("cls", [Far, Again])
def test_an_annotation_takes_its_class_alone(cls: Any) -> None:
    for function, wrap in ((size_of_near, lambda p: p), (sizes_of_near, lambda p: [p]), (size_of_one, lambda p: p)):
        function.__annotations__ |= {"p": Near, "ps": list[Near]} if function is not size_of_one else {"p": Near | None}
        program = te.program(function)
        assert te.vjp(program, wrap(Near(2.0, 3.0)))[0] == 7.0
        with pytest.raises(StructureError, match=r"Point of another definition where .*Point.* is wanted"):
            te.vjp(program, wrap(cls(2.0, 3.0)))


def test_annotations_with_two_classes_of_one_name_are_refused() -> None:
    size_of_both.__annotations__ |= {"p": Near, "q": Far}
    with pytest.raises(
        UnsupportedError, match=r"two classes of one name, .*Point and .*Point: give one of them another"
    ):
        te.vjp(te.program(size_of_both), Near(1.0, 2.0), Far(1.0, 2.0))


def helped(p: Any) -> Any:
    return size(p) + 1.0


def of_near(p: Near) -> float:
    return helped(p)


def of_far(p: Far) -> float:
    return helped(p)


def of_made(x: float) -> float:
    return helped(Far(x, 2.0))


def test_functions_that_programs_share_are_read_for_each_class() -> None:
    of_near.__annotations__["p"], of_far.__annotations__["p"] = Near, Far
    assert te.value_and_grad(te.program(of_near))(Near(1.0, 2.0)) == (4.0, Near(2.0, 1.0))
    assert te.value_and_grad(te.program(of_far))(Far(1.0, 2.0)) == (4.0, Far(3.0, 0.0))
    assert te.value_and_grad(te.program(of_made))(2.0) == (7.0, 3.0)
