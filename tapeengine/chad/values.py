"""Run-time values for which Python has no type: the members of sum types."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Tagged", "same_size"]


class Tagged(NamedTuple):
    """A member of a sum type.

    Attributes
    ----------
    option : int
        The index of the option.
    payload : object
        The value of that option.
    """

    option: int
    payload: object


def same_size(n: int, m: int) -> int:
    """Give the common size of arrays that are traversed together; different sizes are an error."""
    if n != m:
        raise ValueError(f"arrays of {n} and {m} elements side by side")
    return n
