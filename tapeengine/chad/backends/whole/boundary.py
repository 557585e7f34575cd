"""Convert Python values to the leaves of whole-array programs (numbers and numpy arrays), and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...._core.programs.native import floats_of
from ....errors import CotangentError, UnsupportedError
from ...intermediate import analysis
from ...intermediate.statements import ArrayOf
from ...intermediate.statements import Type as FormType
from ...language.strangers import holds_strange, is_strange, named
from ...language.types import FLOAT, Bool, Float, Int, Type, numbers_of, rank_of
from ...lowering.patterns import leaf_types
from ..callbacks import DTYPES as OF_LEAVES
from ..convert import ACCEPTED, DTYPES, Converter, Path

NUMBERS: Mapping[type[Type], Any] = {Float: float, Int: int, Bool: bool}


class NotDense(UnsupportedError):
    """A value cannot be stored in arrays with rows of equal size."""


class Boundary(Converter):
    """Converts values of a program's types; each array of numbers is one leaf, a numpy array."""

    def inward(self, of: Type, x: Any) -> list[Any]:
        """Decompose a value.

        It raises `NotDense` or `StructureError` if it has no leaves that are numbers and arrays, or is not of the type.
        """
        return list(map(as_array, self.flat(of, x, "an argument"), leaf_types(of, True)))

    def cotangent_in(self, of: Type, d: Any, results: Iterator[Any], name: str = "value") -> list[Any]:
        """Decompose the cotangent of a value with the given leaves, whose shapes its own have.

        It raises `CotangentError` if it does not fit the value.
        """
        types = leaf_types(of, True)
        leaves = [next(results) for _ in types]
        try:
            found = self.cotangent(of, d, self.restored(of, iter(leaves)), name)
        except OverflowError:
            raise CotangentError(f"{name} must have numbers, not an integer too large for a float") from None
        likes = [x for x, t in zip(leaves, types, strict=True) if analysis.linear(t) is not None]
        return [np.reshape(y, x.shape) if np.ndim(x) else y for y, x in zip(found, likes, strict=True)]

    def flat(self, of: Type, value: Any, path: Path) -> list[Any]:
        """Give the leaves of a value."""
        return [array(of, value)] if rank_of(of) else super().flat(of, value, path)

    def restored(self, of: Type, leaves: Iterator[Any], like: Any = None) -> Any:
        """Give the value that has these leaves."""
        if rank_of(of):
            return next(leaves)
        return NUMBERS[type(of)](next(leaves)) if type(of) in NUMBERS else super().restored(of, leaves, like)

    def cotangent(self, of: Type, d: Any, value: Any, path: Path) -> list[Any]:
        """Give the leaves of a cotangent of a value."""
        given = fitting(d, value.shape) if rank_of(of) and numbers_of(of) == FLOAT else None
        return super().cotangent(of, d, value, path) if given is None else [given]

    def given(self, of: Type, leaves: Iterator[Any], value: Any) -> Any:
        """Give the cotangent or tangent of a value that has these leaves."""
        is_array = rank_of(of) and numbers_of(of) == FLOAT
        return shaped(next(leaves), value) if is_array else super().given(of, leaves, value)


def array(of: Type, x: Any) -> Any:
    """Read an array of numbers."""
    kind, rank = type(numbers_of(of)), rank_of(of)
    if is_strange(x):
        raise NotDense(f"a value of type {named(x)}")
    if not isinstance(x, np.ndarray):
        if not isinstance(x, list | tuple):
            raise NotDense("a value that is not an array")
        try:
            found = floats_of(x) if isinstance(x, list) else None
            if found is None and holds_strange(x):
                raise NotDense("elements of classes of their own")
            x = np.array(x, dtype=None if len(x) else DTYPES[kind]) if found is None else found
        except (ValueError, TypeError):
            raise NotDense("rows of different sizes") from None
    if x.ndim != rank or x.dtype.kind not in ACCEPTED[kind] or (rank > 1 and x.size == 0):
        raise NotDense("a value that is not an array of such numbers")
    return np.asarray(x, dtype=DTYPES[kind])


def as_array(x: Any, of: FormType) -> Any:
    """Give the column of a leaf as an array of its kind, also without elements."""
    if not isinstance(of, ArrayOf):
        return x
    return np.asarray(x, OF_LEAVES.get(of.element)) if len(x) or of.rank == 1 else np.zeros((0,) * of.rank)


def fitting(d: Any, shape: tuple[int, ...]) -> Any:
    """Give a cotangent as an array of a shape; None if that is not possible."""
    try:
        found = floats_of(d) if isinstance(d, list) else None
        if found is None:
            found = np.asarray(d, dtype=None if isinstance(d, np.ndarray) else float)
    except (ValueError, TypeError):
        return None
    return np.asarray(found, dtype=float) if found.shape == shape and found.dtype.kind in "fiu" else None


def shaped(x: Any, like: Any) -> Any:
    """Convert an array to lists if its primal is a list."""
    if isinstance(like, list | tuple):
        return type(like)(x.tolist() if x.ndim == 1 else map(shaped, x, like))
    return x if x.ndim else float(x)
