"""Functions and operators of whole numbers refuse floats, in typed programs as in Python, and compute as it does."""

from __future__ import annotations

import math
from typing import Any

import pytest
from chad.written_functions import function_of
from outcomes import outcome

import tapeengine as te
import tapeengine.math
from tapeengine.errors import TapeEngineError

EXPRESSIONS = [
    *(
        "math.gcd(n, 6)",
        "math.gcd(6, n)",
        "math.factorial(n)",
        "math.comb(n, 2)",
        "math.comb(5, n)",
        "n >> 1",
        "8 >> n",
    ),
    *("8 >> n", "n << 1", "1 << n", "n & 3", "3 & n", "n | 1", "n ^ 5", "~n", "[2, 5, 7, 11, 13][n]", "len(range(n))"),
    *("math.perm(n, 2)", "math.lcm(n, 6)", "math.isqrt(n)", "len([0] * n)", "[1, 2, 3, 4, 5][:n][0]"),
]


@pytest.mark.parametrize("number", [4, 1, 0, -3, 4.0, 2.5], ids=repr)
@pytest.mark.parametrize("k", range(len(EXPRESSIONS)), ids=EXPRESSIONS)
def test_expressions_of_whole_numbers(k: int, number: Any) -> None:
    program = function_of("x, n", [f"return x * ({EXPRESSIONS[k]})"], math=math)
    expected = outcome(lambda: program(1.0, number))
    found = outcome(lambda: te.grad(te.program(program))(0.5, number))
    if isinstance(expected, Exception):
        assert isinstance(found, (type(expected), TapeEngineError)), (
            f"Python raises {expected!r}, and we return {found!r}"
        )
    elif not isinstance(found, TapeEngineError):
        assert found == expected or (found[0] == expected and len(found) == 1)


@pytest.mark.parametrize("name", ["gcd", "lcm", "factorial", "comb", "perm", "isqrt"])
def test_functions_of_whole_numbers_refuse_floats_also_if_they_are_traced(name: str) -> None:
    ours, count = getattr(tapeengine.math, name), 2 if name in ("gcd", "lcm", "comb", "perm") else 1
    assert ours(*[4] * count) == getattr(math, name)(*[4] * count)
    for number in (4.0, 2.5):
        with pytest.raises(TypeError):
            ours(*[number] * count)
        with pytest.raises(TypeError):
            te.vjp(lambda x: ours(*[x] * count), number)


@pytest.mark.parametrize("start", [[], [1.0], (), (2.0,), "", None, 1, 2.0, {}], ids=repr)
def test_sums_from_a_start_of_another_class(start: Any) -> None:
    for parts in (lambda x: [x, x], lambda x: [[x], [x]], lambda x: [(x,), (x,)], lambda x: []):
        expected = outcome(lambda parts=parts: sum(parts(1.5), start))
        found = outcome(lambda parts=parts: te.vjp(lambda x: sum(parts(x), start), 1.5)[0])
        assert type(found) is type(expected)
        assert isinstance(expected, Exception) or found == expected
