"""Array arguments of any strides have the bits of arrays in C order; sizes that memory cannot hold are refused."""

import itertools

import numpy as np
import pytest

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import calling

Matrix = te.Array[te.Vec]
BACKENDS = ["machine", "native"]
SIZES = (0, 1, 2, 5)


def vector(w: te.Vec, ks: te.Array[int]) -> float:
    return sum(w[i] * w[i] * (1.0 if ks[i] > 2 else ks[i]) for i in range(len(w)))


def matrices(w: Matrix, ks: te.Array[te.Array[int]]) -> float:
    return sum(sum(w[i][j] * w[i][j] * (i + 2 * j + ks[i][j]) for j in range(len(w[i]))) for i in range(len(w)))


def cubes(w: te.Array[Matrix], ks: te.Array[te.Array[te.Array[int]]]) -> float:
    total = 0.0
    for i in range(len(w)):
        for j in range(len(w[i])):
            for k in range(len(w[i][j])):
                total = total + w[i][j][k] * w[i][j][k] * (i + 2 * j + 3 * k + ks[i][j][k])
    return total


def two_of_a_rank(a: Matrix, b: Matrix, c: Matrix) -> float:
    return sum(sum(a[i][j] * b[i][j] + c[i][j] * i for j in range(len(a[i]))) for i in range(len(a)))


def layouts(x):
    """Give the same array in every order of its dimensions, with gaps between its elements, and reversed in memory."""
    for order in itertools.permutations(range(x.ndim)):
        back = np.argsort(order)
        yield np.ascontiguousarray(x.transpose(order)).transpose(back)
    gaps = np.zeros([2 * n for n in x.shape], x.dtype)
    every = tuple(slice(None, None, 2) for _ in x.shape)
    gaps[every] = x
    yield gaps[every]
    reverse = tuple(slice(None, None, -1) for _ in x.shape)
    yield x[reverse].copy()[reverse]
    if x.size:
        yield np.broadcast_to(x[(slice(0, 1),) * x.ndim], x.shape)


def bits(program, *args):
    value, back = te.vjp(program, *args)
    return [np.asarray(x).tobytes() for x in (value, *(x for x in back(1.5) if x is not None))]


@pytest.fixture(autouse=True)
def improved(monkeypatch):
    """Let code be improved after the first call."""
    monkeypatch.setattr(calling, "EACH_STATEMENT", -1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "rank"), [(vector, 1), (matrices, 2), (cubes, 3)])
def test_strides_change_no_bit(function, rank, backend):
    program, plain = te.program(function, backend=backend), te.program(function, backend="machine")
    for shape in itertools.product(SIZES, repeat=rank):
        x = np.random.default_rng(shape).standard_normal(shape)
        ks = np.arange(x.size, dtype=np.int64).reshape(shape)
        for given, whole in zip(layouts(x), layouts(ks), strict=True):
            wanted = bits(plain, given.copy(), whole.copy())
            assert bits(program, given, whole) == wanted
            assert bits(program, given, whole.copy()) == wanted


@pytest.mark.parametrize("backend", BACKENDS)
def test_arguments_of_one_type_have_strides_of_their_own(backend):
    program, x = te.program(two_of_a_rank, backend=backend), np.random.default_rng(3).standard_normal((3, 4))
    wanted = bits(program, x, x + 1.0, x - 1.0)
    for a, b, c in itertools.product(layouts(x), layouts(x + 1.0), layouts(x - 1.0)):
        if np.array_equal(a, x) and np.array_equal(b, x + 1.0) and np.array_equal(c, x - 1.0):
            assert bits(program, a, b, c) == wanted


def test_arguments_are_copied_without_code_of_the_program():
    texts = [te.program(f, backend="native").inspect() for f in (matrices, two_of_a_rank)]
    assert [text.count("call i32 @te_in_order(") for text in texts] == [2, 3]


# ------------------------------------------------------------ sizes


def table(n: int, m: int, x: float) -> float:
    a = [[x * i * j for j in range(m)] for i in range(n)]
    return a[0][1] + a[-1][-1]


def squares(n: int, x: float) -> float:
    a = [x * i for i in range(n)]
    return a[0] * a[-1]


def refused(program, *args):
    try:
        value, back = te.vjp(program, *args)
        back(1.0)
    except (MemoryError, OverflowError, ValueError, IndexError) as error:
        return type(error)
    return value


HUGE = [2**44 + 1, 2**60, 2**61, 2**62, 2**63 - 1, -1, -(2**63)]


@pytest.mark.parametrize("n", HUGE)
def test_sizes_that_memory_cannot_hold_are_refused(n):
    """Products of sizes that wrap around are refused, too; negative sizes are empty arrays, as in Python."""
    program = te.program(squares, backend="native")
    assert refused(program, n, 1.0) is (IndexError if n < 0 else MemoryError)
    assert refused(program, 3, 1.0) == 0.0


@pytest.mark.parametrize(
    ("n", "m"), [(2**32, 2**32), (2**40, 2**24), (2**62, 4), (4, 2**62), (2**61, 2**61), (2**44 + 1, 1), (1, 2**44 + 1)]
)
def test_products_of_sizes_that_memory_cannot_hold_are_refused(n, m):
    program = te.program(table, backend="native")
    assert refused(program, n, m, 1.0) is MemoryError
    assert refused(program, 3, 2, 1.0) == 2.0
