"""Functions of arrays that SciPy also calls with Python's numbers: traced ones give SciPy's classes and values."""

import importlib
import itertools

import numpy as np
import pytest

import tapeengine as te

GRID, VALUES = [0.0, 1.0, 2.0, 3.0], np.array([1.0, 3.0, 2.0, 5.0])
AT = {"a": 0.6, "b": 0.4}
CALLS = """\
interpolate.CubicSpline(GRID, VALUES * b)(a)
interpolate.CubicSpline(GRID, VALUES)(a)
interpolate.CubicSpline(GRID, VALUES * b)(a, 1)
interpolate.CubicSpline(GRID, VALUES * b).integrate(0.0, a)
interpolate.CubicHermiteSpline(GRID, VALUES * b, VALUES)(a)
interpolate.PchipInterpolator(GRID, VALUES * b)(a)
interpolate.interp1d(GRID, VALUES * b)(a)
interpolate.BSpline(np.arange(8.0), VALUES * b, 3)(a)
special.logsumexp(a)
special.logsumexp(a, b=b)
special.logsumexp(a, b=b, return_sign=True)[0]
special.softmax(a)
special.log_softmax(a)
special.lambertw(a)
linalg.expm(a)
linalg.norm(a)
linalg.toeplitz(a)
linalg.block_diag(a, b)
linalg.solve(a, b)
signal.convolve(a, b)
signal.correlate(a, b)
signal.fftconvolve(a, b)
ndimage.gaussian_filter(a, 1.0)
stats.multivariate_normal.logpdf(a, b, b)
stats.multivariate_normal.entropy(a, b)
stats.multivariate_normal(b, b).pdf(a)
stats.poisson.cdf(a, b)
integrate.odeint(lambda y, t: -y * b, a, [0.0, 1.0])"""


def value(library, call, **given):
    """The value of a call."""
    name = call.split(".")[0]
    names = {name: importlib.import_module(f"{library}.{name}"), "np": np, "GRID": GRID, "VALUES": VALUES}
    return eval(call, {**names, **AT, **given})


@pytest.mark.parametrize("call", CALLS.splitlines())
def test_a_traced_number_gives_scipys_class(call):
    expected = value("scipy", call)
    for moved in itertools.chain.from_iterable(itertools.combinations(AT, k) for k in (1, 2)):
        program = lambda *x, moved=moved: value(  # noqa: E731
            "tapeengine_scipy", call, **dict(zip(moved, x, strict=True))
        )
        found = te.vjp(program, *(AT[name] for name in moved))[0]
        assert type(found) is type(expected)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-8)
