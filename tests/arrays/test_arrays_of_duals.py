"""Object arrays of dual numbers, which `numpy.array` makes from lists: as results, and as operands of traced arrays."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import StructureError

X = np.array([1.5, -2.0])


def rows(x: Any) -> list[list[Any]]:
    return [[x[0] * x[1], x[1] * x[1]], [3.0, x[0]]]


@pytest.mark.parametrize(
    "transform", [te.jacrev, te.jacfwd, lambda f: te.jacfwd(te.jacrev(f))], ids=["jacrev", "jacfwd", "second"]
)
def test_numpys_array_of_duals_is_a_result_as_tapeengines_is(transform: Any) -> None:
    np.testing.assert_array_equal(transform(lambda x: np.array(rows(x)))(X), transform(lambda x: tnp.array(rows(x)))(X))


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_its_value_and_its_cotangents(values: list[float]) -> None:
    value, backpropagator = te.vjp(lambda *xs: (np.array([x * x for x in xs]), 2.0), *values)
    assert value[0].dtype == float
    np.testing.assert_array_equal(value[0], np.square(values))
    assert backpropagator((np.ones(len(values)), 1.0)) == tuple(2.0 * x for x in values)


@pytest.mark.parametrize(
    "result",
    [np.array(["a", None], object), np.array([object()]), np.array([np.zeros(2), np.zeros(3)], object)],
    ids=["strings", "objects", "ragged"],
)
def test_an_array_of_other_objects_is_refused(result: Any) -> None:
    with pytest.raises(StructureError, match=r"value\[1\] is an array of objects that are not numbers"):
        te.vjp(lambda x: (x, result), 1.0)


@pytest.mark.parametrize("mask", [np.False_, [True, False]])
@pytest.mark.parametrize("product", [lambda a, x: a * x, lambda a, x: np.r_[a, x], lambda a, x: (a + x)[:0]])
def test_an_array_of_another_class_is_refused_and_computes(product: Any, mask: Any) -> None:
    array = np.ma.array([2.0, 3.0], mask=mask)
    with pytest.raises(StructureError, match=r"has its own operations \(numpy\.ma\.MaskedArray\)"):
        te.vjp(lambda x: product(array, x), 1.5)
    assert te.grad(lambda x: np.sum(array * x))(1.5) == array.sum()


MEETINGS = {
    "product": lambda x, a: a * x,
    "sum of traced and not": lambda x, a: np.add(x, a) + 1.0,
    "matrix product": lambda x, a: a @ x,
    "dot": lambda x, a: np.dot(x, a),
    "where": lambda x, a: np.where(x > 0, a, x),
    "stack": lambda x, a: np.stack([x, a]),
}


@pytest.mark.parametrize("meeting", MEETINGS.values(), ids=MEETINGS)
def test_it_meets_a_traced_array_as_tapeengines_does(meeting: Any) -> None:
    def program(array: Any) -> Any:
        return lambda x: meeting(x, array([x[0] * x[1], x[1] * 2.0]))

    for transform in (te.jacrev, te.jacfwd):
        found, expected = transform(program(np.array))(X), transform(program(tnp.array))(X)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("other", "text"),
    [([object(), "a"], None), ([np.zeros(2), np.zeros(3)], "objects that are not numbers")],
    ids=["objects", "rows of different lengths"],
)
def test_objects_that_are_not_numbers_do_not_meet_it(other: list[Any], text: str | None) -> None:
    """Where numpy raises an error for the plain array, it is numpy's."""
    if text is None:
        with pytest.raises(TypeError) as plain:
            np.sum(X * np.array(other, object))
        text = re.escape(str(plain.value))
    with pytest.raises(TypeError, match=text):
        te.grad(lambda x: np.sum(x * np.array(other, object)))(X)
