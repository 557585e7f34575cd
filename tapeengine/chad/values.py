"""Run-time values that Python has no type for: the members of sum types."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Tagged"]


class Tagged(NamedTuple):
    """A member of a sum type.

    Attributes
    ----------
    option : int
        Which option of the sum it is.
    payload : object
        The value of that option.
    """

    option: int
    payload: object
