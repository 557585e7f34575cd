"""Operands of subclasses of float and int that have operators of their own: the methods that Python calls."""

import operator

import pytest
from outcomes import shown

import tapeengine as te

OPERATORS = {
    **{n: getattr(operator, n) for n in ("add", "sub", "mul", "truediv", "mod", "floordiv", "pow")},
    "divmod": divmod,
}
COMPARISONS = {n: getattr(operator, n) for n in ("lt", "le", "eq", "ne", "gt", "ge")}


def subclass(base, names, is_left):
    """A class of numbers with methods of right operands, and of left ones."""
    body = {f"__r{n}__": lambda self, other: 7.0 * other + 1.0 for n in names}
    if is_left:
        body.update({f"__{n}__": lambda self, other: 3.0 * other + 2.0 for n in names})
    return type("Number", (base,), body)(2)


@pytest.mark.parametrize("is_left", [False, True])
@pytest.mark.parametrize("base", [float, int])
@pytest.mark.parametrize("names", [*[(n,) for n in OPERATORS], tuple(OPERATORS)], ids="-".join)
def test_operators(base, names, is_left):
    m = subclass(base, names, is_left)
    for name, op in OPERATORS.items():
        for f in (lambda x, op=op: op(x, m), lambda x, op=op: op(m, x)):
            assert shown(lambda x, f=f: te.vjp(f, x)[0], 1.5) == shown(f, 1.5), name
    if base is float:
        assert te.grad(lambda x: OPERATORS[names[0]](x, m))(1.5) == 7.0


@pytest.mark.parametrize("base", [float, int])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(base, name):
    m = type("Number", (base,), {f"__{name}__": lambda self, other: "own", "__hash__": base.__hash__})(2)
    for op in COMPARISONS.values():
        for value in (1.5, 2.0, 2.5):
            for f in (lambda x, op=op: (op(x, m), x), lambda x, op=op: (op(m, x), x)):
                assert te.vjp(f, value)[0] == f(value)
