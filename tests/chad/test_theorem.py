"""The complexity theorem (EC section 6, appendix D, TH2), counted, and the counterexamples to the earlier forms."""

import numpy as np
import pytest
from chad.terms_of_ec import cotangents, programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asv_bench.theorem import bound, gradient_term, steps
from tapeengine.chad.language.derivative_types import cotangent
from tapeengine.chad.language.terms import (
    Apply,
    Build,
    Fold,
    Index,
    Lambda,
    Let,
    Map,
    Op,
    Proj,
    Scan,
    Size,
    Total,
    Var,
    lit,
)
from tapeengine.chad.language.traverse import Names, all_names
from tapeengine.chad.language.traverse import size as size_of_term
from tapeengine.chad.language.types import FLOAT, INT, Array, Float, Function, LReal, Product, is_discrete
from tapeengine.chad.specification.dense import Dense, size
from tapeengine.chad.specification.sparse import Sparse
from tapeengine.recursion import deep


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.data())
def test_theorem(program, data):
    env, values, term = program
    value, primal_steps = steps(term, values)
    d = data.draw(cotangents(term.type, value))
    _, gradient_steps = steps(gradient_term(env, term), {**values, "d": d})
    assert gradient_steps <= bound(primal_steps, size(cotangent(term.type), d), len(env))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(depth=6))
def test_derivative_programs_are_of_linear_size(program):
    """CHAD Corollary 7.2. The factor is the largest that one constructor's rule adds, with all its operands."""
    env, _, term = program
    assert size_of_term(gradient_term(env, term)) <= 16 * size_of_term(term) + 16


def growth(make, n, form="accumulate", linear=Sparse):
    """How much the cost of a gradient grows per step of the primal when a program is made 8 times larger."""
    return ratio(make, 8 * n, form, linear) / ratio(make, n, form, linear)


def ratio(make, n, form="accumulate", linear=Sparse):
    """The cost of a gradient per step of the primal."""
    with deep():
        env, values, term = make(n)
        _, primal_steps = steps(term, values)
        _, gradient = steps(gradient_term(env, term, form), {**values, "d": 1.0}, linear)
    return gradient / primal_steps


def unused_variables(n):
    """One variable of a context of many is used: dense zeros and one-hots cost n for each use (EC section 4)."""
    env = tuple(Var(f"x{i}", FLOAT) for i in range(n))
    term = env[0]
    for _ in range(n):
        term = Op("mul", (term, env[0]))
    return env, {v.name: 1.0 for v in env}, term


def shared_product(n):
    """``fst x`` many times over, of a large product: a dense zero costs its size for each (EC section 4)."""
    of = Product((FLOAT, FLOAT))
    for _ in range(n):
        of = Product((FLOAT, of))
    value = (1.0, 1.0)
    for _ in range(n):
        value = (1.0, value)
    x = Var("x", of)
    term = Proj(x, 0)
    for _ in range(n):
        term = Op("mul", (term, Proj(x, 0)))
    return (x,), {"x": value}, term


def tree(n):
    """A complete binary tree of additions of distinct variables (EC appendix A)."""
    env = tuple(Var(f"x{i}", FLOAT) for i in range(n))
    level = list(env)
    while len(level) > 1:
        level = [Op("add", (a, b)) for a, b in zip(level[::2], level[1::2], strict=True)]
    return env, {v.name: 1.0 for v in env}, level[0]


@pytest.mark.parametrize("make", [unused_variables, shared_product, tree])
def test_accumulation_has_the_right_complexity(make):
    assert growth(make, 16) < 1.1


def test_dense_vectors_break_the_bound_on_unused_variables():
    assert growth(unused_variables, 16, "vector", Dense) > 3


def test_dense_products_break_the_bound_on_shared_variables():
    assert growth(shared_product, 16, "vector", Dense) > 4
    assert growth(shared_product, 16, "vector", Sparse) < 1.1


def test_sparse_vectors_break_the_bound_on_the_tree():
    """Union costs a step for each variable on each level: a logarithm (EC appendix A)."""
    per_level = (ratio(tree, 2**9, "sparse") - ratio(tree, 2**3, "sparse")) / 6
    assert per_level > 0.1
    assert ratio(tree, 2**9) - ratio(tree, 2**3) < 0.5 * per_level


