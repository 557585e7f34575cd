"""tapeengine: derivatives of ordinary Python programs."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core.scalars.scalar import Dual as Dual
from ._core.sweeps.trace import value_of as _value_of
from .engine import METHODS as _METHODS
from .engine import Engine as Engine
from .lift import lift as lift
from .lift import lifted as lifted
from .primitive import NotDifferentiable as NotDifferentiable
from .primitive import Primitive as Primitive
from .primitive import Sample as Sample
from .primitive.local import primitive as primitive
from .transforms.derivatives.linear_map import LinearMap as LinearMap

value = _value_of
_MODULES = ("chad", "cmath", "math", "numpy", "plugins", "testing")
#: The modules of names that are loaded when they are first used.
_LATER = {
    **dict.fromkeys(
        ("Program", "ProgramError", "Vec", "fold", "gather", "program", "replicate", "scan", "scatter"), "chad"
    ),
    **dict.fromkeys(("Loaded", "Shared"), "workers"),
    "hookimpl": "plugins.hookspecs",
}
_NAMES = sorted(
    (
        *("Array", "Dual", "Engine", "LinearMap", "NotDifferentiable", "Primitive", "Sample", "__version__"),
        *("default_engine", "lift", "lifted", "primitive", "value"),
        *_METHODS,
        *_LATER,
    )
)


class DefaultEngine(Engine):
    """The engine of this module's functions; its pickle refers to the default engine of the process that loads it."""

    def __reduce__(self) -> Any:
        return default_engine, ()


@cache
def default_engine() -> Engine:
    """Return the engine of this module's functions; the first call builds it and finds plugins.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.default_engine() is te.default_engine()
    True
    """
    return DefaultEngine()


if TYPE_CHECKING:
    from .chad import *  # noqa: F403
    from .engine import *  # noqa: F403
    from .plugins.hookspecs import hookimpl as hookimpl
    from .workers import Loaded as Loaded
    from .workers import Shared as Shared

    __version__: str
else:  # the annotation in programs is the class of traced arrays, so one name serves both
    from ._core.arrays.array import Array as Array

    __all__ = _NAMES


def __getattr__(name: str) -> Any:
    """Look up names that are loaded on demand: submodules, `hookimpl`, methods of the default engine."""
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("tapeengine")
    elif name in _METHODS:
        found = getattr(default_engine(), name)
    elif name in _MODULES:
        found = import_module(f"tapeengine.{name}")
    elif name in _LATER:
        found = getattr(import_module(f"tapeengine.{_LATER[name]}"), name)
    else:
        raise AttributeError(f"module 'tapeengine' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*_NAMES, *_MODULES, "errors"})
