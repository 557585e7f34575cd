import numpy as np
import pytest
import scipy.interpolate
from differences import assert_gradient, assert_second_order

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_scipy import interpolate

RNG = np.random.default_rng(2)
CONDITIONS = ["not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.4)), "periodic"]


@pytest.mark.parametrize("count", [2, 3, 4, 7])
@pytest.mark.parametrize("bc_type", CONDITIONS, ids=str)
def test_cubic_splines(count, bc_type):
    x, y = np.cumsum(0.4 + RNG.random(count)), RNG.standard_normal((2, count))
    if bc_type == "periodic":
        if count < 4:
            return
        y[:, -1] = y[:, 0]
    given = bc_type if isinstance(bc_type, str) else tuple((order, np.full(2, value)) for order, value in bc_type)
    theirs = scipy.interpolate.CubicSpline(x, y, axis=1, bc_type=given)

    def traced(y):
        ours = interpolate.CubicSpline(x, y, axis=1, bc_type=given)
        return [ours(query, nu) for nu in range(4)], ours.c

    query = np.linspace(x[0] - 0.5, x[-1] + 0.5, 11).reshape(11, 1)
    values, c = te.vjp(traced, y)[0]
    for nu in range(4):
        np.testing.assert_allclose(values[nu], theirs(query, nu), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(c, np.moveaxis(theirs.c, 2, 2), rtol=1e-9, atol=1e-10)
    if bc_type != "periodic":

        def total(v):
            return np.sum(np.sin(interpolate.CubicSpline(v[:count], v[count:-2], bc_type=bc_type)(v[-2:])))

        point = np.concatenate([x, y[0], [x[0] + 0.05, x[0] + 0.21]])
        assert_gradient(total, point, rtol=1e-7)
        assert_second_order(total, point, rtol=1e-6)


def test_periodic_spline_in_its_values():
    x = np.array([0.0, 0.7, 1.5, 2.0])

    def total(v):
        values = np.concatenate([v, v[:1]])
        return np.sum(np.sin(interpolate.CubicSpline(x, values, bc_type="periodic")(np.array([0.3, 2.9]))))

    assert_gradient(total, RNG.standard_normal(3))


def test_spline_without_extrapolation():
    spline = interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], extrapolate=False)
    np.testing.assert_array_equal(np.isnan(spline(np.array([-1.0, 0.5, 3.0]))), [True, False, True])
    assert spline.derivative()(1.0) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="increasing"):
        interpolate.CubicSpline([0.0, 0.0], [1.0, 2.0])


@pytest.mark.parametrize("kind", ["linear", "slinear", "cubic", "nearest", "nearest-up", "zero", "previous", "next", 1])
def test_interp1d(kind):
    x, y = np.array([0.0, 1.0, 2.5, 3.0, 4.0]), RNG.standard_normal((3, 5))
    query = np.array([[0.5, 1.0, 2.9], [3.0, 0.0, 4.0]])
    for options, points in (
        ({}, query),
        ({"fill_value": (1.0, 2.0), "bounds_error": False}, query - 2),
        ({"fill_value": "extrapolate"}, query + 2),
    ):
        theirs = scipy.interpolate.interp1d(x, y, kind, **options)(points)
        np.testing.assert_allclose(interpolate.interp1d(x, y, kind, **options)(points), theirs, atol=1e-12)
    order = [2, 0, 4, 1, 3]
    np.testing.assert_allclose(
        interpolate.interp1d(x[order], y[:, order], kind)(query), interpolate.interp1d(x, y, kind)(query)
    )
    assert_gradient(lambda y: np.sum(np.sin(interpolate.interp1d(x, y, kind)(query))), y)


def test_interp1d_in_its_points():
    y = RNG.standard_normal(4)
    assert_gradient(lambda v: np.sum(np.sin(interpolate.interp1d(v[:4], y)(v[4:]))), [0.0, 1.0, 2.5, 3.0, 0.3, 2.8])


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
