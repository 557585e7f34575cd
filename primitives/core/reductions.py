"""Sums, products, means and extremes over axes.

Elements that attain an extreme share its cotangent equally. The partial of a product is the product of the other
elements, so zeros need no special case.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Rule, Sample, is_traced, patterns, uniform
from tapeengine.primitive.blocks import inner_axes
from tapeengine.primitive.builders import PRODUCT, broadcast, linear, scale, unbroadcast

from .values import as_array, dtype_of, form_of, is_set, ndim_of, normal_axes, real_dtype, shape_of


def kept_shape(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """Return the shape of a reduction whose axes are kept with extent 1."""
    reduced = normal_axes(axis, len(shape))
    return tuple(1 if position in reduced else extent for position, extent in enumerate(shape))


def spread(ct: Any, space: Any, axis: Any) -> Any:
    """Insert the reduced axes with extent 1, so that a reduction's result broadcasts against the argument."""
    return np.reshape(ct, kept_shape(space.shape, axis))


def reduction_samples(low: float = -2.0, high: float = 2.0, complex_too: bool = True) -> tuple[Sample, ...]:
    """Return samples with various axes, keepdims and dtypes."""
    matrix, cube = uniform((2, 3), low, high), uniform((2, 3, 2), low, high)
    found = [
        Sample((matrix,)),
        Sample((matrix,), {"axis": 0}),
        Sample((matrix,), {"axis": -1, "keepdims": True}),
        Sample((cube,), {"axis": (0, 2)}),
        Sample((cube,), {"axis": (-1, 1), "keepdims": True}),
        Sample((matrix,), {"axis": ()}),
        Sample((uniform((), low, high),)),
        Sample((uniform((3, 2), low, high, numpy.float32),), {"axis": 1}),
    ]
    if complex_too:
        found.append(Sample((uniform((2, 3), low, high, complex),), {"axis": 1}))
    return tuple(found)


SUM = linear(
    "numpy.sum",
    lambda x, *, axis=None, keepdims=False, dtype=None: numpy.sum(x, axis=axis, keepdims=keepdims, dtype=dtype),
    lambda ct, x_space, axis: broadcast(spread(ct, x_space, axis), x_space),
    block=lambda t, axis, keepdims, dtype: numpy.sum(
        t, axis=inner_axes(axis, t.ndim - 1), keepdims=keepdims, dtype=dtype
    ),
    samples=lambda: (
        *reduction_samples(),
        Sample((uniform((0, 3)),), {"axis": 0}),
        Sample((uniform((3, 2), dtype=numpy.float32),), {"axis": 1, "dtype": numpy.float64}),
    ),
    pattern=patterns.reduces,
    doc="the sum over axes; dx = ct, broadcast",
)


def rules_of_slope(arg: str, slope: Callable[..., Any]) -> tuple[Rule, Rule]:
    """Return the rules of a reduction over `axis` for one argument, from a partial derivative for each element.

    The parameters of `slope` name what it needs, as in a rule.
    """
    names = slope.__code__.co_varnames[: slope.__code__.co_argcount]

    def vjp(ct: Any, space: Any, axis: Any, *kept: Any) -> Any:
        partials = slope(*kept)
        return unbroadcast(scale(np.reshape(ct, kept_shape(shape_of(partials), axis)), partials), space)

    def jvp(t: Any, out_space: Any, axis: Any, keepdims: bool, *kept: Any) -> Any:
        change = scale(t, slope(*kept))
        return unbroadcast(np.sum(change, axis=normal_axes(axis, ndim_of(change)), keepdims=keepdims), out_space)

    return Rule(vjp, (f"{arg}_space", "axis", *names)), Rule(jvp, ("out_space", "axis", "keepdims", *names))


def by_slope(name: str, primal: Callable[..., Any], slopes: Any, **options: Any) -> Primitive:
    """Build the record of a reduction from its partial derivatives by its arguments; a single one is that by `x`."""
    rules = {arg: rules_of_slope(arg, f) for arg, f in (slopes if isinstance(slopes, dict) else {"x": slopes}).items()}
    vjp, jvp = ({arg: rule[k] for arg, rule in rules.items()} for k in (0, 1))
    return Primitive(name, primal, vjp, jvp, **{"pattern": patterns.reduces, **options})


