"""The systems of the working notes: equal derivatives on random terms, and the costs that the notes claim."""

import dataclasses
import itertools
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ladder.random_terms import FirstOrderGenerator, FoldGenerator, VectorGenerator, python

import tapeengine as te
from asv_bench.ladder_costs import COSTS
from asv_bench.ladder_programs import nested_calls
from tapeengine.chad.language.terms import Let, Term, Var
from tapeengine.chad.language.types import Type
from tapeengine.ladder.wn import full, vectors
from tapeengine.ladder.wn.application import apply, reverse, transpose
from tapeengine.ladder.wn.jacobian import Jacobian
from tapeengine.ladder.wn.steps import STEPS
from tapeengine.ladder.wn.tupling import Tupling

EXAMPLES = 1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 40
numbers = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(tuple)


def agrees(linearize, module, xs, dxs):
    """Both directions of the linear map, and its transpose, against the engine."""
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    close = {"rel": 1e-12, "abs": 1e-12 * max(1.0, *map(abs, expected))}
    found = linearize(module, *xs)
    assert found.value == pytest.approx(value, rel=1e-15)
    gradient = vectors.full(reverse(1.0, found.map), xs)
    assert gradient == pytest.approx(expected, **close)
    assert vectors.full(apply(transpose(found.map), 1.0), xs) == pytest.approx(expected, **close)
    assert vectors.full(apply(found.map, dxs), 1.0) == pytest.approx(vectors.dot(gradient, dxs), **close)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers, numbers)
def test_the_linear_maps_give_the_derivative_of_the_engine(seed, xs, dxs):
    module = VectorGenerator(seed).module()
    agrees(full.jacobian, module, xs, dxs)
    agrees(full.tupling, module, xs, dxs)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers, numbers)
def test_folds_and_families_give_the_derivative_of_the_engine(seed, xs, dxs):
    """WN Fig. 12 to 15, and the rule for functions on N of Fig. 6."""
    agrees(full.jacobian, FoldGenerator(seed).module(), xs, dxs)


def subterms(term, scope):
    """A term and the terms in it, each with the variables that are bound there."""
    yield term, scope
    for field in dataclasses.fields(term):
        inner = scope | {x for name in term.BINDS.get(field.name, ()) for x in leaves(getattr(term, name))}
        for part in leaves(getattr(term, field.name)):
            if isinstance(part, Term) and field.name not in itertools.chain(*term.BINDS.values()):
                yield from subterms(part, inner)


def leaves(value):
    return [x for part in value for x in leaves(part)] if isinstance(value, list | tuple) else [value]


def check_terms(params, body):
    """Each variable is bound with its type, and a let gives its variable a term of that type."""
    assert all(isinstance(x.name, str) and isinstance(x.of, Type) for x in params)
    for term, scope in subterms(body, frozenset(params)):
        assert isinstance(term.type, Type)
        assert not isinstance(term, Var) or term in scope, term
        assert not isinstance(term, Let) or term.bound.type == term.var.of, term.var


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([VectorGenerator, FoldGenerator, FirstOrderGenerator]))
def test_derivatives_are_closed_typed_terms(seed, generator):
    module = generator(seed).module()
    main = module.definitions[module.main]
    check_terms(main.params, Jacobian().function(main.params, main.body))
    if generator is not FoldGenerator:
        check_terms(*Tupling().function(main.params, main.body))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_all_systems_give_the_derivative_of_the_engine(seed, xs):
    module = FirstOrderGenerator(seed).module()
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    for name, step in STEPS.items():
        found = step(module, *xs)
        assert found.value == pytest.approx(value, rel=1e-15), name
        assert found.cotangents == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(1.0, *map(abs, expected))), name


def test_tupling_computes_each_value_once():
    """WN section 5: Fig. 6 contains each argument twice, so a term of n operations computes n (n + 1) / 2 values."""
    for n in (1, 4, 16):
        assert full.jacobian(nested_calls(n), 0.5).operations == n + n * (n - 1) // 2
        assert full.tupling(nested_calls(n), 0.5).operations == n


def ratios(table, row):
    numbers = [n for n in COSTS[table].numbers(row) if n is not None]
    return [after / before for before, after in itertools.pairwise(numbers)]


def test_maps_lose_sharing():
    """A map is a tree, so a shared one is visited once for each path: twice as often with each addition."""
    assert ratios("additions of a value to itself", "tupling: maps visited")[-1] > 2**3


def test_the_continuation_of_a_conditional_is_there_twice():
    """WN Fig. 25: exponential in conditionals; the bindings of Fig. 24 are linear."""
    assert ratios("conditionals in a row", "continuation: constructors of both passes")[-1] > 0.8 * 2**4
    assert ratios("conditionals in a row", "bags: constructors of both passes")[-1] < 2


def test_a_fold_as_a_map_costs_a_square():
    """WN Fig. 15 adds a one-hot vector for each element."""
    assert ratios("elements or iterations", "lmFold: maps and cells visited")[-1] > 3.3


def test_stored_and_recomputed():
    """WN Fig. 17 stores a bag for each iteration, Fig. 19 recomputes each iteration."""
    rows = [COSTS["elements or iterations"].numbers(f"{loop}: {what}") for what in ("cells kept", "values computed")
            for loop in ("nTimes", "ccl")]  # fmt: skip
    sizes = list(COSTS["elements or iterations"].sizes)
    assert rows == [sizes, [2] * len(sizes), sizes, [2 * n for n in sizes]]
