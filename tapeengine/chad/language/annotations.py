"""Annotations for programs in addition to Python's own types: `Vec` and `Array`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Generic, TypeVar, overload

    T_co = TypeVar("T_co", covariant=True)

__all__ = ["Array", "Fields", "Vec"]


@dataclass(frozen=True)
class Fields:
    """The annotation of a dict with fixed keys, or of a record: the annotations of its values."""

    by_key: tuple[tuple[Any, Any], ...]
    cls: type = dict


if TYPE_CHECKING:

    class Array(Generic[T_co]):
        """The interface of an array for type checkers: the operations that lists and numpy arrays have in common."""

        size: int
        shape: tuple[int, ...]
        T: Array[Any]

        def __init__(self, element: Any) -> None: ...
        @overload
        def __getitem__(self, index: int) -> T_co: ...
        @overload
        def __getitem__(self, index: Any) -> Array[Any]: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[T_co]: ...
        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: Any) -> Array[T_co]: ...
        def __radd__(self, other: Any) -> Array[T_co]: ...
        def __sub__(self, other: Any) -> Array[T_co]: ...
        def __rsub__(self, other: Any) -> Array[T_co]: ...
        def __mul__(self, other: Any) -> Array[T_co]: ...
        def __rmul__(self, other: Any) -> Array[T_co]: ...
        def __truediv__(self, other: Any) -> Array[T_co]: ...
        def __rtruediv__(self, other: Any) -> Array[T_co]: ...
        def __pow__(self, other: Any) -> Array[T_co]: ...
        def __neg__(self) -> Array[T_co]: ...
        def __matmul__(self, other: Any) -> Any: ...

    #: An array of floats.
    Vec = Array[float]
else:

    class Array:
        """``Array[T]``: a sequence of ``T``; ``Array[Vec]`` is a matrix. A numpy array or a list at run time.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.chad.Array[float].element
        <class 'float'>
        """

        def __init__(self, element: Any) -> None:
            self.element = element

        def __class_getitem__(cls, element: Any) -> Any:
            """Give the annotation for arrays of an element type."""
            return cls(element)

        def __or__(self, other: Any) -> Any:
            """Refuse unions with arrays, which `isinstance` could not tell apart."""
            raise TypeError("a union has dataclasses as its members; wrap the array in a dataclass")

    #: An array of floats.
    Vec = Array(float)
