"""What is said of arrays that never overlap is true: names of one memory, or of memory from outside, share a class."""

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.backends.lifetimes import Lifetimes
from tapeengine.chad.backends.llvm.aliases import Aliases, made_classes
from tapeengine.chad.intermediate.operations import REAL, WHOLE
from tapeengine.chad.intermediate.statements import (
    Add,
    ArrayOf,
    Assign,
    Call,
    Const,
    For,
    Function,
    Load,
    New,
    Row,
    Var,
)

ONE, TWO = ArrayOf(REAL), ArrayOf(REAL, 2)
N = Const(3, WHOLE)


def classes(params, body, results=()):
    f = Function("f", list(params), body, list(results))
    lifetimes = Lifetimes(f)
    return made_classes(f, lifetimes), lifetimes, f


def test_names_of_one_array_are_one_class():
    a, b, row = Var("a", TWO), Var("b", TWO), Var("row", ONE)
    found, lifetimes, f = classes([], [New(a, (N, N)), Assign((b,), (a,)), Row(row, b, (Const(0, WHOLE),))])
    assert len(found) == 1
    tags = Aliases(f, lifetimes, [])
    assert tags.of(a) == tags.of(b) == tags.of(row) != ""


def test_arrays_from_outside_have_no_scope_and_overlap_no_new_one():
    given, other, made, gave = (Var(name, ONE) for name in ("given", "other", "made", "gave"))
    found, lifetimes, f = classes([given, other], [New(made, (N,)), Call((gave,), "g", (given,))])
    assert found == ["made"]
    tags = Aliases(f, lifetimes, [])
    assert tags.of(given) == tags.of(other) == tags.of(gave)
    assert "alias.scope" not in tags.of(given)
    assert "alias.scope" in tags.of(made)


def test_an_array_that_a_loop_exchanges_for_an_argument_is_from_outside():
    given, state, made, i = Var("given", ONE), Var("state", ONE), Var("made", ONE), Var("i", WHOLE)
    loop = For(i, N, [New(made, (N,))], carried=[(state, made)])
    assert classes([given], [Assign((state,), (given,)), loop])[0] == []


def test_a_function_without_new_arrays_has_no_metadata():
    a, x, total = Var("a", ONE), Var("x", REAL), Var("total", REAL)
    found, lifetimes, f = classes([a], [Load(x, a, (Const(0, WHOLE),)), Add(total, x)])
    lines = []
    assert found == [] and Aliases(f, lifetimes, lines).of(a) == "" and lines == []


def test_arguments_may_be_one_array(monkeypatch):
    pytest.importorskip("llvmlite", reason="native code needs llvmlite")
    from tapeengine.chad.backends.llvm import calling

    monkeypatch.setattr(calling, "EACH_STATEMENT", -1)

    def both(a: te.Vec, b: te.Vec) -> float:
        c = [x * y for x, y in zip(a, b)]
        return sum(c[i] * a[i] + b[i] for i in range(len(c)))

    x = np.linspace(0.1, 2.0, 9)
    program = te.program(both, backend="native")
    for given in ((x, x.copy()), (x, x), (x[:5], x[2:7]), (x, x)):
        value, back = te.vjp(program, *given)
        a, b = back(1.0)
        assert value == both(*given)
        np.testing.assert_allclose(a, 2.0 * given[0] * given[1], rtol=1e-15)
        np.testing.assert_allclose(b, given[0] ** 2 + 1.0, rtol=1e-15)
