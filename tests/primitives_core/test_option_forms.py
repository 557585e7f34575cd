"""Options of numpy's functions (axes, keepdims, dtype, counts) in every form that Python has for them.

What numpy computes is computed to the last bit, in its shape and dtype; what it refuses is refused.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from outcomes import outcome, parts

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError

CUBE = np.random.default_rng(0).standard_normal((3, 4, 2))
MASK = CUBE[..., :1] < 0.4
NUMBER = np.array(1.7)
SQUARES = np.random.default_rng(2).standard_normal((3, 3, 3))
VECTOR = np.random.default_rng(1).standard_normal(6)
AXES = (0, -1, 2, 3, -4, None, (0, 1), (1, 0), (), (0, 0), np.int64(1), np.int8(-1), np.array(1), 1.0, "a", (0, -3))
AVERAGES = (
    "sum prod mean std var max min ptp median average nansum nanmean nanstd nanmax nanmin nanprod nanmedian nanvar"
)
ALONG = "sort argsort cumsum cumprod nancumsum nancumprod diff flip trapezoid gradient squeeze unwrap expand_dims"
KEEP = (1, 0, True, np._NoValue)
DTYPES = (float, "f4", "f8", complex, np.float32, np.dtype("f8"), None, int, bool, "x")
SHAPES = (6, (2, 3), (-1, 2), (-1, -1), (4,), [3, 2], np.array([3, 2]), (2, np.int64(3)), 2.0, (2.0, 3), -1, ())
COUNTS = (0, 1, 2, -1, 3, 0.5, np.int64(1), True, "a", [1])

Call = tuple[str, Callable[[Any, Any], Any], Any]


def calls() -> Iterator[Call]:
    for name, axis in itertools.product(AVERAGES.split(), AXES):
        yield f"{name} axis {axis!r}", lambda np, x, name=name, axis=axis: getattr(np, name)(x, axis=axis), CUBE
    for name, keep in itertools.product(AVERAGES.split(), KEEP):
        yield (
            f"{name} keepdims {keep!r}",
            lambda np, x, name=name, k=keep: getattr(np, name)(x, axis=1, keepdims=k),
            CUBE,
        )
    for name, axis in itertools.product(f"{AVERAGES} {ALONG}".split(), AXES):
        yield f"{name} of a number, axis {axis!r}", lambda np, x, n=name, a=axis: getattr(np, n)(x, axis=a), NUMBER
    for axis in AXES:
        yield f"average by a number, axis {axis!r}", lambda np, x, a=axis: np.average(x, axis=a, weights=x), NUMBER
    for name, axis in itertools.product(ALONG.split(), AXES):
        yield f"{name} axis {axis!r}", lambda np, x, name=name, axis=axis: getattr(np, name)(x, axis=axis), CUBE
    for name, keep, stable in itertools.product(("sort", "argsort"), (*KEEP, None), (None, True, False)):
        yield (
            f"{name} descending {keep!r} {stable}",  # which numpy takes from 2.5 on
            lambda np, x, n=name, d=keep, s=stable: getattr(np, n)(np.round(x), axis=1, descending=d, stable=s),
            CUBE,
        )
    for axis in AXES:
        yield f"quantile axis {axis!r}", lambda np, x, axis=axis: np.quantile(x, 0.3, axis=axis), CUBE
        yield f"concatenate axis {axis!r}", lambda np, x, axis=axis: np.concatenate([x, x], axis=axis), CUBE
        yield f"stack axis {axis!r}", lambda np, x, axis=axis: np.stack([x, x], axis=axis), CUBE
        yield f"take axis {axis!r}", lambda np, x, axis=axis: np.take(x, [0, 1], axis=axis), CUBE
        yield f"repeat axis {axis!r}", lambda np, x, axis=axis: np.repeat(x, 2, axis=axis), CUBE
        yield f"delete axis {axis!r}", lambda np, x, axis=axis: np.delete(x, 0, axis=axis), CUBE
        yield f"roll axis {axis!r}", lambda np, x, axis=axis: np.roll(x, 1, axis=axis), CUBE
        yield f"moveaxis {axis!r}", lambda np, x, axis=axis: np.moveaxis(x, axis, 0), CUBE
        yield f"norm axis {axis!r}", lambda np, x, axis=axis: np.linalg.norm(x, axis=axis), CUBE
        yield f"fft axis {axis!r}", lambda np, x, axis=axis: np.fft.fft(x, axis=axis), CUBE
    for dtype in DTYPES:
        for name in ("sum", "mean", "std", "cumsum", "prod"):
            yield f"{name} {dtype!r}", lambda np, x, name=name, dtype=dtype: getattr(np, name)(x, dtype=dtype), CUBE
        for name in ("sum", "prod", "mean", "std", "var", "nansum", "nanmean", "nanstd", "nanvar"):
            yield (
                f"{name} {dtype!r} masked",
                lambda np, x, n=name, dtype=dtype: getattr(np, n)(x, axis=0, dtype=dtype, where=MASK),
                CUBE,
            )
        yield f"add {dtype!r}", lambda np, x, dtype=dtype: np.add(x, 1, dtype=dtype), CUBE
        yield f"multiply {dtype!r}", lambda np, x, dtype=dtype: np.multiply(x, x, dtype=dtype), CUBE
        yield f"exp {dtype!r}", lambda np, x, dtype=dtype: np.exp(x, dtype=dtype), CUBE
    for name, start in itertools.product(
        "sum prod nansum nanprod max nanmax min nanmin".split(), (True, 0, 2, 0.5, None)
    ):
        yield f"{name} from {start!r}", lambda np, x, n=name, s=start: getattr(np, n)(x, axis=0, initial=s), CUBE
    for shape in SHAPES:
        yield f"reshape {shape!r}", lambda np, x, shape=shape: np.reshape(x, shape), VECTOR
        yield f"resize {shape!r}", lambda np, x, shape=shape: np.resize(x, shape), VECTOR
        yield f"broadcast_to {shape!r}", lambda np, x, shape=shape: np.broadcast_to(x, shape), VECTOR
    for order in ("C", "F", "A", "K", "X", None, 1):
        yield f"ravel {order!r}", lambda np, x, order=order: np.ravel(x, order), CUBE
        yield f"flatten {order!r}", lambda np, x, order=order: x.flatten(order), CUBE
        yield f"copy {order!r}", lambda np, x, order=order: x.copy(order), CUBE
    for copying in (True, False, None, 1, 0, *np._CopyMode):
        yield f"reshape copy {copying!r}", lambda np, x, c=copying: np.reshape(x, (3, 2), copy=c), VECTOR
        for dtype in (None, "f4"):
            yield (
                f"array {copying!r} {dtype}",
                lambda np, x, c=copying, dtype=dtype: made(np, x).array(x, dtype, copy=c),
                VECTOR,
            )
            yield (
                f"asarray {copying!r}",
                lambda np, x, c=copying, dtype=dtype: made(np, x).asarray(x, dtype, copy=c),
                VECTOR,
            )
    for count in COUNTS:
        yield f"std ddof {count!r}", lambda np, x, count=count: np.std(x, axis=0, ddof=count), CUBE
        yield f"rot90 {count!r}", lambda np, x, count=count: np.rot90(x, count), CUBE
        yield f"tril {count!r}", lambda np, x, count=count: np.tril(x, count), CUBE
        yield f"trace {count!r}", lambda np, x, count=count: np.trace(x, count), CUBE
        yield f"vander {count!r}", lambda np, x, count=count: np.vander(x, count), VECTOR
        yield f"linspace {count!r}", lambda np, x, count=count: np.linspace(x[0], x[1], count), VECTOR
        if not isinstance(count, list):  # numpy takes a list of one order
            yield f"norm {count!r}", lambda np, x, count=count: np.linalg.norm(x, count), VECTOR

    for axes, keep in itertools.product(([0, 1], [(1,), 2], [-1, 0, ()], [0, 1, 2], [0], [0, 5]), KEEP):
        yield f"vecdot {axes} {keep!r}", lambda np, x, a=axes, k=keep: np.vecdot(x, x, axes=a, keepdims=k), SQUARES
        yield f"vecdot {axes[0]} {keep!r}", lambda np, x, a=axes, k=keep: np.vecdot(x, x, axis=a[0], keepdims=k), CUBE
    for x, form in itertools.product((np.float64(1 - 2e-16), 1 - 2e-16, np.float32(1 - 1e-7)), (np.array, np.float32)):
        one, zero = form(np.float32(1.0)), np.float32(0.0)
        yield f"isclose {x!r} {form}", lambda np, x, a=one, b=zero: np.isclose(a, b, atol=x), x
        yield f"allclose {x!r} {form}", lambda np, x, a=one, b=zero: np.allclose(b, a, 0.0, atol=x), x


def made(space: Any, x: Any) -> Any:
    """The module that makes arrays of x: numpy's own would drop the derivative."""
    return tnp if isinstance(x, te.Array) else space


@pytest.mark.parametrize("space", [np, tnp], ids=["numpy", "tapeengine.numpy"])
def test_forms_of_options(space: Any) -> None:
    wrong = []
    for label, call, primal in calls():
        expected = outcome(lambda call=call, primal=primal: call(np, copy.copy(primal)))
        found = outcome(lambda call=call, primal=primal: te.vjp(lambda x: call(space, x), primal)[0])
        if isinstance(expected, Exception):
            if not isinstance(found, (type(expected), TapeEngineError)):
                wrong.append(f"{label}: {expected!r} became {found!r}")
        elif isinstance(found, Exception):
            wrong.append(f"{label}: we raise {found!r}")
        elif not all(map(same, parts(found), parts(expected))):
            wrong.append(f"{label}: {found!r} for {expected!r}")
    assert not wrong, "\n".join(wrong)


def same(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
