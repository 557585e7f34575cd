"""Views alias as in numpy, assignment is differentiated, and the caller's arrays are never changed."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy_calls import calls

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import DroppedDerivativeError, TraceError
from tapeengine.testing import check_vjp

X = numpy.random.default_rng(3).uniform(0.5, 2.0, (4, 3))


def overlapping(a: Any) -> Any:
    b = a * 1.0
    b[1:] = b[:-1] * b[1:]
    b[:, 0] = b[:, 1]
    return b


def view_of_view(a: Any) -> Any:
    b = a * a
    flat = b.reshape(-1)
    every = flat[::-2]
    every[1:3] *= 3.0
    b.T[2] = flat[:4]
    return b * every[0]


def swapped(a: Any) -> Any:
    b = a * 1.0
    b[0], b[1] = b[1].copy(), b[0].copy()
    b[[2, 3]] = b[[3, 2]]
    return b * a


def twice_in_one_index(a: Any) -> Any:
    b = a * 1.0
    b[[0, 0, 1]] = a[1:]
    return b * b


def masked(a: Any) -> Any:
    b = a * 2.0
    b[b > 2.5] = a[0, 0]
    b[a < 1.0] += a[a < 1.0] ** 2
    return b


def added_at(a: Any) -> Any:
    b = np.zeros(3)
    np.add.at(b, [0, 1, 0, 2, 0], a[:3, 1:].reshape(-1)[:5])
    return b * b


def out_arguments(a: Any) -> Any:
    b = np.zeros_like(a)
    np.multiply(a, a, out=b)
    np.sin(a, out=b, where=X > 1.0)
    np.add(b[0], a[1], out=b[2])
    return b


def assigned_to_input(a: Any) -> Any:
    before = a * a
    a[1] = a[0] * a[2]
    return before * a


def written_after_use(a: Any) -> Any:
    b = np.sin(a)
    c = b * b
    b[0] = 7.0
    b[1:] *= a[1:]
    return c * b


def along_axis(a: Any) -> Any:
    order = numpy.argsort(X, axis=1)
    b = np.take_along_axis(a, order, axis=1)
    np.put_along_axis(b, order[:, :1], a[:, 2:] ** 2, axis=1)
    return b


def mixed_with_scalars(a: Any) -> Any:
    total = 0.0
    b = np.zeros(5)
    for i, row in enumerate(a):
        b[i] = row[0] * total
        total = total + row[1] / (1.0 + b[i])
    b[4] = np.sum(b[:4]) * total
    return np.array([total, b[4], 1.0, b[2] * b[3]])


PROGRAMS: list[Callable[[Any], Any]] = [
    *(overlapping, view_of_view, swapped, twice_in_one_index, masked, added_at, out_arguments, assigned_to_input),
    *(written_after_use, along_axis, mixed_with_scalars),
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_program(program: Callable[[Any], Any], layout: str) -> None:
    x = {"C": X, "F": numpy.asfortranarray(X), "strided": numpy.repeat(X, 2, axis=1)[:, ::2]}[layout]
    before = x.copy()
    check_vjp(lambda a: program(a if isinstance(a, te.Array) else a.copy()), x)
    numpy.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p is not assigned_to_input])
def test_values_are_numpys(program: Callable[[Any], Any]) -> None:
    value, _ = te.vjp(program, X)
    numpy.testing.assert_array_equal(value, program(X))


def test_the_callers_array_is_not_changed() -> None:
    x = X.copy()
    te.vjp(assigned_to_input, x)
    numpy.testing.assert_array_equal(x, X)


def test_the_result_may_be_changed_by_the_caller() -> None:
    value, backpropagator = te.vjp(np.exp, X)
    value[...] = 0.0
    numpy.testing.assert_allclose(backpropagator(numpy.ones_like(X))[0], numpy.exp(X))


def test_operands_that_are_copied_keep_their_place() -> None:
    """A rule that keeps a copy of a strided view still adds through the view's own strides."""

    def program(a: Any) -> Any:
        b = a * 1.0
        b[0, 0] = a[1, 1]
        part = b[::2, 2::-2]
        part += part * part
        return b

    check_vjp(program, X)


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.slices(4), st.slices(3), st.sampled_from(("set", "scale", "add", "view"))),
    max_size=5,
)


