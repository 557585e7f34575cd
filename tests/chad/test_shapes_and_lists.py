"""Values that are matched, lists that grow and shrink, masks, shapes, einsum: as in Python, in all back ends."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.test_language import ones as all_ones
from leaves import numbers

import tapeengine as te
from tapeengine import numpy as tnp
from tapeengine.errors import StructureError

X = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5])
M, N = np.random.default_rng(3).normal(size=(3, 4)), np.random.default_rng(4).normal(size=(4, 2))
KIND = "square"
BACKENDS = (None, "machine", "native")


def ones(value: Any) -> Any:
    """Ones for what is continuous."""
    if isinstance(value, list):
        return [ones(x) for x in value]
    return None if isinstance(value, np.ndarray) and value.dtype.kind in "ib" else all_ones(value)


def by_value(n: int, x: float) -> float:
    y = 1.0
    match n:
        case 0:
            return x
        case 1 | 2:
            y = x * x
        case -1:
            y = 2.0 * x
        case True | None:
            y = 100.0
        case k if k > 10:
            y = x * k
        case 7 if x > 0.0:
            pass
        case other:
            y = y + x + other
    return y * x


def by_number(x: float) -> float:
    match x * x:
        case 4.0:
            return x
        case y if y > 4.0:
            return y * x
    return 3.0 * x


def by_truth(x: float) -> float:
    match x > 1.0:
        case True:
            return x * x
        case False:
            x = -x
    return x


def by_text(x: float) -> float:
    match KIND:
        case "linear":
            return x
        case "square" | "power":
            return x * x
    return 0.0


def in_a_loop(xs: te.Vec, codes: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(codes)):
        match codes[i]:
            case 0:
                continue
            case 9:
                break
            case k:
                total += xs[i] * k
    return total


def strided(xs: te.Vec, start: int, stop: int, step: int) -> float:
    total = 0.0
    for i in range(start, stop, step):
        total += xs[i] * xs[i] * i
    return total


def strided_list(xs: te.Vec, step: int) -> te.Vec:
    return [xs[i] * j for j, i in enumerate(range(0, len(xs), step))]


def grows(xs: te.Vec, i: int) -> te.Vec:
    ys = [xs[0]]
    ys.extend(xs)
    ys.extend(x * x for x in xs if x > 0.0)
    ys.extend(float(k) * x for k, x in zip(range(i), xs))
    ys.extend([1.0, xs[1]])
    ys.insert(i, xs[2])
    ys.insert(-i, xs[3] * xs[2])
    return ys


def from_empty(xs: te.Vec) -> te.Vec:
    ys = []
    for x in xs:
        ys.extend([x, x * x])
        ys.insert(0, 2.0 * x)
    return ys


def shrinks(xs: te.Vec, i: int) -> float:
    stack = list(xs)
    while len(stack) > 2:
        a = stack.pop()
        b = stack.pop()
        stack.append(a * b + a)
    first = stack.pop(i)
    stack.pop()
    return first * len(stack) + sum(stack) + first


def machine(code: te.Array[int], xs: te.Vec) -> float:
    stack = [1.0]
    for i in range(len(code)):
        match code[i]:
            case 0:
                stack.append(xs[i])
            case 1:
                b = stack.pop()
                a = stack.pop()
                stack.append(a + b)
            case 2:
                b = stack.pop()
                a = stack.pop()
                stack.append(a * b)
            case _:
                stack.insert(0, xs[i] * 2.0)
    return sum(stack)


def masked(xs: te.Vec) -> float:
    return np.sum(xs[xs > 0.0] ** 2) + np.sum(np.sin(xs[(xs < 0.0)]))


def masked_by_argument(xs: te.Vec, mask: te.Array[bool]) -> te.Vec:
    return xs[mask] * 2.0


def masked_rows(m: te.Array[te.Vec]) -> float:
    chosen = m[m[:, 0] > 0.0]
    return np.sum(chosen * chosen) + np.sum(m[m[:, 1] > 0.0, 2])


def reshaped(xs: te.Vec) -> float:
    m = np.reshape(xs, (2, 3))
    n = xs.reshape(3, -1)
    return np.sum(m @ n) + np.sum(m[1] * m[0])


def through_shapes(m: te.Array[te.Vec]) -> te.Vec:
    n = m.reshape((2, 6))
    k = np.reshape(n, (m.shape[1], m.shape[0]))
    return m.ravel() * k.flatten() + np.ravel(n)


def three_axes(xs: te.Vec, n: int) -> float:
    cube = xs.reshape(n, 1, -1)
    return np.sum(cube[1][0] * cube[0][0]) + np.sum(cube.reshape(-1) ** 2)


def like_another(m: te.Array[te.Vec], n: te.Array[te.Vec]) -> float:
    return np.sum(m.reshape(n.shape) * n)


def contracted(m: te.Array[te.Vec], n: te.Array[te.Vec], v: te.Vec) -> float:
    a = np.einsum("ij,jk->ik", m, n)
    b = np.einsum("ij,jk", m, n)
    c = np.einsum("i, ij -> j", v, m)
    d = np.einsum("ij->ji", m)
    return np.einsum("ik,ik->", a, b) + np.sum(c) + np.sum(d[0] * v) + np.einsum("i,j,ij", v, c, m)


def diagonals(m: te.Array[te.Vec]) -> float:
    return np.einsum("ii", m) + np.sum(np.einsum("ii->i", m) ** 2)


def batched(a: te.Array[te.Array[te.Vec]], b: te.Array[te.Array[te.Vec]]) -> te.Array[te.Array[te.Vec]]:
    return np.einsum("bij,bkj->bik", a, b)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((by_value, (n, x)) for n in (0, 1, 2, -1, 5, 7, 12) for x in (0.7, -0.3)),
    *((by_number, (x,)) for x in (2.0, 3.0, 1.0)),
    *((by_truth, (x,)) for x in (2.0, 0.5)),
    (by_text, (1.5,)),
    (in_a_loop, (X, np.array([3, 0, 2, 9, 1]))),
    (in_a_loop, (X, np.array([3, 0, 2]))),
    (strided, (X, 0, 6, 2)),
    (strided, (X, 5, 0, -2)),
    (strided, (X, 0, 6, -1)),
    (strided, (X, 4, 1, -3)),
    (strided_list, (X, 2)),
    (strided_list, (X, -1)),
    (grows, (X, 0)),
    (grows, (X, 2)),
    (grows, (X, 100)),
    (from_empty, (X,)),
    (shrinks, (X, 0)),
    (shrinks, (X, -1)),
    (shrinks, (X[:3], 1)),
    (machine, (np.array([0, 0, 1, 3, 0, 2]), X)),
    (masked, (X,)),
    (masked, (-abs(X),)),
    (masked_by_argument, (X, X > 0.6)),
    (masked_rows, (M,)),
    (reshaped, (X,)),
    (through_shapes, (M,)),
    (three_axes, (X, 2)),
    (three_axes, (X, 3)),
    (like_another, (M, np.arange(12.0).reshape(6, 2))),
    (contracted, (M, N, X[:3])),
    (diagonals, (M[:, :3],)),
    (batched, (np.arange(12.0).reshape(2, 2, 3) / 7.0, np.sin(np.arange(24.0).reshape(2, 4, 3)))),
]

#: Calls that raise, and what they raise.
RAISING: list[tuple[Callable[..., Any], tuple[Any, ...], type[Exception]]] = [
    (strided, (X, 0, 6, 0), ValueError),
    (strided, (X, 0, 9, 2), IndexError),
    (shrinks, (X[:2], 5), IndexError),
    (shrinks, (X[:1], 0), IndexError),
    (machine, (np.array([1]), X), IndexError),
    (masked_by_argument, (X, X[:3] > 0.0), IndexError),
    (reshaped, (X[:5],), ValueError),
    (three_axes, (X, 4), ValueError),
    (three_axes, (X, 0), ValueError),
    (three_axes, (X, -2), ValueError),
    (like_another, (M, N), ValueError),
    (contracted, (M, N[:3], X[:3]), ValueError),
    (diagonals, (M,), ValueError),
]


@pytest.mark.filterwarnings("error:.*runs without native code:RuntimeWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "primals"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_they_give_what_dual_numbers_give(
    function: Callable[..., Any], primals: tuple[Any, ...], backend: str | None
) -> None:
    program = te.program(function, backend=backend)
    value, backpropagator = te.vjp(program, *primals)
    expected, reference = te.vjp(program.python, *primals)
    np.testing.assert_allclose(numbers(value), numbers(expected), rtol=1e-12)
    np.testing.assert_allclose(numbers(value), numbers(function(*primals)), rtol=1e-12)
    found, wanted = backpropagator(ones(value)), reference(ones(expected))
    np.testing.assert_allclose(numbers(found), numbers(wanted), rtol=1e-11, atol=1e-13)
    tangents = ones(list(primals))
    found, wanted = te.jvp(program, primals, tangents), te.jvp(program.python, primals, tangents)
    np.testing.assert_allclose(numbers(found), numbers(wanted), rtol=1e-11, atol=1e-13)


def test_whole_arrays_give_what_dual_numbers_give() -> None:
    """Programs run so on many numbers; few of the examples have as many."""
    refused = set()
    for function, primals in PROGRAMS:
        program = te.program(function)
        whole = program.executable.whole
        found = None if whole is None else whole.vjp(primals)
        cotangents = None if found is None else found[1](ones(found[0]))
        if found is None or cotangents is None:
            refused.add(function.__name__)
            continue
        expected, reference = te.vjp(program.python, *primals)
        np.testing.assert_allclose(numbers(found[0]), numbers(expected), rtol=1e-12)
        np.testing.assert_allclose(numbers(cotangents), numbers(reference(ones(expected))), rtol=1e-11, atol=1e-13)
    assert refused == {*"in_a_loop grows from_empty shrinks machine masked masked_by_argument masked_rows".split()}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "primals", "error"), RAISING, ids=lambda p: getattr(p, "__name__", ""))
def test_they_raise_what_python_raises(
    function: Callable[..., Any], primals: tuple[Any, ...], error: type[Exception], backend: str | None
) -> None:
    program = te.program(function, backend=backend)
    with pytest.raises(error):
        function(*primals)
    with pytest.raises(error):
        te.vjp(program, *primals)[1](1.0)
    with pytest.raises(error):
        te.jvp(program, primals, ones(list(primals)))


def test_lists_have_no_masks() -> None:
    with pytest.raises(te.errors.TapeEngineError, match="is a list"):
        te.vjp(te.program(masked_by_argument), list(X), X > 0.0)


def test_shapes_of_numpy_are_shapes_of_tapeengine() -> None:
    def total(xs: te.Vec) -> float:
        return tnp.sum(tnp.reshape(xs, (2, 3)) @ tnp.einsum("i,j->ij", xs[:3], xs))

    program = te.program(total)
    found, wanted = te.grad(program)(X), te.grad(total)(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def pops_elsewhere(xs: te.Vec) -> float:
    ys = [2.0 * x for x in xs]
    return ys[0] + ys.pop()


def pops_what_others_hold(xs: te.Vec) -> float:
    ys = xs
    x = ys.pop()
    return x + xs[0]


def sequence(xs: te.Vec) -> float:
    match xs:
        case [a, b]:
            return a * b
    return 0.0


def bound_alternative(n: int, x: float) -> float:
    match n:
        case (1 | 2) as k:
            return x * k
    return x


def two_unknown_sizes(xs: te.Vec) -> float:
    return np.sum(xs.reshape(-1, -1))


def with_ellipsis(m: te.Array[te.Vec]) -> float:
    return np.sum(np.einsum("...j...->j", m))


def with_a_missing_letter(m: te.Array[te.Vec]) -> float:
    return np.sum(np.einsum("i->i", m))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (pops_elsewhere, "pop inside an expression"),
        (pops_what_others_hold, "changed in place"),
        (two_unknown_sizes, "two sizes -1"),
        (with_ellipsis, "letters for axes"),
        (with_a_missing_letter, "do not fit the axes"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_what_lies_outside_is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(te.ProgramError, match=message):
        te.program(function)


def test_patterns_of_sequences_and_of_alternatives() -> None:
    matched, chosen = te.program(sequence), te.program(bound_alternative)
    assert te.value_and_grad(matched)([2.0, 3.0]) == (sequence([2.0, 3.0]), [3.0, 2.0])
    assert te.value_and_grad(matched)([2.0, 3.0, 4.0]) == (sequence([2.0, 3.0, 4.0]), [0.0, 0.0, 0.0])
    with pytest.raises(StructureError, match="is no list"):  # no sequence pattern matches an array
        te.grad(matched)(np.array([2.0, 3.0]))
    for n, slope in ((1, 1.0), (2, 2.0), (3, 1.0)):
        assert te.value_and_grad(chosen, 1)(n, 2.0) == (bound_alternative(n, 2.0), slope)
