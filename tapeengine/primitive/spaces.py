"""The vector space of a value: its zeros, sums, multiples, inner product and random elements.

A derivative rule keeps a `Space` if it needs only the shape and dtype of a value. A `ProductSpace` is the space of a
structure (tuple, named tuple, list, dict, dataclass). Both have the same methods, so accumulation and the rule checker
need no cases. A discrete leaf (int, bool, str, None, an integer array) has a space as well; its only element is None.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ..structure import Structures

_FLOAT64 = np.dtype(np.float64)
_COMPLEX128 = np.dtype(np.complex128)
_OBJECT = np.dtype(object)
_BOOL = np.dtype(bool)
_INT64 = np.dtype(np.int64)
_STRUCTURES = Structures()


class Space:
    """The space of one array or scalar: a value that is compared and hashed by shape and dtype.

    Parameters
    ----------
    shape : tuple of int
        The shape; ``()`` for a scalar.
    dtype : numpy.dtype
        The dtype. Only real and complex floating dtypes are continuous.

    Attributes
    ----------
    ndim : int
        Number of axes.

    Examples
    --------
    >>> space = space_of(np.ones((2, 3), dtype=np.float32))
    >>> space
    Space((2, 3), float32)
    >>> space.inner(space.zeros(), np.ones((2, 3)))
    0.0
    """

    __slots__ = ("dtype", "ndim", "shape")

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    ndim: int

    def __init__(self, shape: tuple[int, ...], dtype: Any = _FLOAT64) -> None:
        self.shape = shape
        self.ndim = len(shape)
        self.dtype = dtype if isinstance(dtype, np.dtype) else np.dtype(dtype)

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex."""
        return self.dtype.kind == "c"

    @property
    def is_discrete(self) -> bool:
        """Whether values of this space are not differentiated."""
        return self.dtype.kind not in "fc"

    def zeros(self) -> Any:
        """Return a new zero: an array, or a float or numpy scalar if the shape is ``()``; None if discrete."""
        if self.is_discrete:
            return None
        if self.shape:
            return np.zeros(self.shape, self.dtype)
        return 0.0 if self.dtype == _FLOAT64 else self.dtype.type(0)

    def random(self, generator: np.random.Generator) -> Any:
        """Return an element with standard normal parts, drawn from `generator`; None if discrete."""
        if self.is_discrete:
            return None
        draw: Any = generator.standard_normal(self.shape)
        if self.is_complex:
            draw = draw + 1j * generator.standard_normal(self.shape)
        return np.asarray(draw).astype(self.dtype)[()]

    def add(self, a: Any, b: Any) -> Any:
        """Return ``a + b``."""
        return None if self.is_discrete else a + b

    def translate(self, point: Any, tangent: Any) -> Any:
        """Return ``point + tangent``; a discrete value is unchanged."""
        return point if self.is_discrete else point + tangent

    def scale(self, a: Any, factor: complex) -> Any:
        """Return ``factor * a`` in this space."""
        return None if self.is_discrete else np.multiply(a, factor, dtype=self.dtype)[()]

    def inner(self, a: Any, b: Any) -> float:
        """Return the pairing of a cotangent and a tangent: the real part of ``sum(a * b)``, without conjugation."""
        if self.is_discrete:
            return 0.0
        wide = np.result_type(self.dtype, _FLOAT64)
        return float(np.sum(np.multiply(a, b, dtype=wide)).real)

    def norm(self, a: Any) -> float:
        """Return the Euclidean length of `a`."""
        if self.is_discrete:
            return 0.0
        return float(np.linalg.norm(np.asarray(a).ravel()))

    def mismatch(self, value: Any, path: str = "value") -> str | None:
        """Return None if `value` lies in this space, otherwise a sentence that describes the mismatch at `path`."""
        if self.is_discrete:
            wrong = f"{path} belongs to a discrete value and must be None, not {type(value).__name__}"
            return None if value is None else wrong
        found = space_of(value)
        if found == self:
            return None
        return f"{path} must be in {self}, not in {found}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"Space({self.shape}, {self.dtype})"