def from_initial(call: patterns.Call) -> Any:
    """Each element depends on the elements that are reduced, and on the initial value, the last argument."""
    found = [patterns.reduces(call)] if 0 in call.sets else []
    found += [numpy.broadcast_to(sets, call.shape) for position, sets in call.sets.items() if position]
    return call.union(*found) if len(found) > 1 else found[0]


MASKED_SUM: Primitive = linear(
    "numpy.sum_where",
    lambda x, where, initial=np._NoValue, *, axis=None, keepdims=False, dtype=None: numpy.sum(
        x, axis=axis, keepdims=keepdims, dtype=dtype, initial=initial, where=where
    ),
    {
        "x": lambda ct, where, x_space, axis: _where_counted(broadcast(spread(ct, x_space, axis), x_space), where),
        "initial": lambda ct, initial_space: unbroadcast(ct, initial_space),
        "where": None,
    },
    jvp={
        "x": lambda t, where, axis, keepdims, dtype: MASKED_SUM(t, where, axis=axis, keepdims=keepdims, dtype=dtype),
        "initial": lambda t, out_space: broadcast(t, out_space),
    },
    block={
        "x": lambda t, where, axis, keepdims, dtype: numpy.sum(
            t, axis=inner_axes(axis, t.ndim - 1), keepdims=keepdims, dtype=dtype, where=where
        )
    },
    samples=lambda: (
        Sample((uniform((2, 3)), True, 0.7), {"axis": 0}),
        Sample((uniform((2, 3)), numpy.array([True, False, True]))),
        Sample((uniform((2, 3)), numpy.array([[True], [False]])), {"axis": 1}),
        Sample((uniform((2, 3), dtype=complex), numpy.array([[True], [False]])), {"axis": 0, "keepdims": True}),
    ),
    pattern=from_initial,
    doc="the sum of an initial value and the elements where a mask holds; dx = ct there, 0 elsewhere, dinitial = ct",
)


def _where_counted(ct: Any, where: Any) -> Any:
    return np.where(where, ct, numpy.zeros((), dtype_of(ct)))


MEAN: Primitive = linear(
    "numpy.mean",
    lambda x, *, axis=None, keepdims=False, dtype=None: numpy.mean(x, axis=axis, keepdims=keepdims, dtype=dtype),
    {"x": lambda ct, x_space, axis: broadcast(spread(ct, x_space, axis) / max(extent(x_space, axis), 1), x_space)},
    jvp={
        "x": lambda t, x_space, axis, keepdims, dtype: (MEAN if x_space.size else SUM)(
            t, axis=axis, keepdims=keepdims, dtype=dtype
        )
    },
    block=lambda t, axis, keepdims, dtype: (numpy.mean if t.size else numpy.sum)(
        t, axis=inner_axes(axis, t.ndim - 1), keepdims=keepdims, dtype=dtype
    ),
    samples=reduction_samples,
    pattern=patterns.reduces,
    doc="the mean over axes; dx = ct / count, broadcast; the mean of nothing moves with nothing",
)


def _shared(first: Any, x: Any, out: Any, x_space: Any, axis: Any, initial: Any) -> Any:
    """Divide the cotangent or tangent of an extreme equally among the elements that attain it; the others get 0."""
    extreme = spread(out, x_space, axis)
    attained = np.equal(x, extreme)
    if np.any(np.not_equal(out, out)):  # the extreme of elements with a NaN is that NaN
        attained = attained | (np.not_equal(x, x) & np.not_equal(extreme, extreme))
    if initial is None and numpy.count_nonzero(attained) * extent(x_space, axis) == numpy.size(attained):
        return np.where(attained, first, numpy.zeros((), x_space.dtype))
    count = np.sum(attained, axis=normal_axes(axis, x_space.ndim), keepdims=True)
    if initial is not None:
        count = count + np.equal(extreme, initial)
    return PRODUCT(first, attained / np.maximum(count, 1))


def extent(space: Any, axis: Any) -> int:
    """Return the number of elements that a reduction combines."""
    return math.prod(space.shape[position] for position in normal_axes(axis, space.ndim))


