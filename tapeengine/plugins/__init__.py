"""Plugins: the hooks that they implement, their discovery, and C kernels for scalar primitives.

Examples
--------
>>> from tapeengine.plugins import load_plugins
>>> loaded = load_plugins([])
>>> loaded.registry, loaded.records
(<Registry of 0 primitives from 0 plugins, 0 failed>, ())
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .discovery import LoadedPlugins, PluginRecord, load_plugins
    from .hookspecs import hookimpl
    from .kernels import scalar_function, scalar_kernel

__all__ = ["LoadedPlugins", "PluginRecord", "hookimpl", "load_plugins", "scalar_function", "scalar_kernel"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a name at its first use: importing tapeengine needs neither pluggy nor package metadata."""
    from importlib import import_module

    for module in ("hookspecs", "discovery", "kernels") if name in __all__ else ():
        found = import_module(f"tapeengine.plugins.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module 'tapeengine.plugins' has no attribute {name!r}")
