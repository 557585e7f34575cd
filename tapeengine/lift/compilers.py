"""numba's decorators in lifted code, where a function that numba would compile runs as Python."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import tapeengine.numpy as np

from ..errors import module_of

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
    "numba": lambda: {"jit": uncompiled, "njit": uncompiled, "vectorize": vectorized},
    "numba.experimental": lambda: {"jitclass": uncompiled},
}
