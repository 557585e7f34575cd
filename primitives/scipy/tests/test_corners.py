"""The ufuncs of `scipy.special` at zeros, poles and the ends of their ranges: numbers of Python and of numpy agree."""

import itertools

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import special, stats
from tapeengine_scipy.plugin import ufunc_rules

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

CORNERS = {1: (-1.5, -1.0, 0.0, 1.0, 1e-300, np.inf), 2: (-1.5, 0.0, 1.0, 2.5), 3: (0.0, 1.0, 2.5), 4: (0.0, 1.5)}
REAL = [ufunc for ufunc in ufunc_rules() if f"{'d' * ufunc.nin}->d" in ufunc.types]


def slopes(ufunc, k, args):
    """The first and second derivative in one argument, or why there is none."""

    def along(x):
        return ufunc(*args[:k], x, *args[k + 1 :])

    try:
        return te.grad(along)(args[k]), te.grad(te.grad(along))(args[k])
    except UnsupportedError as error:
        return str(error)


@pytest.mark.parametrize("ufunc", REAL, ids=lambda f: f.__name__)
def test_numbers_of_python_have_the_derivatives_of_numpys(ufunc):
    for args in itertools.product(CORNERS[ufunc.nin], repeat=ufunc.nin):
        for k in range(ufunc.nin):
            found, wanted = (slopes(ufunc, k, [*map(kind, args)]) for kind in (float, np.float64))
            np.testing.assert_equal(found, wanted)


@pytest.mark.parametrize("end", [0.0, 1.0])
@pytest.mark.parametrize("quantile", ["gammaincinv", "gammainccinv", "betaincinv", "betainccinv", "fdtri", "chdtri"])
def test_an_end_of_a_range_does_not_move(quantile, end):
    function = getattr(special, quantile)
    for parameters in itertools.product((0.5, 2.0, 3.5), repeat=function.nin - 1):
        value, slope = te.vjp(lambda *p: function(*p, end), *parameters)
        assert np.isinf(value) or slope(1.0) == (0.0,) * len(parameters)


@pytest.mark.parametrize("end", [0.0, 1.0])
@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_the_support_moves_with_its_location_and_scale(method, end):
    for name, shapes in {"beta": (2.0, 3.0), "gamma": (2.0,), "chi2": (3.0,), "f": (3.0, 4.0)}.items():
        quantile = getattr(getattr(stats, name), method)
        value = quantile(end, *shapes, 1.0, 2.0)
        if np.isfinite(value):
            slopes = te.grad(quantile, argnums=tuple(range(1, 3 + len(shapes))))(end, *shapes, 1.0, 2.0)
            np.testing.assert_allclose(slopes, (*(0.0 for _ in shapes), 1.0, (value - 1.0) / 2.0), atol=1e-15)
