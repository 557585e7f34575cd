"""numpy's functions of two vectors: vectors of unequal lengths raise an error of numpy's class, and equal ones give
numpy's value, with the cotangents of dual numbers."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

CALLS = (
    """
np.trapezoid(a, b)|np.gradient(a, b)|np.interp(0.7, b, a)|np.cross(a, b)|np.dot(a, b)|np.vdot(a, b)|np.inner(a, b)
np.average(a, weights=b)|np.maximum(a, b)|np.hypot(a, b)|a + b|a * b|a @ b|np.where(a > 0.5, a, b)|np.add(a, b)
np.stack([a, b])|np.column_stack([a, b])|np.vstack([a, b])|np.outer(a, b)
np.convolve(a, b)|np.correlate(a, b)|np.concatenate([a, b])|np.hstack([a, b])|np.polyval(a, b)|np.searchsorted(b, a) * a
np.average(np.stack([a, a]), axis=1, weights=b)|np.average(np.stack([a, a]), axis=0, weights=b)
np.average(np.stack([a, a]), weights=np.stack([b, b]))|np.cov(a, b)|np.corrcoef(a, b)|np.append(a, b)|np.kron(a, b)
np.clip(a, b, 2.0)|np.copysign(a, b)|np.einsum('i,i', a, b)|np.tensordot(a, b, 1)|np.isclose(a, b) * 1.0
np.linalg.norm(a - b)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
LENGTHS = list(itertools.product((1, 2, 3, 4), repeat=2))


@pytest.mark.parametrize("call", CALLS)
def test_functions_of_two_vectors(call):
    function = function_of("a, b", [f"return {call}"])
    program = te.program(function)
    for n, m in LENGTHS:
        args = np.linspace(0.2, 1.1, n) ** 2, np.linspace(0.1, 1.3, m)
        try:
            wanted = function(*args)
        except Exception as error:
            with pytest.raises(type(error)):
                te.vjp(program, *args)
            continue
        value, back = te.vjp(program, *args)
        np.testing.assert_allclose(value, wanted, rtol=1e-13)
        cotangent = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
        for found, of_duals in zip(back(cotangent), te.vjp(function, *args)[1](cotangent), strict=True):
            np.testing.assert_allclose(found, of_duals, rtol=1e-11, atol=1e-13)
