"""The single-use dialect and BOG-style AD of the working notes, and its loops."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ladder.random_terms import LoopGenerator, python

import tapeengine as te
from asv_bench import ladder_programs as programs
from tapeengine.chad.language.terms import (
    Branch,
    Build,
    Call,
    Case,
    Definition,
    If,
    Let,
    Module,
    Op,
    Proj,
    Tuple,
    Var,
    lit,
)
from tapeengine.chad.language.traverse import children
from tapeengine.chad.language.types import BOOL, FLOAT, INT, Product
from tapeengine.ladder.evaluate import Evaluator, run
from tapeengine.ladder.parse import single
from tapeengine.ladder.pretty import show
from tapeengine.ladder.source import Ccl, LetTuple, NTimes
from tapeengine.ladder.wn.bags import Functions, bog, passes
from tapeengine.ladder.wn.bog import Bog
from tapeengine.ladder.wn.bog_continuation import Continuation
from tapeengine.ladder.wn.single_use import single_use

EXAMPLES = 1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 40
numbers = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(tuple)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_both_styles_give_the_derivative_of_the_engine(seed, xs):
    module = LoopGenerator(seed).module()
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    for style in (Bog, Continuation):
        found = bog(module, *xs, style=style)
        assert found.value == pytest.approx(value, rel=1e-15)
        assert found.cotangents == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(1.0, *map(abs, expected)))


def uses(term):
    """The number of uses of each variable on every path through a term; all binders are included."""
    match term:
        case Var(name):
            return {name: 1}
        case Let(x, bound, body):
            return joined(uses(bound), closed(uses(body), x))
        case LetTuple(xs, bound, body):
            return joined(uses(bound), closed(uses(body), *xs))
        case Build(size, i, body):
            return joined(uses(size), closed(uses(body), i))
        case If(condition, then, orelse):
            assert uses(then) == uses(orelse)
            return joined(uses(condition), uses(then))
        case Case(whole, branches):
            inner = [closed(uses(body), x) for x, body in ((b.var, b.body) for b in branches)]
            assert all(found == inner[0] for found in inner)
            return joined(uses(whole), inner[0])
    return joined(*(uses(part) for part, _ in children(term)))


def joined(*counts):
    return {name: sum(c.get(name, 0) for c in counts) for name in {n for c in counts for n in c}}


def closed(counts, *binders):
    assert all(counts.get(x.name) == 1 for x in binders)
    return {name: count for name, count in counts.items() if name not in {x.name for x in binders}}


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_the_dialect_uses_each_variable_once_and_means_the_same(seed, xs):
    module = LoopGenerator(seed).module()
    turned = single_use(module)
    for definition in turned.definitions.values():
        assert closed(uses(definition.body), *definition.params) == {}
    evaluator = Evaluator(turned.definitions, Functions().interface())
    assert evaluator.run(turned.main, xs) == run(module, *xs)


def test_the_dialect_of_an_example():
    x, y = Var("x", FLOAT), Var("y", FLOAT)
    body = single_use(single((x, y), Op("mul", (x, x)))).definitions["f"].body
    assert show(body) == "let () = elim(y'2)\nlet (x'3, x'4) = dup(x'1)\nx'3 * x'4"


def test_the_passes_of_an_example():
    """WN Fig. 24."""
    x = Var("x", FLOAT)
    program = passes(single((x,), Op("sin", (x,)))).definitions
    assert (
        show(program["rf$f"].body)
        == """let (a'3, b'4) = (x'1, ())
let (a'5, b'6) = rf$sin(a'3)
(a'5, ((b'4,), b'6))"""
    )
    assert (
        show(program["rr$f"].body)
        == """let (b'7, b'8) = b'2
let (b'10,) = b'7
let (d'9,) = rr$sin(d'1, b'8)
let x'1* = d'9
(x'1*,)"""
    )


def test_a_term_outside_of_the_dialect_is_seen():
    a, b, x, y, s = (Var(name, FLOAT) for name in "abxys")
    inner = Case(s, (Branch(a, Op("mul", (a, x))), Branch(b, y)))
    assert show(inner) == "case s of\n    in0 a ->\n        a * x\n    in1 b ->\n        y"
    with pytest.raises(AssertionError):
        uses(inner)


def test_definitions_that_call_each_other():
    """Each definition has two passes; a recursive one has a bag for each of its calls."""
    n, x, y = Var("n", INT), Var("x", FLOAT), Var("y", FLOAT)
    again = Call("power", (Op("isub", (n, lit(1)), INT), Op("mul", (x, y)), y), FLOAT)
    power = Definition("power", (n, x, y), FLOAT, If(Op("le", (n, lit(0)), BOOL), x, again))
    main = single((x, y), Call("power", (lit(3), Op("sin", (x,)), y), FLOAT))
    module = Module("f", {**main.definitions, "power": power})
    value, backpropagator = te.vjp(python(module), 0.5, 1.25)
    for style in (Bog, Continuation):
        found = bog(module, 0.5, 1.25, style=style)
        assert found.value == value
        assert found.cotangents == pytest.approx(backpropagator(1.0), rel=1e-14)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("n", [0, 1, 7])
def test_loops(n, again):
    found = bog(programs.looped(n, again), 0.5)
    value, backpropagator = te.vjp(python(programs.looped(n, again)), 0.5)
    assert found.value == value
    assert found.cotangents == pytest.approx(backpropagator(1.0), rel=1e-14)


def test_ccl_is_wrong_where_reverse_passes_do_not_commute():
    """WN Fig. 19: here (x, y) becomes (x + y, y), and then (x, x + y)."""
    state, i, x, y = Var("s", Product((FLOAT, FLOAT))), Var("i", INT), Var("x", FLOAT), Var("y", FLOAT)
    a, b, chosen = Proj(state, 0), Proj(state, 1), Op("real", (i,), FLOAT)
    other = Op("sub", (lit(1.0), chosen))
    turned = Tuple((Op("add", (a, Op("mul", (chosen, b)))), Op("add", (b, Op("mul", (other, a))))))
    step = Definition("step", (i, state), turned.type, turned)
    main = single((x, y), Proj(Ccl("step", lit(2), Tuple((x, y))), 1))
    module = Module("f", {**main.definitions, "step": step})
    value, backpropagator = te.vjp(python(module), 2.0, 3.0)
    found = bog(module, 2.0, 3.0)
    assert found.value == value
    assert backpropagator(1.0) == (1.0, 2.0)
    assert found.cotangents == (1.0, 1.0)


def test_a_loop_that_is_to_run_less_than_no_times_is_refused():
    x = Var("x", FLOAT)
    module = single((x,), NTimes("f", lit(-1), x))
    for evaluate in (run, bog):
        with pytest.raises(ValueError, match="run -1 times"):
            evaluate(module, 1.0)


def test_the_bag_of_a_loop():
    """Stored data grows with the iterations; recomputed data does not."""
    stored, again = (bog(programs.looped(9, kind), 0.5) for kind in (False, True))
    assert len(stored.bag[1]) == 9
    assert again.bag[1] == (9, 0.5)
    assert (stored.computed, again.computed) == (9, 18)
