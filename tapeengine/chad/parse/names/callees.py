"""The Python functions that programs may call, by identity: no function of another module is taken for one."""

from __future__ import annotations

import itertools
import sys
import sysconfig
from collections.abc import Hashable, Mapping
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any

import numpy

from ...._core.arrays.functions import Function, Ufunc
from ....errors import pass_on
from ....naming import attribute_of
from ...language import in_language

#: For each module whose functions the library knows, the name that it uses for the module.
MODULES: Mapping[str, str] = {
    **{name: name for name in ("builtins", "math", "bisect", "operator", "functools", "itertools", "numpy")},
    "numpy.linalg": "numpy",
    "scipy.special": "scipy",
    "tapeengine.math": "math",
    "tapeengine.numpy": "numpy",
    "tapeengine.numpy.linalg": "numpy",
    "tapeengine.chad.language.functions": "tapeengine",
    "tapeengine": "tapeengine",
}


#: The name of a method of a class of functions.
CHAIN = "itertools.chain.from_iterable"


def library_name(function: Any) -> str:
    """Give the name under which the library knows a Python function; an empty one if it does not."""
    present = tuple(filter(sys.modules.__contains__, MODULES))
    if isinstance(function, Function):  # of tapeengine.numpy, which makes them when they are first asked for
        function = function.function
    if isinstance(function, Ufunc):
        function = function.ufunc
    if isinstance(owner := attribute_of(function, "__self__"), numpy.ufunc):  # its method
        return f"{library_name(owner)}.{function.__name__}"
    if owner is itertools.chain:
        return CHAIN
    engine = sys.modules.get("tapeengine.engine")
    if isinstance(function, MethodType) and engine is not None and isinstance(function.__self__, engine.Engine):
        return f"tapeengine.{function.__name__}"
    try:
        return _names(present).get(function, "")
    except Exception as error:  # it cannot be looked up: a list, a memoryview, an object with a __hash__ of its own
        pass_on(error)
        return ""


#: The class of functions with a memo, whose results a program may have changed.
MEMOISED = type(lru_cache(lambda: None))
#: Where Python's own modules and installed packages lie.
LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_plain(function: Any) -> bool:
    """Tell whether something is a function of the user's own: a program that calls it reads its text."""
    if not isinstance(function, FunctionType) or hasattr(function, "__tapeengine_signature__"):
        return False
    if function.__module__ == in_language.__name__:
        return True
    package = function.__module__.partition(".")[0] if function.__module__ else ""
    if package in ("numpy", "scipy", "tapeengine", "tapeengine_primitives", "tapeengine_scipy"):
        return False
    return not function.__code__.co_filename.startswith(LIBRARIES) and not library_name(function)


@lru_cache(maxsize=8)
def _names(present: tuple[str, ...]) -> Mapping[Any, str]:
    found: dict[Any, str] = {}
    for module in present:
        for name, value in list(vars(sys.modules[module]).items()):
            if (callable(value) or name in ("r_", "c_")) and not name.startswith("_") and isinstance(value, Hashable):
                found.setdefault(value, f"{MODULES[module]}.{getattr(value, '__name__', name)}")
    return found
