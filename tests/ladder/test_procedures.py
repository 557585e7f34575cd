"""The procedure language of the working notes: its judgements, its passes, and their costs."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ladder.random_terms import FirstOrderGenerator, python

import tapeengine as te
from asv_bench.ladder_programs import sharing
from tapeengine.ladder.wn.gradient import functions, gradient, procedure_of
from tapeengine.ladder.wn.procedure import Case, Const, Dup, Elim, Inject, Invoke, Pack, Unpack, check, execute
from tapeengine.ladder.wn.split import bar, split

EXAMPLES = 1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 40
numbers = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(tuple)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_the_passes_give_the_derivative_of_the_engine(seed, xs):
    module = FirstOrderGenerator(seed).module()
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    found = gradient(module, *xs)
    assert found.value == value
    assert found.cotangents == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(1.0, *map(abs, expected)))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_judgements(seed):
    """G |- p -| D, G |- F[p] -| D, U and D', U |- R[p] -| G'."""
    procedure, params, result = procedure_of(FirstOrderGenerator(seed).module())
    passes = split(procedure)
    assert check(procedure, frozenset(params)) == {result}
    assert check(passes.forward, frozenset(params)) == {result, *passes.trace}
    assert check(passes.reverse, frozenset({bar(result), *passes.trace})) == set(map(bar, params))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_a_gradient_costs_a_small_multiple_of_the_program(seed, xs):
    once, there, back = gradient(FirstOrderGenerator(seed).module(), *xs).statements
    assert there <= 3 * once
    assert back <= 3 * once


def test_sharing_is_linear():
    counts = [sum(gradient(sharing(n), 1.5).statements) for n in (0, 10, 20, 40)]
    assert counts[2] - counts[1] == counts[1] - counts[0] == (counts[3] - counts[2]) // 2


def test_the_examples_of_the_notes():
    """Fig. 22: polar coordinates."""
    polar = (
        Dup("rr", "r"),
        Unpack(("r1", "r2"), "rr"),
        Dup("aa", "angle"),
        Unpack(("a1", "a2"), "aa"),
        Pack("p1", ("a1",)),
        Pack("p2", ("a2",)),
        Invoke("ct", "cos", "p1"),
        Invoke("st", "sin", "p2"),
        Pack("rct", ("r1", "ct")),
        Pack("rst", ("r2", "st")),
        Invoke("x", "mul", "rct"),
        Invoke("y", "mul", "rst"),
    )
    assert check(polar, frozenset({"r", "angle"})) == {"x", "y"}
    store = {"r": 2.0, "angle": 0.0}
    execute(polar, store, functions())
    assert store == {"x": 2.0, "y": 0.0}


@pytest.mark.parametrize("index", [0, 1])
def test_sums(index):
    """A value of a sum type: its cotangent has the value's option."""
    branches = (("a", (Pack("p", ("a",)), Invoke("y", "sin", "p"))), ("b", (Elim("b"), Const("y", 3.0))))
    procedure = (Inject("s", index, "x"), Case("s", branches))
    passes = split(procedure)
    store = {"x": 0.0}
    execute(passes.forward, store, functions())
    assert store.pop("y") == (0.0, 3.0)[index]
    store[bar("y")] = 5.0
    execute(passes.reverse, store, functions())
    assert store == {bar("x"): (5.0, None)[index]}


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        ((Elim("x"), Elim("x")), "unbound, or uses it twice"),
        ((Pack("p", ("x", "x")),), "unbound, or uses it twice"),
        ((Const("x", 1.0),), "binds a variable that is bound already"),
        ((Case("x", (("a", ()), ("b", ()))),), "leave different variables"),
    ],
)
def test_what_has_no_judgement_is_refused(procedure, message):
    with pytest.raises(ValueError, match=message):
        check(procedure, frozenset({"x"}))
