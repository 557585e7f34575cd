"""What constructors of records do."""

from typing import Any

__all__ = ["takes_fields"]


def takes_fields(cls: Any) -> bool:
    """Whether objects of a class are made by setting their fields: a constructor of its own may refuse cotangents."""
    return hasattr(cls, "__dataclass_params__") and cls.__new__ is object.__new__
