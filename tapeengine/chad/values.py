"""Run-time values: members of sum types, for which Python has no type, and the fields of records and dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


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


def is_record(x: Any, name: str, fields: Sequence[str]) -> bool:
    """Tell whether a value is a record of a class, or a dict with certain keys.

    Examples
    --------
    >>> is_record({"a": 1.0}, "dict", ("a",)), is_record({"b": 1.0}, "dict", ("a",)), is_record(1.0, "dict", ("a",))
    (True, False, False)
    """
    return type(x).__name__ == name and (type(x) is not dict or x.keys() == set(fields))


def field_of(x: Any, name: str) -> Any:
    """Give a field of a record, or a value of a dict.

    Examples
    --------
    >>> field_of({"a": 1.0}, "a"), field_of(2.0, "real")
    (1.0, 2.0)
    """
    return x[name] if type(x) is dict else getattr(x, name)


def record_of(cls: Any, fields: Sequence[str], parts: Sequence[Any]) -> Any:
    """Make a record, or a dict.

    Examples
    --------
    >>> record_of(dict, ("a",), (1.0,)), record_of(complex, ("real", "imag"), (1.0, 2.0))
    ({'a': 1.0}, (1+2j))
    """
    return dict(zip(fields, parts, strict=True)) if cls is dict else cls(*parts)
