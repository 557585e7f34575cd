"""The steps of CHAD and Efficient CHAD: equal derivatives, and the growth of their counts."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ladder.inputs import list_of
from ladder.random_terms import Generator, VectorGenerator, python

import tapeengine as te
from asv_bench import ladder_programs as programs
from asv_bench.ladder_costs import COSTS, TABLES
from tapeengine.chad.language.terms import Apply, If, Inject, Lambda, Let, Op, Proj, Tuple, Var, lit
from tapeengine.chad.language.traverse import children
from tapeengine.chad.language.types import BOOL, FLOAT, INT, Function, Product, Sum
from tapeengine.chad.language.values import Tagged
from tapeengine.chad.prepare.close import close
from tapeengine.ladder.chad import STEPS
from tapeengine.ladder.evaluate import run
from tapeengine.ladder.parse import single

EXAMPLES = 1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 25
CLOSED = [name for name in STEPS if name != "copower"]
numbers = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3)


def functional(seed):
    return Generator(seed, forks=False).module()


def vectorial(seed):
    return VectorGenerator(seed).module()


def terms(term):
    yield term
    for part, _ in children(term):
        yield from terms(part)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers, st.sampled_from([functional, vectorial]))
def test_each_step_gives_the_derivative_of_the_engine(seed, xs, make):
    module = make(seed)
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    close_to = {"rel": 1e-12, "abs": 1e-12 * max(1.0, *map(abs, expected))}
    for name, step in STEPS.items():
        derivative = step(module, *xs)
        assert derivative.value == pytest.approx(value, rel=1e-15), name
        assert derivative.backpropagator(1.0) == pytest.approx(expected, **close_to), name


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_the_theorem_on_random_terms(seed, xs):
    """EC section 6: each evaluated term has one backpropagator, which is called at most once, in O(1)."""
    module = functional(seed)
    for name in CLOSED:
        derivative = STEPS[name](module, *xs)
        derivative.backpropagator(1.0)
        assert derivative.counts.calls <= derivative.counts.records
    assert derivative.counts.work <= 5 * derivative.counts.records + 3 * len(xs)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_closed_programs_are_first_order_and_mean_the_same(seed, xs):
    module = functional(seed)
    closed = close(module)
    assert run(closed, *xs) == run(module, *xs)
    for definition in closed.definitions.values():
        assert not any(isinstance(term, (Lambda, Apply)) for term in terms(definition.body))


@pytest.mark.parametrize("name", STEPS)
def test_recursion_and_recursive_types(name):
    gradient = STEPS[name](programs.list_product(), list_of(2.0, 3.0, 4.0)).backpropagator(1.0)
    assert gradient == (list_of(12.0, 8.0, 6.0),)


@pytest.mark.parametrize("name", STEPS)
def test_inputs_and_outputs_of_any_structure(name):
    """An unused component has zeros in its place; a discrete one has None."""
    p, n = Var("p", Product((FLOAT, Product((FLOAT, INT))))), Var("n", INT)
    scaled = Op("mul", (Op("real", (n,), FLOAT), Proj(p, 0)))
    derivative = STEPS[name](single((p, n), Tuple((scaled, n))), (2.0, (3.0, 4)), 5)
    assert derivative.value == (10.0, 5)
    assert [derivative.backpropagator((z, None)) for z in (1.0, 2.0, 1.0)] == [
        ((z, (0.0, None)), None) for z in (5.0, 10.0, 5.0)
    ]


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize(("n", "expected"), [(1, 3.0), (-1, 2.0)])
def test_functions_that_are_chosen_at_run_time(name, n, expected):
    """A function returned by a conditional, and one in a tuple; each captures an input."""
    x, y, k = Var("x", FLOAT), Var("y", FLOAT), Var("k", INT)
    a, b = Var("a", FLOAT), Var("b", FLOAT)
    f = Var("f", Function((FLOAT,), FLOAT))
    pair = Var("pair", Product((f.of, FLOAT)))
    plus, times = Lambda((a,), Op("add", (a, x))), Lambda((b,), Op("mul", (b, y)))
    chosen = If(Op("lt", (k, lit(0)), BOOL), plus, times)
    body = Let(f, chosen, Let(pair, Tuple((f, x)), Apply(Proj(pair, 0), (Proj(pair, 1),))))
    gradient = STEPS[name](single((x, y, k), body), 2.0, 3.0, n).backpropagator(1.0)
    assert gradient == ((3.0, 2.0, None) if n > 0 else (2.0, 0.0, None))
    assert gradient[0] == expected


@pytest.mark.parametrize("name", STEPS)
def test_a_sum_that_is_not_used_has_a_cotangent_of_its_option(name):
    of = Sum((FLOAT, Product((FLOAT, FLOAT))))
    x, s, unused = Var("x", FLOAT), Var("s", of), Var("u", of)
    module = single((s, x), Let(unused, Inject(0, x, of), x))
    assert STEPS[name](module, Tagged(1, (1.0, 2.0)), 2.0).backpropagator(1.0) == (Tagged(1, (0.0, 0.0)), 1.0)


def test_what_is_not_in_the_language_is_refused():
    with pytest.raises(ValueError, match="FoldLeft is not in the source language"):
        STEPS["mutable"](programs.folded_product(3), 1.0)


def growth(name, step, *sizes):
    found = [COSTS[name].rows[step](n) for n in sizes]
    return [c.work / c.records for c in found]


def test_copowers_are_exponential_in_nested_applications():
    """EC section 9: each application evaluates the body twice."""
    found = [COSTS["nested applications"].rows["copower"](n).calls for n in (4, 6, 8)]
    assert found[1] > 4 * found[0]
    assert found[2] > 4 * found[1]


@pytest.mark.parametrize("name", ["additions in a chain of lets", "uses of fst x beside as many scalars"])
@pytest.mark.parametrize("step", ["copower", "dense"])
def test_dense_forms_cost_the_context_at_each_use(name, step):
    small, large = growth(name, step, 16, 64)
    assert large > 3 * small


@pytest.mark.parametrize("step", ["sparse", "monad"])
def test_maps_cost_a_logarithm(step):
    """EC appendix A and section 5: the work per record grows linearly with the level."""
    steps = growth("levels of a tree of distinct variables", step, 3, 5, 7)
    assert steps[2] > 1.2 * steps[1] > 1.4 * steps[0]
    assert steps[2] < 3 * steps[0]


@pytest.mark.parametrize("name", TABLES["chad"])
def test_the_last_form_is_linear(name):
    sizes = (4, 7) if "levels" in name else (8, 16)
    small, large = growth(name, "mutable", *sizes)
    assert large < 1.1 * small