def extreme(name: str, function: Any, first: Any = None) -> Primitive:
    """Build the record of an extreme over axes from numpy's function, which reduces the axis `first` by default."""

    def primal(x: Any, *, axis: Any = first, keepdims: bool = False, initial: Any = None) -> Any:
        if initial is None:
            return function(x, axis=axis, keepdims=keepdims)
        return function(x, axis=axis, keepdims=keepdims, initial=initial)

    def vjp(ct: Any, x: Any, out: Any, x_space: Any, axis: Any, initial: Any) -> Any:
        return unbroadcast(_shared(spread(ct, x_space, axis), x, out, x_space, axis, initial), x_space)

    def jvp(t: Any, x: Any, out: Any, x_space: Any, out_space: Any, axis: Any, keepdims: bool, initial: Any) -> Any:
        shared = _shared(t, x, out, x_space, axis, initial)
        return unbroadcast(np.sum(shared, axis=normal_axes(axis, x_space.ndim), keepdims=keepdims), out_space)

    return Primitive(
        name,
        primal,
        vjp={"x": vjp},
        jvp={"x": jvp},
        samples=lambda: (
            *reduction_samples(),
            Sample((uniform((2, 0)),), {"axis": 1, "initial": 1.0}),
            Sample((numpy.array([[1.0, 3.0, 3.0], [2.0, 1.0, 0.0]]),), {"axis": 1}, order=0),
        ),
        pattern=patterns.reduces,
        doc="the extreme over axes; dx = ct, shared equally by the elements that attain it",
    )


MAX = extreme("numpy.max", numpy.max)
MIN = extreme("numpy.min", numpy.min)


def _others(x: Any) -> Any:
    """Return for each element the product of all others along the last axis."""
    ones = numpy.ones((*shape_of(x)[:-1], 1), dtype=dtype_of(x))
    before = np.cumprod(np.concatenate((ones, x[..., :-1]), axis=-1), axis=-1)
    after = np.cumprod(np.concatenate((ones, np.flip(x, -1)[..., :-1]), axis=-1), axis=-1)
    return before * np.flip(after, -1)


def _prod_slope(x: Any, x_space: Any, axis: Any, dtype: Any) -> Any:
    """Return the partial of the product for each element: the product of the others."""
    if x_space.size == 0 or x_space.ndim == 0:
        return numpy.ones(x_space.shape)
    reduced = normal_axes(axis, x_space.ndim)
    order = tuple(p for p in range(x_space.ndim) if p not in reduced) + reduced
    moved = np.transpose(x if dtype is None else np.astype(x, dtype), order)
    flat = np.reshape(moved, (*moved.shape[: x_space.ndim - len(reduced)], -1))
    inverse = tuple(int(p) for p in numpy.argsort(order))
    return np.transpose(np.reshape(_others(flat), moved.shape), inverse)


def _of_initial(x: Any, initial: Any, where: Any, x_space: Any, axis: Any, dtype: Any) -> Any:
    slope = _prod_slope(masked(x, where, 1.0), x_space, axis, dtype)
    slope = slope if initial is np._NoValue or initial is None else slope * initial
    return slope if where is True else np.where(where, slope, 0.0)


_PROD_X = rules_of_slope("x", _of_initial)
PROD = Primitive(
    "numpy.prod",
    lambda x, initial=np._NoValue, where=True, *, axis=None, keepdims=False, dtype=None: numpy.prod(
        x, axis=axis, keepdims=keepdims, dtype=dtype, initial=initial, where=where
    ),
    vjp={
        "x": _PROD_X[0],
        "initial": lambda ct, x, where, initial_space, axis, keepdims, dtype: unbroadcast(
            scale(ct, np.prod(x, axis=axis, keepdims=keepdims, dtype=dtype, where=where)), initial_space
        ),
    },
    jvp={
        "x": _PROD_X[1],
        "initial": lambda t, x, where, out_space, axis, keepdims, dtype: broadcast(
            scale(t, np.prod(x, axis=axis, keepdims=keepdims, dtype=dtype, where=where)), out_space
        ),
    },
    samples=lambda: (
        Sample((uniform((2, 3)), 0.7), {"axis": 0}),
        Sample((uniform((2, 3)), 0.7, numpy.array([True, False, True])), {"axis": 1}),
        *reduction_samples(),
        Sample((uniform((0, 3)),), {"axis": 0}),
        Sample((numpy.array([[0.0, 2.0, 3.0], [0.0, 1.0, 0.0]]),), {"axis": 1}),
    ),
    pattern=from_initial,
    doc="the product of an initial value and the elements; dx = ct times the product of the others",
)


