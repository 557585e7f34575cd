"""Tell the program's objects from those of Python and installed packages, and find the names that its code uses."""

from __future__ import annotations

import functools
import os
import random
import sys
import types
from collections import defaultdict, deque
from typing import Any

import numpy as np

from ..._core.programs.replay import Fixed
from ...duals.dispatch import is_of_python as is_of_python
from ...errors import TWINS, module_of
from ...naming import attribute_of
from ..inspection.source_lines import LIBRARIES

#: Directories of the standard library and of installed packages.
_INSTALLED = (os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(np.__file__)))


def owner_of(method: Any) -> Any:
    """The object of the program that a method written in C belongs to; None for functions and the global generators."""
    owner = attribute_of(method, "__self__")
    is_global = owner is random._inst or owner is np.random.mtrand._rand
    return None if is_global or isinstance(owner, (type, types.ModuleType)) else owner


def _file_of(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)


@functools.lru_cache(maxsize=1024)
def is_library(module: str | None, file: str | None) -> bool:
    """Whether code belongs to Python, to an installed package or to the engine, and not to the program."""
    root = (module or "").partition(".")[0]
    if root in LIBRARIES or root in sys.stdlib_module_names:
        return not (file or "").startswith("<doctest")
    return (file or "").startswith(_INSTALLED)


#: Whether programs do not change a global value: a module, a class, a library function.
is_fixed = Fixed(is_library, is_of_python, owner_of)


@functools.lru_cache(maxsize=1024)
def is_plain(kind: Any) -> bool:
    """Whether a class is the program's and its instances consist of their attributes only."""
    return (
        kind.__new__ is object.__new__
        and kind.__dictoffset__ != 0
        and not any("__slots__" in vars(cls) for cls in kind.__mro__[:-1])
        and is_made_by_parts(kind)
    )


@functools.lru_cache(maxsize=1024)
def is_made_by_parts(kind: Any) -> bool:
    """Whether a class is the program's and its instances can be rebuilt from their attributes and items."""
    base: Any = next((base for base in (list, defaultdict, dict, deque) if issubclass(kind, base)), object)
    module = module_of(kind)
    own = [cls for cls in kind.__mro__[: kind.__mro__.index(base)] if module_of(cls) != "collections"]  # as UserDict
    of_their_own = ("__copy__", "__deepcopy__", "__del__", "__setstate__", "__getattribute__")
    return (
        not (own and is_library(module, _file_of(module)) and not module.startswith(TWINS))  # lifted: the program's
        and kind.__new__ is base.__new__
        and kind.__reduce_ex__ is base.__reduce_ex__
        and kind.__reduce__ is base.__reduce__
        and not any(name in vars(cls) for cls in own for name in of_their_own)
    )
