from collections.abc import Sequence
from typing import Any, final

@final
class Fields:
    """How objects of a dataclass are taken apart and made.

    Attributes that are no fields come along as they are; frozen classes, slots and constructors that do other things
    make no difference.

    Parameters
    ----------
    cls : type
    names : tuple of str
        The names of the fields.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from tapeengine._core.structures.fields import Fields
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float
    >>> fields = Fields(Point, ("x", "y"))
    >>> fields.take(Point(1.0, 2.0))
    ([1.0, 2.0], None)
    >>> fields.make(None, [3.0, 4.0])
    Point(x=3.0, y=4.0)
    """

    cls: type

    def __init__(self, cls: type, names: tuple[str, ...]) -> None: ...
    def take(self, value: Any) -> tuple[list[Any], dict[str, Any] | None]:
        """Give the values of the fields, and the other attributes if there are any."""

    def make(self, rest: dict[str, Any] | None, children: Sequence[Any]) -> Any:
        """Make an object of the values of its fields and of other attributes."""

    def names(self, rest: dict[str, Any] | None) -> list[str]:
        """Give how each field is written after the object in an error."""
