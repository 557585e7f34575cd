"""numpy's functions with a traced number or array as an option, or as another argument than the first."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

PLAIN = numpy.array([1.0, 5.0, 3.0])
THREE = numpy.array([1.0, 2.0, 3.0])
Call = Callable[[Any, Any], Any]
#: Calls of a number or an array, and where they are differentiated.
CALLS: dict[str, tuple[Call, Any]] = {
    "append": (lambda n, e: n.append(PLAIN, values=e), 2.0),
    "average": (lambda n, e: n.average(PLAIN, weights=e), THREE),
    "average of a list": (lambda n, e: n.average(PLAIN, weights=[e, 1.0, 1.0]), 2.0),
    "bincount": (lambda n, e: n.bincount([0, 1, 1], weights=e), THREE),
    "choose": (lambda n, e: n.choose([0, 1], choices=[e, e * 2]), 2.0),
    "clip from below": (lambda n, e: n.clip(PLAIN, min=e), 2.0),
    "clip from above": (lambda n, e: n.clip(PLAIN, a_min=None, a_max=e), 2.0),
    "cov": (lambda n, e: n.cov(PLAIN, aweights=e), THREE),
    "cross": (lambda n, e: n.cross(PLAIN, b=e), THREE),
    "diff": (lambda n, e: n.diff(PLAIN, prepend=e), 2.0),
    "ediff1d": (lambda n, e: n.ediff1d(PLAIN, to_end=e), 2.0),
    "full": (lambda n, e: n.full((2,), fill_value=e), 2.0),
    "geomspace": (lambda n, e: n.geomspace(1.0, stop=e, num=3), 2.0),
    "histogram": (lambda n, e: n.histogram(PLAIN, weights=e, bins=2)[0], THREE),
    "insert": (lambda n, e: n.insert(PLAIN, 1, values=e), 2.0),
    "interp": (lambda n, e: n.interp(7.0, [0.0, 1.0], [2.0, 3.0], right=e), 2.0),
    "linspace": (lambda n, e: n.linspace(start=1.0, stop=e, num=4), 2.0),
    "max": (lambda n, e: n.max(PLAIN, initial=e), 9.0),
    "nan_to_num": (lambda n, e: n.nan_to_num(numpy.array([numpy.nan, 1.0]), nan=e), 2.0),
    "pad": (lambda n, e: n.pad(PLAIN, 1, constant_values=e), 2.0),
    "pad by ramps": (lambda n, e: n.pad(PLAIN, 2, mode="linear_ramp", end_values=(e, 1.0)), 2.0),
    "prod": (lambda n, e: n.prod(PLAIN, initial=e), 2.0),
    "quantile": (lambda n, e: n.quantile(PLAIN, q=e), 0.3),
    "select": (lambda n, e: n.select([PLAIN > 2], [PLAIN], default=e), 2.0),
    "std": (lambda n, e: n.std(PLAIN, mean=e), numpy.array([3.5])),
    "sum": (lambda n, e: n.sum(PLAIN, initial=e), 2.0),
    "tensordot": (lambda n, e: n.tensordot(PLAIN, b=e, axes=1), THREE),
    "trapezoid": (lambda n, e: n.trapezoid(PLAIN, dx=e), 2.0),
    "unwrap": (lambda n, e: n.unwrap(PLAIN, period=e), 6.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_value_and_gradient(name: str) -> None:
    call, x = CALLS[name]

    def total(n: Any, e: Any) -> Any:
        value = call(n, e)
        return n.sum(value * numpy.cos(numpy.arange(value.size)).reshape(value.shape))

    value, gradient = te.value_and_grad(lambda e: total(np, e))(x)
    assert value == total(numpy, x)
    steps = 1e-6 * (numpy.eye(x.size) if isinstance(x, numpy.ndarray) else numpy.ones(1))
    expected = [(total(numpy, x + h) - total(numpy, x - h)) / 2e-6 for h in steps]
    numpy.testing.assert_allclose(numpy.ravel(gradient), expected, rtol=1e-6, atol=1e-7)


X = numpy.array([0.5, 2.0, 1.25, 4.0])
ODD = numpy.array([numpy.nan, 7.0, numpy.inf, -numpy.inf])
ANGLES = numpy.array([0.0, 5.0, 9.5, 3.0, -6.0])
#: Programs of a number and a module; at 1.5 no choice changes.
PROGRAMS: dict[str, Call] = {
    "nan": lambda a, n: n.nan_to_num(ODD, nan=a, posinf=2 * a, neginf=-a),
    "nan in place": lambda a, n: n.nan_to_num(n.array(ODD), False, a),
    "nan of complex": lambda a, n: n.abs(n.nan_to_num(ODD * 1j, nan=a, posinf=a * a)[:3]),
    "nan of a number": lambda a, n: n.nan_to_num(numpy.nan, nan=a),
    "nan in single precision": lambda a, n: n.nan_to_num(ODD.astype(numpy.float32), nan=n.array(a, numpy.float32)),
    "period": lambda a, n: n.unwrap(ANGLES, period=a),
    "period of rows": lambda a, n: n.unwrap(ANGLES.reshape(1, -1) * a * a, period=2 * a),
    "discontinuity": lambda a, n: n.unwrap(ANGLES * a, discont=a + 3.0),
    "period of interp": lambda a, n: n.interp([2.3], [0.1, 0.7], [2.0, 3.0], period=a),
    "places of trapezoid": lambda a, n: n.trapezoid(X, x=n.cumsum(X * a)),
    "distance of gradient": lambda a, n: n.gradient(X, a),
    "places of percentile": lambda a, n: n.percentile(X, 20 * a, axis=0),
    "initial of cumulation": lambda a, n: n.add.reduce(X, initial=a),
    "values of piecewise": lambda a, n: n.piecewise(X, [X > 1], [lambda x: x * a, a]),
    "value of fill_diagonal": lambda a, n: (m := n.zeros((2, 2)), n.fill_diagonal(m, a))[0],
    "base of logspace": lambda a, n: n.logspace(0.0, 2.0, 3, base=a),
    "bases of logspace": lambda a, n: n.logspace([0.0, a], 2.0, 3, base=[2.0, a + 1.0]),
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
def test_value_tangent_and_cotangent(name: str) -> None:
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
