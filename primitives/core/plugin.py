"""The hooks by which the engine finds the rules of this distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from tapeengine.plugins.hookspecs import hookimpl
from tapeengine.primitive import Primitive

from . import (  # noqa: F401
    arithmetic,
    bessel,
    complexparts,
    contraction,
    convolution,
    cumulative,
    discrete,
    domains,
    extremes,
    folds,
    fourier,
    histograms,
    interpolation,
    joining,
    linalg_eigen,
    linalg_factor,
    linalg_norms,
    linalg_solve,
    padding,
    polynomials,
    products,
    reductions,
    scattering,
    selection,
    sorting,
    statistics,
    transcendental,
    ufunc_methods,
    windows,
)

#: The modules imported above, each with one family of functions.
MODULES = tuple(found for found in [*vars().values()] if isinstance(found, ModuleType))


@hookimpl
def tapeengine_primitives() -> tuple[Primitive, ...]:
    """Return the primitives of every family."""
    named = (value for module in MODULES for value in vars(module).values() if isinstance(value, Primitive))
    found = {primitive.name: primitive for primitive in (*named, *discrete.BY_FUNCTION.values())}
    return tuple(found.values())


@hookimpl
def tapeengine_numpy_rules() -> Mapping[Callable[..., Any], Callable[..., Any]]:
    """Map numpy's functions to their rules; a ufunc's method is given as a pair of ufunc and name."""
    return {function: rule for module in MODULES for function, rule in module.RULES.items()}
