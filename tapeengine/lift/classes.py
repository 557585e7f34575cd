"""What the names of classes mean in lifted code, and how classes are made there."""

from __future__ import annotations

import builtins
from typing import Any

import numpy

from tapeengine._core import complex as complexes
from tapeengine._core.array import Array
from tapeengine._core.scalar import Dual
from tapeengine._core.standins import is_instance, original, stand_in, stand_ins

__all__ = ["build_class", "builtin_names", "numpy_names"]


def build_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """``class name(*bases)``: a subclass of a stand-in is one of the class itself."""
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
    }


def number_of(cls: Any) -> Any:
    """How a numpy class of numbers is called: a traced number stays as it is."""

    def made(x: Any = 0.0, *args: Any) -> Any:
        if type(x) is Dual:
            return x
        if type(x) is Array:
            return x.astype(cls)
        return cls(x, *args)

    return made


def numpy_names() -> dict[str, Any]:
    """The classes of numpy that a traced number or array may be made or tested with."""
    known = stand_ins()
    if numpy.ndarray not in known:
        stand_in(numpy.ndarray, (Array,), numpy.ndarray)
        for cls in (numpy.float64, numpy.longdouble, numpy.complex128):
            stand_in(cls, (), number_of(cls))
        known = stand_ins()
    return {name: known[cls] for name, cls in vars(numpy).items() if isinstance(cls, type) and cls in known}
