"""Correlations of 1, cosines of 1: SciPy clips rounding errors there, and the functions are smooth."""

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats

import tapeengine as te
from tapeengine_scipy import stats
from tapeengine_scipy.spatial import distance

CALLS = {
    "pearsonr": (lambda x, y: stats.pearsonr(x, y).statistic, lambda x, y: scipy.stats.pearsonr(x, y).statistic),
    "correlation": (distance.correlation, scipy.spatial.distance.correlation),
    "cosine": (distance.cosine, scipy.spatial.distance.cosine),
}


@pytest.mark.parametrize("slope", [-2.0, 0.3, 1.0])
@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives(name, slope):
    ours, theirs = CALLS[name]
    x = np.random.default_rng(5).normal(size=4)
    y, steps = slope * x + (name != "cosine"), 1e-3 * np.eye(4)
    assert te.vjp(lambda y: ours(x, y), y)[0] == theirs(x, y)
    expected = [
        [sum(s * t * theirs(x, y + s * a + t * b) for s in (1, -1) for t in (1, -1)) / 4e-6 for a in steps]
        for b in steps
    ]
    found = te.hessian(lambda y: ours(x, y))(y)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.max(np.abs(expected)))
