"""Products of arrays in any strides, dtypes and ranks have the bits, shape, dtype and memory order of numpy's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from outcomes import outcome

import tapeengine as te

SHAPES = ((), (1,), (3,), (8,), (0,), (2, 3), (3, 2, 3))
LAYOUTS: dict[str, Any] = {
    "C": lambda x: x,
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "reversed": lambda x: np.flip(np.flip(x).copy()) if x.size > 1 else x,
    "every other place": lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x,
}
PRODUCTS = (np.dot, np.inner, np.vdot, np.outer, np.kron, np.tensordot, np.matmul, np.vecdot)
#: Pairs of dtypes with all of BLAS's kernels, and a conversion of either operand.
PAIRS = ("ff", "dd", "FF", "DD", "fd", "dD", "Dd", "Ff")


def drawn(rng: Any, shape: tuple[int, ...], dtype: str) -> Any:
    parts = rng.normal(size=(2, *shape))
    return np.asarray(parts[0] + 1j * parts[1] if dtype in "FD" else parts[0], dtype)


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Exception):
        return isinstance(found, type(wanted))
    form = [(type(x), np.shape(x), x.dtype, x.flags.c_contiguous, x.flags.f_contiguous) for x in (found, wanted)]
    return form[0] == form[1] and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.__name__)
def test_values(product: Any, layout: str) -> None:
    rng, wrong = np.random.default_rng(7), []
    for (first, second), dtypes in itertools.product(itertools.product(SHAPES, repeat=2), PAIRS):
        x, y = (LAYOUTS[layout](drawn(rng, s, d)) for s, d in zip((first, second), dtypes, strict=True))
        wanted = outcome(lambda x=x, y=y: product(x, y))
        found = outcome(lambda x=x, y=y: te.vjp(product, x, y)[0])
        if not same(found, wanted):
            wrong.append((first, second, dtypes, found, wanted))
    assert not wrong, wrong[:3]
