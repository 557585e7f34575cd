"""`te.lift`: runs code written without this engine, with names bound to traced operations."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

__all__ = ["lift", "lifted"]


def lift(target: Any, *, also: Iterable[str] = ()) -> Any:
    """Return the twin of a module, function or class: its source, with names bound to traced operations.

    In the twin `math`, `cmath`, `numpy` and `statistics` are the engine's, and `float`, `complex`, `isinstance` and
    `type` treat a traced number as a float. A package is lifted with the modules of its own distribution; the originals
    do not change. On plain numbers the twin gives the same bits.

    Parameters
    ----------
    target : str, module, function or class
        A string is the name of a module, or of an object in one.
    also : iterable of str
        Further packages to lift for the twin, if traced numbers pass through them.

    Returns
    -------
    module, function or class

    Raises
    ------
    UnsupportedError
        If there is no Python source to lift.

    Examples
    --------
    >>> import tapeengine as te
    >>> def area(r):
    ...     from math import pi, pow
    ...     return pi * pow(float(r), 2)
    >>> te.grad(te.lift(area))(1.0)
    6.283185307179586
    """
    from .targets import twin_of

    return twin_of(target, also)


def lifted(package: str, *, also: Iterable[str] = ()) -> AbstractContextManager[ModuleType]:
    """In a ``with`` statement, make import statements of a package return its twin; see `lift`.

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
    from .context import imports_of

    return imports_of(package, also)


class Room(ModuleType):
    """The class of this module, which is callable like `lift`, since ``tapeengine.lift`` names both."""

    def __call__(self, target: Any, *, also: Iterable[str] = ()) -> Any:
        """See `lift`."""
        return lift(target, also=also)


sys.modules[__name__].__class__ = Room
