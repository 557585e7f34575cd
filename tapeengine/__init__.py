"""tapeengine: derivatives of ordinary Python programs."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core.scalars.scalar import Dual
from ._core.sweeps.trace import value_of as value
from .engine import Engine
from .lift import lift, lifted
from .primitive import NotDifferentiable, Primitive, Sample
from .primitive.local import primitive
from .transforms.derivatives.linear_map import LinearMap

__all__ = [
    "Array",
    "Dual",
    "Engine",
    "LinearMap",
    "Loaded",
    "NotDifferentiable",
    "Primitive",
    "Program",
    "ProgramError",
    "Sample",
    "Shared",
    "Vec",
    "__version__",
    "backpropagate",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "debug",
    "default_engine",
    "dependencies",
    "elementwise_grad",
    "fold",
    "fork",
    "fork_map",
    "gather",
    "grad",
    "hessian",
    "hookimpl",
    "hvp",
    "iterate",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "lift",
    "lifted",
    "linearize",
    "load_staged",
    "primitive",
    "program",
    "register_container",
    "replicate",
    "scan",
    "scatter",
    "sparse_hessian",
    "sparse_jacobian",
    "stage",
    "stop_gradient",
    "tape",
    "value",
    "value_and_grad",
    "vhp",
    "vjp",
    "vmap",
]

_METHODS = (
    *("vjp", "grad", "value_and_grad", "elementwise_grad", "jvp", "linearize"),
    *("jacobian", "jacfwd", "jacrev", "hessian", "hvp", "vhp"),
    *("custom_vjp", "custom_jvp", "stop_gradient", "checkpoint", "iterate", "fork", "fork_map"),
    *("dependencies", "sparse_jacobian", "sparse_hessian"),
    *("debug", "tape", "backpropagate", "register_container", "stage", "vmap", "load_staged"),
)
_MODULES = ("chad", "cmath", "math", "numpy", "plugins", "testing")
_WORKERS = ("Loaded", "Shared")
_CHAD = ("program", "Program", "ProgramError", "Vec", "fold", "scan", "gather", "scatter", "replicate")


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
    from .chad import ProgramError, Vec, fold, gather, replicate, scan, scatter
    from .chad.language.annotations import Array
    from .chad.program import Program, program
    from .plugins.hookspecs import hookimpl
    from .workers import Loaded, Shared

    __version__: str
    _engine = default_engine()
    vjp, jvp, linearize = _engine.vjp, _engine.jvp, _engine.linearize
    grad, value_and_grad, elementwise_grad = _engine.grad, _engine.value_and_grad, _engine.elementwise_grad
    jacobian, jacfwd, jacrev, hessian = _engine.jacobian, _engine.jacfwd, _engine.jacrev, _engine.hessian
    hvp, vhp = _engine.hvp, _engine.vhp
    custom_vjp, custom_jvp, stop_gradient = _engine.custom_vjp, _engine.custom_jvp, _engine.stop_gradient
    checkpoint, iterate = _engine.checkpoint, _engine.iterate
    fork, fork_map = _engine.fork, _engine.fork_map
    dependencies, sparse_jacobian = _engine.dependencies, _engine.sparse_jacobian
    sparse_hessian = _engine.sparse_hessian
    debug, tape, backpropagate = _engine.debug, _engine.tape, _engine.backpropagate
    register_container = _engine.register_container
    stage, vmap, load_staged = _engine.stage, _engine.vmap, _engine.load_staged

else:  # the annotation in programs is the class of traced arrays, so one name serves both
    from ._core.arrays.array import Array


def __getattr__(name: str) -> Any:
    """Look up names that are loaded on demand: submodules, `hookimpl`, methods of the default engine."""
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("tapeengine")
    elif name in _METHODS:
        found = getattr(default_engine(), name)
    elif name in _MODULES:
        found = import_module(f"tapeengine.{name}")
    elif name in _CHAD:
        found = getattr(import_module("tapeengine.chad"), name)
    elif name in _WORKERS:
        found = getattr(import_module("tapeengine.workers"), name)
    elif name == "hookimpl":
        from .plugins.hookspecs import hookimpl as found
    else:
        raise AttributeError(f"module 'tapeengine' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*__all__, *_MODULES, "errors"})
