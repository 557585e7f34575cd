import numpy as np
import pytest

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
