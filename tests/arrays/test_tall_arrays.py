"""Arrays of many short rows, whose loops go along the columns, have the bits of numpy in values and cotangents."""

import numpy as np
import pytest

import tapeengine as te

VIEWS = {
    "whole": lambda a: a,
    "columns": lambda a: a[:, 1:],
    "one column": lambda a: a[:, :1],
    "rows": lambda a: a[::2],
    "one row": lambda a: a[:1],
}
OPERATIONS = {
    "add": (np.add, lambda ct, x, y: ct, lambda ct, x, y: ct),
    "subtract": (np.subtract, lambda ct, x, y: ct, lambda ct, x, y: -ct),
    "multiply": (np.multiply, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x),
    "divide": (np.divide, lambda ct, x, y: ct * (1.0 / y), lambda ct, x, y: ct * -((x / y) / y)),
}


def spread(view, shape, contribution):
    """The cotangent of an array whose view an operation read, with rows added in their order."""
    found = np.zeros(shape)
    part = view(found)
    part = part.reshape((1,) * (contribution.ndim - part.ndim) + part.shape)
    for index in np.ndindex(contribution.shape):
        place = tuple(0 if n == 1 else k for k, n in zip(index, part.shape, strict=True))
        part[place] += contribution[index]
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("first", VIEWS)
@pytest.mark.parametrize("second", VIEWS)
def test_many_short_rows(operation, first, second):
    function, of_first, of_second = OPERATIONS[operation]
    views = VIEWS[first], VIEWS[second]
    rng = np.random.default_rng(len(first) * len(second))
    for rows, columns in ((33, 3), (129, 2), (260, 1), (34, 15)):
        x, y = (rng.normal(size=(2 * rows if name == "rows" else rows, columns)) for name in (first, second))
        y[0], x[1] = 0.5, 0.0
        if columns == 1 and "columns" in (first, second):
            continue
        try:
            plain = function(views[0](x), views[1](y))
        except ValueError:  # the shapes do not fit together
            continue
        ct = rng.normal(size=plain.shape)
        ct[::3] = 0.0
        staged = te.stage(lambda x, y: function(views[0](x), views[1](y)))
        for run in (lambda x, y: function(views[0](x), views[1](y)), staged, staged):
            value, back = te.vjp(run, x, y)
            assert np.array_equal(value, plain)
            parts = np.broadcast_arrays(views[0](x), views[1](y))
            for found, view, array, rule in zip(back(ct), views, (x, y), (of_first, of_second), strict=True):
                exact = spread(view, array.shape, rule(ct, *parts))
                assert np.allclose(found, exact, rtol=1e-13, atol=1e-13)
                if plain.shape == view(array).shape:
                    assert np.array_equal(found, exact)
