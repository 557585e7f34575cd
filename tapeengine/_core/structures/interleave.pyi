from collections.abc import Callable, Collection, Sequence
from typing import Any, final

def attribute_count(value: Any) -> int:
    """Count the attributes of an object that are not in slots, without making a dictionary for them."""

def held(cls: type, names: Collection[str]) -> int:
    """Count the fields of a class that its objects do not have in slots."""

@final
class Fields:
    """Decomposes and rebuilds objects of a dataclass.

    Attributes that are not fields are copied unchanged. Frozen classes, slots and constructors with other effects are
    supported.

    Parameters
    ----------
    cls : type
    names : tuple of str
        The names of the fields.
    check : callable, optional
        Called with each new object, the names and the values of its fields.
    kept : frozenset of str, optional
        Attributes that are left out: what a `cached_property` has computed.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from tapeengine._core.structures.interleave import Fields
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

    def __init__(
        self, cls: type, names: tuple[str, ...], check: Callable[..., None] | None = None, kept: frozenset[str] = ...
    ) -> None: ...
    def take(self, value: Any) -> tuple[list[Any], dict[str, Any] | None]:
        """Return the values of the fields, and the other attributes if there are any."""

    def make(self, rest: dict[str, Any] | None, children: Sequence[Any]) -> Any:
        """Make an object from the values of its fields and the other attributes."""

    def names(self, rest: dict[str, Any] | None) -> list[str]:
        """Return the text of each field in the path of an error."""
