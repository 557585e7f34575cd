"""What users write in annotations beside Python's own types: `Vec` and `Array`."""

from __future__ import annotations

from typing import Any

__all__ = ["Array", "Sum", "Vec"]


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


class Sum:
    """``Sum[T, U]``: a tagged union of any types, whose members are made by `tapeengine.chad.forms.inject`.

    Examples
    --------
    >>> Sum[float, None].options
    (<class 'float'>, None)
    """

    def __init__(self, options: tuple[Any, ...]) -> None:
        self.options = options

    def __class_getitem__(cls, options: Any) -> Any:
        """Give the annotation for a union of types."""
        return cls(options if isinstance(options, tuple) else (options,))
