"""Branches that give tuples with integers and real numbers in one place."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from chad.source_programs import Source, function_of

import tapeengine as te


def program_of(text: str) -> Callable[..., Any]:
    return function_of(Source(hash(text), text, ()))


def added_zero(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A program whose result is real where the plain one's is a product of integers."""
    return lambda x: 0.0 * x + plain(x)


@pytest.mark.parametrize("length", [2, 3])
def test_branches_may_mix_integers_and_numbers_in_one_place_of_a_tuple(length: int) -> None:
    for kinds in itertools.product(((("2", "3.0")), ("x", "5"), ("7", "x")), repeat=length):
        one, other = (", ".join(pair[k] for pair in kinds) for k in range(2))
        text = f"""def program(x: float) -> float:
    if x > 0.0:
        p = ({one})
    else:
        p = ({other})
    return {" * ".join(f"p[{k}]" for k in range(length))}
"""
        plain = program_of(text)
        for x in (1.5, -1.5):
            assert te.value_and_grad(te.program(plain))(x) == te.value_and_grad(added_zero(plain))(x)
