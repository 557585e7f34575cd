"""Sums of products: the factor of a zero cotangent or tangent has no effect, even if it is infinite."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.primitive.spaces import space_of
from tapeengine_primitives.products import DOT, MATMUL

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

RNG = np.random.default_rng(5)
WILD = [np.inf, -np.inf, np.nan]
#: Each product of x and constant data, the data's shape, and the shape of x; a row of data makes a row of the result.
PRODUCTS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...], tuple[int, ...]]] = {
    "matrix and vector": (lambda a, x: a @ x, (3, 4), (4,)),
    "matrices": (lambda a, x: a @ x, (3, 4), (4, 2)),
    "stack and matrix": (lambda a, x: (a @ x)[:, 0], (3, 2, 4), (4, 2)),
    "matrix and stack": (lambda a, x: tnp.moveaxis(a @ x, 1, 0), (3, 4), (2, 4, 2)),
    "vector and matrix": (lambda a, x: x @ a.T, (3, 4), (4,)),
    "dot": (lambda a, x: tnp.dot(a, x), (3, 4), (4,)),
    "dot of more axes": (lambda a, x: tnp.dot(a, x), (3, 4), (2, 4, 2)),
    "inner": (lambda a, x: tnp.inner(a, x), (3, 4), (2, 4)),
    "tensordot": (lambda a, x: tnp.tensordot(a, x, axes=((1, 2), (0, 1))), (3, 2, 4), (2, 4)),
    "einsum": (lambda a, x: tnp.einsum("ij,jk->ik", a, x), (3, 4), (4, 2)),
    "einsum of three": (lambda a, x: tnp.einsum("ij,j,j->i", a, x, np.array([1.0, -2.0, 0.5, 3.0])), (3, 4), (4,)),
    "vecdot": (lambda a, x: tnp.linalg.vecdot(a, x), (3, 4), (4,)),
    "outer": (lambda a, x: tnp.outer(a[:, 0], x), (3, 4), (4,)),
    "matrices of complex numbers": (lambda a, x: a @ (x + 2j * x), (3, 4), (4, 2)),
    "float32": (lambda a, x: a.astype(np.float32) @ tnp.astype(x, np.float32), (3, 4), (4, 2)),
}


def total(f: Any, data: Any, x: Any, mask: Any) -> Any:
    """The result of a program that omits rows."""
    rows = f(data, x)
    return tnp.sum(tnp.abs(tnp.where(mask.reshape(-1, *(1,) * (rows.ndim - 1)), tnp.sin(rows), 0.0)) ** 2)


MODES: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, x: te.grad(f)(x),
    "jvp": lambda f, x: te.jvp(f, (x,), (np.ones_like(x),))[1],
    "jacfwd": lambda f, x: te.jacfwd(f)(x),
    "jacrev": lambda f, x: te.jacrev(lambda x: tnp.stack([f(x), 2.0 * f(x)]))(x),
    "hvp": lambda f, x: te.hvp(f, (x,), (np.ones_like(x),)),
    "nested": lambda f, x: te.grad(lambda x: te.jvp(f, (x,), (x,))[1])(x),
}


@pytest.mark.parametrize("wild", WILD)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_rows_of_data_that_are_left_out(name: str, mode: str, wild: float) -> None:
    f, shape, of_x = PRODUCTS[name]
    data, x, mask = RNG.uniform(0.5, 1.5, shape), RNG.uniform(0.5, 1.5, of_x), np.array([True, False, True])
    wanted = MODES[mode](lambda x: total(f, data, x, mask), x)
    data[1] = np.where(RNG.uniform(size=shape[1:]) < 0.5, wild, data[1])
    data[1].flat[0] = wild
    found = MODES[mode](lambda x: total(f, data, x, mask), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4 if name == "float32" else 1e-12)


@pytest.mark.parametrize("wild", WILD)
@pytest.mark.parametrize("name", [name for name, (_, shape, x) in PRODUCTS.items() if shape[-1:] == x[:1]])
def test_tangents_of_zero(name: str, wild: float) -> None:
    f, shape, of_x = PRODUCTS[name]
    data, x, t = RNG.uniform(0.5, 1.5, shape), RNG.uniform(0.5, 1.5, of_x), RNG.uniform(0.5, 1.5, of_x)
    t[1] = 0.0
    wanted = te.jvp(lambda x: f(data, x), (x,), (t,))[1]
    data[..., 1] = wild
    np.testing.assert_array_equal(te.jvp(lambda x: f(data, x), (x,), (t,))[1], wanted)


@pytest.mark.parametrize("wild", WILD)
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode: Any, wild: float) -> None:
    data, x = RNG.uniform(0.5, 1.5, 3), RNG.uniform(0.5, 1.5, 6)

    def first(data: Any) -> Any:
        return te.grad(lambda x: tnp.convolve(x, data, mode)[0] ** 2)(x)

    wanted = first(data)
    data[0 if mode == "valid" else 2] = wild
    found = first(data)
    clean = np.isfinite(found)
    assert clean[3:].all()
    np.testing.assert_allclose(found[clean], wanted[clean], rtol=1e-12)


@pytest.mark.parametrize("wild", WILD)
def test_what_is_not_left_out_is_not_hidden(wild: float) -> None:
    data = np.array([[1.0, 2.0], [wild, 3.0]])
    found = te.grad(lambda x: (data @ x)[1])(np.ones(2))
    np.testing.assert_array_equal(found, data[1])
    both = te.vjp(lambda x: data @ x, np.eye(2))[1](np.array([[1.0, 0.0], [1.0, 0.0]]))[0]
    assert np.isnan(both[0, 0]) == np.isnan(wild)
    np.testing.assert_array_equal(both[:, 1], 0.0)


ORDERS: list[Callable[[Any], Any]] = [lambda a: a, np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2]]


@pytest.mark.parametrize("number", [0.5, 0.0, np.inf, np.nan])
@pytest.mark.parametrize("position", [0, 1])
def test_a_product_of_plain_matrices_has_the_bits_of_the_general_rule(number: float, position: int) -> None:
    draw = np.random.default_rng(3).normal
    for shape, order, kind in itertools.product([(4, 4, 4), (3, 1, 2), (2, 0, 3), (70, 60, 50)], ORDERS, "df"):
        n, k, m = shape
        x, y, ct = (order(draw(size=size).astype(kind)) for size in ((n, k), (k, m), (n, m)))
        ct[::2] = 0.0
        (y if position == 0 else x)[:1] = number
        spaces = space_of(x), space_of(y)
        for primitive in (MATMUL, DOT):
            rule = primitive.vjp_rules[position].function
            with np.errstate(all="ignore"):
                other = y if position == 0 else x
                assert bits(rule(ct, other, *spaces)) == bits(rule(ct.view(Plain), other, *spaces))


class Plain(np.ndarray):
    """An array of another class, for which the general rule is called."""


def bits(found: Any) -> Any:
    return found.dtype.str, found.shape, np.asarray(found).tobytes()
