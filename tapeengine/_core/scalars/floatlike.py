"""The classes that ``__class__`` of traced numbers names."""

import numbers


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


class SingleLike:
    """The ``__class__`` of traced numbers in single precision, which are arrays here. It has no instances."""


class ComplexLike:
    """The same for complex numbers."""


numbers.Real.register(FloatLike)
numbers.Real.register(SingleLike)
numbers.Complex.register(ComplexLike)
