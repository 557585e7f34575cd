import numpy as np
import pytest
import scipy.interpolate

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import interpolate


def test_spline_without_extrapolation():
    spline = interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], extrapolate=False)
    np.testing.assert_array_equal(np.isnan(spline(np.array([-1.0, 0.5, 3.0]))), [True, False, True])
    assert spline.derivative()(1.0) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="increasing"):
        interpolate.CubicSpline([0.0, 0.0], [1.0, 2.0])


def test_interp1d_refuses():
    with pytest.raises(ValueError, match="interpolation range"):
        interpolate.interp1d([0.0, 1.0], [0.0, 1.0])(2.0)
    with pytest.raises(ValueError, match="interpolation range"):
        te.grad(lambda x: interpolate.interp1d([0.0, 1.0], [0.0, 1.0])(x))(2.0)
    with pytest.raises(UnsupportedError, match="quadratic"):
        te.grad(lambda x: interpolate.interp1d([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], kind="quadratic")(x))(0.3)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_spline_through_plain_points_has_derivatives_by_its_places(k, axis):
    x, y = np.arange(7.0), np.sin(np.arange(7.0))
    y = y if axis == 0 else np.stack([y, y**2])
    ours, theirs = (module.make_interp_spline(x, y, k, axis=axis) for module in (interpolate, scipy.interpolate))
    for places, t in ((1.3, 1.0), (np.array([1.3, 2.2]), np.ones(2)), (np.array([[4.4]]), np.ones((1, 1)))):
        value, tangent = te.jvp(lambda x: ours(x), (places,), (t,))
        np.testing.assert_allclose(value, theirs(places), rtol=1e-13)
        np.testing.assert_allclose(tangent, theirs(places, 1), rtol=1e-12)
        np.testing.assert_array_equal(ours(places), theirs(places))
