"""Skewness, kurtosis and standard scores: SciPy's values, and derivatives against complex steps and differences."""

import numpy as np
import pytest
import scipy.stats

import tapeengine as te
from tapeengine_scipy import stats

X = np.random.default_rng(3).normal(size=(5, 4)) + 2.0
CALLS = [
    *(("skew", o) for o in ({}, {"axis": 1}, {"axis": None}, {"bias": False}, {"keepdims": True})),
    *(("kurtosis", o) for o in ({}, {"axis": -1}, {"axis": None, "fisher": False}, {"bias": False})),
    *(("zscore", o) for o in ({}, {"axis": 1}, {"axis": None}, {"ddof": 1})),
]


def plain(name, x, axis=0, bias=True, fisher=True, ddof=0, keepdims=False):
    """The definitions, which also hold for complex numbers."""
    if axis is None:
        return plain(name, x.ravel(), 0, bias, fisher, ddof).reshape(x.shape if name == "zscore" else ())
    n, centred = x.shape[axis], x - x.mean(axis=axis, keepdims=True)
    if name == "zscore":
        return centred / np.sqrt(np.sum(centred * centred, axis=axis, keepdims=True) / (n - ddof))
    m2, m3, m4 = (np.sum(centred**k, axis=axis, keepdims=keepdims) / n for k in (2, 3, 4))
    if name == "skew":
        return m3 / m2**1.5 * (1.0 if bias else np.sqrt(n * (n - 1)) / (n - 2))
    value = m4 / m2**2
    value = value if bias else ((n * n - 1) * value - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return value - 3 if fisher else value


@pytest.mark.parametrize(("name", "options"), CALLS)
def test_values_and_derivatives(name, options):
    ours = lambda x: getattr(stats, name)(x, **options)  # noqa: E731
    wanted = getattr(scipy.stats, name)(X, **options)
    found = te.vjp(ours, X)[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    assert np.shape(found) == np.shape(wanted)
    weights = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
    f = lambda x: np.sum(weights * ours(x))  # noqa: E731
    steps = [
        np.sum(weights * plain(name, X + 1e-20j * h, **options)).imag / 1e-20 for h in np.eye(20).reshape(20, 5, 4)
    ]
    np.testing.assert_allclose(te.grad(f)(X).ravel(), steps, rtol=1e-11, atol=1e-13)
    way = np.sin(X)
    slopes = [te.grad(f)(X + h * way) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(te.hvp(f, (X,), (way,)), (slopes[0] - slopes[1]) / 2e-5, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["skew", "kurtosis", "zscore"])
def test_equal_elements_give_nan(name):
    assert np.isnan(te.vjp(getattr(stats, name), np.full(4, 2.0))[0]).all()


@pytest.mark.parametrize("name", ["skew", "kurtosis", "zscore"])
def test_nan_policies(name):
    ours, x = getattr(stats, name), np.append(X[0], np.nan)
    weigh = lambda z: np.sum(np.cos(np.arange(len(z) if z.ndim else 1)) * z)  # noqa: E731
    wanted = te.grad(lambda x: weigh(np.atleast_1d(ours(x))))(X[0])
    found = te.grad(lambda x: weigh(np.atleast_1d(ours(x, nan_policy="omit"))[:4]))(x)
    np.testing.assert_allclose(found, np.append(wanted, 0.0), rtol=1e-12)
    with pytest.raises(ValueError, match="contains nan"):
        te.vjp(lambda x: ours(x, nan_policy="raise"), x)
