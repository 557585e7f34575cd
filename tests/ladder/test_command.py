"""The command, the reader of expressions and the printer of terms."""

import pytest

import tapeengine as te
import tapeengine.math as math
from tapeengine.__main__ import main
from tapeengine.ladder import programs
from tapeengine.ladder.dn import STEPS
from tapeengine.ladder.evaluate import run
from tapeengine.ladder.parse import parse
from tapeengine.ladder.pretty import show


def test_the_running_example_of_the_paper(capsys):
    assert main(["ladder", "z = x + y; x * z", "x=12", "y=13"]) == 0
    printed = capsys.readouterr().out
    assert "\\z'12. d'10(d0 mul(x'8, x'9)(z'12)) + d'11(d1 mul(x'8, x'9)(z'12))" in printed
    table = printed.partition("derivative\n")[2].splitlines()
    assert [line.split()[0] for line in table] == [name.split()[0] for name in STEPS]
    assert all(line.endswith("(37.0, 12.0)") for line in table)


def test_names_of_the_program_are_not_taken():
    """The steps make variables of their own, whatever the program calls its."""
    module = parse("x_1 = a + d_2; p_3 = sin(x_1) * i_4; p_3 * x_1 + z_5")
    primals = (0.3, 0.4, 0.5, 0.6)
    expected = te.vjp(lambda a, d, i, z: math.sin(a + d) * i * (a + d) + z, *primals)[1](1.0)
    for step in STEPS.values():
        assert step(module, *primals).backpropagator(1.0) == pytest.approx(expected, rel=1e-14)


def test_a_name_can_be_assigned_again():
    module = parse("x = x + y; x = x * y; x = -x / 2; x")
    assert run(module, 3.0, 4.0) == -14.0
    assert [step(module, 3.0, 4.0).backpropagator(1.0) for step in STEPS.values()] == [(-2.0, -5.5)] * len(STEPS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x +"], "invalid syntax"),
        (["x ** 2"], "'x ** 2' is none of"),
        (["sin(x, y)"], "sin takes 1 operands, not 2"),
        (["a.b = x; x"], "no assignment to a name"),
        (["x = 1"], "ends in no expression"),
        ([""], "ends in no expression"),
        (["x", "y=2"], "no name 'y'"),
        (["x", "x=two"], "could not convert"),
        (["x / 0"], "division by zero"),
        (["log(x)", "x=-1"], "math domain error"),
        (["expit(x)"], "no base_expit"),
    ],
)
def test_what_is_no_program_is_refused(arguments, message, capsys):
    assert main(["ladder", "--no-terms", *arguments]) == 2
    assert message in capsys.readouterr().out


def test_all_constructors_print():
    texts = [show(d.body) for d in programs.list_product().definitions.values()]
    texts += [show(d.body) for d in programs.particles().definitions.values()]
    assert "case xs of\n    in0 empty ->\n        1.0\n    in1 cell ->\n        cell.0 * f(cell.1)" in texts
    assert any("if n <= 0 then" in text for text in texts)
    assert any("(move(steps, s0.0, s0.1) || move(" in text for text in texts)
