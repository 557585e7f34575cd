"""Copies and results of views keep numpy's order of elements and of memory, whatever the strides of the views.

Views have broadcast, permuted, reversed and strided axes. Gradients are compared with the places that the plain
function gathers from numbered elements.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy

SHAPE = (2, 3, 2)
VALUES = numpy.cos(numpy.arange(12.0)).reshape(SHAPE)
PARTS: tuple[Any, ...] = (slice(None), slice(None, None, -1), slice(None, None, 2), slice(0, 1), 0, None)


def random_view(rng: random.Random) -> Callable[[Any], Any]:
    """A view of 1 to 4 axes of an array: a slice of it, with axes added, permuted and broadcast."""
    index: list[Any] = []
    for _ in SHAPE:
        index += [None] * (rng.random() < 0.2) + [rng.choice(PARTS[:-1])]
    shape = VALUES[tuple(index)].shape
    wide = tuple(rng.choice((1, 2, 3)) if n == 1 else n for n in shape)
    wide = (3,) * (len(wide) == 0 or rng.random() < 0.3) + wide
    axes = rng.sample(range(len(wide)), len(wide))
    return lambda x: numpy.broadcast_to(x[tuple(index)], wide).transpose(axes)


RNG = random.Random(7)
VIEWS = [random_view(RNG) for _ in range(80)]
ORDERS = (*"CFAKk", None)
#: Functions that only move elements.
MOVES: dict[str, Callable[[Any, Any], Any]] = {
    **{f"ravel {o}": lambda np, v, o=o: np.ravel(v, o) for o in ORDERS},
    **{f"flatten {o}": lambda np, v, o=o: v.flatten(o) for o in ORDERS},
    **{f"copy {o}": lambda np, v, o=o: v.copy(o) for o in ORDERS},
    **{f"copied {o}": lambda np, v, o=o: np.copy(v, o) for o in ORDERS},
    **{f"astype {o}": lambda np, v, o=o: v.astype(v.dtype, o) for o in ORDERS},
    **{f"astype without a copy {o}": lambda np, v, o=o: v.astype(v.dtype, o, copy=False) for o in ORDERS},
    **{f"reshape {o}": lambda np, v, o=o: v.reshape((-1, v.shape[0]), order=o) for o in "CFA"},
    **{f"reshape to itself {o}": lambda np, v, o=o: np.reshape(v, v.shape, o) for o in "CFA"},
    **{f"reshape with a copy {o}": lambda np, v, o=o: np.reshape(v, (-1,), o, copy=True) for o in "CFA"},
    "positive": lambda np, v: +v,
    "flat": lambda np, v: v.flat[:],
}
#: Functions that numpy does not dispatch.
MADE: dict[str, Callable[[Any, Any], Any]] = {
    **{f"array {o}": lambda np, v, o=o: np.array(v, order=o) for o in ORDERS},
    **{f"array f4 {o}": lambda np, v, o=o: np.array(v, "f4", order=o) for o in ORDERS},
    **{f"asarray {o}": lambda np, v, o=o: np.asarray(v, order=o) for o in ORDERS},
    **{f"asanyarray {o}": lambda np, v, o=o: np.asanyarray(v, order=o) for o in ORDERS},
    "ascontiguousarray": lambda np, v: np.ascontiguousarray(v),
    "asfortranarray": lambda np, v: np.asfortranarray(v),
    "require F": lambda np, v: np.require(v, None, "F"),
    "require C": lambda np, v: np.require(v, None, "C"),
    "require O": lambda np, v: np.require(v, None, "O"),
    "vectorize": lambda np, v: np.vectorize(lambda a: a)(v),
    "vectorize of two": lambda np, v: np.vectorize(lambda a, b: a + 0 * b)(v, v.copy("F")),
    "array ndmin": lambda np, v: np.array(v, ndmin=5),
}
#: Functions whose results depend on the layout alone, or that compute.
OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    **{f"zeros_like {o}": lambda np, v, o=o: np.zeros_like(v, order=o) for o in ORDERS},
    **{f"ones_like {o}": lambda np, v, o=o: np.ones_like(v, order=o) for o in ORDERS},
    **{f"full_like {o}": lambda np, v, o=o: np.full_like(v, 2.0, order=o) for o in ORDERS},
    **{f"empty_like {o}": lambda np, v, o=o: 0.0 * np.zeros_like(np.empty_like(v, order=o)) for o in ORDERS},
    **{f"astype f4 {o}": lambda np, v, o=o: v.astype("f4", o) for o in ORDERS},
    **{f"astype c16 {o}": lambda np, v, o=o: v.astype("c16", o) for o in ORDERS},
    **{f"sin {o}": lambda np, v, o=o: np.sin(v, order=o) for o in ORDERS},
    "sin": lambda np, v: np.sin(v),
    "negative": lambda np, v: -v,
    "scaled": lambda np, v: 2.0 * v,
    "sum with itself": lambda np, v: v + v,
    "sum with its copy": lambda np, v: v + v.copy(),
    "sum with its Fortran copy": lambda np, v: np.hypot(v.copy("F"), v),
    "sum with a row": lambda np, v: v * np.arange(1.0, 1.0 + v.shape[-1]),
    "sum with a column": lambda np, v: v - v[..., :1],
    "where": lambda np, v: np.where(v > 0.0, v, 0.0),
    "abs": lambda np, v: np.abs(v),
    "clip": lambda np, v: np.clip(v, -0.5, 0.5),
    "compared": lambda np, v: v > 0.2,
    "in place": lambda np, v: np.copy(v).__iadd__(1.0),
    "cumsum": lambda np, v: np.cumsum(v, axis=-1),
    "sum": lambda np, v: np.sum(v, axis=0),
    "sum kept": lambda np, v: np.sum(v, axis=-1, keepdims=True),
}


def strides_of(result: Any) -> Any:
    """The strides along axes of several elements, on which alone a layout depends."""
    return [step for extent, step in zip(result.shape, result.strides, strict=True) if extent > 1 and result.size]


CALLS = {**MOVES, **MADE, **OTHERS}


@pytest.mark.parametrize("name", CALLS)
def test_orders_of_views(name: str) -> None:
    function = CALLS[name]
    for number, view in enumerate(VIEWS):
        space = tapeengine.numpy if number % 2 or name in MADE else numpy
        found: list[Any] = []

        def traced(x: Any, space: Any = space, view: Any = view, found: list[Any] = found) -> Any:
            result = function(space, view(x))
            found.append((strides_of(result), result.flags.c_contiguous, result.flags.f_contiguous))
            return result

        plain = function(numpy, view(VALUES))
        value, backpropagator = te.vjp(traced, VALUES)
        assert value.dtype == plain.dtype, number
        numpy.testing.assert_array_equal(value, plain, err_msg=str(number))
        assert found[0] == (strides_of(plain), plain.flags.c_contiguous, plain.flags.f_contiguous), number
        if name in MOVES:
            check_gradient(function, view, backpropagator, plain.shape)


def check_gradient(function: Any, view: Any, backpropagator: Any, shape: Any) -> None:
    places = function(numpy, view(numpy.arange(VALUES.size).reshape(SHAPE)))
    weights = numpy.sin(1.0 + numpy.arange(places.size)).reshape(shape)
    wanted = numpy.zeros(VALUES.size)
    numpy.add.at(wanted, places, weights)
    numpy.testing.assert_allclose(backpropagator(weights)[0].ravel(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_orders_of_views_within_two_traces(order: Any) -> None:
    for view in VIEWS[:20]:
        for index in (slice(None), slice(0, 0)):
            for method in ("ravel", "flatten"):

                def program(x: Any, view: Any = view, index: Any = index, method: str = method) -> Any:
                    return getattr(view(x)[index], method)(order) ** 2

                value, backpropagator = te.vjp(lambda x, program=program: te.vjp(program, x)[0], VALUES)
                numpy.testing.assert_array_equal(value, program(VALUES))
                slope = backpropagator(numpy.ones(value.shape))[0]
                count = numpy.zeros(VALUES.size)
                numpy.add.at(count, view(numpy.arange(VALUES.size).reshape(SHAPE))[index], 1.0)
                numpy.testing.assert_allclose(slope, 2.0 * VALUES * count.reshape(SHAPE))
