"""The result dtype of float32 arrays and numbers: numpy's, to which a Python float adapts and a float64 does not."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

#: Sources of a number, given a vector x, a Python float p and a numpy float64 q.
NUMBERS: dict[str, Callable[..., Any]] = {
    "an element": lambda np, x, p, q: x[1],
    "a sum": lambda np, x, p, q: np.sum(x),
    "a mean": lambda np, x, p, q: x.mean(),
    "a product of vectors": lambda np, x, p, q: x @ x,
    "a Python float": lambda np, x, p, q: p,
    "of Python floats": lambda np, x, p, q: (p * 2.0 + p) ** 2 / 3,
    "a float64": lambda np, x, p, q: q,
    "of a float64": lambda np, x, p, q: 1.0 - q * p,
    "of an element": lambda np, x, p, q: np.sin(x[0]) * p + 1,
    "the greater one": lambda np, x, p, q: np.maximum(x[0], x[1]),
    "of all": lambda np, x, p, q: p * p + x[1] * q,
}
#: Operations on a number a and a vector y of float32.
USES: dict[str, Callable[..., Any]] = {
    "*": lambda np, a, y: a * y,
    "reflected": lambda np, a, y: y - a,
    "an element": lambda np, a, y: y[0] * a,
    "ufunc": lambda np, a, y: np.hypot(a, y),
    "power": lambda np, a, y: y**a,
    "maximum": lambda np, a, y: np.maximum(y, a),
    "clip": lambda np, a, y: np.clip(y, a, 5.0),
    "where": lambda np, a, y: np.where(y > 1.5, y, a),
    "where of numbers": lambda np, a, y: np.where(y[0] > 1.5, y[1], a),
    "append": lambda np, a, y: np.append(y, a),
    "concatenate": lambda np, a, y: np.concatenate([y, np.full(2, a)]),
    "outer": lambda np, a, y: np.outer(a, y),
    "dot": lambda np, a, y: np.dot(y, a),
    "linspace": lambda np, a, y: np.linspace(a, y, 3),
    "geomspace": lambda np, a, y: np.geomspace(y, y * 3, 3) * a,
    "logspace": lambda np, a, y: np.logspace(y[0], y[1], 3),
    "full": lambda np, a, y: np.full(3, y[0]) * a,
    "quantile": lambda np, a, y: np.quantile(y, [0.25, 0.5]),
    "quantile at a number": lambda np, a, y: np.quantile(y, 0.25) * a,
    "a write": lambda np, a, y: written(np, y, a),
    "in place": lambda np, a, y: increased(np, y, a),
    "a constant float32": lambda np, a, y: a * numpy.arange(1, 3, dtype="f") + y[:2],
    "complex64": lambda np, a, y: np.abs(a * (y + numpy.complex64(1j))),
}
X, Y = numpy.array([0.7, 1.1, 2.0]), numpy.array([1.25, 1.75, 2.5], "f")


def written(np: Any, y: Any, a: Any) -> Any:
    z = np.copy(y)
    z[1] = a
    return z


def increased(np: Any, y: Any, a: Any) -> Any:
    z = np.copy(y)
    z += a
    return z


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("inside", [False, True], ids=["outermost", "inside another trace"])
def test_the_dtype_is_numpys_and_the_derivative_that_of_double_precision(use: str, number: str, inside: bool) -> None:
    primals = (X, 0.5, numpy.float64(0.75), Y)
    found: list[Any] = []

    def program(np: Any, x: Any, p: Any, q: Any, y: Any) -> Any:
        value = USES[use](np, NUMBERS[number](np, x, p, q), y)
        found.append((value.dtype, numpy.shape(value)))
        return np.sum(value * value) * 1.0

    def gradient(*primals: Any) -> Any:
        return te.grad(lambda *own: program(np, *own), (0, 1, 2, 3))(*primals)

    value = program(numpy, *primals)
    slope = te.vjp(gradient, *primals)[0] if inside else gradient(*primals)
    assert found[1] == found[0]
    wide = [numpy.asarray(x, float) for x in primals]
    for k, x in enumerate(wide):
        for place in numpy.ndindex(x.shape):
            steps = []
            for h in (1e-4, -1e-4):
                moved = [w.copy() for w in wide]
                moved[k][place] += h
                steps.append(program(numpy, moved[0], moved[1][()], moved[2][()], moved[3]))
            wanted = (steps[0] - steps[1]) / 2e-4
            assert abs(numpy.asarray(slope[k])[place] - wanted) <= 2e-5 * max(1.0, abs(value), abs(wanted))


@pytest.mark.parametrize("shape", [(1,), (7,), (9,), (200,), (2, 3), (3, 1), (2, 2, 2)])
@pytest.mark.parametrize("what", ["sum", "mean"])
def test_sums_of_negative_zeros_have_numpys_sign(shape: tuple[int, ...], what: str) -> None:
    x = numpy.full(shape, -0.0)
    for axis in (None, *range(len(shape))):
        wanted = getattr(x, what)(axis=axis)
        found = te.vjp(lambda x, axis=axis: getattr(x, what)(axis=axis), x)[0]
        assert numpy.asarray(found).tobytes() == numpy.asarray(wanted).tobytes()


#: Ways in which real numbers r become a part of a complex array z, which they may change.
JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "row": lambda r, z: z.__setitem__(0, r[0]),
    "view": lambda r, z: z.T.__setitem__(..., r),
    "out": lambda r, z: numpy.add(r, r, out=z),
    "in place": lambda r, z: z.__iadd__(r),
    "copyto": lambda r, z: numpy.copyto(z, r, where=numpy.array([True, False])),
    "where": lambda r, z: numpy.where([True, False], r, z),
    "concatenate": lambda r, z: numpy.concatenate([r, z]),
    "matmul": lambda r, z: r @ z,
    "times a sum": lambda r, z: r.sum() * z,
}


@pytest.mark.parametrize("real", ["e", "f", "d", "g"])
@pytest.mark.parametrize("kind", ["D", "G"])
@pytest.mark.parametrize("way", JOINED)
def test_real_numbers_of_every_precision_get_real_cotangents_from_complex_arrays(
    way: str, kind: str, real: str
) -> None:
    def program(x: Any) -> Any:
        z = x.astype(kind) * (1.0 + 1.0j)
        found = JOINED[way](x.astype(real), z)
        return (z if found is None else found).astype(complex)

    x = numpy.array([[0.5, -1.25], [2.0, 0.75]])
    value, back = te.vjp(program, x)
    numpy.testing.assert_array_equal(value, program(x))
    weights = numpy.arange(1.0, 1.0 + value.size).reshape(value.shape) * (1.0 - 0.5j)
    slopes = [
        numpy.sum(weights * (program(x + one) - program(x - one))).real / 2 for one in numpy.eye(4).reshape(4, 2, 2)
    ]
    numpy.testing.assert_allclose(back(weights)[0].ravel(), slopes, rtol=1e-3 if real == "e" else 1e-6)