class ProductSpace:
    """The space of a structure: a space for each child, and a function that builds the structure from its children."""

    __slots__ = ("kind", "paths", "rebuild", "spaces")

    def __init__(
        self, kind: type, paths: tuple[str, ...], spaces: tuple[VectorSpace, ...], rebuild: Callable[[list[Any]], Any]
    ) -> None:
        self.kind = kind
        self.paths = paths
        self.spaces = spaces
        self.rebuild = rebuild

    @property
    def is_discrete(self) -> bool:
        """Whether every leaf is discrete."""
        return all(space.is_discrete for space in self.spaces)

    @property
    def is_complex(self) -> bool:
        """Whether a leaf is complex."""
        return any(space.is_complex for space in self.spaces)

    @property
    def size(self) -> int:
        """Number of elements of all leaves."""
        return sum(space.size for space in self.spaces)

    def zeros(self) -> Any:
        """Return the structure with zero leaves."""
        return self.rebuild([space.zeros() for space in self.spaces])

    def random(self, generator: np.random.Generator) -> Any:
        """Return the structure with random leaves."""
        return self.rebuild([space.random(generator) for space in self.spaces])

    def add(self, a: Any, b: Any) -> Any:
        """Return ``a + b``, leaf by leaf."""
        return self.rebuild([space.add(x, y) for space, x, y in self._zip(a, b)])

    def translate(self, point: Any, tangent: Any) -> Any:
        """Return ``point + tangent``, leaf by leaf; discrete leaves are unchanged."""
        return self.rebuild([space.translate(x, t) for space, x, t in self._zip(point, tangent)])

    def scale(self, a: Any, factor: complex) -> Any:
        """Return ``factor * a``, leaf by leaf."""
        return self.rebuild([space.scale(x, factor) for space, x in zip(self.spaces, _values(a), strict=True)])

    def inner(self, a: Any, b: Any) -> float:
        """Return the sum of the leaves' pairings."""
        return sum(space.inner(x, y) for space, x, y in self._zip(a, b))

    def norm(self, a: Any) -> float:
        """Return the Euclidean length of all leaves together."""
        parts = [space.norm(x) for space, x in zip(self.spaces, _values(a), strict=True)]
        return float(np.linalg.norm(parts)) if parts else 0.0

    def mismatch(self, value: Any, path: str = "value") -> str | None:
        """Return None if `value` lies in this space, otherwise a sentence that describes the mismatch and its place."""
        split = children(value)
        if split is None or type(value) is not self.kind or split[0] != self.paths:
            wanted = f"a {self.kind.__name__} with {', '.join(self.paths)}"
            return f"{path} must be {wanted}, like the value it belongs to, not {type(value).__name__}"
        for name, space, child in zip(self.paths, self.spaces, split[1], strict=True):
            wrong = space.mismatch(child, path + name)
            if wrong is not None:
                return wrong
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProductSpace):
            return False
        return self.kind is other.kind and self.paths == other.paths and self.spaces == other.spaces

    def __hash__(self) -> int:
        return hash((self.kind, self.paths, self.spaces))

    def __repr__(self) -> str:
        return f"ProductSpace({self.kind.__name__}, {', '.join(map(repr, self.spaces))})"

    def _zip(self, a: Any, b: Any) -> Iterator[tuple[VectorSpace, Any, Any]]:
        return zip(self.spaces, _values(a), _values(b), strict=True)


VectorSpace: TypeAlias = Space | ProductSpace


def space_of(value: Any) -> VectorSpace:
    """Return the space of a plain or traced value."""
    if isinstance(value, float):
        return Space((), getattr(value, "dtype", _FLOAT64))
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return Space(shape, value.dtype)
    split = children(value)
    if split is not None:
        paths, parts, rebuild = split
        return ProductSpace(type(value), paths, tuple(map(space_of, parts)), rebuild)
    return Space((), _scalar_dtype(value))


def is_whole(number: Any) -> bool:
    """Whether a value is a whole number that floats reach."""
    return isinstance(number, int) and abs(number) <= sys.float_info.max


def is_traced(value: Any) -> bool:
    """Tell whether a value belongs to an open trace."""
    return hasattr(type(value), "__tapeengine_trace__")


def _scalar_dtype(value: Any) -> np.dtype[Any]:
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _INT64
    if isinstance(value, complex):
        return _COMPLEX128
    return _FLOAT64 if is_traced(value) else _OBJECT


def children(value: Any) -> tuple[tuple[str, ...], list[Any], Callable[[list[Any]], Any]] | None:
    """Split a structure into its children's paths, the children, and a function that rebuilds it; None for a leaf."""
    opened = _STRUCTURES.opened(value)
    if opened is None:
        return None
    parts, container, aux = opened
    return tuple(container.names(aux)), list(parts), lambda others: container.make(aux, others)


def leaves(value: Any) -> list[Any]:
    """List the leaves of a structure from left to right."""
    split = children(value)
    if split is None:
        return [value]
    return [leaf for part in split[1] for leaf in leaves(part)]


def _values(value: Any) -> list[Any]:
    split = children(value)
    return [] if split is None else split[1]
