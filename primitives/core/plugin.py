"""The hooks by which the engine finds the rules of this distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from tapeengine.plugins.hookspecs import hookimpl
from tapeengine.primitive import Primitive

from . import __path__, discrete

#: The modules of this package; most have one family of functions.
MODULES = tuple(import_module(f".{found.name}", __package__) for found in iter_modules(__path__))


@hookimpl
def tapeengine_primitives() -> tuple[Primitive, ...]:
    """Return the primitives of every family."""
    named = (value for module in MODULES for value in vars(module).values() if isinstance(value, Primitive))
    found = {primitive.name: primitive for primitive in (*named, *discrete.BY_FUNCTION.values())}
    return tuple(found.values())


@hookimpl
def tapeengine_numpy_rules() -> Mapping[Callable[..., Any], Callable[..., Any]]:
    """Map numpy's functions to their rules; a ufunc's method is given as a pair of ufunc and name."""
    return {function: rule for module in MODULES for function, rule in getattr(module, "RULES", {}).items()}
