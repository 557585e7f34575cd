"""The classes that ``__class__`` of traced numbers names."""

import numbers
from typing import Any, NoReturn


def refused(*args: Any, **options: Any) -> NoReturn:
    """Refuse to make a value by the class of a traced one."""
    raise TypeError("traced values are made by transforms and operations: write 0.0 * x + value, or lift the program")


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


# Other libraries' errors show the name of ``__class__``: it is that of the traced value's own class.
FloatLike.__name__, SingleLike.__name__, ComplexLike.__name__ = "Dual", "Array", "Array"
numbers.Real.register(FloatLike)
numbers.Real.register(SingleLike)
numbers.Complex.register(ComplexLike)
