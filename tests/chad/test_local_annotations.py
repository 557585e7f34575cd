"""Annotations that name classes and aliases of the function around a program."""

import enum
from dataclasses import dataclass, replace
from typing import NamedTuple, Optional

import pytest

import tapeengine as te


def programs(factor: float) -> list[tuple]:
    @dataclass
    class A:
        a: float

    class N(NamedTuple):
        a: float

    class E(enum.Enum):
        ONE = 1

    T = list[float]
    U = tuple[float, A]

    def of_a_class(o: A) -> float:
        return o.a * o.a * factor

    def of_an_alias(o: T) -> float:
        return o[0] * o[0]

    def of_an_alias_of_it(o: U) -> float:
        return o[0] * o[1].a

    def of_a_list(o: list[A]) -> float:
        return o[0].a * 2.0

    def of_an_optional(o: Optional[A]) -> float:  # noqa: UP045
        return 1.0 if o is None else o.a * 3.0

    def gives_an_alias(o: float) -> T:
        return [o * 2.0]

    def of_a_tuple(o: N) -> float:
        return o.a * o[0]

    def of_a_member(o: float, e: E) -> float:
        return o * o

    def of_a_local_function(o: A) -> float:
        def inner(b: A) -> float:
            return b.a * 2.0

        return inner(o)

    def gives_a_class(o: A) -> A:
        return replace(o, a=o.a * 2.0)

    return [
        *((of_a_class, A(2.0)), (of_an_alias, [2.0]), (of_an_alias_of_it, (2.0, A(3.0))), (of_a_list, [A(2.0)])),
        *((of_an_optional, A(2.0)), (gives_an_alias, 2.0), (of_a_tuple, N(2.0)), (of_a_member, 2.0, E.ONE)),
        *((of_a_local_function, A(2.0)), (gives_a_class, A(2.0))),
    ]


@pytest.mark.parametrize("k", range(len(programs(1.0))))
def test_value_and_cotangents(k: int) -> None:
    for factor in (1.5, 2.5):
        function, *args = programs(factor)[k]
        value, back = te.vjp(te.program(function), *args)
        expected, reference = te.vjp(function, *args)
        assert value == expected == function(*args)
        one = value if type(value).__name__ == "A" else [1.0] if isinstance(value, list) else 1.0
        assert back(one) == reference(one)
