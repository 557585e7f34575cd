"""Lifted code evaluates the parts of an assignment in Python's order, also where a part changes another one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from chad.written_functions import defined
from plain_sums import in_order

import tapeengine as te

HEAD = """
import numpy as np
class Owner:
    def bump(self):
        self.v += 1.0
        return self.v
def f(x):
    y, i, o, d = x * 1.0, 0, Owner(), {"v": 2.0}
    o.v, o.w, xs = 3.0, CONTAINER([1.0, 2.0, x]), CONTAINER([x, 5.0, 6.0])
    m = [[x, 1.0, 3.0, 2.0], [2.0, 3.0, x, 1.0], [1.0, 1.0, 1.0, 1.0]]
    q = CONTAINER([[1.0, 2.0, x, 3.0], [x, 4.0, 5.0, 2.0], [6.0, x, 7.0, 1.0]])
    def g():
        nonlocal y, i, xs, m, q
        CHANGE
        return 2.0
    def gi():
        nonlocal i
        i += 1
        return i
    STATEMENT
    parts = [y, i, o.v, *o.w, *xs, d["v"], *m[0], *m[1], *m[2], *q[0], *q[1], *q[2]]
    return sum((k + 1.0) * part * part for k, part in enumerate(parts))
"""
CHANGES = (
    *("y = y * 0.5 + x", "i += 1", "o.v = 7.0", "o.w = CONTAINER([x, 8.0, 9.0])", "xs = CONTAINER([4.0, x, 1.0])"),
    *(
        "xs[0] = 7.0",
        "o.w[0] = x * x",
        "d['v'] = x",
        "m = [[x, x, x, x], [1.0, x, 1.0, x], [x] * 4]",
        "m[0] = [5.0, x, x, 1.0]",
    ),
)
TARGETS = (
    *("y", "o.v", "d['v']", "xs[i]", "xs[gi()]", "o.w[i]", "o.w[gi()]", "m[i][gi()]", "xs[int(g()) - 2]"),
    *("xs[i - 1]", "o.w[(lambda: i)()]", "xs[(*[i],)[0]]"),
)
VALUES = ("g()", "g() * y", "y * g()", "gi() * x", "o.bump()", "x + (y := 4.0)", "x")
OPERATORS = ("=", "+=", "*=", "-=")
#: Parts of an index: what later parts change must have been evaluated before them.
PARTS = (
    *("i:2, gi()", "i:2, gi(), None", "None, i:, gi()", "gi(), i:", "gi(), :i + 1, None", ":gi(), i", "i:gi() + 1, i"),
    *(
        "i:gi() + 1:gi() - 1, i",
        "i, gi():gi() + 1",
        "..., i:3, gi()",
        "::gi(), i:gi()",
        "[i, 1], gi():",
        "(*[i], gi())",
    ),
)
CASES = [
    *itertools.product(("list", "np.array"), CHANGES, TARGETS, OPERATORS, VALUES),
    *itertools.product(("list",), CHANGES, ["xs[i:gi() + 1]", "xs[:int(g()) - 1]"], ["="], ["[y, x]", "[g(), y]"]),
    *itertools.product(
        ("np.array",), ["i += 1", "q[0, 1] = x * x", "q = q * 2.0"], [f"q[{x}]" for x in PARTS], OPERATORS, VALUES
    ),
]


def made(container: str, change: str, target: str, operator: str, value: str) -> Any:
    source = HEAD.replace("CHANGE", change).replace("STATEMENT", f"{target} {operator} {value}")
    source = source.replace("CONTAINER", container)
    return defined(source, __name__="__main__")


@pytest.mark.parametrize("part", range(8))
def test_parts_are_evaluated_in_pythons_order(part: int) -> None:
    for case in CASES[part::24]:
        plain = made(*case)
        lifted = te.lift(plain)
        assert lifted(0.7) == plain(0.7), case
        value, slope = te.value_and_grad(lifted)(0.7)
        assert value == in_order(plain, 0.7), case
        assert slope == pytest.approx((plain(0.7 + 1e-6) - plain(0.7 - 1e-6)) / 2e-6, rel=1e-6, abs=1e-6), case