def masked(x: Any, where: Any, fill: Any) -> Any:
    """Return x where the mask of numpy's `where` parameter is true, and `fill` elsewhere."""
    x = as_array(x)
    if where is True or where is None:
        return x
    if numpy.broadcast_shapes(numpy.shape(where), shape_of(x)) != shape_of(x):
        raise ValueError(f"a where mask of shape {numpy.shape(where)} does not broadcast to {shape_of(x)}")
    return np.where(where, x, fill)


def total_rule(compute: Callable[..., Any], over: int | None = None) -> Any:
    """Give `compute` (a, axis, dtype, keepdims, initial, where) the signature of `numpy.sum`; `over` are its axes."""

    def rule(
        a: Any,
        axis: Any = over,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
    ) -> Any:
        return compute(a, axis, dtype, is_set(keepdims), initial, where)

    return rule


def check_start(ufunc: Any, initial: Any, x: Any, axis: Any, where: Any) -> None:
    """Raise numpy's errors of a reduction that begins with an element, if its initial value is None."""
    if initial is None:
        ufunc.reduce(form_of(x), axis, None, None, False, None, where)


@total_rule
def sum_rule(a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """Return a sum over axes; see `numpy.sum`."""
    options = {"axis": axis, "keepdims": keepdims, "dtype": dtype}
    x, is_masked = as_array(a), where is not True and where is not None
    if initial is np._NoValue:
        return MASKED_SUM(x, numpy.asarray(where), **options) if is_masked else SUM(x, **options)
    return MASKED_SUM(x, numpy.asarray(where) if is_masked else True, initial, **options)


@total_rule
def prod_rule(a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """Return a product over axes; see `numpy.prod`."""
    return PROD(as_array(a), initial, where, axis=axis, keepdims=keepdims, dtype=dtype)


def extreme_rule(primitive: Primitive, of_two: Any, neutral: float) -> Any:
    """Give the record of an extreme the signature of `numpy.max`; a traced initial value is compared at last."""

    def rule(
        a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        if is_traced(initial):
            initial = np.astype(as_array(initial), dtype_of(a)) if dtype_of(a).kind in "fc" else initial
            return of_two(rule(a, axis, None, keepdims, neutral, where), initial)
        if where is not True and initial is None:
            raise ValueError(f"{primitive.name} with a where mask needs an initial value")
        return primitive(masked(a, where, initial), axis=axis, keepdims=is_set(keepdims), initial=initial)

    return rule


max_rule = extreme_rule(MAX, np.maximum, -math.inf)
min_rule = extreme_rule(MIN, np.minimum, math.inf)


def mean_rule(
    a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """Average over axes; see `numpy.mean`."""
    if where is True:
        return MEAN(as_array(a), axis=axis, keepdims=is_set(keepdims), dtype=dtype)
    count = numpy.sum(numpy.broadcast_to(where, shape_of(a)), axis=axis, keepdims=is_set(keepdims))
    total = sum_rule(a, axis, dtype, None, keepdims, where=where)
    return np.divide(total, count.astype(real_dtype(total)))


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """Return the difference of the largest and the smallest element; see `numpy.ptp`."""
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None) -> Any:
    """Sum along diagonals; see `numpy.trace`."""
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


RULES = {
    numpy.sum: sum_rule,
    numpy.prod: prod_rule,
    numpy.max: max_rule,
    numpy.amax: max_rule,
    numpy.min: min_rule,
    numpy.amin: min_rule,
    numpy.mean: mean_rule,
    numpy.ptp: ptp,
    numpy.trace: trace,
}
