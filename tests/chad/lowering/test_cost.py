"""The complexity theorem (EC section 6, TH2), counted on what runs: the statements of the two passes."""

import pytest
from chad.lowering.counted import counting
from chad.lowering.leaves import Leaves
from chad.terms_of_ec import cotangents, programs
from chad.test_theorem import shared_product, tree, unused_variables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asv_bench.theorem import bound, steps
from tapeengine.chad.language.derivative_types import cotangent
from tapeengine.chad.language.terms import Definition, Let, Module, Op, Proj, Var, lit
from tapeengine.chad.language.types import FLOAT, Product
from tapeengine.chad.lowering.passes import lower_reverse
from tapeengine.chad.reverse import reverse
from tapeengine.chad.specification.dense import size
from tapeengine.recursion import deep


def passed(env, values, term, d):
    """How many statements run in both passes."""
    module = Module("f", {"f": Definition("f", env, term.type, term)})
    leaves = Leaves({})
    with deep():
        count = [0]
        passes = counting(lower_reverse(module, reverse(module)).program, count)
        given_ = [x for v in env for x in leaves.flat(v.of, values[v.name])]
        value, primal_steps = steps(term, values)
        *_, kept = passes["forward"](*given_)
        passes["reverse"](kept, *leaves.cotangent(term.type, d, value))
    return count[0], primal_steps


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.data())
def test_theorem(program, data):
    env, values, term = program
    value, _ = steps(term, values)
    d = data.draw(cotangents(term.type, value))
    run, primal_steps = passed(env, values, term, d)
    assert run <= bound(primal_steps, size(cotangent(term.type), d), len(env))


def sum_of_projections(n):
    """The sum of all components of an n-tuple (a projection whose one-hot is written out costs n)."""
    x = Var("x", Product((FLOAT,) * n))
    term = lit(0.0)
    for i in range(n):
        term = Op("add", (term, Proj(x, i)))
    return (x,), {"x": (1.0,) * n}, term


def deep_lets(n):
    """A chain of bindings, each of which uses the one before and the first."""
    x = Var("x", FLOAT)
    bound_ = [Var(f"y{i}", FLOAT) for i in range(n)]
    term = bound_[-1]
    for i in reversed(range(n)):
        term = Let(bound_[i], Op("mul", (bound_[i - 1] if i else x, x)), term)
    return (x,), {"x": 1.0}, term


@pytest.mark.parametrize("make", [unused_variables, shared_product, tree, sum_of_projections, deep_lets])
def test_the_cost_grows_with_the_program(make):
    with deep():
        small, large = (passed(*make(n), 1.0) for n in (16, 128))
    assert large[0] / large[1] < 1.1 * small[0] / small[1]
    assert large[0] <= 3 * large[1]
