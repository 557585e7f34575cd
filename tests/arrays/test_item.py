"""`item` of traced arrays, and indices of traced numbers, take and refuse what numpy's take and refuse."""

import re
from typing import Any

import numpy as np
import pytest

import tapeengine as te


class Whole:
    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


INDICES: list[Any] = [
    *((), (-1,), (5,), (6,), (True,), (2**63,), (1.0,), ("a",), (None,), ([0],), (slice(1),), (np.array([3]),)),
    *((np.array(3),), (np.int8(2),), (Whole(3),), (Whole(2**63),), (1, 2), (-2, -3), (-3, 0), (0, 0, 0), (0, (1,))),
    *(((),), ((0,),), ((5,),), (((0,),),), ((None,),), ((slice(0, 1),),), ((0, (1,)),), ((True, False),), ((1, 2),)),
    *((1, np.array(2)), (1, Whole(2)), (Ellipsis,), ((Ellipsis, 0),)),
]
ARRAYS = [np.arange(6.0).reshape(2, 3), np.arange(1.0), np.array(2.0), np.zeros((0, 2)), np.arange(6.0).reshape(3, 2).T]
ARRAYS += [np.arange(6.0).reshape(2, 3) * 1j, np.ones((2, 3), np.float32)]


@pytest.mark.parametrize("index", INDICES, ids=lambda index: str(index)[:30])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda x: f"{x.dtype}{x.shape}{x.strides}")
def test_item_is_that_of_numpy(array: Any, index: Any) -> None:
    try:
        wanted = array.item(*index)
    except Exception as error:
        with pytest.raises(type(error)):
            te.vjp(lambda x: x.item(*index), array)
        return
    value, back = te.vjp(lambda x: x.item(*index), array)
    assert (type(value), value) == (type(wanted), wanted)
    (cotangent,) = back(1.0)
    assert cotangent.item(*index) == 1.0
    assert np.count_nonzero(cotangent) == 1


NUMBERS: list[Any] = [1.5, 1.5 + 2.0j, np.float64(1.5), np.float32(1.5), np.complex128(1.5 + 2.0j), np.complex64(1.5j)]
KEYS: list[Any] = [
    0,
    (),
    ...,
    None,
    (None, ...),
    (..., None),
    (None, None),
    True,
    [True],
    [0],
    np.array(True),
    np.array(0),
]
KEYS += [(0,), slice(None), "a", 1.5, 2**70, np.zeros(0, int), (None, 0), (..., True)]


def indexed(key: Any, x: Any) -> Any:
    """An item, an array of its own also where it has the number's shape: it is written to, the number is not."""
    item = x[key]
    if key is Ellipsis:
        whole = item
        item += 1.0
        item[...] = 3.0 * whole
    elif np.shape(item):
        item[..., :1] *= 2.0
    return item, x * 2.0


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("computed", [False, True])
def test_items_of_numbers_are_those_of_numpy(number: Any, key: Any, computed: bool) -> None:
    def program(x: Any) -> Any:
        return indexed(key, x.sum() if computed else x)

    primal = np.asarray(number)[None] if computed else number
    try:
        wanted = program(primal)
    except Exception as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            te.vjp(program, primal)
        return
    found, back = te.vjp(program, primal)
    for one, other in zip(found, wanted, strict=True):
        assert (type(one), np.shape(one)) == (type(other), np.shape(other))
        np.testing.assert_array_equal(one, other)
    (cotangent,) = back(tuple(type(one)(1.0) if np.isscalar(one) else np.ones_like(one) for one in found))
    slope = sum(np.sum(one) - np.sum(other) for one, other in zip(program(primal + 1.0), program(primal), strict=True))
    np.testing.assert_allclose(np.sum(cotangent), slope)
