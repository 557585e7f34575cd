"""Branches of a case are one branch only if they mean the same."""

import pytest

from tapeengine.chad.language.terms import Branch, Let, Op, Var
from tapeengine.chad.language.types import FLOAT
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
