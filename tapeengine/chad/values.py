"""Run-time values that Python has no type for: the members of sum types."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Tagged", "same_size"]


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


def same_size(n: int, m: int) -> int:
    """Give the size that arrays side by side share; numpy broadcasts others, or raises."""
    if n != m:
        raise ValueError(f"arrays of {n} and {m} elements side by side")
    return n
