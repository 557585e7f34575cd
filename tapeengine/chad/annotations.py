"""What users write in annotations beside Python's own types: `Vec` and `Array`."""

from __future__ import annotations

from typing import Any

__all__ = ["Array", "Vec"]


class Array:
    """``Array[T]``: a sequence of ``T``; ``Array[Vec]`` is a matrix. A numpy array or a list at run time.

    Examples
    --------
    >>> Array[float].element
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
Vec: Any = Array(float)
