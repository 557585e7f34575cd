"""The systems of the working notes: equal derivatives on random terms, and the costs that the notes claim."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ladder.random_terms import VectorGenerator, python

import tapeengine as te
from tapeengine.ladder.wn import full, vectors
from tapeengine.ladder.wn.application import apply, reverse, transpose
from tapeengine.ladder.wn.costs import nested

EXAMPLES = 1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 40
numbers = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(tuple)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32 - 1), numbers, numbers)
def test_the_linear_maps_give_the_derivative_of_the_engine(seed, xs, dxs):
    module = VectorGenerator(seed).module()
    value, backpropagator = te.vjp(python(module), *xs)
    expected = backpropagator(1.0)
    close = {"rel": 1e-12, "abs": 1e-12 * max(1.0, *map(abs, expected))}
    for linearize in (full.jacobian, full.tupling):
        found = linearize(module, *xs)
        assert found.value == pytest.approx(value, rel=1e-15)
        gradient = vectors.full(reverse(1.0, found.map), xs)
        assert gradient == pytest.approx(expected, **close)
        assert vectors.full(apply(transpose(found.map), 1.0), xs) == pytest.approx(expected, **close)
        assert vectors.full(apply(found.map, dxs), 1.0) == pytest.approx(vectors.dot(gradient, dxs), **close)


def test_tupling_computes_each_value_once():
    """WN section 5: Fig. 6 has each argument twice, so a term of n operations computes n (n + 1) / 2 values."""
    for n in (1, 4, 16):
        assert full.jacobian(nested(n), 0.5).operations == n + n * (n - 1) // 2
        assert full.tupling(nested(n), 0.5).operations == n
