"""Partials at the edges of domains: those of float32 and of complex numbers, which rules compute, are those of float64.

The partials of float64 come from the opcode table, in C; the others from functions of numpy in the records of ufuncs.
"""

import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine._core.tape.table import OPS

EDGES = (0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf)
UFUNCS = {name: getattr(np, name) for op in OPS for name in op.ufuncs.split()}


def partials(ufunc: Any, dtype: Any) -> list[list[Any]]:
    """The cotangents of the operands at all combinations of edges, by a reverse sweep."""
    grid = np.array(list(itertools.product(EDGES, repeat=ufunc.nin))).T
    with np.errstate(all="ignore"):
        value, back = te.vjp(ufunc, *(x.astype(dtype) for x in grid))
        return [list(map(complex, part)) for part in back(np.ones_like(value))]


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_partials_at_edges_are_those_of_float64(name: str, dtype: Any) -> None:
    ufunc = UFUNCS[name]
    if not any(kind.startswith(np.dtype(dtype).char) for kind in ufunc.types):
        pytest.skip("numpy has no such values")
    is_real = np.dtype(dtype).kind == "f"  # numpy divides by infinities otherwise among complex numbers
    points = list(itertools.product(EDGES, repeat=ufunc.nin))
    for wanted, found in zip(partials(ufunc, float), partials(ufunc, dtype), strict=True):
        compared = [at for at, a in enumerate(wanted) if np.isfinite([a, *(points[at] if not is_real else ())]).all()]
        assert compared
        assert [(points[at], wanted[at], found[at]) for at in compared if found[at] != pytest.approx(wanted[at])] == []
