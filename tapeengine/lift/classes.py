"""The bindings of class names in lifted code, and the creation of classes there."""

from __future__ import annotations

import builtins
from types import MethodType
from typing import Any

from .._core.programs.callables import TRACED, class_of, is_instance, original, stand_ins, traced_class
from ..naming import named_like
from .rewrite import BOUND, CLASS_OF, STAND_IN


def build_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """``class name(*bases)``: a subclass of a stand-in becomes a subclass of the original class."""
    return builtins.__build_class__(body, name, *map(original, bases), **options)


def has_attribute(x: Any, name: str, /) -> bool:
    """``hasattr(x, name)``, of a traced value as of the plain one."""
    if type(x) in TRACED:
        return any(name in vars(cls) for cls in original(traced_class(x)).__mro__)
    return hasattr(x, name)


def bound_method(x: Any, name: str) -> Any:
    """``x.__lt__`` of a plain number, which would not know a traced operand; an attribute of another object."""
    return MethodType(getattr(stand_ins()[type(x)], name), x) if type(x) in (float, complex) else getattr(x, name)


named_like(build_class, builtins.__build_class__)
named_like(has_attribute, hasattr)


def builtin_names() -> dict[str, Any]:
    """The builtin names of lifted code."""
    classes = stand_ins()
    return {
        **vars(builtins),
        "float": classes[float],
        "complex": classes[complex],
        "type": classes[type],
        "isinstance": is_instance,
        "hasattr": has_attribute,
        CLASS_OF: class_of,
        BOUND: bound_method,
        STAND_IN: lambda x: classes.get(x, x) if isinstance(x, type) else x,
    }
