"""The categorical language of the working notes: conversion from terms, and the split passes."""

import itertools
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ladder.random_terms import VectorGenerator, python

import tapeengine as te
from asv_bench.ladder_programs import sharing
from tapeengine.ladder.wn import vectors
from tapeengine.ladder.wn.categorical import convert
from tapeengine.ladder.wn.split_categorical import Split

EXAMPLES = 1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 40
numbers = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(tuple)


def converted(module, prune):
    main = module.definitions[module.main]
    return convert(main.body, tuple(x.name for x in main.params), prune)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers)
def test_the_split_passes_give_the_derivative_of_the_engine(seed, xs):
    module = VectorGenerator(seed).module()
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    for prune in (True, False):
        split, c = Split(), converted(module, prune)
        found, trace = split.forward(c, xs)
        assert found == pytest.approx(value, rel=1e-15)
        gradient = vectors.full(split.reverse(c, trace, 1.0), xs)
        assert gradient == pytest.approx(expected, rel=1e-12, abs=1e-12 * max(1.0, *map(abs, expected)))


def cells(n, prune):
    split, c = Split(), converted(sharing(n), prune)
    _, trace = split.forward(c, (1.5,))
    assert split.reverse(c, trace, 1.0) == (2.0**n,)
    return split.cells


def test_pruned_contexts_make_cotangents_linear():
    """Without pruning, a context has all variables in scope, so a chain of n lets makes O(n * n) cells."""
    whole, pruned = ([cells(n, prune) for n in (10, 20, 40)] for prune in (False, True))
    assert [b - a for a, b in itertools.pairwise(pruned)] == [(pruned[1] - pruned[0]) * k for k in (1, 2)]
    assert whole[2] > 3.5 * whole[1] > 12 * whole[0]
