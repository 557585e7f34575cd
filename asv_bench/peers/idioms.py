"""The tools that are compared, in their idioms, and which of them are installed.

Nothing is imported here: the processes that measure a tool import it.
"""

import importlib.metadata
import importlib.util
import platform
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Idiom:
    """A tool in one idiom.

    Attributes
    ----------
    module
        The module of this folder with its `Tool`.
    imported
        The module that it imports.
    distribution
        The distribution whose version is reported; empty for Python itself.
    rewritten
        Whether it runs another program than the one written in Python: with scans, symbols, types, or code by hand.
    compiled
        Whether it compiles a program, or builds a graph of it, before the first derivative.
    """

    module: str
    imported: str
    distribution: str
    rewritten: bool = False
    compiled: bool = False


OURS = "tapeengine"

IDIOMS = MappingProxyType(
    {
        OURS: Idiom("engine", "tapeengine", "tapeengine"),
        "te.program": Idiom("typed_programs", "tapeengine", "tapeengine", rewritten=True, compiled=True),
        "Python tape": Idiom("python_tape", "sys", ""),
        "XAD": Idiom("xad_tape", "xad", "xad"),
        "micrograd": Idiom("micrograd_values", "micrograd", "micrograd"),
        "autograd": Idiom("hips_autograd", "autograd", "autograd"),
        "torch": Idiom("torch_eager", "torch", "torch"),
        "mygrad": Idiom("mygrad_tensors", "mygrad", "mygrad"),
        "JAX eager": Idiom("jax_idioms", "jax", "jax"),
        "JAX jit": Idiom("jax_idioms", "jax", "jax", compiled=True),
        "JAX scan": Idiom("jax_idioms", "jax", "jax", rewritten=True, compiled=True),
        "CasADi SX": Idiom("casadi_graph", "casadi", "casadi", rewritten=True, compiled=True),
        "numba by hand": Idiom("numba_adjoint", "numba", "numba", rewritten=True, compiled=True),
    }
)
REWRITTEN = tuple(name for name, idiom in IDIOMS.items() if idiom.rewritten)
COMPILED = tuple(name for name, idiom in IDIOMS.items() if idiom.compiled)


def installed(name: str) -> bool:
    """Say whether the tool is installed."""
    return importlib.util.find_spec(IDIOMS[name].imported) is not None


def version(name: str) -> str:
    """Return the version of the tool's distribution."""
    distribution = IDIOMS[name].distribution
    if not distribution:
        return platform.python_version()
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "from source"
