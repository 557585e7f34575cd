"""The same calls differentiated by JAX in double precision agree to 1e-10."""

import warnings

import numpy
import pytest
from numpy_calls import Call, calls

import tapeengine as te
from tapeengine.primitive.spaces import space_of

pytestmark = pytest.mark.slow
jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

CALLS = [call for call in calls() if call.jax]


def by_jax(call: Call, ct: object) -> tuple[object, tuple[object, ...]]:
    value, backpropagator = jax.vjp(lambda *primals: call.program(jax.numpy, *primals), *call.primals)
    return value, backpropagator(jax.numpy.asarray(ct, dtype=value.dtype))


def error(ours: object, theirs: object) -> float:
    a, b = numpy.asarray(ours), numpy.asarray(theirs)
    assert a.shape == b.shape
    return float(numpy.max(numpy.abs(a - b), initial=0.0) / max(1.0, numpy.max(numpy.abs(b), initial=0.0)))


@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_agrees(call: Call) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, backpropagator = te.vjp(lambda *primals: call.program(numpy, *primals), *call.primals)
        ct = space_of(value).random(numpy.random.default_rng(5))
        expected, cotangents = by_jax(call, ct)
        assert error(value, expected) <= 1e-10
        for position, (ours, theirs) in enumerate(zip(backpropagator(ct), cotangents, strict=True)):
            assert error(ours, theirs) <= 1e-10, f"primal {position}"
