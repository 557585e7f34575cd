"""`r_` and `c_` of arrays and numbers: numpy's dtype, shape and bits, to which Python's numbers adapt; derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError

#: What stands beside the array a and the number x in a key.
ITEMS: tuple[Any, ...] = (
    *(2, -0.5, True, 1.5j, numpy.float32(0.75), numpy.float64(3), numpy.int64(4), numpy.complex64(2)),
    *(slice(0, 3), slice(0, 1, 3j), [1.0, 2.0], numpy.float32([5, 6]), 2**70),
)
ARRAYS = [numpy.array([1.0, 2.0], dtype) for dtype in "fdFD"]
KEYS: dict[str, Any] = {
    "number, array": lambda a, x, item: (item, a),
    "array, number": lambda a, x, item: (a, item, x),
    "number twice": lambda a, x, item: (x, a, item, x),
    "numbers": lambda a, x, item: (x, item),
    "element": lambda a, x, item: (a[0], item),
    "ranges": lambda a, x, item: (slice(x, 4, 1), item),
    "rows": lambda a, x, item: ("0,2", a, x, item),
}


def plain_key(make: Any, space: Any, *values: Any) -> Any:
    return getattr(space, make[0])[KEYS[make[1]](*values)]


@pytest.mark.parametrize("make", list(itertools.product(("r_", "c_"), KEYS)), ids=" ".join)
def test_dtypes_and_derivatives(make: Any) -> None:
    for a, x, item in itertools.product(ARRAYS, (1.5, numpy.float64(1.5), 1.5 + 2j), ITEMS):
        if isinstance(x, complex) and make[1] == "ranges":
            continue
        try:
            wanted = plain_key(make, numpy, a, x, item)
        except ValueError:
            continue  # parts of different lengths
        found, back = te.vjp(lambda a, x, item=item: plain_key(make, np, a, x, item), a, x)
        assert (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes()), (x, item)
        cotangent = numpy.arange(1.0, found.size + 1).reshape(found.shape).astype(found.dtype)
        steps = [plain_key(make, numpy, a + row, x, item) - wanted for row in numpy.eye(2, dtype=a.dtype)]
        by_array, by_number = back(cotangent)
        assert numpy.array_equal(by_array, [(cotangent * step).sum() for step in steps])
        if make[1] != "ranges":  # whose extents change with x
            assert by_number == (cotangent * (plain_key(make, numpy, a, x + 1, item) - wanted)).sum()


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("directive", ["r", "c"])
def test_a_matrix_is_refused(directive: str) -> None:
    with pytest.raises(UnsupportedError, match="0,2"):
        te.vjp(lambda x: np.r_[directive, x], numpy.ones(2))
