"""Traced values in arguments of numpy's functions other than the first: numpy's values, derivatives by differences."""

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

X = numpy.array([0.5, 2.0, 1.25, 4.0])
ODD = numpy.array([numpy.nan, 7.0, numpy.inf, -numpy.inf])
ANGLES = numpy.array([0.0, 5.0, 9.5, 3.0, -6.0])
#: Programs of a number and a module; at 1.5 no choice changes.
PROGRAMS = {
    "nan": lambda a, n: n.nan_to_num(ODD, nan=a, posinf=2 * a, neginf=-a),
    "nan in place": lambda a, n: n.nan_to_num(n.array(ODD), False, a),
    "nan of complex": lambda a, n: n.abs(n.nan_to_num(ODD * 1j, nan=a, posinf=a * a)[:3]),
    "nan of a number": lambda a, n: n.nan_to_num(numpy.nan, nan=a),
    "nan in single precision": lambda a, n: n.nan_to_num(ODD.astype(numpy.float32), nan=n.array(a, numpy.float32)),
    "period": lambda a, n: n.unwrap(ANGLES, period=a),
    "period of rows": lambda a, n: n.unwrap(ANGLES.reshape(1, -1) * a * a, period=2 * a),
    "discontinuity": lambda a, n: n.unwrap(ANGLES * a, discont=a + 3.0),
    "ends of interp": lambda a, n: n.interp([-1.0, 9.0], [0.0, 1.0], [2.0, 3.0], left=a, right=a * a),
    "period of interp": lambda a, n: n.interp([2.3], [0.1, 0.7], [2.0, 3.0], period=a),
    "constant of pad": lambda a, n: n.pad(X, 2, constant_values=(a, 2 * a)),
    "ends of pad": lambda a, n: n.pad(X, 2, mode="linear_ramp", end_values=a),
    "distance of trapezoid": lambda a, n: n.trapezoid(X, dx=a),
    "places of trapezoid": lambda a, n: n.trapezoid(X, x=n.cumsum(X * a)),
    "distance of gradient": lambda a, n: n.gradient(X, a),
    "weights of cov": lambda a, n: n.cov(numpy.stack([X, X**2]), aweights=n.array([1.0, a, 2.0, 1.0])),
    "weights of average": lambda a, n: n.average(X, weights=[1.0, a, 2.0, 1.0]),
    "places of quantile": lambda a, n: n.quantile(X, a / 4),
    "places of percentile": lambda a, n: n.percentile(X, 20 * a, axis=0),
    "weights of histogram": lambda a, n: n.histogram(X, 2, weights=n.array([1.0, a, 2.0, 1.0]))[0],
    "initial of sum": lambda a, n: n.sum(X, initial=a),
    "initial of prod": lambda a, n: n.prod(X, initial=a),
    "initial of max": lambda a, n: n.max(X, initial=4 * a),
    "initial of cumulation": lambda a, n: n.add.reduce(X, initial=a),
    "mean of std": lambda a, n: n.std(X, mean=n.array([a]), keepdims=True),
    "ends of ediff1d": lambda a, n: n.ediff1d(X, to_end=a, to_begin=[a * a]),
    "ends of diff": lambda a, n: n.diff(X, prepend=a, append=[a * a]),
    "default of select": lambda a, n: n.select([X > 2, X > 1], [X, X * X], a),
    "values of piecewise": lambda a, n: n.piecewise(X, [X > 1], [lambda x: x * a, a]),
    "values of insert": lambda a, n: n.insert(X, 1, [a, a * a]),
    "value of fill_diagonal": lambda a, n: (m := n.zeros((2, 2)), n.fill_diagonal(m, a))[0],
    "bounds of clip": lambda a, n: n.clip(X, a, 2 * a),
    "base of logspace": lambda a, n: n.logspace(0.0, 2.0, 3, base=a),
    "beta of kaiser": lambda a, n: n.kaiser(5, a),
    "constants of polyint": lambda a, n: n.polyint([1.0, 2.0], 2, k=[a, a * a]),
    "weights of polyfit": lambda a, n: n.polyfit(X, X**2, 1, w=[1.0, a, 2.0, 1.0]),
    "order of norm": lambda a, n: n.linalg.norm(X, a),
    "tolerances": lambda a, n: n.isclose(X, X + 0.1, rtol=a * 0.01, atol=a * 0.01) * 1.0,
    "cutoff of lstsq": lambda a, n: n.linalg.lstsq(numpy.eye(2) * 2, X[:2], rcond=a * 1e-9)[0],
    "cutoff of pinv": lambda a, n: n.linalg.pinv(numpy.eye(2) * 2, rcond=a * 1e-9),
    "values of full_like": lambda a, n: n.full_like(X, a),
    "values of heaviside": lambda a, n: n.heaviside([0.0, 1.0], a),
    "values of putmask": lambda a, n: (m := n.array(X), n.putmask(m, X > 1, [a, 2 * a]))[0],
    "values of place": lambda a, n: (m := n.array(X), n.place(m, X > 1, [a, 2 * a]))[0],
    "places of vander": lambda a, n: n.vander([a, 2.0], 3),
    "where and out": lambda a, n: n.add(X, a, where=X > 1, out=n.array(X)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_value_and_tangent(name):
    program = PROGRAMS[name]
    value, tangent = te.jvp(lambda a: program(a, np), (1.5,), (1.0,))
    plain = program(1.5, numpy)
    assert getattr(value, "dtype", float) == getattr(plain, "dtype", float)
    numpy.testing.assert_allclose(value, plain, rtol=1e-15)
    step = 1e-3 if getattr(plain, "dtype", None) == numpy.float32 else 1e-6
    expected = (program(1.5 + step, numpy) - program(1.5 - step, numpy)) / (2 * step)
    numpy.testing.assert_allclose(tangent, expected, rtol=step, atol=1e-8)
    back = te.vjp(lambda a: program(a, np), 1.5)[1](numpy.ones_like(plain) if numpy.ndim(plain) else 1.0)[0]
    numpy.testing.assert_allclose(back, numpy.sum(tangent), rtol=1e-6 if step == 1e-3 else 1e-13, atol=1e-13)
