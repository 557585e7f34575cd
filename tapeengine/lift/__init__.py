"""`te.lift`: code that was written without this engine, with names that mean traced operations."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

__all__ = ["lift", "lifted"]


def lift(target: Any, *, also: Iterable[str] = ()) -> Any:
    """Return the twin of a module, function or class: its source, with names that mean traced operations.

    In the twin `math`, `cmath`, `numpy` and `statistics` are the engine's, and `float`, `complex`, `isinstance` and
    `type` take a traced number for the float that it stands for. A package is lifted with the modules of its own
    distribution; the originals stay as they are. On plain numbers the twin gives the same bits.

    Parameters
    ----------
    target : str, module, function or class
        A name is that of a module, or of something in one.
    also : iterable of str
        Further packages that the twin shall see lifted, where a number passes through them.

    Returns
    -------
    module, function or class

    Raises
    ------
    UnsupportedError
        Where there is no Python source to lift.

    Examples
    --------
    >>> import tapeengine as te
    >>> def area(r):
    ...     from math import pi, pow
    ...     return pi * pow(float(r), 2)
    >>> te.grad(te.lift(area))(1.0)
    6.283185307179586
    """
    from tapeengine.lift.targets import twin_of

    return twin_of(target, also)


def lifted(package: str, *, also: Iterable[str] = ()) -> AbstractContextManager[ModuleType]:
    """Within a ``with`` statement, import statements of a package give its twin; see `lift`.

    Parameters
    ----------
    package : str
        The name of a package or module.
    also : iterable of str
        Further packages that are lifted with it.

    Yields
    ------
    module
        The twin of the package.

    Examples
    --------
    >>> import tapeengine as te
    >>> with te.lifted("colorsys"):
    ...     from colorsys import rgb_to_hls
    >>> te.grad(lambda red: rgb_to_hls(red, 0.5, 0.25)[1])(1.0)
    0.5
    """
    from tapeengine.lift.context import imports_of

    return imports_of(package, also)


class Room(ModuleType):
    """The class of this module, which is called as `lift` is, since ``tapeengine.lift`` names both."""

    def __call__(self, target: Any, *, also: Iterable[str] = ()) -> Any:
        """See `lift`."""
        return lift(target, also=also)


sys.modules[__name__].__class__ = Room
