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
    vjp, grad, value_and_grad = default_engine().vjp, default_engine().grad, default_engine().value_and_grad


def __getattr__(name: str) -> Any:
    """Find `vjp` and its like: methods of the default engine, kept here once they have been asked for."""
    if name not in _METHODS:
        raise AttributeError(f"module 'tapeengine' has no attribute {name!r}")
    found = globals()[name] = getattr(default_engine(), name)
    return found
