"""A row that stands in two places, and a function that changes it: both places show the change, as in Python."""

from typing import Any

import pytest
from chad.written_functions import defined

import tapeengine as te

MADE = {
    "repeated": "q = [[x, 2 * x]] * 2",
    "named": "r = [x, 2 * x]\n    q = [r, r]",
    "rows of an argument": "q = [g[0], g[0]]",
    "in a comprehension": "r = [x, 2 * x]\n    q = [r for _ in range(2)]",
    "by the path": "r = [x, 2 * x]\n    q = [r, r] if x > 0.0 else [[x, x], [x, x]]",
    "assigned": "q = [[x, x], [x, x]]\n    q[1] = q[0]",
    "assigned by name": "r = [x, 2 * x]\n    q = [[x, x], [x, x]]\n    q[0] = r\n    q[1] = r",
    "appended": "r = [x, 2 * x]\n    q = []\n    q.append(r)\n    q.append(r)",
    "a copy of the list": "p = [[x, 2 * x], [x, x]]\n    q = list(p)",
    "a slice": "p = [[x, 2 * x], [x, x]]\n    q = p[:]",
    "a method": "p = [[x, 2 * x], [x, x]]\n    q = p.copy()",
    "a sum": "p = [[x, 2 * x]]\n    q = p + [[x, x]]",
    "a star": "p = [[x, 2 * x]]\n    q = [*p, [x, x]]",
    "backwards": "p = [[x, 2 * x], [x, x]]\n    q = p[::-1]",
    "reversed": "p = [[x, 2 * x], [x, x]]\n    q = list(reversed(p))",
    "rows of their own": "q = [[x, 2 * x], [x, 3 * x]]",
    "copies": "q = [list(g[0]), list(g[0])]",
}
CHANGES = ("change(q, x)", "change(q, 2.0)\n    change(q, x)", "for k in range(2):\n        change(q, x * k)")


def change(q: Any, x: Any) -> None:
    q[0][0] = x * q[0][1]


@pytest.mark.parametrize("backend", ["machine", "native"])
@pytest.mark.parametrize("changed", CHANGES)
@pytest.mark.parametrize("made", MADE)
@pytest.mark.filterwarnings("ignore:.*runs without native code:RuntimeWarning")
def test_a_function_changes_it(made: str, changed: str, backend: Any) -> None:
    other = " + sum(p[0]) + sum(p[-1]) * x" if "p = " in MADE[made] else ""
    text = f"def f(g, x):\n    {MADE[made]}\n    {changed}\n    return q[0][0] * 3.0 + q[1][0] * x + q[1][1]{other}\n"
    f = defined(text, "f", change=change)
    args = [[1.0, 2.0], [3.0, 4.0]], 0.5
    try:
        found = te.value_and_grad(te.program(f, backend=backend), argnums=1)(*args)
    except te.chad.ProgramError as error:
        assert "is changed by this call" in str(error)
        assert made == "appended"
        return
    assert found == te.value_and_grad(f, argnums=1)(*args)
