"""The bindings of class names in lifted code, and the creation of classes there."""

from __future__ import annotations

import builtins
from typing import Any

import numpy

from .._core.programs.callables import class_of, has_attribute, is_instance, original, stand_in, stand_ins
from .._core.scalars import complex as complexes
from .rewrite import CLASS_OF


def build_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """``class name(*bases)``: a subclass of a stand-in becomes a subclass of the original class."""
    return builtins.__build_class__(body, name, *map(original, bases), **options)


def builtin_names() -> dict[str, Any]:
    """The builtin names of lifted code."""
    classes = stand_ins()
    if complex not in classes:
        stand_in(complex, (complexes.ComplexDual,), complexes.make, dtype=numpy.dtype(complex))
        classes = stand_ins()
    return {
        **vars(builtins),
        "float": classes[float],
        "complex": classes[complex],
        "type": classes[type],
        "isinstance": is_instance,
        "hasattr": has_attribute,
        CLASS_OF: class_of,
    }
