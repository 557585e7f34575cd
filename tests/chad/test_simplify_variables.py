"""Simplifying leaves no variable behind: each is bound where it is used, whatever was inlined, split or left out."""

import math

import pytest
from chad.terms_of_ec import programs
from hypothesis import HealthCheck, given, settings

from tapeengine.chad.language.terms import Apply, Definition, If, Lambda, Let, Module, Op, Proj, Tuple, Var, lit
from tapeengine.chad.language.traverse import free_variables
from tapeengine.chad.language.types import FLOAT, Product
from tapeengine.chad.reverse import reverse
from tapeengine.chad.simplify import simplify, simplify_module
from tapeengine.chad.specification import Evaluator
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.ladder import reverse_in

x, y, z = (Var(n, FLOAT) for n in "xyz")
sin = Op("sin", (x,))


@pytest.mark.parametrize("times", [1, 2])
def test_a_component_that_nobody_uses_takes_nothing_along(times):
    """What stands in it may have its one use elsewhere."""
    of_sine, pair = Var("of_sine", FLOAT), Var("pair", Product((FLOAT, FLOAT)))
    second = Proj(pair, 1)
    body = Op("mul", (second if times == 1 else Op("mul", (second, second)), of_sine))
    term = Let(of_sine, Op("sin", (x,)), Let(pair, Tuple((of_sine, x)), body))
    simple = simplify(term)
    assert set(free_variables(simple)) == {"x"}
    assert Evaluator(Module("", {}))(simple, {"x": 0.7}) == 0.7**times * math.sin(0.7)


def test_lets_of_a_branch_that_is_known_leave_the_functions_beside_it_in_sight():
    """What a rule gives may begin with lets; a tuple behind them is taken apart all the same."""
    of_cosine, pair = Var("of_cosine", FLOAT), Var("pair", Product((FLOAT, Lambda((z,), z).type)))
    square = Let(y, sin, Tuple((Op("mul", (y, y)), Op("add", (y, y)))))
    first = Proj(If(Op("lt", (lit(0.0), lit(1.0))), square, Tuple((x, x))), 0)
    scaled = Lambda((z,), Op("mul", (z, of_cosine)))
    body = Tuple((Proj(pair, 0), Apply(Proj(pair, 1), (x,)), Apply(Proj(pair, 1), (lit(2.0),))))
    term = Let(of_cosine, Op("cos", (x,)), Let(pair, Tuple((first, scaled)), body))
    simple = simplify(term)
    assert set(free_variables(simple)) == {"x"}
    evaluate = Evaluator(Module("", {}))
    assert evaluate(simple, {"x": 0.7}) == evaluate(term, {"x": 0.7})


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_simplify_leaves_no_variable_behind(program):
    """Also in the derivatives: what is free is a parameter."""
    env, _, term = program
    module = Module("f", {"f": Definition("f", env, term.type, term)})
    for derivative in (forward(module), reverse(module), reverse_in(module, "copower")):
        for definition in simplify_module(derivative).definitions.values():
            assert set(free_variables(definition.body)) <= {p.name for p in definition.params}
