"""var and std with a given mean: the array's own, a constant, and one that depends on the array differently."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4))
OPTIONS = [{}, {"ddof": 1}, {"correction": 1}, {"where": X > -0.5}, {"keepdims": True}, {"dtype": np.float64}]
MEANS = {
    "its own": lambda np, x: np.nanmean(x, axis=1, keepdims=True),
    "a constant": lambda np, x: 0.3,
    "an array": lambda np, x: [[0.1], [0.2], [-0.7]],
    "another of it": lambda np, x: x[:, :1] * 0.5 + x[:, 3:],
}


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_the_spread_around_a_mean(name, mean, options, dtype):
    x = (X + 1j * X[::-1] if dtype is np.complex128 else X).astype(dtype)
    if name.startswith("nan"):
        x[1, 1] = np.nan

    def f(np, x):
        return getattr(np, name)(x, axis=1, mean=np.asarray(MEANS[mean](np, x)), **options)

    value, tangent = te.jvp(lambda x: f(tnp, x), (x,), (np.ones_like(x) * X,))
    wanted = f(np, x)
    np.testing.assert_allclose(value, wanted, rtol=1e-5 if dtype is np.float32 else 1e-13)
    assert value.dtype == wanted.dtype
    wide, step = x.astype(np.result_type(dtype, np.float64)), 1e-5 * X
    difference = (f(np, wide + step) - f(np, wide - step)) / 2e-5
    np.testing.assert_allclose(tangent, difference, rtol=1e-4 if dtype is np.float32 else 1e-8, atol=1e-5)
