"""The types of arguments, for parameters without annotations."""

from __future__ import annotations

import functools
import operator
from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

import numpy

from .._core.programs.native import MOST_PARTS, class_of
from .._core.scalars.complex import ComplexDual
from ..errors import UnsupportedError
from ..naming import attribute_of, found_as
from ..primitive import is_traced
from .language.annotations import Array, Fields
from .language.strangers import is_strange, named
from .language.types import Fixed, Text, spelled
from .parse.names.sizes import is_large, ones_of
from .parse.names.texts import is_key
from .parse.names.types import class_fields, is_open

KINDS = {"f": float, "i": int, "b": bool}
#: Arrays whose arithmetic is not that of the language's numbers, with what to give instead.
OTHERS = {"u": "wraps at zero: give x.astype(int)", "f": "rounds to fewer digits: give x.astype(float)"}


def annotation_of(value: Any, name: str) -> Any:
    """Give the annotation that a parameter would have for a value.

    It raises `UnsupportedError` if the value has no type of the language, or an ambiguous one.
    """
    if is_strange(value):
        advice = "a class of its own: give a plain number, list, array of float64 or record"
        raise UnsupportedError(f"the parameter {name} is of type {named(value)}, {advice}")
    if value is None or isinstance(value, bool | numpy.bool_):
        return None if value is None else bool
    if isinstance(value, int | numpy.signedinteger):
        return int
    if isinstance(value, float):
        return float
    dtype = attribute_of(value, "dtype")
    if isinstance(dtype, numpy.dtype) and (dtype.kind == "u" or (dtype.kind == "f" and dtype.itemsize < 8)):
        raise UnsupportedError(f"the parameter {name} is of {dtype}, which {OTHERS[dtype.kind]}, or annotate it")
    if isinstance(value, numpy.ndarray) and not value.ndim:
        raise UnsupportedError(f"the parameter {name} is an array without axes: give a number, or annotate it")
    if isinstance(dtype, numpy.dtype) and dtype.kind in KINDS:
        return _nested(KINDS[dtype.kind], value.ndim)
    if is_traced(value):
        return complex if type(value) is ComplexDual or isinstance(dtype, numpy.dtype) else float
    if isinstance(value, list):
        return _of_list(value, name)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        if len(value) > MOST_PARTS:
            return tuple  # which only dual numbers take: code of its own for each part costs more
        return tuple[tuple(annotation_of(part, name) for part in value)]  # type: ignore[misc]
    if isinstance(value, str):
        return Text(value=value)
    if type(value) is dict and all(map(is_key, value)):
        return Fields(tuple((key, annotation_of(part, name)) for key, part in value.items()))
    if isinstance(value, Enum) or is_importable(value):
        return Fixed(name=type(value).__name__, value=value)
    if is_open(type(value)):
        fields = class_fields(type(value)) or ()
        return Fields(tuple((f, annotation_of(getattr(value, f), f"{name}.{f}")) for f in fields), type(value))
    return type(value)


def _nested(element: Any, ndim: int) -> Any:
    for _ in range(ndim):
        element = Array(element)
    return element


def _of_list(value: list[Any], name: str) -> Any:
    if not value:
        return list[float]
    parts = [annotation_of(part, name) for part in value]
    if len({key_of(part).replace("list[", "Array[") for part in parts}) == 1:
        return list[min(parts, key=lambda part: not isinstance(part, Array))]  # type: ignore[misc]
    if all(part in (int, float, bool) for part in parts):
        return list[float]
    if all(isinstance(part, type) and class_fields(part) for part in parts):
        members = sorted(set(parts), key=lambda part: (part.__qualname__, id(part)))
        return list[functools.reduce(operator.or_, members)]  # type: ignore[misc]
    return list  # which only dual numbers take


def kind_of(value: Any) -> Any:
    """Give what decides the annotation of a value, in little time; equal kinds give equal annotations."""
    if (found := class_of(value)) is not None:
        return found
    of = type(value)
    if of is numpy.ndarray:
        shape = value.shape
        return of, value.dtype, len(shape), 1 in shape and ones_of(value), len(shape) == 2 and is_large(value)
    if of is list:
        kinds = set(map(type, value))
        is_simple = kinds.issubset(SIMPLE) or all(map(is_settled, kinds))
        kinds = kinds if is_simple else set(map(kind_of, value))
        return of, kinds.pop() if len(kinds) == 1 else frozenset(kinds)
    if of is str:
        return value
    if of is tuple:
        return of, *map(kind_of, value[: MOST_PARTS + 1])
    if of is dict:
        return of, tuple(value), *map(kind_of, value.values())
    if isinstance(attribute_of(value, "dtype"), numpy.dtype):
        return of, value.dtype, value.ndim, ones_of(value), is_large(value)
    if isinstance(value, Enum) or is_importable(value):
        return value
    return (of, *(kind_of(getattr(value, f)) for f in class_fields(of) or ())) if is_open(of) else of


def is_importable(value: Any) -> bool:
    """Tell whether something is a function that can be imported by its name: there are few of these."""
    if not callable(value):
        return False
    if isinstance(value, numpy.ufunc):
        return getattr(numpy, value.__name__, None) is value
    return found_as(value) is value


#: Types of numbers that decide annotations.
SIMPLE = frozenset((float, int, bool))
#: Whether the type of a value alone decides its annotation.
SETTLED: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_settled(of: type) -> bool:
    """Tell whether all values of a type have one annotation: records whose fields have annotations."""
    if of not in SETTLED:
        asked = any(name in vars(base) for base in of.__mro__ for name in ("dtype", "__call__"))
        SETTLED[of] = bool(class_fields(of)) and not (asked or is_open(of) or issubclass(of, Enum))
    return SETTLED[of]


def key_of(annotation: Any) -> str:
    """Write an annotation as text; equal types give equal texts."""
    if annotation in (float, int, bool):
        return str(annotation.__name__)
    if isinstance(annotation, Array):
        return f"Array[{key_of(annotation.element)}]"
    if isinstance(annotation, Fixed):
        return spelled(annotation)
    if isinstance(annotation, Fields):
        inside = ", ".join(f"{key!r}: {key_of(part)}" for key, part in annotation.by_key)
        return f"{'' if annotation.cls is dict else key_of(annotation.cls)}{{{inside}}}"
    args = getattr(annotation, "__args__", None)
    if args is not None:
        return f"{getattr(annotation, '__origin__', type(annotation)).__name__}[{', '.join(map(key_of, args))}]"
    return f"{getattr(annotation, '__qualname__', annotation)} {id(annotation)}"
