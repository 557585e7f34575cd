"""Shapes, axes and dtypes drawn by hypothesis: broadcasting, reductions, joining, products, indexing."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices, broadcastable_shapes, mutually_broadcastable_shapes, valid_tuple_axes

import tapeengine as te
from tapeengine.testing import check_vjp

ENGINE = te.Engine()
DRAWN = settings(max_examples=25, deadline=None)
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
SIZES = st.integers(1, 3)
DTYPES = st.sampled_from([np.float64, np.complex128])


def values(seed: int, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    generator = np.random.default_rng(seed)
    drawn: Any = generator.uniform(0.5, 2.0, shape)
    if np.dtype(dtype).kind == "c":
        drawn = drawn + 1j * generator.uniform(0.5, 2.0, shape)
    return np.asarray(drawn).astype(dtype)


def checked(program: Any, *primals: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_vjp(program, *primals, engine=ENGINE)


@DRAWN
@given(mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=0), DTYPES, DTYPES, st.data())
def test_broadcasting(shapes: Any, first: Any, second: Any, data: st.DataObject) -> None:
    x, y = values(1, shapes.input_shapes[0], first), values(2, shapes.input_shapes[1], second)
    name = data.draw(st.sampled_from(["add", "subtract", "multiply", "divide", "power"]))
    checked(lambda x, y: getattr(np, name)(x, y), x, y)


@DRAWN
@given(SHAPES, DTYPES, st.booleans(), st.data())
def test_reductions(shape: tuple[int, ...], dtype: Any, keepdims: bool, data: st.DataObject) -> None:
    axes = data.draw(valid_tuple_axes(len(shape)))
    names = ["sum", "prod", "nansum"]
    if math.prod(shape[axis] for axis in axes) > 1:
        names += ["mean", "var", "std"] + (["max", "min", "median"] if dtype is np.float64 and axes else [])
    name = data.draw(st.sampled_from(names))
    checked(lambda x: getattr(np, name)(x, axis=axes, keepdims=keepdims), values(3, shape, dtype))


@DRAWN
@given(st.lists(SIZES, min_size=1, max_size=3).map(tuple), DTYPES, st.data())
def test_along_an_axis(shape: tuple[int, ...], dtype: Any, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    name = data.draw(st.sampled_from(["cumsum", "cumprod", "diff", "flip", "repeat", "roll", "stack", "concatenate"]))

    def program(x: Any) -> Any:
        match name:
            case "repeat" | "roll":
                return getattr(np, name)(x, 2, axis=axis)
            case "stack" | "concatenate":
                return getattr(np, name)([x, 2 * x, x * x], axis=axis)
            case _:
                return getattr(np, name)(x, axis=axis)

    checked(program, values(4, shape, dtype))


@DRAWN
@given(SHAPES, SIZES, SIZES, SIZES, DTYPES, st.data())
def test_matmul(batch: tuple[int, ...], rows: int, inner: int, columns: int, dtype: Any, data: st.DataObject) -> None:
    other = data.draw(broadcastable_shapes(batch, max_dims=len(batch), max_side=3, min_side=0))
    x, y = values(5, (*batch, rows, inner), dtype), values(6, (*other, inner, columns))
    checked(np.matmul, x, y)
    checked(lambda x, y: np.einsum("...ij,...jk->...ki", x, y), x, y)


@DRAWN
@given(st.lists(SIZES, min_size=1, max_size=3).map(tuple), DTYPES, st.data())
def test_indexing(shape: tuple[int, ...], dtype: Any, data: st.DataObject) -> None:
    index = data.draw(basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    checked(lambda x: np.sin(x[index]) * 2, values(7, shape, dtype))


@DRAWN
@given(st.lists(SIZES, min_size=1, max_size=2).map(tuple), st.data())
def test_transforms(shape: tuple[int, ...], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["fft", "ifft", "fftn", "ifftn", "rfft", "irfft"]))
    real = name == "rfft"
    x = values(8, (*shape, data.draw(st.integers(2, 5))), np.float64 if real else np.complex128)
    length = data.draw(st.none() | st.integers(2, 6))
    if name in ("fftn", "ifftn"):
        checked(lambda x: getattr(np.fft, name)(x), x)
    else:
        checked(lambda x: getattr(np.fft, name)(x, length), x)


@pytest.mark.parametrize(
    "subscripts", ["ii", "ii->i", "ij->j", "ijj->ij", "iji->j", "iii->i", "i,i", "ij,jk", "ij,ij->i"]
)
def test_extents_that_do_not_fit_are_refused_by_einsum_as_numpy_does(subscripts):
    terms = subscripts.partition("->")[0].split(",")
    for extents in itertools.product((1, 2, 3), repeat=sum(map(len, terms))):
        remaining = iter(extents)
        arrays = [np.ones([next(remaining) for _ in term]) for term in terms]
        try:
            wanted = np.einsum(subscripts, *arrays)
        except ValueError:
            with pytest.raises(ValueError):
                te.vjp(lambda *xs: np.einsum(subscripts, *xs), *arrays)
        else:
            value, back = te.vjp(lambda *xs: np.einsum(subscripts, *xs), *arrays)
            assert np.array_equal(value, wanted)
            assert sum(ct.sum() for ct in back(np.ones_like(value))) == len(arrays) * np.sum(wanted)
