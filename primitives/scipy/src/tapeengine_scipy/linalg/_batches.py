"""Applies functions of single matrices to stacks of them by SciPy's rule: leading axes broadcast."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy

import tapeengine.numpy as np
from tapeengine_scipy._values import floating

_Function = TypeVar("_Function", bound=Callable[..., Any])


def over_batches(*cores: int | str) -> Callable[[_Function], _Function]:
    """Turn a function of matrices and vectors into a function of stacks of them.

    `cores` gives for each positional argument the number of axes that the function takes: 1, 2, or '1|2' for a vector
    if it has one axis and a matrix if it has more.
    """

    def decorate(function: _Function) -> _Function:
        names = function.__code__.co_varnames[: len(cores)]

        @functools.wraps(function)
        def called(*args: Any, **keywords: Any) -> Any:
            args = (*args, *(keywords.pop(name) for name in names[len(args) :] if name in keywords))
            arrays = [None if value is None else floating(value) for value in args[: len(cores)]]
            shapes = [_batch_shape(array, core) for array, core in zip(arrays, cores, strict=False)]
            rest = args[len(cores) :]
            if not any(shapes):
                return function(*arrays, *rest, **keywords)
            batch = numpy.broadcast_shapes(*shapes)
            whole = [_spread(array, shape, batch) for array, shape in zip(arrays, shapes, strict=True)]
            parts = ([_at(array, index) for array in whole] for index in numpy.ndindex(batch))
            return _stacked([function(*part, *rest, **keywords) for part in parts], batch)

        return called  # type: ignore[return-value]

    return decorate


def _batch_shape(array: Any, core: int | str) -> tuple[int, ...]:
    if array is None:
        return ()
    axes = min(array.ndim, 2) if core == "1|2" else int(core)
    return tuple(array.shape[: array.ndim - axes]) if array.ndim > axes else ()


def _spread(array: Any, shape: tuple[int, ...], batch: tuple[int, ...]) -> Any:
    return None if array is None else np.broadcast_to(array, batch + tuple(array.shape[len(shape) :]))


def _at(array: Any, index: tuple[int, ...]) -> Any:
    return None if array is None else array[index]


def _stacked(found: list[Any], batch: tuple[int, ...]) -> Any:
    if not isinstance(found[0], tuple):
        return _reshaped(found, batch)
    stacks = [_reshaped(list(parts), batch) for parts in zip(*found, strict=True)]
    return stacks if len(stacks) > 1 else stacks[0]


def _reshaped(parts: list[Any], batch: tuple[int, ...]) -> Any:
    stack = np.stack(parts)
    return np.reshape(stack, batch + tuple(stack.shape[1:]))
