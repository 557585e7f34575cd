"""Starred targets of tuples and lists of any length: what Python binds, or the error that it raises."""

from __future__ import annotations

from typing import Any

import pytest
from chad.written_functions import defined
from outcomes import comparable

import tapeengine as te
from tapeengine.errors import TapeEngineError

TARGETS = {"a, *b": "ab", "*b, a": "ab", "a, *b, c": "abc", "a, c, *b": "abc", "*b, a, c": "abc", "(a, *b), c": "abc"}
PARTS = ("x", "2.0 * x", "x * x", "3.0", "x + 1.0", "x * 0.5")


def program(target: str, value: str) -> Any:
    rest = " + ".join(f"{k + 2}.0 * {name}" for k, name in enumerate(TARGETS[target]) if name != "b")
    lines = [f"{target} = {value}", "t = 0.0 * x", "for k, v in enumerate(b):", "    t = t + v * (k + 5.0)"]
    return defined("def f(x: float) -> float:\n    " + "\n    ".join([*lines, f"return t + {rest}"]))


@pytest.mark.parametrize("count", range(6))
@pytest.mark.parametrize("of", ["({},)", "[{}]"])
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_left_for_a_star(target: str, of: str, count: int) -> None:
    value = of.format(", ".join(PARTS[:count])) if count else of[0] + of[-1]
    if target[0] == "(":
        value = f"({value}, 4.0 * x)"
    f = program(target, value)
    wanted, found = comparable(f, 1.5), comparable(lambda: te.value_and_grad(te.program(f))(1.5))
    if isinstance(found, type):
        assert found is wanted or issubclass(found, TapeEngineError)
        return
    assert found[0] == wanted
    assert found[1] == pytest.approx(f(1.5 + 1e-30j).imag * 1e30, rel=1e-14)


@pytest.mark.parametrize("target", [t for t in TARGETS if t[0] != "("])
def test_a_star_for_which_nothing_is_left_is_refused_by_what_to_write(target: str) -> None:
    f = program(target, f"({', '.join(PARTS[: len(TARGETS[target]) - 1])},)")
    with pytest.raises(TapeEngineError, match=r"(?s)no parts are left for a target with .*leave it out"):
        te.program(f)