def identities(n):
    """``(\\x. (... (\\x. x) x ...)) x``: nested identity applications (EC section 9)."""
    x = Var("y0", FLOAT)
    term = x
    for i in range(1, n + 1):
        y = Var(f"y{i}", FLOAT)
        term = Apply(Lambda((x,), term), (y,))
        x = y
    return (x,), {x.name: 1.0}, term


def test_copowers_are_exponential_on_nested_identities():
    costs = []
    for n in (4, 8):
        env, values, term = identities(n)
        costs.append(steps(gradient_term(env, term, "copower"), {**values, "d": 1.0})[1])
    assert costs[1] > 10 * costs[0]


def test_closed_functions_are_linear_on_nested_identities():
    from tapeengine.chad.language.terms import Definition
    from tapeengine.chad.prepare.close import inline

    for n in (4, 8, 16):
        env, values, term = identities(n)
        _, primal_steps = steps(term, values)
        closed = inline(Definition("f", env, FLOAT, term), Names(all_names(term)))["f"].body
        assert not isinstance(closed.type, Function)
        _, gradient = steps(gradient_term(env, closed), {**values, "d": 1.0})
        assert gradient <= bound(primal_steps, 1, 1)


def test_theorem_counts_something():
    """The bound is not met by an evaluator that does not count."""
    env, values, term = tree(8)
    assert steps(term, values)[1] == 8 + 7 * 2
    assert steps(gradient_term(env, term), {**values, "d": 1.0})[1] > 8 + 7 * 2


def test_let_is_one_step():
    x, y = Var("x", FLOAT), Var("y", FLOAT)
    assert steps(Let(y, x, y), {"x": 1.0}) == (1.0, 3)
    assert is_discrete(Product(())) and cotangent(FLOAT) == LReal()


XS = Var("xs", Array(FLOAT))
LEFT, RIGHT, PLACE = Var("left", FLOAT), Var("right", FLOAT), Var("i", INT)
#: Terms on an array of n numbers, and their steps: one for each constructor, and one for each element that it visits.
COSTS = {
    "build": (lambda n: Build(lit(n), PLACE, PLACE), lambda n: 2 + 2 * n),
    "map": (lambda n: Map((LEFT,), LEFT, (XS,)), lambda n: 2 + 2 * n),
    "map of two": (lambda n: Map((LEFT, RIGHT), LEFT, (XS, XS)), lambda n: 3 + 2 * n),
    "fold": (lambda n: Fold(LEFT, RIGHT, LEFT, XS), lambda n: 2 + n + (n - 1)),
    "scan": (lambda n: Scan(LEFT, RIGHT, lit(1.0), RIGHT, XS), lambda n: 3 + 2 * n),
    "total": (lambda n: Total(XS), lambda n: 2 + n),
    "size": (lambda n: Size(XS), lambda n: 2),
    "index": (lambda n: Index(XS, lit(0)), lambda n: 3),
}


@pytest.mark.parametrize("name", COSTS)
def test_the_cost_of_operations_on_arrays(name):
    term, cost = COSTS[name]
    for n in (1, 2, 7):
        assert steps(term(n), {"xs": [0.5] * n})[1] == cost(n), n


@pytest.mark.parametrize("n", [0, 1, 7, 100, 1000])
def test_sums_are_those_of_python_or_of_numpy(n):
    floats, ints = [0.1 * k * (-1.1) ** (k % 7) for k in range(n)], list(range(n))
    for of, values in ((FLOAT, floats), (INT, ints)):
        array = Var("xs", Array(of))
        for in_pairs in (False, True):
            wanted = float(np.sum(values)) if in_pairs and of == FLOAT else in_order(values, type(of) is Float)
            found = steps(Total(array, in_pairs=in_pairs), {"xs": values})[0]
            assert (found, type(found)) == (wanted, float if of == FLOAT else int)


def in_order(values, are_floats):
    total = 0.0 if are_floats else 0
    for x in values:
        total = total + x
    return total
