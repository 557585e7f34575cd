"""``rows[i].append(x)`` on lists of lists that a program makes: random programs against dual numbers, and refusals."""

import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


def program(text):
    return defined(text, te=te)


EXPRESSIONS = ["x", "2.0 * x", "x * x", "t * x", "rows[{i}][0] * x", "rows[{i}][-1] + t", "sum(rows[{i}])"]
STATEMENTS = [
    "rows[{i}].append({e})",
    "rows[{i}].append({e})",
    "rows[int(abs(t)) % 3].append({e})",
    "rows[max(len(rows[{i}]) % 3, 0)].append({e})",
    "t += {e}",
    "t += sum(rows[{i}]) * len(rows[{j}])",
    "if t > 0.5:\n{s}    rows[{i}].append({e})\n{s}else:\n{s}    rows[{j}].append(t)",
    "for k in range(4):\n{s}    rows[k % 3].append({e})\n{s}    t = 0.5 * t + rows[(k + 1) % 3][-1]",
    "t = max(rows[{i}]) - min(rows[{j}])",
]


def drawn(seed):
    draw = random.Random(seed)
    made = draw.choice(["[[x], [x, 0.5], [1.0]]", "[[x] for _ in range(3)]", "[[x * k] * 2 for k in range(3)]"])
    lines = ["def f(x: float) -> float:", f"    rows = {made}", "    t = 0.25"]
    for _ in range(draw.randint(2, 6)):
        i, j = draw.choice(["0", "1", "2", "-1"]), draw.choice(["0", "1", "2"])
        e = draw.choice(EXPRESSIONS).format(i=draw.choice("012"))
        lines.append("    " + draw.choice(STATEMENTS).format(i=i, j=j, e=e, s="    "))
    return "\n".join([*lines, "    for row in rows:", "        t = t * 0.5 + sum(row) / len(row)", "    return t", ""])


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    function = program(drawn(seed))
    value, back = te.vjp(te.program(function), 0.7)
    expected, on_duals = te.vjp(function, 0.7)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(back(1.0), on_duals(1.0), rtol=1e-10)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("rows = [[x], [x]]\n    other = rows[0]", "keeps a row"),
        ("other = [x]\n    rows = [other, [x]]", "no rows of its own"),
        ("rows = [[x]] * 2\n    other = [x]", "no rows of its own"),
        ("rows = [[x], [x]]\n    rows[1].append(x, x)\n    other = [x]", "value of this call is not used"),
        ("rows = [[x], [x]]\n    rows[1].append(*[x])\n    other = [x]", "value of this call is not used"),
        ("rows = [(x, x), (x, x)]\n    other = [x]", "list"),
    ],
)
def test_rows_with_another_name_are_refused(before, message):
    with pytest.raises(ProgramError, match=message):
        te.program(
            program(
                f"def f(x: float) -> float:\n    {before}\n    rows[0].append(x)\n    return sum(other) + rows[0][1]\n"
            )
        )
