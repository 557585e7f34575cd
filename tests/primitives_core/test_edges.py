"""Edges: zeros, ties, NaN, empty and 0-d arrays, dtypes, strides, constants, refusals, ufunc keywords and methods."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.testing import check_vjp

A = np.random.default_rng(0).normal(size=(3, 4))
ENGINE = te.Engine()


def cotangent(program: Callable[..., Any], *primals: Any, ct: Any = 1.0) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return te.vjp(program, *primals)[1](ct)[0]


def checked(program: Callable[..., Any], *primals: Any, order: int = 2) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_vjp(program, *primals, engine=ENGINE, order=order)


# zeros


def test_where_hides_the_infinite_slope_of_sqrt() -> None:
    x = np.array([-1.0, 0.0, 4.0])
    np.testing.assert_array_equal(cotangent(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), x), [0.0, 0.0, 0.25])


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, np.inf])
@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
def test_norms_of_zero_matrices_have_slope_zero(ord: Any, dtype: Any, shape: tuple[int, int]) -> None:
    zero, other = np.zeros(shape, dtype), (np.arange(1.0, 1.0 + math.prod(shape)) ** 2).reshape(shape).astype(dtype)
    value, backpropagator = te.vjp(lambda a: np.linalg.norm(a, ord), zero)
    assert type(value) is type(np.linalg.norm(zero, ord)) and value == 0
    assert not backpropagator(type(value)(1))[0].any()
    assert te.jvp(lambda a: np.linalg.norm(a, ord), (zero,), (other,))[1] == 0
    stacked = te.vjp(lambda a: np.linalg.norm(a, ord, axis=(1, 2)), np.stack([zero, other]))
    gradient = stacked[1](np.ones_like(stacked[0]))[0]
    single = te.vjp(lambda a: np.linalg.norm(a, ord), other)[1](type(value)(1))[0]
    assert not gradient[0].any()
    np.testing.assert_allclose(gradient[1], single, rtol=1e-5)


@pytest.mark.parametrize(
    "left", [2.0, 1j, np.array(1j), lambda z: z[0], lambda z: z[0] * 2j, lambda z: 1j * z[:1].sum()]
)
@pytest.mark.parametrize("right", [None, lambda z: z[1] * (1.0 - 1j)])
def test_the_ends_of_interpolation_are_numbers_of_every_kind(left: Any, right: Any) -> None:
    def program(z: Any) -> Any:
        ends = [end(z) if callable(end) else end for end in (left, right)]
        return np.interp([-1.0, 0.5, 9.0], [0.0, 1.0, 2.0], z * (1.0 + 2j), *ends)

    z = np.array([1.0, 3.0, 2.0])
    try:
        wanted = program(z)
    except TypeError:  # numpy takes no array for a complex number
        with pytest.raises(TypeError):
            te.vjp(program, z)
        return
    np.testing.assert_array_equal(te.vjp(program, z)[0], wanted, strict=True)
    checked(program, z)


@pytest.mark.parametrize("program", [np.linalg.norm, np.std, lambda x: np.linalg.norm(x, 3), np.linalg.vector_norm])
def test_norms_and_deviation_of_zero_have_slope_zero(program: Callable[..., Any]) -> None:
    np.testing.assert_array_equal(cotangent(program, np.zeros(3)), np.zeros(3))


def test_hypot_and_abs_at_zero() -> None:
    assert cotangent(lambda x: np.sum(np.hypot(x, 0.0 * x) + np.abs(x)), np.zeros(2)).tolist() == [0.0, 0.0]


def test_nanstd_of_equal_elements_has_slope_zero() -> None:
    assert cotangent(np.nanstd, np.ones(3)).tolist() == [0.0, 0.0, 0.0]


def test_power_at_the_edges_of_its_domain() -> None:
    assert cotangent(lambda x: np.sum(x**2 + x**1 + x**0), np.zeros(2)).tolist() == [1.0, 1.0]
    assert cotangent(lambda y: np.sum(np.power(np.zeros(2), y)), np.array([1.0, 2.0])).tolist() == [0.0, 0.0]


def test_product_with_zeros_has_the_product_of_the_others() -> None:
    assert cotangent(np.prod, np.array([2.0, 0.0, 3.0])).tolist() == [0.0, 6.0, 0.0]
    assert cotangent(np.prod, np.array([0.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 0.0]


# ties


def test_extremes_share_ties_equally() -> None:
    x = np.array([1.0, 3.0, 3.0, 0.0])
    assert cotangent(np.max, x).tolist() == [0.0, 0.5, 0.5, 0.0]
    assert cotangent(lambda x: np.min(-x), x).tolist() == [0.0, -0.5, -0.5, 0.0]
    assert cotangent(lambda x: np.maximum(x, 3.0).sum(), x).tolist() == [0.0, 0.5, 0.5, 0.0]
    assert cotangent(lambda x: np.clip(x, 1.0, 3.0).sum(), x).tolist() == [0.5, 0.5, 0.5, 0.0]


def test_initial_takes_part_in_a_tie() -> None:
    assert cotangent(lambda x: np.max(x, initial=3.0), np.array([1.0, 3.0])).tolist() == [0.0, 0.5]


def test_nan_in_maximum_and_fmax() -> None:
    x = np.array([np.nan, 1.0])
    assert cotangent(lambda x: np.fmax(x, 2.0 * np.ones(2)).sum(), x).tolist() == [0.0, 0.0]
    assert cotangent(lambda x: np.fmax(x, np.array([0.0, np.nan])).sum(), x).tolist() == [0.0, 1.0]
    assert cotangent(lambda x: np.maximum(x, 0.5).sum(), x).tolist() == [1.0, 1.0]


# shapes, dtypes, strides


@pytest.mark.parametrize("function", [np.sum, np.mean, np.prod, np.std, np.exp, np.cumsum, np.sort, np.ravel])
def test_0d_arrays(function: Callable[..., Any]) -> None:
    found = cotangent(lambda x: np.sum(function(x if function is not np.sort else x[None])), np.array(2.0))
    assert np.shape(found) == ()


@pytest.mark.parametrize(
    "program",
    [
        np.sum,
        np.prod,
        lambda x: np.sin(x).sum(),
        lambda x: np.cumsum(x).sum(),
        lambda x: np.concatenate([x, np.ones((1, 3))]).sum(),
        lambda x: np.matmul(x.T, x).sum(),
        lambda x: np.sort(x, axis=0).sum(),
        lambda x: np.max(x, axis=0, initial=0.0).sum(),
        lambda x: np.einsum("ij,ij->", x, x),
        lambda x: np.linalg.norm(x),
    ],
)
def test_empty_arrays(program: Callable[..., Any]) -> None:
    found = cotangent(program, np.zeros((0, 3)))
    assert found.shape == (0, 3) and found.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(x * 2.0),
        lambda x: np.sum(np.exp(x) / 3),
        lambda x: np.mean(x, axis=0)[0],
        lambda x: np.sum(x @ x.T),
        lambda x: np.sum(np.tanh(x) ** 2),
        lambda x: np.sum(x.astype(np.complex128)),
        lambda x: np.std(x) + np.linalg.norm(x),
        lambda x: np.sum(np.fft.fft(x)),
        lambda x: np.sum(np.concatenate([x, x])[::2]),
        lambda x: np.sum(np.where(np.real(x) > 0, x, 0)),
        lambda x: np.sum(np.linalg.inv(x[:, :3])),
    ],
)
def test_a_cotangent_has_its_primals_dtype(program: Callable[..., Any], dtype: Any) -> None:
    x = A.astype(dtype)
    value, backpropagator = te.vjp(program, x)
    (found,) = backpropagator(np.ones_like(value)[()])
    assert found.dtype == dtype and found.shape == x.shape


@pytest.mark.parametrize("index", [np.s_[::-1], np.s_[:, ::-2], np.s_[::2, 1:], np.s_[None, ..., ::-1]])
def test_strides(index: Any) -> None:
    checked(lambda x: np.sort(np.sin(x[index]) @ np.swapaxes(x[index], -1, -2), axis=-1), A)
    checked(lambda x: np.cumsum(np.exp(x)), np.asfortranarray(A)[index])


def test_integers_and_booleans_are_constants() -> None:
    counts, mask = np.arange(4), np.array([True, False, True, True])
    checked(lambda x: x * counts + mask * x + np.where(mask, x, counts) + x ** (counts + 1), abs(A))
    assert te.vjp(lambda x, n: np.sum(x * n), A, counts)[1](1.0)[1] is None


def test_lists_are_constants() -> None:
    checked(lambda x: np.dot(x, [1.0, 2.0, 3.0, 4.0]) + np.multiply(x, [1, 2, 3, 4])[:, 0], A)
    checked(lambda x: np.convolve(x[0], [1.0, -1.0]) + np.interp(x[0, 0], [0.0, 1.0], [1.0, 3.0]), A)


# ufunc keywords and methods


def test_ufunc_keywords() -> None:
    mask = A > 0
    checked(lambda x: np.add(x, x, dtype=np.complex128) * 2j, A)

    def program(x: Any) -> Any:
        out = tnp.zeros((3, 4))
        np.exp(x, out=out, where=mask)
        return out * x

    checked(program, A)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "hypot", "power"])
def test_at(name: str) -> None:
    ufunc = getattr(np, name)
    index = (np.array([0, 2, 2, 2]), np.array([1, 1, 3, 1]))

    def program(x: Any, v: Any) -> Any:
        y = x * 1.0
        ufunc.at(y, index, v)
        return y

    expected = abs(A).copy()
    ufunc.at(expected, index, np.array([1.5, 0.7, 2.5, 0.9]))
    found, _ = te.vjp(program, abs(A), np.array([1.5, 0.7, 2.5, 0.9]))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    _, backpropagator = te.vjp(lambda x, v: np.sum(program(x, v) * A), abs(A), np.array([1.5, 0.7, 2.5, 0.9]))
    assert all(np.isfinite(part).all() for part in backpropagator(1.0))


def test_at_of_one_argument() -> None:
    def program(x: Any) -> Any:
        y = x * 1.0
        np.square.at(y, np.array([0, 0, 1]))
        return y

    np.testing.assert_allclose(
        cotangent(lambda x: np.sum(program(x)), np.array([2.0, 3.0, 4.0])), [4 * 2.0**3, 2 * 3.0, 1.0]
    )


# linear algebra


def test_complex_singular_vectors_through_what_does_not_depend_on_phases() -> None:
    z = A + 1j * np.random.default_rng(1).normal(size=A.shape)

    def program(z: Any) -> Any:
        u, s, vh = np.linalg.svd(z, full_matrices=False)
        return np.sum(np.abs(u[:, 0]) ** 4) + np.sum(np.abs(vh[1]) ** 4) + s[1]

    checked(program, z)
    checked(program, z.T.copy())


def test_functions_of_a_matrix_with_equal_eigenvalues() -> None:
    """The derivative of tr(A^3) by eigenvalues and vectors is 3 A^2, also where eigenvalues coincide."""
    a = np.diag([2.0, 2.0, 5.0])

    def program(a: Any) -> Any:
        w, v = np.linalg.eigh((a + a.T) / 2)
        return np.sum(np.diagonal((v * w**3) @ v.T))

    np.testing.assert_allclose(cotangent(program, a), 3 * a @ a, atol=1e-12)


def test_cholesky_and_eigh_read_one_triangle() -> None:
    a = A[:, :3] @ A[:, :3].T + np.eye(3)
    for upper in (False, True):
        found = cotangent(lambda x, upper=upper: np.sum(np.linalg.cholesky(x, upper=upper)), a)
        assert not np.any(np.tril(found, -1) if upper else np.triu(found, 1))
    assert not np.any(np.triu(cotangent(lambda x: np.linalg.eigvalsh(x)[0], a), 1))


def test_determinant_of_singular_matrices() -> None:
    a = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    checked(np.linalg.det, a)
    np.testing.assert_allclose(cotangent(np.linalg.det, np.zeros((2, 2))), np.zeros((2, 2)))
    np.testing.assert_allclose(cotangent(np.linalg.det, np.diag([1.0, 2.0, 0.0])), np.diag([0.0, 0.0, 2.0]))


# discrete functions


def test_discrete_functions_give_plain_values() -> None:
    def program(x: Any) -> Any:
        assert isinstance(np.argsort(x), np.ndarray) and isinstance(np.argmax(x, axis=1), np.ndarray)
        assert np.allclose(x, x) and np.array_equal(x, x) and np.any(x > 0) and not np.all(x > 0)
        assert np.count_nonzero(x) == 12 and np.searchsorted(np.sort(x[0]), x[0, 0]) in range(4)
        assert isinstance(np.digitize(x, [0.0]), np.ndarray) and np.result_type(x, np.float32) == np.float64
        assert np.shape(x) == (3, 4) and np.ndim(x) == 2 and np.size(x) == 12
        return np.sum(x * (np.floor(x) + np.rint(x) + np.trunc(x) + np.round(x, 1) + np.fix(x) + np.ceil(x)))

    expected = np.floor(A) + np.rint(A) + np.trunc(A) + np.round(A, 1) + np.fix(A) + np.ceil(A)
    np.testing.assert_allclose(cotangent(program, A), expected)


def test_unique_gives_the_cotangent_to_first_occurrences() -> None:
    x = np.array([3.0, 1.0, 3.0])
    assert cotangent(lambda x: np.sum(np.unique(x) * np.array([1.0, 5.0])), x).tolist() == [5.0, 1.0, 0.0]


def test_integer_arguments_of_linear_operations() -> None:
    checked(lambda x: np.concatenate([x, np.arange(4)[None]]) * np.stack([np.arange(4), x[0], x[1], x[2]]), A)
    checked(lambda x: np.where(x > 0, x, 1) + np.where(x > 0, np.arange(4), x) + (x + 1) - (2 - x), A)


def test_nan_does_not_hide_a_tie() -> None:
    x = np.array([[np.nan, 1.0], [2.0, 2.0]])
    assert cotangent(lambda x: np.max(x, axis=1)[1], x).tolist() == [[0.0, 0.0], [0.5, 0.5]]


@pytest.mark.parametrize("name", ["sin", "tanh", "sinc", "arcsinh", "expm1", "cbrt", "reciprocal"])
def test_third_derivatives_against_differences_of_second_ones(name: str) -> None:
    function, x = getattr(np, name), np.array([0.3, 0.9, 1.7])

    def second(x: Any) -> Any:
        return te.grad(lambda x: np.sum(te.grad(lambda x: np.sum(function(x)))(x)))(x)

    third = te.grad(lambda x: np.sum(second(x)))(x)
    step = 1e-5
    np.testing.assert_allclose(third, (second(x + step) - second(x - step)) / (2 * step), rtol=1e-7)


def test_fourth_derivative_of_a_square_at_zero() -> None:
    def derivative(order: int) -> Callable[[Any], Any]:
        if order == 0:
            return lambda x: x**2
        return te.grad(lambda x: np.sum(derivative(order - 1)(x)))

    assert [float(derivative(k)(np.zeros(1))[0]) for k in (1, 2, 3, 4)] == [0.0, 2.0, 0.0, 0.0]


def test_moments_without_freedom() -> None:
    assert np.isnan(cotangent(lambda x: np.var(x, ddof=2), np.array([1.0, 2.0]))).all()
    assert np.isfinite(cotangent(np.var, np.array([1.0]))).all()
    assert cotangent(np.mean, np.zeros((0, 2))).shape == (0, 2)
    assert cotangent(np.var, np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("name", ["matmul", "dot", "inner", "kron", "cross", "tensordot", "power", "arctan2", "hypot"])
def test_nested_lists_on_either_side(name: str) -> None:
    function, a = getattr(np, name), abs(A[:, :3])
    b = (a + 0.5).tolist()
    checked(lambda x: function(x, b), a)
    checked(lambda x: function(b, x), a)


def test_lists_in_linear_algebra_and_operators() -> None:
    a, b = A[:, :3] + 3 * np.eye(3), A[:, 0].tolist()
    checked(lambda x: np.linalg.solve(x, b) + np.linalg.lstsq(x, b)[0] + x @ b + b @ x, a)


# branches for rare forms of arguments

SQUARE = np.random.default_rng(1).uniform(0.5, 1.5, (3, 3))
TALL = SQUARE[:, :2]
MANY = np.arange(60) % 3
RARE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "outer products of numbers and arrays": (lambda a: np.multiply.outer(np.hypot.outer(a, [1.0, 2.0]), a[0]), (TALL,)),
    "powers of each by each": (lambda a: np.power.outer(a, a[0]), (TALL,)),
    "values of a Hermitian matrix": (lambda a: np.linalg.svd(a + a.T, compute_uv=False, hermitian=True), (SQUARE,)),
    "a Hermitian matrix of its parts": (
        lambda a: (lambda u, s, vh: (u * s**2) @ vh)(*np.linalg.svd(a + a.T, hermitian=True)),
        (SQUARE,),
    ),
    "a sum of products in Fortran's order": (
        lambda a, b: np.einsum("ij,jk->ik", a.T, b.T, order="A"),
        (SQUARE, TALL.T),
    ),
    "a median of each element": (lambda a: np.median(a, axis=()), (TALL,)),
    "other counts": (lambda a: np.repeat(a, [2, 0, 1], axis=0), (SQUARE,)),
    "a product with a number": (lambda a: np.kron(a, a[0, 0]), (TALL,)),
    "choices beyond the last": (lambda a, b: np.choose([7, -3, 1], [a, b], mode="clip"), (SQUARE[0], SQUARE[1])),
    "choices around the end": (lambda a, b: np.choose([7, -3, 1], [a, b], mode="wrap"), (SQUARE[0], SQUARE[1])),
    "a singular matrix": (lambda a: np.linalg.det(np.stack([a, a[[0, 1, 0]], a * 0.0])), (SQUARE,)),
    "complex numbers between equal ends": (lambda a: np.linspace(a * 1j, a[0] * 1j, 4), (TALL,)),
    "no parts": (lambda a: np.multiply.reduceat(a, [], axis=1), (SQUARE,)),
}


@pytest.mark.parametrize("name", RARE)
def test_rare_forms_of_arguments(name: str) -> None:
    program, primals = RARE[name]
    np.testing.assert_allclose(te.vjp(program, *primals)[0], program(*primals), rtol=1e-14, atol=1e-15, strict=True)
    checked(program, *primals)


def test_many_values_at_one_place() -> None:
    def program(a: Any, b: Any) -> Any:
        found = a * 1.0
        np.hypot.at(found, MANY, b)
        return found

    primals = SQUARE[0], np.linspace(0.1, 1.0, MANY.size)
    np.testing.assert_allclose(te.vjp(program, *primals)[0], program(*primals), rtol=1e-14, strict=True)
    checked(program, *primals)
