"""Calls of Python's classes without arguments: ``list()`` is an empty list, unless the name is another function's."""

import pytest
from chad.written_functions import defined

import tapeengine as te

BODIES = (
    "ys = list();for i in range(3): ys.append(x * i);return ys",
    "rows = list();for i in range(2):;    row = list();    row.append(x * i);    rows.append(row);return rows",
    "d = dict();d['a'] = x;return d",
    "s = float();for i in range(3): s += x;return s, int(), bool(), str()",
    "list = lambda: 5.0;return list() + x",
    "def float(): return 2.0;return float() * x",
    "return list()",
)


@pytest.mark.parametrize("body", BODIES)
def test_a_call(body):
    lines = "\n    ".join(body.split(";"))
    f = defined(f"def f(x):\n    {lines}\n")
    program = te.program(f)
    assert program.for_values((1.5,)).is_read
    assert repr(program.value(1.5)) == repr(te.vjp(program, 1.5)[0]) == repr(f(1.5))
