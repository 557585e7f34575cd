"""What the names of a function denote outside of it."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from numpy import ndarray, ufunc

from ...._core.arrays.functions import Ufunc
from .constants import all_local_names, content, imported
from .stars import BUILTINS
from .texts import MISSING
from .uses import OWN

#: What the tests of the patterns of a match name; a program cannot bind these.
TESTS = {" isinstance": isinstance, " len": len, " Sequence": Sequence}
#: The names of the modules that programs use as numpy.
NUMPY = ("numpy", "tapeengine.numpy")


def itself(value: Any) -> Any:
    """Give the argument of a function that changes it in place."""
    return value


def names_outside(function: Any) -> dict[str, Any]:
    """Give the objects that a Python function may name: builtins, its module's variables, those of functions around."""
    found = {**vars(builtins), **BUILTINS, **TESTS, OWN: itself, **function.__globals__}
    if function.__qualname__ == function.__name__:
        found[function.__name__] = function
    for name in all_local_names(function.__code__):  # which hide what the module has under these names
        found.pop(name, None)
    found.update(imported(function))
    found.update(_captured(function))
    return found


def _captured(function: Any) -> dict[str, Any]:
    """Give the variables of enclosing functions; an unset one of this function's name stands for the function."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = {name: content(cell) for name, cell in cells}
    if found.get(function.__name__) is MISSING:
        found[function.__name__] = function
    return {name: value for name, value in found.items() if value is not MISSING}


def named_outside(node: ast.expr, outer: Mapping[str, Any]) -> Any:
    """Give the object that a name, or a name in a module, denotes; None for any other expression."""
    if isinstance(node, ast.Attribute):
        found = named_outside(node.value, outer)
        is_known = inspect.ismodule(found) or isinstance(found, ufunc | Ufunc) or found is chain
        return attribute(found, node.attr, None) if is_known else None
    return outer.get(node.id) if isinstance(node, ast.Name) else None


def attribute(owner: Any, name: str, missing: Any) -> Any:
    """Give an attribute of an object, of tapeengine's ufuncs that of numpy's."""
    return getattr(owner.ufunc if isinstance(owner, Ufunc) else owner, name, missing)


def root(node: ast.AST) -> str:
    """Give the name with which a chain of attributes begins; an empty one for another expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def only_of_arrays(known: Iterable[Any]) -> Callable[[str], bool]:
    """Give a function that tells whether no class among some values has a method of a name, so that arrays alone do."""
    classes = [value for value in known if isinstance(value, type) and value is not ndarray]
    return lambda method: not any(hasattr(cls, method) for cls in classes)


def is_numpy(outer: Mapping[str, Any]) -> Callable[[str], bool]:
    """Give a function that tells whether a name is numpy."""
    return lambda name: getattr(outer.get(name), "__name__", "") in NUMPY
