"""The class that a dual names as its own to those who ask for ``__class__``."""

import numbers

__all__ = ["FloatLike"]


class LikeFloat(type):
    """A class that names float among its bases to whom asks for their names, as `functools.singledispatch` does."""

    @property
    def __mro__(cls) -> tuple[type, ...]:
        return cls, float, object

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        return (float,)


class FloatLike(metaclass=LikeFloat):
    """What ``__class__`` of a dual is: functions that dispatch on float find duals. No instance of it exists."""


numbers.Real.register(FloatLike)
