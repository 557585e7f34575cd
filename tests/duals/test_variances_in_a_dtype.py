"""Variances in a dtype of the caller: numpy drops the imaginary part of a mean, and the derivative follows it."""

from typing import Any

import numpy
import pytest

import tapeengine as te

RNG = numpy.random.default_rng(4)
REAL = RNG.normal(size=(3, 4))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 4))
STEP = 1e-3 * (RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4)))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    "options", [{}, {"ddof": 1}, {"keepdims": True}, {"where": numpy.arange(12).reshape(3, 4) % 5 > 0}], ids=str
)
@pytest.mark.parametrize("axis", [None, 0, (0, 1), -1])
@pytest.mark.parametrize("dtype", [None, float, complex])
@pytest.mark.parametrize("name", ["var", "nanvar"])
@pytest.mark.parametrize("x", [REAL, COMPLEX], ids=["real", "complex"])
def test_variances_in_a_dtype(x: Any, name: str, dtype: Any, axis: Any, options: Any) -> None:
    step = STEP if x is COMPLEX else STEP.real
    function = getattr(numpy, name)

    def program(x: Any) -> Any:
        return function(x, axis=axis, dtype=dtype, **options)

    value, tangent = te.jvp(program, (x,), (step,))
    wanted = (program(x + step) - program(x - step)) / 2.0  # exact: the program is quadratic
    numpy.testing.assert_allclose(value, program(x), rtol=1e-14)
    numpy.testing.assert_allclose(numpy.real(tangent), numpy.real(wanted), rtol=1e-9, atol=1e-15)
    root = te.jvp(lambda x: numpy.std(x, axis=axis, dtype=dtype), (x,), (step,))
    square = te.jvp(lambda x: numpy.var(x, axis=axis, dtype=dtype), (x,), (step,))
    numpy.testing.assert_allclose(numpy.real(2.0 * root[0] * root[1]), numpy.real(square[1]), rtol=1e-9, atol=1e-15)
