"""The classes that ``__class__`` of traced numbers names, and methods of Python's that are called by name."""

import numbers
import operator
from functools import partial
from typing import Any, NoReturn


def refused(*args: Any, **options: Any) -> NoReturn:
    """Refuse to make a value by the class of a traced one."""
    raise TypeError("traced values are made by transforms and operations: write 0.0 * x + value, or lift the program")


def of_number(cls: Any, traced: Any, python: Any, name: str, *args: Any) -> Any:
    """``cls.name(*args)``, on traced numbers too, which `python` converts as `cls` converts others."""
    if not any(isinstance(a, traced) for a in args[:2]):
        return getattr(cls, name)(*args)
    forward = "__" + name[3:] if name[2] == "r" else name
    called = divmod if forward == "__divmod__" else getattr(operator, forward, None)
    if called is None:
        return getattr(args[0], name)(*args[1:])
    if not isinstance(args[-1], (cls, float, int, *traced)):
        return NotImplemented
    operands = [*map(python, args)]
    return called(*operands[:: 1 if forward is name else -1])


def methods(cls: Any, traced: Any, python: Any) -> dict[str, Any]:
    """The methods of a class of numbers by their names, for traced numbers too."""
    return {
        name: partial(of_number, cls, traced, python, name)
        for name in vars(cls)
        if hasattr(traced[0], name) and callable(getattr(cls, name)) and name not in ("__new__", "__getattribute__")
    }


class LikeFloat(type):
    """A class whose ``__bases__`` contain float, as `functools.singledispatch` reads them."""

    @property
    def __mro__(cls) -> tuple[type, ...]:
        return cls, float, object

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        return (float,)


class FloatLike(metaclass=LikeFloat):
    """The ``__class__`` of duals: functions that dispatch on float accept duals. It has no instances."""

    __new__ = refused


class SingleLike:
    """The ``__class__`` of traced numbers in single precision, which are arrays here. It has no instances."""

    __new__ = refused


class ComplexLike:
    """The same for complex numbers."""

    __new__ = refused


numbers.Real.register(FloatLike)
numbers.Real.register(SingleLike)
numbers.Complex.register(ComplexLike)
