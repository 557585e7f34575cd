"""The modules that lifted code sees in place of modules with C functions: the same names, with traced operations.

A stand-in has all names of its original; those that traced numbers need are replaced.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import FunctionType, ModuleType
from typing import Any

from .._core.programs.callables import REPLACED, stand_ins
from ..errors import TWINS
from ..numpy._classes import numpy_names
from . import wrappers
from .classes import builtin_names
from .compilers import COMPILERS
from .refused import refusing


def overlay(module: ModuleType, names: Mapping[str, Any]) -> ModuleType:
    """A copy of a module in which some names are replaced."""
    found = ModuleType(module.__name__, module.__doc__)
    found.__dict__.update(vars(module))
    for name, value in names.items():
        if hasattr(module, name):
            there, made = getattr(module, name), unbound(value, getattr(module, name))
            found.__dict__[name] = made
            if isinstance(there, type) and made is not there and there not in stand_ins():
                REPLACED[made], stand_ins()[there] = there, made  # instances of one count as those of the other
    return found


def unbound(value: Any, there: Any) -> Any:
    """A replacement that, like the C function there, does not become a method as an attribute of a class."""
    return staticmethod(value) if isinstance(value, FunctionType) and not hasattr(there, "__get__") else value


def of_counterpart(name: str) -> dict[str, Any]:
    """The names of a module that has the same functions for traced numbers, and of its objects that refuse these."""
    here = importlib.import_module(name)
    names = getattr(here, "__lifted__", None) or getattr(here, "__all__", None) or dir(here)
    return {key: getattr(here, key) for key in names if not key.startswith("_")}


#: Modules of numpy with counterparts in `tapeengine.numpy`.
BELOW = ("linalg", "fft", "random", "lib", "lib.stride_tricks", "polynomial", "testing")
SERIES = ("polyutils", "polynomial", "chebyshev", "hermite", "hermite_e", "laguerre", "legendre")


def of_numpy() -> dict[str, Any]:
    """The names of numpy; its submodules are found by name."""
    import numpy

    import tapeengine.numpy

    names = [name for name in vars(numpy) if not name.startswith("_") and name not in BELOW]
    return {**{name: getattr(tapeengine.numpy, name) for name in names}, **numpy_names()}


def of_functools() -> dict[str, Any]:
    """The names of functools that inspect the arguments of the functions that they wrap."""
    found = (wrappers.lru_cache, wrappers.cache, wrappers.singledispatch, wrappers.singledispatchmethod)
    return {f.__name__: f for f in found}


def of_statistics() -> dict[str, Any]:
    """The functions of statistics for traced numbers; its classes come from a twin."""
    from . import statistics

    names = vars(importlib.import_module(f"{TWINS}statistics.statistics"))
    names.update(statistics.functions())
    return names


SOURCES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "math": lambda: of_counterpart("tapeengine.math"),
    "cmath": lambda: of_counterpart("tapeengine.cmath"),
    "numpy": of_numpy,
    **{f"numpy.{name}": partial(of_counterpart, f"tapeengine.numpy.{name}") for name in BELOW},
    **{f"numpy.polynomial.{name}": partial(of_counterpart, f"tapeengine.numpy.polynomial.{name}") for name in SERIES},
    "functools": of_functools,
    "dataclasses": lambda: {"replace": wrappers.replace},
    "statistics": of_statistics,
    "struct": lambda: refusing("struct"),
    "decimal": lambda: refusing("decimal"),
    "fractions": lambda: refusing("fractions"),
    "array": lambda: refusing("array"),
    **COMPILERS,
}


#: Modules whose functions and classes have no stand-in module.
OF_PYTHON = {"builtins", "__main__"}


@cache
def plugin_modules() -> Mapping[str, str]:
    """The modules of other libraries with counterparts from plugins, and the names of these counterparts."""
    from ..plugins.discovery import load_plugins

    return load_plugins().registry.modules


@cache
def _stand_in(name: str) -> ModuleType:
    """The stand-in of a module, made once."""
    source = SOURCES.get(name)
    counterpart = plugin_modules().get(name)
    names = source() if source is not None else of_counterpart(counterpart) if counterpart else {}
    there = importlib.import_module(name)
    module = overlay(there, names)
    for other in (*SOURCES, *plugin_modules()):
        if other.rpartition(".")[0] == name:
            module.__dict__.pop(other.rpartition(".")[2], None)
    module.__dict__["__getattr__"] = functools.partial(later, there)
    return module


def later(module: ModuleType, name: str) -> Any:
    """An attribute of a stand-in at its first use: a submodule's stand-in, or what the module has got since."""
    found = stand_in_module(f"{module.__name__}.{name}")
    return replaced_object(getattr(module, name)) if found is None else found


def stand_in_module(name: str) -> ModuleType | None:
    """The stand-in for a module in lifted code; None if the module itself is used."""
    if name in SOURCES:
        return _stand_in(name)
    if name.partition(".")[0] in ("math", "os"):
        return None
    above = plugin_modules()
    if name in above or any(other.startswith(f"{name}.") for other in above):
        return _stand_in(name)
    return None


def with_stand_ins(module: ModuleType, names: tuple[str, ...]) -> ModuleType:
    """Replace names that a module has imported from `math` and similar modules by their stand-ins."""
    if "*" in names:
        names = tuple(getattr(module, "__all__", None) or (name for name in vars(module) if not name.startswith("_")))
    there = {name: getattr(module, name) for name in names if hasattr(module, name)}
    here = {name: replaced_object(value) for name, value in there.items()}
    if all(here[name] is there[name] for name in there):
        return module
    return overlay(module, here)


@cache
def _replacements(module: str) -> dict[int, Any]:
    """The replacement of each object in a module, by the original's id."""
    there, here = sys.modules[module], vars(_stand_in(module))
    return {id(value): here[key] for key, value in vars(there).items() if key in here and here[key] is not value}


def replaced_object(value: Any) -> Any:
    """The counterpart of a function, class or module in lifted code; other values unchanged."""
    if isinstance(value, ModuleType):
        known = sys.modules.get(value.__name__) is value
        return (stand_in_module(value.__name__) or value) if known else value
    module = getattr(value, "__module__", None)
    if module == "builtins" and isinstance(value, type):
        name = value.__name__
        return builtin_names()[name] if getattr(builtins, name, None) is value else value
    roots = {name.partition(".")[0] for name in (module, type(value).__module__) if isinstance(name, str)}
    if roots <= OF_PYTHON:
        return value
    for name in (*SOURCES, *plugin_modules()):  # a ufunc does not name its library
        if name in sys.modules and (name.partition(".")[0] in roots or type(value).__name__ == "ufunc"):
            found = _replacements(name).get(id(value))
            if found is not None:
                return found
    return value if isinstance(value, FunctionType | type) else object_in_place(value, roots)


def object_in_place(value: Any, roots: set[str]) -> Any:
    """What stands for an object of a class with a counterpart, such as a spline that was made before."""
    here = (counterpart for name, counterpart in plugin_modules().items() if name.partition(".")[0] in roots)
    around = getattr(importlib.import_module(next(here, "builtins")), "__around__", None)
    return value if around is None else around(value)
