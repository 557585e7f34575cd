"""The command, the reader of expressions and the printer of terms."""

import pytest

import tapeengine as te
import tapeengine.math as math
from asv_bench import ladder_programs as programs
from tapeengine.__main__ import main
from tapeengine.chad.language.terms import If, Index, Op, Replicate, Size, Total, Tuple, Var, lit
from tapeengine.chad.language.types import FLOAT, INT, Array
from tapeengine.ladder import chad, dn
from tapeengine.ladder.evaluate import run
from tapeengine.ladder.parse import parse
from tapeengine.ladder.pretty import show
from tapeengine.ladder.wn import steps as wn
from tapeengine.ladder.wn.gradient import procedure_of
from tapeengine.ladder.wn.notation import statements

PAPERS = (dn.STEPS, chad.STEPS, wn.STEPS)


def test_the_running_example_of_the_paper(capsys):
    assert main(["ladder", "z = x + y; x * z", "x=12", "y=13"]) == 0
    printed = capsys.readouterr().out
    assert "\\z'12. d'10(d0 mul(x'8, x'9)(z'12)) + d'11(d1 mul(x'8, x'9)(z'12))" in printed
    assert "        d_z_1 = 0.0\n            p[1](d_6)\n            z[1](d_z_1)\n" in printed
    assert "e = split('z', p[1](d_6))\n            return e[0] + z[1](e[1])" in printed
    assert "L((P[0], P[1]); F(add), (P[0], P[2]); F(mul))" in printed
    assert "    bt4' = (x9', t3)\n    x8' = Call rr$mul bt4'\n" in printed
    assert "let (d'30,) = rr$dup((x'3*, x'4*), b'29)" in printed
    tables = [part.splitlines() for part in printed.split("derivative\n")[1:]]
    lines = [[line for line in table if line.endswith("(37.0, 12.0)")] for table in tables]
    assert [[line[:13].strip() for line in table] for table in lines] == [list(steps) for steps in PAPERS]


def test_names_of_the_program_are_not_taken():
    """The steps make their own variables, whatever names the program uses."""
    module = parse("x_1 = a + d_2; p_3 = sin(x_1) * i_4; p_3 * x_1 + z_5")
    primals = (0.3, 0.4, 0.5, 0.6)
    expected = te.vjp(lambda a, d, i, z: math.sin(a + d) * i * (a + d) + z, *primals)[1](1.0)
    for step in [*dn.STEPS.values(), *chad.STEPS.values()]:
        assert step(module, *primals).backpropagator(1.0) == pytest.approx(expected, rel=1e-14)
    for system in wn.STEPS.values():
        assert system(module, *primals).cotangents == pytest.approx(expected, rel=1e-14)


def test_a_name_can_be_assigned_again():
    module = parse("x = x + y; x = x * y; x = -x / 2; x")
    assert run(module, 3.0, 4.0) == -14.0
    steps = [*dn.STEPS.values(), *chad.STEPS.values()]
    assert [step(module, 3.0, 4.0).backpropagator(1.0) for step in steps] == [(-2.0, -5.5)] * len(steps)
    assert [system(module, 3.0, 4.0).cotangents for system in wn.STEPS.values()] == [(-2.0, -5.5)] * len(wn.STEPS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x +"], "invalid syntax"),
        (["x ** 2"], "'x ** 2' is none of"),
        (["sin(x, y)"], "sin takes 1 operands, not 2"),
        (["a.b = x; x"], "not an assignment to a name"),
        (["x = 1"], "does not end in an expression"),
        ([""], "does not end in an expression"),
        (["x", "y=2"], "no name 'y'"),
        (["x", "x=two"], "NAME=NUMBER, such as x=1.5, not 'x=two'"),
        (["x", "x"], "NAME=NUMBER, such as x=1.5, not 'x'"),
        (["x / 0"], "division by zero"),
        (["log(x)", "x=-1"], "math domain error"),
        (["expit(x)"], "no base_expit"),
        (["sin(" * 150 + "x" + ")" * 150], "recursion depth"),
    ],
)
def test_what_is_no_program_is_refused(arguments, message, capsys):
    assert main(["ladder", "--no-terms", *arguments]) == 2
    printed = capsys.readouterr()
    assert message in printed.err and not printed.out


def test_all_constructors_print():
    texts = [show(d.body) for d in programs.list_product().definitions.values()]
    texts += [show(d.body) for d in programs.particles().definitions.values()]
    assert "case xs of\n    in0 empty ->\n        1.0\n    in1 cell ->\n        cell.0 * f(cell.1)" in texts
    assert any("if n <= 0 then" in text for text in texts)
    assert any("(move(steps, s0.0, s0.1) || move(" in text for text in texts)
    folded, looped = programs.folded_product(3), [programs.looped(3, again) for again in (False, True)]
    assert show(folded.definitions["f"].body) == "fold (\\t. t.0 * t.1) 1.0 (build 3 (\\i. x + real(i + 1)))"
    assert [show(m.definitions["f"].body) for m in looped] == ["nTimes 3 x step", "ccl 3 x step"]
    a = Var("a", Array(FLOAT))
    assert show(Op("mul", (Total(a), Index(a, Op("isub", (Size(a), lit(1)), INT))))) == "sum a * a[size a - 1]"


def test_conditionals_print():
    main = programs.conditionals(1).definitions["f"]
    text = "\n".join(statements(procedure_of(programs.conditionals(1))[0]))
    assert show(main.body) == "let x1 =\n    if x0 < 1.0 then\n        x0 * x0\n    else\n        x0 + x0\nx1"
    assert "Case x7\n    In0 x9\n        Elim x9\n" in text
    assert show(If(lit(True), Tuple((main.params[0],)), Tuple(()))) == "if True then\n    (x0,)\nelse\n    ()"


def test_what_is_no_term_of_the_ladder_does_not_print():
    with pytest.raises(ValueError, match="Replicate is not a term"):
        show(Replicate(lit(3), lit(1.0)))
