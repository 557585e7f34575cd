"""Derivatives of determinants of integer matrices of every rank, against cofactors in exact arithmetic."""

import itertools
from functools import cache

import numpy as np
import pytest

import tapeengine as te

RANKS = [(n, rank) for n in range(1, 7) for rank in range(n + 1)]


def integers(generator, n, rank, kind):
    """Return a matrix of small integers, or Gaussian integers, of at most a given rank."""
    imaginary = 1j * generator.integers(-3, 4, (n, rank)) if kind == "c" else 0
    left, right = generator.integers(-3, 4, (n, rank)) + imaginary, generator.integers(-2, 3, (rank, n))
    return (left @ right).astype(complex if kind == "c" else float)


def exact_minor(a, rows, columns):
    """Return the determinant without rows and columns, by Laplace's expansion in exact integers."""
    entries = [[(int(e.real), int(e.imag)) for e in row] for row in a]
    kept = tuple(i for i in range(len(a)) if i not in rows)

    @cache
    def expand(depth, left):
        if depth == len(kept):
            return 1, 0
        real = imaginary = 0
        for place, column in enumerate(left):
            x, y = entries[kept[depth]][column]
            u, v = expand(depth + 1, left[:place] + left[place + 1 :])
            real, imaginary = real + (-1) ** place * (x * u - y * v), imaginary + (-1) ** place * (x * v + y * u)
        return real, imaginary

    real, imaginary = expand(0, tuple(j for j in range(len(a)) if j not in columns))
    return complex(real, imaginary) if np.iscomplexobj(a) else float(real)


def exact_cofactors(a):
    places = range(len(a))
    return np.array([[(-1) ** (i + j) * exact_minor(a, (i,), (j,)) for j in places] for i in places])


def exact_slope(a, t):
    """Return the derivative of the cofactors in the direction `t`."""
    found = np.zeros_like(a)
    for i, j, k, m in itertools.product(range(len(a)), repeat=4):
        if i != k and j != m and t[k, m]:
            sign = (-1) ** (i + j + k + m) * (-1 if (i < k) != (j < m) else 1)
            found[i, j] += sign * t[k, m] * exact_minor(a, (i, k), (j, m))
    return found


def assert_exact(found, exact, a, order):
    size = max(1.0, np.abs(a).max() * len(a)) ** max(len(a) - order, 0)
    np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-12 * size)


def check_determinant(det, n, rank, kind):
    """Compare first and second derivatives, forward and reverse, of a determinant with exact ones."""
    generator = np.random.default_rng([n, rank])
    for _ in range(3):
        a, t = integers(generator, n, rank, kind), np.zeros((n, n), complex if kind == "c" else float)
        t[generator.integers(n), :] = generator.integers(-3, 4, n)
        first, second = exact_cofactors(a), exact_slope(a, t)

        def forward(a, t=t):
            return te.jvp(det, (a,), (t,))[1]

        def reverse(a):
            return te.vjp(det, a)[1](1.0 + 0.0 * det(a))[0]

        assert_exact(forward(a), np.sum(first * t), a, 1)
        assert_exact(reverse(a), first, a, 1)
        assert_exact(te.jvp(reverse, (a,), (t,))[1], second, a, 2)
        assert_exact(te.jvp(forward, (a,), (t,))[1], np.sum(second * t), a, 2)
        assert_exact(te.vjp(forward, a)[1](1.0 + 0.0 * det(a))[0], second, a, 2)


@pytest.mark.parametrize("kind", "fc")
@pytest.mark.parametrize(("n", "rank"), RANKS)
def test_first_and_second_derivatives_at_every_rank(n, rank, kind):
    check_determinant(np.linalg.det, n, rank, kind)


@pytest.mark.parametrize("n", range(2, 5))
def test_matrices_of_a_stack_have_their_own_ranks(n):
    generator = np.random.default_rng(n)
    stack = np.stack([integers(generator, n, rank, "f") for rank in range(n + 1)])
    gradient = te.grad(lambda a: np.sum(np.linalg.det(a)))
    t = generator.integers(-3, 4, stack.shape).astype(float)
    for a, d, first, second in zip(stack, t, gradient(stack), te.jvp(gradient, (stack,), (t,))[1], strict=True):
        assert_exact(first, exact_cofactors(a), a, 1)
        assert_exact(second, exact_slope(a, d), a, 2)


@pytest.mark.parametrize("shape", [(), (3,), (1, 200)])
def test_nearly_singular_matrices_are_as_exact_in_stacks_of_any_shape(shape):
    """The limit from which on no inverse is used belongs to the matrices: it has nothing to do with the stack."""
    gradient = te.grad(lambda x: np.sum(np.linalg.det(x)))
    for n, digits in itertools.product(range(2, 5), range(1, 6, 2)):
        generator = np.random.default_rng([n, digits])
        a = 10.0**digits * integers(generator, n, n - 1, "f") + integers(generator, n, n, "f")
        t = integers(generator, n, n, "f")
        stack, along = (np.tile(x, (*shape, 1, 1)) for x in (a, t))
        for found, exact in zip(
            te.jvp(gradient, (stack,), (along,)), (exact_cofactors(a), exact_slope(a, t)), strict=True
        ):
            np.testing.assert_allclose(
                found, np.broadcast_to(exact, stack.shape), rtol=0, atol=5e-13 * abs(exact).max()
            )


@pytest.mark.parametrize("rank", range(4))
def test_higher_derivatives_along_a_line(rank):
    """The last derivative along a line is n! times the determinant of the direction; one more is zero."""
    generator = np.random.default_rng(rank)
    a, t = integers(generator, 3, rank, "f"), np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [2.0, 0.0, 1.0]])
    third = te.grad(te.grad(te.grad(lambda x: np.linalg.det(a + x * t))))
    assert third(0.0) == pytest.approx(6 * 13.0, rel=1e-9)
    assert te.grad(third)(0.0) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("kind", "fc")
def test_cofactors_of_graded_matrices(kind):
    """Singular values from 1 to 1e-14: the error is small beside the largest cofactor."""
    generator = np.random.default_rng(3)
    n = 5

    def draw():
        return np.linalg.qr(generator.standard_normal((n, n)) + (1j if kind == "c" else 0.0))[0]

    u, v, s = draw(), draw(), np.array([1.0, 0.5, 1e-5, 1e-9, 1e-14])
    exact = np.linalg.det(u @ v) * u.conj() @ np.diag([np.prod(np.delete(s, i)) for i in range(n)]) @ v.conj()
    found = te.vjp(np.linalg.det, (u * s) @ v)[1](np.linalg.det(u) * 0 + 1.0)[0]
    np.testing.assert_allclose(found, exact, atol=1e-6 * np.abs(exact).max())


def test_cofactors_exist_where_the_determinant_leaves_the_range():
    np.testing.assert_allclose(te.grad(np.linalg.det)(1e-200 * np.eye(2)), 1e-200 * np.eye(2), rtol=1e-12)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(te.grad(np.linalg.det)(1e200 * np.eye(2)), 1e200 * np.eye(2), rtol=1e-12)
