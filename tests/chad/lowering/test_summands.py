"""An array of zeros that is only added to another one is not made; otherwise the function stays as it is."""

import pytest

from tapeengine.chad.intermediate import statements as F
from tapeengine.chad.intermediate.operations import REAL, WHOLE
from tapeengine.chad.lowering.summands import NOWHERE, in_sums

i, k = F.Var("i", WHOLE), F.Var("k", WHOLE)
part, total, before, after = (F.Var(name, F.ArrayOf(REAL)) for name in ("part", "total", "before", "z"))
grid, other = F.Var("grid", F.ArrayOf(REAL, 2)), F.Var("other", F.ArrayOf(REAL, 2))
row = F.Row(total, grid, (k,))
x, one, three = F.Var("x", REAL), F.Const(1.0, REAL), F.Const(3, WHOLE)


def added(to, *inside):
    """Give a loop that adds to an array, with other statements before that."""
    return F.For(i, three, [*inside, F.AddAt(to, (i,), one)])


def made(array):
    return F.New(array, (three,))


def own():
    """Give the statement that makes `total` an array to change, with the elements of `before`."""
    return F.Changed(total, before, NOWHERE, one, is_there=False)


IN_PLACE = {
    "made before": ([], [made(total)], [added(part)], [made(total), added(total)]),
    "also added to in the loop": (
        [],
        [made(total)],
        [added(part, F.AddAt(total, (i,), one))],
        [made(total), added(total, F.AddAt(total, (i,), one))],
    ),
    "owned after the loop": ([before], [], [added(part), own()], [own(), added(total)]),
    "a row": ([k], [F.New(grid, (three, three))], [added(part), row], [F.New(grid, (three, three)), row, added(total)]),
}
KEPT = {
    "a parameter": ([total], [], [added(part)]),
    "a parameter that became another array": ([total], [F.Changed(after, total, k, one)], [added(part)]),
    "made after the zeros": ([], [], [made(total), added(part)]),
    "read before the end": ([], [made(total)], [added(part, F.Load(x, total, (i,)))]),
    "a row of a parameter": ([grid, k], [], [added(part), row]),
    "a row whose array is read": (
        [k],
        [F.New(grid, (three, three))],
        [added(part, F.Load(x, grid, (i, i))), row],
    ),
    "a row at an index that is found after the zeros": (
        [],
        [F.New(grid, (three, three))],
        [added(part), F.Assign((k,), (F.Const(1, WHOLE),)), row],
    ),
    "a row whose array is read by another name": (
        [k],
        [F.New(grid, (three, three)), F.Assign((other,), (grid,))],
        [added(part, F.Load(x, other, (i, i))), row],
    ),
    "owned, while its elements are read": ([before], [], [added(part, F.Load(x, before, (i,))), own()]),
}


@pytest.mark.parametrize(("params", "first", "then", "wanted"), IN_PLACE.values(), ids=IN_PLACE)
def test_loops_add_to_the_sum(params, first, then, wanted):
    function = F.Function("f", params, [*first, made(part), *then, F.AddAll(total, part)], [total])
    in_sums(function)
    assert function.body == wanted


@pytest.mark.parametrize(("params", "first", "then"), KEPT.values(), ids=KEPT)
def test_loops_add_to_zeros_if_something_else_uses_the_sum(params, first, then):
    function = F.Function("f", params, [*first, made(part), *then, F.AddAll(total, part)], [total])
    body = [*function.body]
    in_sums(function)
    assert all(a is b for a, b in zip(function.body, body, strict=True))
    assert any(isinstance(s, F.AddAt) and s.array == part for f in body if isinstance(f, F.For) for s in f.body)
