"""A custom rule of real arguments or results that returns complex numbers: refused, not cut to the real part."""

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError

VALUES = [2.0, np.float64(2.0), np.array(2.0), np.array([1.0, 2.0]), np.array([1.0, 2.0], np.float32)]


@pytest.mark.parametrize("x", VALUES, ids=repr)
def test_complex_cotangents_and_tangents_of_real_values_are_refused(x):
    by_vjp = te.custom_vjp(lambda v: v * 2.0)
    by_vjp.defvjp(lambda v: (v * 2.0, None), lambda kept, ct: (ct * 1j,))
    by_jvp = te.custom_jvp(lambda v: v * 2.0)
    by_jvp.defjvp(lambda primals, tangents: (primals[0] * 2.0, tangents[0] * 1j))
    with pytest.raises(CotangentError):
        te.grad(lambda v: np.sum(by_vjp(v)))(x)
    with pytest.raises(CotangentError):
        te.jvp(by_jvp, (x,), (x,))
