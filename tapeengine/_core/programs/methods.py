"""Methods of classes in lifted code, called by their names in the class: ``float.__mul__(x, y)``."""

import operator
from collections.abc import Callable
from typing import Any

from ...naming import named_like
from ..arrays.array import Array
from ..scalars.complex import ComplexDual
from ..scalars.scalar import Dual

TRACED = frozenset({Dual, Array, ComplexDual})
OPERATIONS: dict[str, Any] = {**vars(operator), "__divmod__": divmod}


def operation_of(name: str) -> Callable[..., Any] | None:
    """The function of `operator` for a method's name; None for other methods."""
    found = OPERATIONS.get(name)
    direct = OPERATIONS.get(name.replace("__r", "__", 1))
    return found or (direct and (lambda x, y: direct(y, x)))


def method_of(plain: Any, name: str, stand_ins: dict[Any, Any]) -> Callable[..., Any]:
    """A method of a class that takes traced values too; the operators also on the right."""
    operation = operation_of(name)

    def method(x: Any, *args: Any, **options: Any) -> Any:
        if operation is not None and not TRACED.isdisjoint(map(type, (x, *args))):
            return operation(x, *args)
        return getattr(x, name)(*args, **options) if type(x) in TRACED else plain(x, *args, **options)

    method.__objclass__ = stand_ins.get(plain.__objclass__, plain.__objclass__)  # type: ignore[attr-defined]
    return named_like(method, plain)
