"""Branches of a case are one branch only if they mean the same."""

import pytest

from tapeengine.chad.language.target import One, Scope, Zero
from tapeengine.chad.language.terms import Branch, Let, Op, Var
from tapeengine.chad.language.types import FLOAT, LReal
from tapeengine.chad.lowering.options import is_same

X = Var("x", FLOAT)


def branch(option, name, opcode):
    """A branch that binds a variable of a name and applies an operation to it."""
    v = Var(name, FLOAT)
    return Branch(Var(option, FLOAT), Let(v, Op("mul", (X, X), FLOAT), Op(opcode, (v,), FLOAT)))


def test_names_of_bound_variables_do_not_matter():
    assert is_same(branch("a", "u", "sin"), branch("b", "v", "sin"))


@pytest.mark.parametrize(("names", "opcodes"), [(("u", "v"), ("sin", "cos")), (("sin", "cos"), ("sin", "cos"))])
def test_operations_matter_also_where_variables_have_their_names(names, opcodes):
    first, second = (branch(option, n, o) for option, n, o in zip("ab", names, opcodes, strict=True))
    assert not is_same(first, second)


def test_branches_that_use_their_options_are_their_own():
    a, b = Var("a", FLOAT), Var("b", FLOAT)
    assert not is_same(Branch(a, a), Branch(b, b))


@pytest.mark.parametrize(("slots", "are_same"), [(("u", "v"), True), (("u", "u"), False), (("w", "w"), True)])
def test_slots_have_the_names_of_their_variables(slots, are_same):
    effects = (Scope(slot, LReal(), One(slot, Zero(LReal()))) for slot in slots)
    each = zip("ab", "uv", effects, strict=True)
    first, second = (Branch(Var(o, FLOAT), Let(Var(name, FLOAT), X, effect)) for o, name, effect in each)
    assert is_same(first, second) is are_same
