"""Calls with mistakes: the plain result, or an error that says what to write."""

import operator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import RepeatError

DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("digits", [None, -1, 0, 1, 3])
@pytest.mark.parametrize("value", [1.25, -17.5, 2.5, 0.0, 1e6])
def test_round_of_an_element(dtype: Any, digits: int | None, value: float) -> None:
    """A discrete result, like that of a number."""
    x = np.array([value, 1.0], dtype)
    given = () if digits is None else (digits,)
    result, back = te.vjp(lambda x: round(x[0], *given) * x[1], x)
    assert result == round(x[0], *given)
    np.testing.assert_allclose(back(result.dtype.type(1.0) if dtype == np.float32 else 1.0)[0], [0.0, float(result)])


def test_round_of_an_array_is_no_method_as_in_numpy() -> None:
    for x in (np.ones(3), np.ones(3, np.float32)):
        with pytest.raises(TypeError, match="__round__"):
            round(x)  # type: ignore[call-overload]
        with pytest.raises(TypeError, match=r"numpy\.round"):
            te.vjp(round, x)


@pytest.mark.parametrize("where", [None, True, False, [True, False, True], np.array([True, False, True])])
def test_where_of_a_ufunc(where: Any) -> None:
    """Elements that the mask excludes keep the content of `out`."""

    def program(x: Any) -> Any:
        out = x * 3.0
        return np.add(x, x, out=out, where=where)

    x = np.array([1.0, 2.0, 4.0])
    value, back = te.vjp(program, x)
    np.testing.assert_array_equal(value, program(x))
    mask = np.broadcast_to(np.asarray(where, bool), x.shape)
    np.testing.assert_array_equal(back(np.ones(3))[0], np.where(mask, 2.0, 3.0))
    assert te.vjp(lambda x: np.add(x, x, where=where), x)[0].shape == (3,)


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((2, 3), (4,)), ((3,), (4, 2)), ((2, 3), (4, 2)), ((), (3,))])
@pytest.mark.parametrize("multiply", [operator.matmul, np.matmul, np.dot], ids=lambda f: f.__name__)
def test_products_of_sizes_that_differ(multiply: Any, shapes: Any) -> None:
    arrays = [np.ones(shape) for shape in shapes]
    try:
        expected: Any = np.shape(multiply(*arrays))
    except ValueError as error:
        expected = str(error)
    for traced in (lambda a, b: multiply(a, b), lambda a, b: multiply(a, arrays[1]) + 0.0 * np.sum(b)):
        for run in (te.vjp, lambda f, *xs: te.stage(f)(*xs)):
            try:
                found: Any = np.shape(multiply(*arrays)) if run(traced, *arrays) is not None else None
            except ValueError as error:
                found = str(error)
            assert found == expected


@pytest.mark.parametrize("n", [1.0, "3", None, np.ones(2)])
def test_iterate_with_its_arguments_in_another_order(n: Any) -> None:
    with pytest.raises(TypeError, match=r"\(step, n, x\)"):
        te.iterate(lambda s: s * 2.0, n, 3)


def test_iterate_with_a_dual_for_its_count() -> None:
    for x in (1.5, np.array([1.0, 2.0]), np.array([1.0], np.float32)):
        with pytest.raises(TypeError, match=r"\(step, n, x\)"):
            te.vjp(lambda x: te.iterate(lambda s: s * 2.0, x[0] if np.ndim(x) else x, 3), x)
    assert te.grad(lambda x: te.iterate(lambda s: s * 2.0, np.int64(3), x[0]))(np.array([1.0]))[0] == 8.0


@pytest.mark.parametrize("left", [0, 1, 2])
def test_an_iterator_that_a_checkpoint_takes_from(left: int) -> None:
    """The first run has consumed an item: the second one gets another item, or the end."""
    items = iter([2.0, *[3.0] * left])
    with pytest.raises(RepeatError, match="twice"):
        te.grad(lambda x: te.checkpoint(lambda y: y * next(items))(x))(1.0)


def test_the_programs_own_stop_iteration_passes() -> None:
    with pytest.raises(StopIteration):
        te.grad(lambda x: te.checkpoint(lambda y: y * next(iter(())))(x))(1.0)


def test_nditer_of_a_traced_array_is_refused() -> None:
    """By numpy's own error: its iterator works on memory. `for e in x.flat` is traced."""
    with pytest.raises(TypeError):
        te.vjp(lambda x: sum(np.nditer(x)), np.ones(3))
    np.testing.assert_array_equal(te.grad(lambda x: sum(e * e for e in x.flat))(np.arange(3.0)), 2 * np.arange(3.0))
