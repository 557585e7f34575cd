"""numpy's own Python code on traced values: the same code, with `tapeengine.numpy` in place of numpy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, wraps
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any

import numpy

from .._core.arrays.functions import offered
from .._core.programs.callables import stand_ins
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from ..naming import attribute_of, names_in
from ._classes import numpy_names
from ._creation import asarray

_LOCK = RLock()


class Twin(ModuleType):
    """A module of numpy's, with counterparts under its names."""

    def __getattr__(self, name: str) -> Any:
        found = counterpart(getattr(sys.modules[self.__name__], name))
        setattr(self, name, found)
        return found


@cache
def twin_of(module: str) -> ModuleType:
    """Return the counterpart of one of numpy's modules."""
    made = Twin(module)
    made.__dict__.update(numpy_names() if module == "numpy" else {})
    return made


class Converter:
    """The counterpart of the class by which numpy's code makes arrays of arguments, and results like them."""

    def __init__(self, *values: Any) -> None:
        self.arrays = tuple(map(asarray, values))
        self.are_numbers = not any(hasattr(value, "ndim") or isinstance(value, (list, tuple)) for value in values)

    def __getitem__(self, place: int) -> Any:
        return self.arrays[place]

    def as_arrays(self, **options: Any) -> tuple[Any, ...]:
        return self.arrays

    def wrap(self, result: Any, to_scalar: bool | None = None) -> Any:
        return result[()] if (self.are_numbers if to_scalar is None else to_scalar) else result


def counterpart(value: Any) -> Any:
    """Return what a name stands for in code that calls numpy with traced arrays, from what it is in numpy's code."""
    if isinstance(value, ModuleType):
        return twin_of(value.__name__) if value.__name__.split(".")[0] == "numpy" else value
    if value is numpy.ScalarType:
        return (*value, Dual, ComplexDual)
    if isinstance(value, FunctionType):
        return rebound(value) if value.__module__.startswith("numpy") else value
    name = attribute_of(value, "__name__")
    public = getattr(numpy, name, None) if isinstance(name, str) else None
    is_public = public is not None and (value is public or value is getattr(public, "__wrapped__", None))
    ours = getattr(sys.modules["tapeengine.numpy"], name) if is_public else None
    if isinstance(value, type) and not isinstance(ours, FunctionType):  # functions replace classes that are only called
        return Converter if name == "_array_converter" else stand_ins().get(value, value)
    return ours if is_public else offered(value)


@cache
def copied(function: FunctionType) -> FunctionType:
    """Return a copy of a function for which no global name is bound yet."""
    made = FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def rebound(function: FunctionType) -> FunctionType:
    """Return the same code with counterparts of what its global names are."""
    made, theirs = copied(function), function.__globals__
    with _LOCK:
        if not made.__globals__:
            twin_of("numpy")
            made.__globals__.update({name: theirs[name] for name in ("__name__", "__builtins__")})
            used = [name for name in names_in(made.__code__) if name in theirs]
            made.__globals__.update((name, counterpart(theirs[name])) for name in used)
    return made


def rule_of(function: Any, **names: Any) -> Callable[..., Any]:
    """Return the rule of a function that numpy wrote in Python: its code, with other values of some global names."""

    @cache
    def code() -> FunctionType:
        made = rebound(function.__wrapped__)
        made.__globals__.update(names)
        return made

    @wraps(function)
    def rule(*args: Any, **options: Any) -> Any:
        return code()(*args, **options)

    return rule
