"""The functions of an evaluation, each with untimed preparation and output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def as_json(value: Any) -> Any:
    """Convert arrays, numpy's numbers and structures of them to numbers and lists."""
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def entries(*names: str) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Return what takes entries of the input as arguments: integers, and arrays of floats."""
    return lambda given: tuple(x if isinstance(x := given[name], int) else np.array(x, float) for name in names)


@dataclass(frozen=True)
class Function:
    """One function of an evaluation.

    Attributes
    ----------
    prepare : callable
        Makes the tuple of arguments from the message's input; not timed.
    compute : callable
        The function that is timed.
    finish : callable
        Converts the result of `compute` to the output, which is written as JSON; not timed.
    """

    prepare: Callable[[dict[str, Any]], tuple[Any, ...]]
    compute: Callable[..., Any]
    finish: Callable[[Any], Any] = as_json
