"""numba's decorators in lifted code, where a function that numba would compile runs as Python."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import Any

import tapeengine.numpy as np

from ..errors import module_of, original_name
from ..naming import reached

#: Decorators of numba that lifted code keeps.
TO_MACHINE_CODE = ("guvectorize", "cfunc", "stencil")


def is_of_numba(value: Any) -> bool:
    """Whether numba has made an object."""
    return module_of(type(value)).partition(".")[0] == "numba"


def uncompiled(*args: Any, **options: Any) -> Any:
    """``numba.njit``, ``jit`` or ``jitclass``: the function or class itself, with what code reads of dispatchers."""
    if not args or not callable(args[0]) or is_of_numba(args[0]):
        return lambda function: uncompiled(function, **options)
    if isinstance(args[0], FunctionType):
        actions = dict.fromkeys(("compile", "disable_compile", "recompile"), lambda *args: None)
        vars(args[0]).update(py_func=args[0], signatures=[], overloads={}, targetoptions=options, **actions)
    return args[0]


def elementwise(function: Any, loops: list[list[str]]) -> Callable[..., Any]:
    """A function that Python calls for each element, converted as in the first loop that the arguments fit."""

    @functools.wraps(function)
    def called(*args: Any) -> Any:
        given = np.broadcast_arrays(*map(np.asarray, args))
        fitting = (x for x in loops if all(map(np.can_cast, [a.dtype for a in given], x)))
        *kinds, kind = next(fitting, [None] * (len(given) + 1))
        cells = zip(*(np.asarray(x, k).ravel() for x, k in zip(given, kinds, strict=True)), strict=True)
        return np.array([function(*cell) for cell in cells], kind).reshape(given[0].shape)[()]

    return called


def vectorized(signatures: Any = (), **options: Any) -> Any:
    """``numba.vectorize``."""
    if isinstance(signatures, FunctionType):
        return elementwise(signatures, [])
    given = signatures if isinstance(signatures, (list, tuple)) else [signatures]
    return lambda function: elementwise(function, [dtypes_of(str(x)) for x in given])


def dtypes_of(signature: str) -> list[str]:
    """The dtypes of arguments and result, of ``(float64) -> float64`` or ``f8(f8)``."""
    names = re.findall(r"\w+", signature.replace("boolean", "bool"))
    return names if "->" in signature else [*names[1:], names[0]]


def kept(name: str) -> Callable[..., Any]:
    """A decorator of numba that compiles the original of a lifted function, whose globals it can read."""

    def decorator(*args: Any, **options: Any) -> Any:
        make = getattr(import_module("numba"), name)
        if args and isinstance(args[0], FunctionType):
            return of_original(make, args[0])
        return partial(of_original, make(*args, **options))

    return decorator


def of_original(make: Callable[..., Any], function: Any) -> Any:
    """What numba has made of a lifted function's original, or makes of it now; of a local function, of itself."""
    module = original_name(function.__module__)
    found = None if module == function.__module__ else reached(import_module(module), function.__qualname__)
    return found if is_of_numba(found) else make(found or function)


def is_to_machine_code(function: ast.FunctionDef) -> bool:
    """Whether a decorator of numba compiles a function, whose text then has to stay as it is."""
    names = [ast.unparse(getattr(one, "func", one)) for one in function.decorator_list]
    return any(name.removeprefix("numba.").removeprefix("nb.") in TO_MACHINE_CODE for name in names)


def of_compiled(value: Any, twin: Callable[[Any], Any]) -> Any:
    """What stands for an object that numba has compiled of a function; None for other values."""
    if not is_of_numba(value):
        return None
    if hasattr(value, "py_func"):
        return uncompiled(twin(value.py_func))
    source = getattr(getattr(value, "_dispatcher", None), "py_func", None)
    return source and elementwise(twin(source), [list(x.replace("->", "")) for x in value.types])


#: The names of numba's modules that are replaced.
COMPILERS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "numba": lambda: (
        {"jit": uncompiled, "njit": uncompiled, "vectorize": vectorized}
        | {name: kept(name) for name in TO_MACHINE_CODE}
    ),
    "numba.experimental": lambda: {"jitclass": uncompiled},
}
