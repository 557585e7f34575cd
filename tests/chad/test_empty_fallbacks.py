"""Arrays without elements in typed programs, also where dual numbers take over: shapes are numpy's in both modes."""

import warnings

import numpy as np
import pytest

import tapeengine as te


def and_mean(m):
    return m + m.mean(axis=0)


def and_mean_of_rows(m):
    return m - m.sum(axis=0, keepdims=True)


def outer(m):
    return m[:, None, :] * m[None, :, :]


def two_results(m):
    return m / np.sum(m), m.mean(axis=0)


def doubled(m):
    return 2.0 * m


PROGRAMS = [and_mean, and_mean_of_rows, outer, two_results, doubled]


def shapes(value):
    return [np.shape(part) for part in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("backend", ["machine", "native"])
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0), (2, 3)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_shapes_are_numpys(program, shape, backend):
    m = np.ones(shape)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = program(m)
        compiled = te.program(program, backend=backend)
        value, back = te.vjp(compiled, m)
        assert shapes(value) == shapes(wanted)
        ones = tuple(map(np.ones_like, value)) if isinstance(value, tuple) else np.ones_like(value)
        assert back(ones)[0].shape == shape
        value, tangent = te.jvp(compiled, (m,), (m,))
        assert shapes(value) == shapes(tangent) == shapes(wanted)
