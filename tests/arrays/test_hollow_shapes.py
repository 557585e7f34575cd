"""Arrays without elements, also where they broadcast against axes of one element: values, derivatives of every kind.

No sweep may touch the memory of an empty array, as ``PYTHONMALLOC=malloc valgrind python -m pytest ...`` would show.
"""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

SHAPES = [
    ((2, 1), (0,)),
    ((1,), (0,)),
    ((0, 1), (1, 3)),
    ((2, 1, 3), (0, 1)),
    ((0,), ()),
    ((3, 1), (3, 0)),
    ((0, 2), (2,)),
]
PROGRAMS = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "subtracted": lambda x, y: y - x,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: (1.0 + x) ** y,
    "maximum": tnp.maximum,
    "hypot": tnp.hypot,
    "where": lambda x, y: tnp.where(tnp.ones((), bool), x, y),
    "chain": lambda x, y: abs(x - y) ** 2 / 0.5 + tnp.exp(-x),
    "sum": lambda x, y: tnp.sum((x - y) ** 2),
    "sum of rows": lambda x, y: tnp.sum((x - y) ** 2, axis=0) if max(np.ndim(x), np.ndim(y)) else x - y,
    "sum of lines": lambda x, y: tnp.sum(x * y, axis=-1, keepdims=True) if max(np.ndim(x), np.ndim(y)) else x - y,
    "product": lambda x, y: tnp.prod(x - y),
    "einsum": lambda x, y: np.einsum("...i,...i->...", x, y) if np.ndim(x) * np.ndim(y) else x - y,
    "einsum of one": lambda x, y: np.einsum("...i->...", x - y) if np.ndim(x - y) else x - y,
    "written": lambda x, y: written(x - y),
}


def written(z):
    z = tnp.array(z)
    z[...] *= 2.0
    z += z
    return z


def derivatives(f, primals, tangents):
    value, back = te.vjp(f, *primals)
    ones = np.ones(np.shape(value)) if isinstance(value, np.ndarray) else 1.0
    found = [value, *back(ones), *te.jvp(f, primals, tangents)]
    found += [part for made in (te.jacrev(f, (0, 1)), te.jacfwd(f, (0, 1))) for part in made(*primals)]
    total = lambda x, y: tnp.sum(f(x, y))  # noqa: E731
    return [*found, *te.hvp(total, primals, tangents), *te.grad(total, (0, 1))(*primals)]


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_nothing(name, shapes):
    f = PROGRAMS[name]
    primals = tuple(np.full(shape, 0.5 + k) for k, shape in enumerate(shapes))
    tangents = tuple(np.full(shape, 2.0 - k) for k, shape in enumerate(shapes))
    plain = f(*primals)
    value, back = te.vjp(f, *primals)
    assert np.array_equal(value, plain) and np.shape(value) == np.shape(plain)
    found = derivatives(f, primals, tangents)
    for part, primal in zip(back(np.ones(np.shape(plain)) if np.ndim(plain) else 1.0), primals, strict=True):
        assert np.shape(part) == np.shape(primal)
        assert not np.any(part) or np.size(plain) > 0
    staged = te.stage(f)
    for _ in range(2):
        for ours, theirs in zip(derivatives(staged, primals, tangents), found, strict=True):
            assert np.array_equal(ours, theirs) and np.shape(ours) == np.shape(theirs)
