"""What the passes over the intermediate form find in small functions."""

import pytest

from tapeengine.chad.backends.lifetimes import Lifetimes
from tapeengine.chad.backends.llvm.aliases import made_classes
from tapeengine.chad.backends.llvm.compile import emission
from tapeengine.chad.backends.llvm.elementary import table
from tapeengine.chad.backends.llvm.fuse import fused
from tapeengine.chad.backends.llvm.layout import constant, name_of, words
from tapeengine.chad.backends.llvm.order import is_orderless
from tapeengine.chad.backends.llvm.ranges import naturals
from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.analysis import renamed, with_blocks
from tapeengine.chad.intermediate.operations import OPERATIONS_BY_NAME, REAL, WHOLE, operation

i, j, k, m, n = (F.Var(name, WHOLE) for name in "ijkmn")
a, b, c, d = (F.Var(name, F.ArrayOf(REAL)) for name in "abcd")
x, total = F.Var("x", REAL), F.Var("total", REAL)
three, one = F.Const(3, WHOLE), F.Const(1.0, REAL)


def kinds(statements):
    """Return the names of the statements' classes."""
    return [type(s).__name__ for s in statements]


def computed(out, name, *args):
    """Return an operation."""
    return F.Compute(out, OPERATIONS_BY_NAME[name], args)


def test_an_array_that_is_only_summed_is_not_made():
    build = F.For(i, three, [F.Store(a, (i,), one)])
    add = F.For(j, three, [F.Load(x, a, (j,), checked=False), F.Add(total, x)])
    body = [F.New(a, (three,)), build, F.Assign((total,), (F.Const(0.0, REAL),)), add]
    assert kinds(fused(F.Function("f", [], body, [total])).body) == ["Assign", "For"]
    body = [F.New(a, (three,)), build, F.Sum(total, a)]
    assert kinds(fused(F.Function("f", [], body, [total])).body) == ["Assign", "Summed"]
    assert kinds(fused(F.Function("f", [a], [F.Sum(total, a)], [total])).body) == ["Size", "Assign", "Summed"]


def test_the_first_contribution_to_each_element_is_stored():
    read, add = F.Load(x, b, (i,)), F.AddAt(a, (i,), x)

    def stores(loop):
        made = fused(F.Function("f", [b], [F.New(a, (three,)), loop], [a])).body[1]
        return kinds(made.body)

    assert stores(F.For(i, three, [read, add, add])) == ["Load", "Compute", "Store", "AddAt"]
    for loop in (
        F.For(i, three, [read, add, F.AddAt(a, (n,), x)]),  # a step adds to another element
        F.For(i, three, [read, add, F.Load(x, a, (n,))]),
        F.For(i, three, [read, F.If(x, [add], [])]),
        F.For(i, n, [read, add]),
        F.For(i, three, [read, add], is_parallel=True),
    ):
        assert "Store" not in stores(loop)


def test_steps_run_in_any_order_if_they_write_to_different_elements():
    read, add = F.Load(x, b, (i,)), F.AddAt(a, (i,), x)
    assert is_orderless(F.For(i, three, [read, add]))
    assert not is_orderless(F.For(i, three, [read, F.Add(x, x), F.AddAt(a, (three,), x)]))
    assert not is_orderless(F.For(i, three, [add, F.Assign((x,), (one,))]), given={"x"})


def test_a_class_of_new_arrays_does_not_contain_arguments():
    body = [F.New(b, (three,)), F.New(c, (three,)), F.Assign((c,), (a,))]
    f = F.Function("f", [a], body, [])
    assert made_classes(f, Lifetimes(f)) == ["b"]


@pytest.mark.parametrize(("start", "made"), [(F.New(c, (three,)), True), (F.Assign((c,), (a,)), False)])
def test_an_array_that_a_loop_carries_is_new_if_all_that_it_carries_is(start, made):
    body = [start, F.For(i, three, [F.New(b, (three,))], carried=[(c, b)])]
    f = F.Function("f", [a], body, [])
    lifetimes = Lifetimes(f)
    assert (lifetimes.find("c") in made_classes(f, lifetimes)) is made


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "ifloordiv", "imod", "imin", "imax", "ineg", "iabs"])
def test_integers_that_are_never_negative(name):
    """An operation keeps the sign for all small operands that are not negative, or it is not relied on."""
    operation = OPERATIONS_BY_NAME.get(name)
    if operation is None:
        pytest.skip(f"no operation {name}")
    args = (n, n, n)[: len(operation.takes)]
    function = F.Function("f", [a], [F.Size(n, a, 0), F.Compute(k, operation, args)], [])
    if "k" in naturals([function]):
        values = [[p, q][: len(args)] for p in range(5) for q in range(1, 5)]
        assert all(operation.compute(*v) >= 0 for v in values)
    of_any = F.Function("f", [m], [F.Compute(k, operation, (m, m)[: len(args)])], [])
    assert "k" not in naturals([of_any])


def test_the_larger_of_a_number_and_zero_is_not_negative():
    body = [computed(k, "imax", m, F.Const(0, WHOLE)), computed(n, "isub", k, three), computed(j, "iadd", k, k)]
    assert naturals([F.Function("f", [m], body, [])]) == {"k", "j"}


def test_a_number_that_a_loop_carries_may_become_negative():
    body = [F.Assign((k,), (three,)), F.For(i, three, [computed(m, "isub", k, three)], carried=[(k, m)])]
    assert naturals([F.Function("f", [], body, [])]) == {"i"}


def test_words_and_names_of_values():
    assert words(F.ArrayOf(REAL, 2)) == ("ptr", "i64", "i64")
    assert (constant(one), constant(F.Const(None, F.ArrayOf(REAL)))) == (["0x3FF0000000000000"], ["null", "0"])
    assert name_of(F.ArrayOf(F.BoxOf("Tree", True))) == "rows1.d.Tree"


def test_code_of_functions_that_call_one_another_is_emitted_well_because_it_uses_less_of_the_stack():
    assert (emission("", 2), emission("", 0), emission('define internal i32 @"f.walk"()', 0)) == (2, 0, 2)


def test_the_table_of_exp_holds_powers_and_what_rounding_lost():
    assert [hex(number) for number in table()[:4]] == [
        "0x0",
        "0x3ff0000000000000",
        "0x3c9b3b4f1a88bf6e",
        "0x3feff63da9fb3335",
    ]


def test_copies_of_statements_have_other_blocks_and_variables():
    assert with_blocks(F.For(i, three, [F.Add(total, x)]), lambda statements: []).body == []
    assert renamed(F.Add(total, x), {"x": total}) == F.Add(total, total)


def test_operations_are_found_by_the_types_of_their_operands():
    assert [operation("lt", (of, of)).name for of in (WHOLE, REAL)] == ["ilt", "lt"]
