"""Arrays whose last axis is short, and rows gathered by number: numpy's values, and cotangents as sums written out."""

import operator
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

OPERATIONS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
#: The partials of each operation with respect to its operands.
PARTIALS: dict[str, Any] = {
    "add": lambda x, y: (1.0 + 0.0 * x, 1.0 + 0.0 * y),
    "sub": lambda x, y: (1.0 + 0.0 * x, -1.0 + 0.0 * y),
    "mul": lambda x, y: (y, x),
    "div": lambda x, y: (1.0 / y, -x / (y * y)),
}
SHAPES = [
    ((7, 3), (7, 3)),
    ((7, 3), (7, 1)),
    ((7, 3), (3,)),
    ((4, 1, 2), (1, 5, 2)),
    ((9, 1), (1, 15)),
    ((3, 17), (3, 1)),
]


def summed(x: Any, shape: tuple[int, ...]) -> Any:
    """The sum over the axes along which an operand was broadcast."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(k for k, n in enumerate(shape) if n == 1 and x.shape[k] != 1), keepdims=True)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("strided", [False, True])
def test_operations_on_short_rows(name: str, a: tuple[int, ...], b: tuple[int, ...], strided: bool) -> None:
    draw = numpy.random.default_rng(len(a) + 10 * len(b)).normal
    x, y = (draw(size=(*shape[:-1], 2 * shape[-1])) + 3.0 for shape in (a, b))

    def part(z: Any, shape: tuple[int, ...]) -> Any:
        return z[..., ::2] if strided else z[..., : shape[-1]]

    def run(x: Any, y: Any) -> Any:
        return OPERATIONS[name](part(x, a), part(y, b)) * 1.0

    value, back = te.vjp(run, x, y)
    assert value.tobytes() == run(x, y).tobytes()
    cotangent = draw(size=value.shape)
    cotangent.flat[0] = 0.0
    partials = PARTIALS[name](part(x, a), part(y, b))
    for found, partial, shape in zip(back(cotangent), partials, (a, b), strict=True):
        wanted = summed(cotangent * numpy.broadcast_to(partial, value.shape), shape)
        numpy.testing.assert_allclose(part(found, shape), wanted, rtol=1e-13, atol=1e-14)
        assert numpy.count_nonzero(found) <= wanted.size


@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 2, 2)])
@pytest.mark.parametrize("places", [[0, 4, 0, -1, 2, -5], [[1, 1], [0, -1]], []])
def test_gathered_rows(shape: tuple[int, ...], places: list[Any]) -> None:
    draw = numpy.random.default_rng(3).normal
    x, index = draw(size=shape), numpy.array(places, int)
    value, back = te.vjp(lambda x: (x * 1.0)[index], x)
    cotangent = draw(size=value.shape)
    wanted = numpy.zeros(shape)
    numpy.add.at(wanted, (index,), cotangent)
    assert value.tobytes() == x[index].tobytes()
    assert back(cotangent)[0].tobytes() == wanted.tobytes()


def test_rows_that_are_no_plain_rows() -> None:
    x, index = numpy.arange(12.0).reshape(4, 3), numpy.array([0, 2, 2])
    for read in (
        lambda x: x.T[index],
        lambda x: x[::2][index[:1]],
        lambda x: x[index.astype(numpy.int32)],
        lambda x: x[:, index],
    ):
        value, back = te.vjp(lambda x, read=read: read(x * np.ones((4, 3))), x)
        found = back(numpy.ones_like(value))[0]
        numbers = numpy.bincount(read(numpy.arange(12).reshape(4, 3)).ravel(), minlength=12)
        assert found.ravel().tolist() == numbers.tolist()
