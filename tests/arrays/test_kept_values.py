"""Plain values that records keep cannot change, and an index is read as numpy reads it."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TraceError

LARGE = 5000  # doubles: more than 32 KiB
X = numpy.random.default_rng(5).uniform(0.5, 2.0, LARGE)


def large_constant(x: Any) -> Any:
    c = numpy.ones(LARGE)
    y = (x * c).sum()
    c *= 2
    return y


def large_mask(x: Any) -> Any:
    c = numpy.arange(8 * LARGE).reshape(8, LARGE) % 2 == 0
    y = np.where(c, x, 0.0).sum()
    c[...] = False
    return y


def changed_between_two_uses(x: Any) -> Any:
    c = numpy.ones(LARGE)
    y = (x * c).sum()
    c[0] = 3.0
    y = y + (x * c).sum()
    c[0] = 1.0
    return y


@pytest.mark.parametrize("program", [large_constant, large_mask, changed_between_two_uses])
@pytest.mark.parametrize("derivative", [te.grad, te.jacrev, te.jacfwd, lambda f: lambda x: te.jvp(f, (x,), (x,))])
def test_a_large_array_that_is_changed_after_its_use_is_refused(program: Any, derivative: Any) -> None:
    x = X[:4] if derivative is te.jacfwd or derivative is te.jacrev else X
    if x.size == LARGE:
        with pytest.raises(TraceError, match="changed in place"):
            derivative(program)(x)
    else:
        with pytest.raises(TraceError, match="changed in place"):
            derivative(lambda short: program(np.concatenate([short, X[4:]])))(x)


@pytest.mark.parametrize("size", [4, LARGE])
def test_primals_may_not_change_before_their_derivative_is_taken(size: int) -> None:
    x = X[:size].copy()
    _, back = te.vjp(lambda a: (a * a).sum(), x)
    expected = 2 * x
    x += 1.0
    if size == LARGE:
        with pytest.raises(TraceError, match="changed in place"):
            back(1.0)
    else:
        assert numpy.array_equal(back(1.0)[0], expected)


def test_a_large_array_that_stays_as_it_is_is_not_copied() -> None:
    c = numpy.ones(LARGE)
    _, back = te.vjp(lambda a: (a * c).sum() + (a * c).sum(), X)
    assert numpy.array_equal(back(1.0)[0], 2 * c)


@pytest.mark.parametrize("spread", [numpy.broadcast_to(numpy.arange(2.0), (LARGE, 2)), numpy.ones((LARGE, 4))[:, ::2]])
def test_large_views_are_kept_by_their_values(spread: Any) -> None:
    base = spread.base
    expected = spread.copy()
    was = base.copy()

    def program(x: Any) -> Any:
        y = (x * spread).sum()
        base[...] = 7.0
        return y

    assert numpy.array_equal(te.grad(program)(numpy.ones((LARGE, 2))), expected)
    base[...] = was


class Whole:
    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


Y = numpy.arange(6.0).reshape(2, 3)
ONE: list[Any] = [1, numpy.int8(1), numpy.array(1), Whole(1), numpy.uint64(1), True + 0]
READS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("x[0, i]", lambda x, i: x[0, i]),
    ("x[i, i]", lambda x, i: x[i, i]),
    ("x[i]", lambda x, i: x[i].sum()),
    ("x[i, ..., None]", lambda x, i: x[i, ..., None].sum()),
    ("x[i, [0, 2]]", lambda x, i: x[i, [0, 2]].sum()),
    ("take", lambda x, i: np.take(x, i, axis=1).sum()),
    ("delete", lambda x, i: np.delete(x, i, axis=1).sum()),
    ("insert", lambda x, i: np.insert(x, i, x[0, 0], axis=1).sum()),
    ("item", lambda x, i: x.item(i)),
    ("flat", lambda x, i: x.flat[i]),
]


@pytest.mark.parametrize("one", ONE, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(("name", "read"), READS, ids=[name for name, _ in READS])
@pytest.mark.parametrize("dtype", [float, numpy.float32, complex])
def test_a_whole_number_is_one_in_every_guise(name: str, read: Any, one: Any, dtype: Any) -> None:
    x = Y.astype(dtype)
    if isinstance(one, Whole) and name in ("delete", "insert"):
        pytest.skip("numpy takes no such object there")
    value, back = te.vjp(lambda a: read(a, one) * 2.0, x)
    expected, expected_back = te.vjp(lambda a: read(a, 1) * 2.0, x)
    assert numpy.array_equal(value, expected) and numpy.array_equal(value, read(x, 1) * 2)
    assert numpy.array_equal(back(value)[0], expected_back(expected)[0])


@pytest.mark.parametrize("dtype", [float, numpy.float32])
def test_a_tuple_within_an_index_is_an_array(dtype: Any) -> None:
    x = numpy.arange(20.0).reshape(4, 5).astype(dtype)

    def program(a: Any) -> Any:
        b = a * 1.0
        b[(0, 1), (3, 2)] = a[(2, 3), (0, 0)] * 3.0
        return (b[((0, 1), (3, 2))] * b[(0, 1), 1]).sum()

    assert te.vjp(program, x)[0] == program(x)
    expected = numpy.zeros((4, 5))
    expected[[2, 3], 0] = 3 * x[[0, 1], 1]
    expected[[0, 1], 1] = 3 * x[[2, 3], 0]
    assert numpy.array_equal(te.grad(program)(x), expected)


@pytest.mark.parametrize(
    "index", [2**63, -(2**70), (0, 2**63), numpy.uint64(2**63), 5, (0, 0, 0), 1.0, "a", [0.5], (0, 1.5)]
)
def test_an_index_that_numpy_refuses_is_refused(index: Any) -> None:
    with pytest.raises((IndexError, OverflowError)) as refusal:
        Y[index]
    for use in (lambda x: x[index], lambda x: (x * 1.0).__setitem__(index, x[0, 0])):
        with pytest.raises(refusal.type):
            te.vjp(use, Y)


@pytest.mark.parametrize("dtype", [numpy.float32, complex])
def test_an_element_is_a_number_also_of_other_dtypes(dtype: Any) -> None:
    def program(x: Any) -> Any:
        e = x[0, 1]
        f = e
        e += 1.0
        x[0, 1] = 9.0
        with pytest.raises(TypeError):
            f[...] = 2.0
        return e * f

    value, back = te.vjp(program, Y.astype(dtype))
    assert value == 2.0
    assert back(numpy.asarray(1.0, dtype))[0][0, 1] == 3.0


def test_views_share_memory_as_numpys() -> None:
    def program(x: Any) -> Any:
        assert np.shares_memory(x, x.T) and np.may_share_memory(x[0], x[:, 1:])
        assert not np.shares_memory(x[0], x[1]) and not np.shares_memory(x, x.copy())
        return x.sum()

    te.grad(program)(Y)


def test_a_mask_is_written_as_numpy_writes_it_where_the_value_overlaps() -> None:
    """numpy reads a value while it writes by a mask: the derivative is that of the values stored."""

    def program(x: Any) -> Any:
        y = x * 1.0
        y[numpy.ones(5, bool)] = y[::-1]
        return y

    x = numpy.arange(1.0, 6.0)
    assert numpy.array_equal(te.vjp(program, x)[0], program(x))
    assert numpy.array_equal(te.jacrev(program)(x), numpy.eye(5)[program(x).astype(int) - 1])


def test_the_parts_of_complex_numbers_are_views() -> None:
    z = Y + 1j

    def program(z: Any) -> Any:
        w = z * 1.0
        w.imag[0] = w.real[1] * w.imag[1]
        w.real[1] *= 3.0
        w.imag[numpy.array([0, 0]), 1] += 2.0
        return (w.real * w.imag).sum()

    gradient = te.grad(program)(z)
    for k in numpy.ndindex(z.shape):
        for step in (1e-6, 1e-6j):
            e = numpy.zeros(z.shape, complex)
            e[k] = step
            slope = (program(z + e) - program(z - e)) / 2e-6
            assert abs(slope - (gradient[k] * step / 1e-6).real) < 1e-6
    rows = te.jacrev(lambda x: (x * (1 + 2j)).imag * (x * 1j).imag)(numpy.arange(3.0))
    assert numpy.allclose(rows, numpy.diag(4 * numpy.arange(3.0)))


@pytest.mark.parametrize("shapes", [((0, 3), (2, 3, 2)), ((2, 2, 0), (2, 0, 2)), ((0,), (2, 0, 2)), ((2, 0, 3), (3,))])
def test_dot_of_empty_arrays(shapes: Any) -> None:
    x, y = (numpy.ones(shape) for shape in shapes)
    found = te.grad(lambda x, y: np.dot(x, y).sum(), (0, 1))(x, y)
    assert [part.shape for part in found] == list(shapes) and not any(part.any() for part in found)