@given(STEPS)
def test_random_writes_through_views(steps: list[Any]) -> None:
    def program(a: Any) -> Any:
        b = a * 1.0
        target = b
        for row, rows, columns, kind in steps:
            part = target[rows, columns] if target.ndim == 2 else target[rows]
            if kind == "set":
                part[...] = a[row, 0] * 0.5
            elif kind == "scale":
                part *= a[row, 1]
            elif kind == "add":
                part += part * part
            elif part.size:
                target = part
        return np.concatenate([b.reshape(-1), (target * 1.0).reshape(-1)])

    numpy.testing.assert_array_equal(te.vjp(program, X)[0], program(X))
    check_vjp(program, X, order=1)


def test_a_broadcast_view_is_not_written_to() -> None:
    def program(a: Any) -> Any:
        b = np.broadcast_to(a, (2, 3))
        b[0, 0] = 1.0
        return b

    with pytest.raises(ValueError, match="read-only"):
        te.vjp(program, X[0])


def test_turning_a_traced_array_into_a_plain_one_is_refused() -> None:
    for lossy in (numpy.asarray, lambda a: float(a[:1, 0]), lambda a: numpy.zeros(12).__setitem__(0, a[0, 0])):
        with pytest.raises(DroppedDerivativeError, match="derivative"):
            te.vjp(lambda a, lossy=lossy: lossy(a), X)


def test_an_inner_value_does_not_enter_an_outer_array() -> None:
    def program(a: Any) -> Any:
        b = np.zeros(2)

        def inner(y: Any) -> Any:
            b[0] = y
            return y

        te.vjp(inner, 3.0)
        return b * a[0, 0]

    with pytest.raises(TraceError, match="outer"):
        te.vjp(program, X)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("inside", [False, True])
def test_rows_that_are_assigned_columns_which_they_cross(order: str, inside: bool) -> None:
    """numpy makes no copy when a vector is assigned to one of other strides: it reads elements that it has written."""
    x = numpy.asarray(numpy.random.default_rng(4).normal(size=(4, 4)), order=order)
    t = numpy.asarray(numpy.random.default_rng(5).normal(size=(4, 4)), order=order)  # the sum keeps the order
    for row, column, step, back in itertools.product(range(4), range(4), (1, 2), (False, True)):

        def program(np: Any, x: Any, row: int = row, column: int = column, step: int = step, back: bool = back) -> Any:
            y = np.copy(x)
            if back:
                y[::step, column] = y[row, ::step]
            else:
                y[row, ::step] = y[::step, column]
            return np.sum(np.sin(y))

        expected = numpy.imag(program(numpy, x + 1e-20j * t)) / 1e-20
        slope = te.grad(lambda x, p=program: p(np, x))
        found = te.vjp(slope, x)[0] if inside else slope(x)
        assert abs(numpy.sum(found * t) - expected) < 1e-12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_results_share_memory_as_numpys_do(call: Any) -> None:
    """Every call of the list, also of one array where lists are joined."""

    def shares(np: Any) -> Callable[..., list[bool]]:
        def found(*primals: Any) -> list[bool]:
            value = call.program(np, *primals)
            parts = value if isinstance(value, (list, tuple)) else (value,)
            return [np.shares_memory(part, x) for part in parts for x in primals]

        return found

    seen: list[Any] = []
    te.vjp(lambda *primals: seen.append(shares(te.numpy)(*primals)), *call.primals)
    assert seen == [shares(numpy)(*call.primals)]
