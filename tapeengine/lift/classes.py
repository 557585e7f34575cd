"""The bindings of class names in lifted code, and the creation of classes there."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import EnumType
from fractions import Fraction
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from .._core.programs.callables import TRACED, class_of, is_instance, original, stand_ins, traced_class
from .._core.sweeps.trace import value_of
from ..errors import TWINS
from ..naming import GLOBAL_LOADS, named_by, named_like, operation_of, reached
from .rewrite import BOUND, CLASS_OF, STAND_IN

#: Where a twin says what class it is the twin of.
ORIGINAL = "__tapeengine_original__"


def class_seen(x: Any) -> type:
    """``x.__class__`` in lifted code, where the class of an instance of a twin is the twin."""
    return type(x) if ORIGINAL in vars(type(x)) else class_of(x)


def build_class(body: Any, name: str, *bases: Any, **options: Any) -> Any:
    """``class name(*bases)``: a subclass of a stand-in becomes a subclass of the original class.

    Of an enumeration and of an exception there is one class, the original's: members are compared by identity, and the
    caller catches what a lifted function raises.
    """
    own = unique(body, bases) if any(isinstance(base, EnumType) or is_exception(base) for base in bases) else None
    return builtins.__build_class__(body, name, *map(original, bases), **options) if own is None else own


def is_exception(cls: Any) -> bool:
    """Whether a base of a class makes it an exception."""
    return isinstance(cls, type) and issubclass(cls, BaseException)


def unique(body: FunctionType, bases: Sequence[Any]) -> type | None:
    """The original of an enumeration or an exception of a lifted module; None where lifted methods may do other things.

    Methods do the same if they name nothing but builtins that are the same in lifted code.
    """
    module = body.__globals__.get("__name__", "")
    codes = [code for code in body.__code__.co_consts if isinstance(code, CodeType)]
    if not module.startswith(TWINS) or not all(names_nothing(code, body.__globals__) for code in codes):
        return None
    name = module.removeprefix(TWINS).partition(".")[2]
    found = reached(sys.modules.get(name) or importlib.import_module(name), body.__qualname__)
    if not (isinstance(found, EnumType) or is_exception(found)) or len(found.__bases__) != len(bases):
        return None
    return found if all(a is b or not methods_of(a) for a, b in zip(bases, found.__bases__, strict=True)) else None


def names_nothing(code: CodeType, names: Mapping[str, Any]) -> bool:
    """Whether a method names no object of its module, and no builtin that lifted code has another one for."""
    same = {name for name, x in builtin_names().items() if vars(builtins).get(name) is x and name not in names}
    return named_by(code, GLOBAL_LOADS) <= same


def methods_of(cls: type) -> list[Any]:
    """The functions and properties of a class."""
    return [
        x for name, x in vars(cls).items() if hasattr(type(x), "__get__") and name not in ("__dict__", "__weakref__")
    ]


def has_attribute(x: Any, name: str, /) -> bool:
    """``hasattr(x, name)``, of a traced value as of the plain one."""
    if type(x) in TRACED:
        return any(name in vars(cls) for cls in original(traced_class(x)).__mro__)
    return hasattr(x, name)


def bound_method(x: Any, name: str) -> Any:
    """``x.__lt__`` of a plain number, which would not know a traced operand; an attribute of another object."""
    if type(x) in (float, complex):
        return MethodType(getattr(stand_ins()[type(x)], name), x)
    return partial(asked, x, name) if type(x) in (Fraction, Decimal) else getattr(x, name)


def asked(x: Any, name: str, *args: Any) -> Any:
    """A method of an exact number; for a traced operand its operator, where the method knows a plain one."""
    method, operation = getattr(x, name), operation_of(name)
    if operation is None or not args or type(args[0]) not in TRACED or method(value_of(args[0])) is NotImplemented:
        return method(*args)
    return operation(x, *args)


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
        CLASS_OF: class_seen,
        BOUND: bound_method,
        STAND_IN: lambda x: classes.get(x, x) if isinstance(x, type) else x,
    }
