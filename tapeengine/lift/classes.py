"""The bindings of class names in lifted code, and the creation of classes there."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

from .._core.arrays.array import Array
from .._core.programs.callables import class_of, is_instance, original, stand_ins, traced_class
from .._core.scalars import complex as complexes
from .._core.scalars.scalar import Dual
from .rewrite import ASKING, CLASS_OF, STAND_IN


def build_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """``class name(*bases)``: a subclass of a stand-in becomes a subclass of the original class."""
    return builtins.__build_class__(body, name, *map(original, bases), **options)


TRACED = frozenset({Dual, Array, complexes.ComplexDual})


def has_attribute(x: Any, name: str, /) -> bool:
    """``hasattr(x, name)``, of a traced value as of the plain one."""
    if type(x) in TRACED:
        return any(name in vars(cls) for cls in original(traced_class(x)).__mro__)
    return hasattr(x, name)


def asking(x: Any, name: str) -> Any:
    """``x.__lt__``, ..., of a plain number too, whose own methods do not ask traced operands."""
    return partial(getattr(stand_ins()[type(x)], name), x) if type(x) in (float, complex) else getattr(x, name)


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
        ASKING: asking,
        CLASS_OF: class_of,
        STAND_IN: lambda x: classes.get(x, x) if isinstance(x, type) else x,
    }
