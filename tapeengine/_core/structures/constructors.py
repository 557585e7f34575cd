"""What constructors of records do."""

from typing import Any

__all__ = ["only_stores"]


def only_stores(cls: Any) -> bool:
    """Whether a class has the constructor of a dataclass, which only stores its arguments.

    Examples
    --------
    >>> import dataclasses
    >>> only_stores(dataclasses.make_dataclass("Point", ["x", "y"])), only_stores(complex)
    (True, False)
    """
    made = getattr(cls, "__dataclass_params__", None)
    if made is None or not made.init or hasattr(cls, "__post_init__") or cls.__new__ is not object.__new__:
        return False
    code = getattr(cls.__init__, "__code__", None)
    return code is not None and code.co_filename == "<string>"
