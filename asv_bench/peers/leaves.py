"""Take the primals of a program apart into leaves, whatever the containers, and put other leaves in their place."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

__all__ = ["flat", "leaves", "mapped", "rebuilt", "total"]


def mapped(change: Callable[[Any], Any], structure: Any) -> Any:
    """Return the structure with `change` applied to every float and every array of floats."""
    if isinstance(structure, (list, tuple)):
        return type(structure)(mapped(change, part) for part in structure)
    if isinstance(structure, dict):
        return {key: mapped(change, part) for key, part in structure.items()}
    if is_dataclass(structure) and not isinstance(structure, type):
        parts = {field.name: mapped(change, getattr(structure, field.name)) for field in fields(structure)}
        return replace(structure, **parts)
    if isinstance(structure, float) or (isinstance(structure, np.ndarray) and structure.dtype.kind == "f"):
        return change(structure)
    return structure


def leaves(structure: Any) -> list[Any]:
    """Return the floats and arrays of floats in the order in which `mapped` meets them."""
    found: list[Any] = []
    mapped(found.append, structure)
    return found


def rebuilt(structure: Any, parts: list[Any]) -> Any:
    """Return the structure with these leaves."""
    remaining: Iterator[Any] = iter(parts)
    return mapped(lambda _: next(remaining), structure)


def flat(parts: list[Any]) -> np.ndarray:
    """Return all numbers of the parts, which may be structures, as one vector; a part that is None is a zero."""
    single: list[Any] = []
    for part in parts:
        contained = isinstance(part, (list, tuple)) or is_dataclass(part)
        single += leaves(part) if contained else [0.0 if part is None else part]
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in single])


def total(value: Any) -> Any:
    """Sum the scalars of a value, so that every program has one number to differentiate."""
    if isinstance(value, (tuple, list)):
        result = value[0]
        for part in value[1:]:
            result = result + part
        return result
    return value.sum() if getattr(value, "ndim", 0) else value
