"""`item` of traced arrays takes and refuses what numpy's takes and refuses."""

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
