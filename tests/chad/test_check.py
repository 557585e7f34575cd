"""Every stage gives well-typed terms, and the checker refuses ill-typed ones."""

import chad.examples_language
import chad.examples_syntax  # noqa: F401  (registers its programs)
import pytest
from chad.examples import EXAMPLES
from chad.terms_of_language import programs
from chad.well_typed import IllTyped, check, check_module
from hypothesis import HealthCheck, Phase, given, settings

from tapeengine.chad.language.target import LScale, One, Plus, Run, Then, Zero
from tapeengine.chad.language.terms import (
    Apply,
    Call,
    Definition,
    For,
    If,
    Index,
    Lambda,
    Let,
    Map,
    Module,
    Op,
    Tuple,
    Var,
    lit,
)
from tapeengine.chad.language.types import FLOAT, INT, Array, LReal, LUnit, Product, Sum
from tapeengine.chad.prepare.close import close
from tapeengine.chad.simplify import simplify_module
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.ladder import FORMS, reverse_in


def stages(module):
    closed = close(module)
    yield module
    yield closed
    for derivative in [forward(module), forward(closed), *(reverse_in(closed, form) for form in FORMS)]:
        yield derivative
        yield simplify_module(derivative)
    yield reverse_in(module, "copower")
    yield simplify_module(reverse_in(module, "copower"))


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_stage_of_the_examples_is_well_typed(name):
    for module in stages(EXAMPLES[name][0].module):
        check_module(module)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(programs())
def test_every_stage_of_random_programs_is_well_typed(program):
    env, _, term = program
    for module in stages(Module("f", {"f": Definition("f", env, term.type, term)})):
        check_module(module)


x, i, xs = Var("x", FLOAT), Var("i", INT), Var("xs", Array(FLOAT))
CONTEXT = {"x": FLOAT, "i": INT, "xs": Array(FLOAT), "v": LReal()}
ILL = [
    Var("y", FLOAT),
    Var("x", INT),
    Let(Var("y", INT), x, lit(1)),
    Op("add", (x, i)),
    Op("add", (x, x), INT),
    If(x, x, x),
    If(lit(True), x, i),
    Apply(Lambda((Var("y", INT),), x), (x,)),
    Call("f", (x,), FLOAT),
    Index(xs, x),
    Map((Var("y", INT),), x, (xs,)),
    For(lit(3), Var("k", INT), Var("s", FLOAT), x, i),
    For(lit(3), Var("k", INT), Var("s", FLOAT), i, x),
    Tuple((x, i), Product((FLOAT, FLOAT), "P", ("a", "b"))),
    Plus(Zero(LReal()), Zero(LUnit())),
    LScale(x, x),
    LScale(Var("v", LReal()), i),
    Then(x, One("s", Var("v", LReal()))),
    Run((("s", LReal()),), x),
]


@pytest.mark.parametrize("term", ILL, ids=lambda t: type(t).__name__)
def test_ill_typed_terms_are_refused(term):
    with pytest.raises(IllTyped):
        check(term, CONTEXT)


def test_well_typed_terms_pass():
    assert check(Let(Var("y", FLOAT), x, Op("mul", (Var("y", FLOAT), x))), CONTEXT) == FLOAT
    assert Sum((FLOAT, INT)) != Sum((INT, FLOAT))
