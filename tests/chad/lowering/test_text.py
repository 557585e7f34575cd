"""The intermediate form as text: it says what runs, and runs when it is pasted."""

import pytest

import tapeengine.math as math
from tapeengine import chad as te
from tapeengine.errors import UnsupportedError


@te.program
def horner(c: te.Vec, x: float) -> float:
    acc = 0.0
    for a in c:
        acc = acc * x + math.sin(a)
    return acc


def test_a_printed_derivative_runs():
    namespace = {}
    exec("from math import sin, cos\n" + horner.derivative("loops"), namespace)
    y, kept = namespace["forward"]([0.5, -1.0, 2.0], 0.3)
    assert y == horner([0.5, -1.0, 2.0], 0.3)
    dc, dx = namespace["reverse"](kept, 1.0)
    assert dc == pytest.approx([0.09 * math.cos(0.5), 0.3 * math.cos(-1.0), math.cos(2.0)])
    assert dx == pytest.approx(2 * 0.3 * math.sin(0.5) + math.sin(-1.0))


def test_nothing_is_kept_that_is_not_used():
    assert "steps_1" not in horner.derivative("loops")


@te.program
def nothing(rows: te.Array[te.Array[tuple[()]]]) -> float:
    return 1.0 * len(rows)


def test_a_program_without_the_form_says_so():
    with pytest.raises(UnsupportedError, match="no intermediate form"):
        nothing.derivative("loops")
