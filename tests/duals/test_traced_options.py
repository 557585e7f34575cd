"""numpy's functions on plain arrays, with a traced number or array as an option alone."""

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
