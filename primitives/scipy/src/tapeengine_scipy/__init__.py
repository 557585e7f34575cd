"""Derivative rules for SciPy, as a plugin of tapeengine.

Import SciPy's submodules from here, as in ``from tapeengine_scipy import linalg``: their functions have SciPy's own
signatures and accept plain and traced values. The ufuncs of `scipy.special` may also be imported from SciPy.
"""

from importlib import import_module
from typing import Any

from tapeengine_scipy._version import __version__

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    """Return a module of this package or, where it has none, what SciPy has under that name."""
    from tapeengine_scipy._names import names_of

    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    return names_of("scipy")[0](name)


def __dir__() -> list[str]:
    from tapeengine_scipy._names import names_of

    return sorted({*globals(), *names_of("scipy")[1]()})
