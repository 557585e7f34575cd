"""tapeengine: derivatives of ordinary Python programs."""

from functools import cache
from typing import TYPE_CHECKING, Any

from tapeengine._core.scalar import Dual
from tapeengine._core.trace import value_of as value
from tapeengine.engine import Engine
from tapeengine.local import primitive
from tapeengine.primitive import NotDifferentiable, Primitive, Sample

__all__ = [
    "Dual",
    "Engine",
    "NotDifferentiable",
    "Primitive",
    "Sample",
    "default_engine",
    "grad",
    "hookimpl",
    "primitive",
    "value",
    "value_and_grad",
    "vjp",
]

_METHODS = ("vjp", "grad", "value_and_grad")


@cache
def default_engine() -> Engine:
    """Return the engine of the functions of this module; it is built, and finds plugins, when it is first asked for."""
    return Engine()


if TYPE_CHECKING:
    from tapeengine.plugins.hookspecs import hookimpl

    vjp, grad, value_and_grad = default_engine().vjp, default_engine().grad, default_engine().value_and_grad


def __getattr__(name: str) -> Any:
    """Find `hookimpl`, and `vjp` and its like: methods of the default engine, kept here once they are asked for."""
    if name in _METHODS:
        found = getattr(default_engine(), name)
    elif name == "hookimpl":
        from tapeengine.plugins.hookspecs import hookimpl as found
    else:
        raise AttributeError(f"module 'tapeengine' has no attribute {name!r}")
    globals()[name] = found
    return found
