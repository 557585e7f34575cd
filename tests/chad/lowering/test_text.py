"""The intermediate form as text: it says what runs, and runs when it is pasted."""

import pytest
from chad.written_functions import defined

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


#: Functions that are larger than what is always copied, with numbers of statements.
LARGE = {"once": 80, "often": 60}


def lines(count):
    """Statements of a long function."""
    return "".join(f"    y = y * y + x * {k}.5\n" for k in range(count))


def test_a_large_function_that_is_called_once_is_part_of_its_caller():
    functions = [f"def {name}(x: float) -> float:\n    y = x\n{lines(n)}    return y\n" for name, n in LARGE.items()]
    calls = "    y = often(y)\n" * 30
    source = f"{''.join(functions)}def f(x: float) -> float:\n    y = once(x)\n{calls}    return y\n"
    text = te.program(defined(source)).derivative("reverse")
    assert "def forward_often" in text
    assert "def forward_once" not in text
