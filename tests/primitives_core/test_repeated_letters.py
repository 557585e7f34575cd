"""numpy.einsum with a letter twice in one operand: diagonals, of equal extents and of extents of which one is 1."""

import itertools

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tests.outcomes import outcome

SUBSCRIPTS = ["ii->i", "ii->", "ii", "iij->ij", "iij->j", "iji->ij", "jii->ij", "iijj->ij", "iii->i"]


@pytest.mark.parametrize(
    ("subscripts", "extents"), [(s, e) for s in SUBSCRIPTS for e in itertools.product((1, 3), repeat=s.find("-") % 8)]
)
def test_value_and_gradient(subscripts: str, extents: tuple[int, ...]) -> None:
    shape = extents[: len(subscripts.split("->")[0])]
    random = numpy.random.default_rng(8)
    x, d = random.normal(size=shape), random.normal(size=shape)
    expected = outcome(lambda: numpy.einsum(subscripts, x))
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)):
            te.vjp(lambda x: np.einsum(subscripts, x), x)
        return
    weights = numpy.cos(numpy.arange(numpy.size(expected))).reshape(numpy.shape(expected))
    value, gradient = te.value_and_grad(lambda x: np.sum(np.einsum(subscripts, x) * weights))(x)
    assert value == pytest.approx(numpy.sum(expected * weights), rel=1e-14)
    assert numpy.sum(gradient * d) == pytest.approx(numpy.sum(numpy.einsum(subscripts, d) * weights), rel=1e-13)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("...i,...i->...", [(3, 0)] * 2),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
        ("ij,j->i", [(0, 3), (3,)]),
        ("ij->i", [(3, 0)]),
    ],
)
def test_operands_without_elements(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    xs = [numpy.ones(shape, numpy.float32) for shape in shapes]
    value, back = te.vjp(lambda *xs: numpy.einsum(subscripts, *xs), *xs)
    assert value.tobytes() == numpy.einsum(subscripts, *xs).tobytes()
    for x, cotangent in zip(xs, back(numpy.ones_like(value)), strict=True):
        assert (cotangent.shape, cotangent.dtype, cotangent.any()) == (x.shape, x.dtype, False)
