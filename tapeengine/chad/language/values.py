"""Run-time values: members of sum types, for which Python has no type, fields of records and dicts, bits of numbers."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy

from ...errors import CotangentError
from ...primitive import is_traced
from ...structure import check_fields, is_made_by_python
from .types import Product


class Tagged(NamedTuple):
    """A member of a sum type.

    * `option`: the index of the option.
    * `payload`: the value of that option.
    """

    option: int
    payload: object


def same_size(n: int, m: int) -> int:
    """Give the common size of arrays that are traversed together; different sizes are an error."""
    if n != m:
        raise ValueError(f"arrays of {n} and {m} elements side by side")
    return n


def is_record(x: Any, name: str, fields: Sequence[str]) -> bool:
    """Tell whether a value is a record of a class, or a dict with certain keys."""
    return type(x).__name__ == name and (type(x) is not dict or x.keys() == set(fields))


def field_of(x: Any, name: str) -> Any:
    """Give a field of a record, or a value of a dict."""
    return x[name] if type(x) is dict else getattr(x, name)


def parts_in(of: Product, x: Any) -> Sequence[Any] | None:
    """Give the parts of a record, a dict or a tuple of a type; None for another value."""
    if of.name:
        return [field_of(x, f) for f in of.fields] if is_record(x, of.name, of.fields) else None
    return x if isinstance(x, tuple) and len(x) == len(of.items) else None


def suffixes(of: Product) -> Iterable[str]:
    """Give what follows the name of a record or a tuple in the names of its parts."""
    return [f".{f}" for f in of.fields] if of.name else [f"[{i}]" for i in range(len(of.items))]


def check_discrete(d: Any, path: str) -> None:
    """Refuse a tangent or a cotangent of what is discrete, unless it is zero: it would have no effect."""
    if isinstance(d, dict):
        d = list(d.values())
    elif dataclasses.is_dataclass(d):
        d = [getattr(d, field.name) for field in dataclasses.fields(d)]
    if isinstance(d, list | tuple):
        for part in d:
            check_discrete(part, path)
    elif is_traced(d) or (numpy.asarray(d).dtype.kind in "fc" and numpy.any(d)):
        raise CotangentError(f"{path} must be None (the value here is discrete), not {type(d).__name__}")


def record_of(cls: Any, fields: Sequence[str], parts: Sequence[Any]) -> Any:
    """Make a record, or a dict."""
    if cls is dict:
        return dict(zip(fields, parts, strict=True))
    if dataclasses.is_dataclass(cls):
        plain: Any = cls
        made = object.__new__(plain)  # its constructor may compute the fields, or refuse those of a cotangent
        for name, part in zip(fields, parts, strict=True):
            object.__setattr__(made, name, part)
    else:
        made = cls(*parts)
    if is_made_by_python(cls):
        check_fields(made, fields, parts)
    return made


def bits_of(value: Any, is_real: bool = False) -> Any:
    """Give what a number is told apart by: the bits of a float, else class and value; 1 is neither 1.0 nor True."""
    if isinstance(value, float) or (is_real and value is not None):
        return struct.pack("d", value)
    return type(value), value
