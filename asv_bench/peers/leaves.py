"""Splits the primals of a program into leaves, in any containers, and rebuilds them with other leaves."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np


def mapped(change: Callable[[Any], Any], structure: Any) -> Any:
    """Return the structure with `change` applied to every float and every array of floats."""
    if type(structure) is float:
        return change(structure)
    if isinstance(structure, (list, tuple)):
        # Times of some tools include this function: a list of floats costs one call for each.
        one_kind = {type(part) for part in structure} == {float}
        return type(structure)(map(change, structure) if one_kind else (mapped(change, part) for part in structure))
    if isinstance(structure, dict):
        return {key: mapped(change, part) for key, part in structure.items()}
    if is_dataclass(structure) and not isinstance(structure, type):
        parts = {field.name: mapped(change, getattr(structure, field.name)) for field in fields(structure)}
        return replace(structure, **parts)
    if isinstance(structure, float) or (isinstance(structure, np.ndarray) and structure.dtype.kind == "f"):
        return change(structure)
    return structure


def leaves(structure: Any) -> list[Any]:
    """Return the floats and arrays of floats in the order in which `mapped` visits them."""
    found: list[Any] = []
    mapped(found.append, structure)
    return found


def rebuilt(structure: Any, parts: list[Any]) -> Any:
    """Return the structure with these leaves."""
    remaining: Iterator[Any] = iter(parts)
    return mapped(lambda _: next(remaining), structure)


def stacked(structure: Any) -> Any:
    """Return the structure with arrays instead of lists and tuples of floats, or of arrays with one shape."""
    if not isinstance(structure, (list, tuple)):
        return structure
    parts = [stacked(part) for part in structure]
    shapes = {np.shape(part) if isinstance(part, (float, np.ndarray)) else None for part in parts}
    return np.array(parts) if len(shapes) == 1 and None not in shapes else tuple(parts)


def flat(parts: Any) -> np.ndarray:
    """Return all numbers in nested containers as one vector; None for a whole part counts as zero."""
    return np.concatenate([np.zeros(0), *vectors([0.0 if part is None else part for part in parts])])


def vectors(structure: Any) -> list[np.ndarray]:
    """Return the numbers and arrays in nested containers as vectors."""
    if is_dataclass(structure) and not isinstance(structure, type):
        structure = [getattr(structure, field.name) for field in fields(structure)]
    if isinstance(structure, dict):
        structure = list(structure.values())
    if isinstance(structure, (list, tuple)):
        if all(isinstance(part, float) for part in structure):
            return [np.array(structure, float)]
        return [vector for part in structure for vector in vectors(part)]
    return [] if structure is None else [np.ravel(np.asarray(structure, float))]


def total(value: Any) -> Any:
    """Sum the scalars of a value, so that every program has a single number to differentiate."""
    if isinstance(value, (tuple, list)):
        result = value[0]
        for part in value[1:]:
            result = result + part
        return result
    return value.sum() if getattr(value, "ndim", 0) else value
