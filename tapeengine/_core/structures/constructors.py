"""What constructors of records do, and which attributes a record has beside its fields."""

import dataclasses
from collections.abc import Collection
from typing import Any

from .interleave import attribute_count, held

__all__ = ["hidden", "may_hide", "takes_fields"]


def takes_fields(cls: Any) -> bool:
    """Whether objects of a class are made by setting their fields: a constructor of its own may refuse cotangents."""
    return hasattr(cls, "__dataclass_params__") and cls.__new__ is object.__new__


def may_hide(cls: Any, fields: Collection[str]) -> bool:
    """Whether an object of a class may have an attribute of its own in the place of one of its class."""
    names = (name for base in cls.__mro__[:-1] for name in vars(base) if not name.startswith("__"))
    return cls is not dict and cls.__dictoffset__ != 0 and any(name not in fields for name in names)


def hidden(value: Any) -> bool:
    """Whether a dataclass or a NamedTuple has an attribute of its own in the place of one of its class."""
    cls = type(value)
    if not hasattr(cls, "__dataclass_fields__") and not (isinstance(value, tuple) and hasattr(cls, "_fields")):
        return False
    fields = [f.name for f in dataclasses.fields(cls)] if hasattr(cls, "__dataclass_fields__") else cls._fields
    if attribute_count(value) == held(cls, fields):
        return False
    others = (name for name in getattr(value, "__dict__", ()) if name not in fields)
    return any(name in vars(base) for name in others for base in cls.__mro__)
