"""The numbers in a structure, from left to right, for comparisons of structures."""

import collections
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def parts(value: Any) -> Iterable[Any] | None:
    """The parts of a container or of a record; None for a leaf."""
    if isinstance(value, dict):
        return value.values()
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return value if isinstance(value, list | tuple) else None


def leaves(value: Any) -> list[Any]:
    """All leaves of a structure."""
    inside = parts(value)
    return [value] if inside is None else [leaf for part in inside for leaf in leaves(part)]


def numbers(value: Any) -> list[Any]:
    """All numbers of a structure, those of arrays one by one; None and texts have none."""
    found = (leaf for leaf in leaves(value) if leaf is not None and not isinstance(leaf, str))
    return [number for leaf in found for number in np.ravel(leaf).tolist()]


def direction(value: Any, drawn: Iterator[float]) -> Any:
    """A tangent or a cotangent of a structure, of drawn numbers; None for what is discrete."""
    if isinstance(value, dict):
        return {key: direction(part, drawn) for key, part in value.items()}
    inside = parts(value)
    if inside is not None:
        made = [direction(part, drawn) for part in inside]
        return type(value)(made) if type(value) in (list, tuple) else type(value)(*made)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.reshape([next(drawn) for _ in range(value.size)], value.shape)
    return next(drawn) if isinstance(value, float) else None


def bits(value: Any) -> Any:
    """A structure with the classes of its parts and the bits of its numbers, in which any NaN is like any other."""
    inside = value if isinstance(value, collections.deque) else parts(value)
    kind = type(value).__name__
    if inside is not None:
        keys = list(value) if isinstance(value, dict) else None
        return kind, keys, [bits(part) for part in inside]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return kind, value.shape, bits(value.tolist())
    if not isinstance(value, np.ndarray | np.generic | float):
        return kind, repr(value)
    array = np.array(value)
    array = np.where(array != array, np.nan, array).astype(array.dtype) if array.dtype.kind in "fc" else array
    return kind, array.dtype.str, array.shape, array.tobytes()
