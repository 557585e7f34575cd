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

#: Decorators of numba that lifted code keeps, and the names of its modules.
TO_MACHINE_CODE, NUMBAS = ("guvectorize", "cfunc", "stencil"), ("numba", "nb")


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


class Elementwise:
    """A function of ``numba.vectorize``: Python calls it for each element, so that elements may be traced."""

    #: Calls that run again look into the attributes.
    __tapeengine_parts__ = True

    def __init__(self, function: Any, loops: list[list[str]]) -> None:
        self.py_func, self.loops = function, loops
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Call the function for each element, in the first declared loop that the arguments fit."""
        given = np.broadcast_arrays(*map(np.asarray, args))
        fitting = [x for x in self.loops if all(map(np.can_cast, [a.dtype for a in given], x))]
        *kinds, kind = fitting[0] if fitting else [None] * (len(given) + 1)
        cells = zip(*(np.asarray(x, k).ravel() for x, k in zip(given, kinds, strict=True)), strict=True)
        return np.array([self.py_func(*cell) for cell in cells], kind).reshape(given[0].shape)[()]

    def __reduce__(self) -> Any:
        return self.__qualname__  # type: ignore[attr-defined]


def vectorized(signatures: Any = (), **options: Any) -> Any:
    """``numba.vectorize``."""
    if isinstance(signatures, FunctionType):
        return Elementwise(signatures, [])
    given = signatures if isinstance(signatures, (list, tuple)) else [signatures]
    return lambda function: Elementwise(function, [dtypes_of(str(x)) for x in given])


def dtypes_of(signature: str) -> list[str]:
    """The dtypes of arguments and result, of ``(float64) -> float64`` or ``f8(f8)``."""
    names = re.findall(r"\w+", signature.replace("boolean", "bool"))
    return names if "->" in signature else [*names[1:], names[0]]


def is_to_machine_code(function: ast.FunctionDef) -> bool:
    """Whether a decorator of numba compiles a function, whose text then has to stay as it is."""
    names = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return any(
        (isinstance(name, ast.Name) and name.id in TO_MACHINE_CODE)
        or (isinstance(name, ast.Attribute) and name.attr in TO_MACHINE_CODE and ast.unparse(name.value) in NUMBAS)
        for name in names
    )


def of_compiled(value: Any, twin: Callable[[Any], Any]) -> Any:
    """What stands for an object that numba has compiled of a function; None for other values."""
    if not is_of_numba(value):
        return None
    if hasattr(value, "py_func"):
        return uncompiled(twin(value.py_func))
    source = getattr(getattr(value, "_dispatcher", None), "py_func", None)
    return source and Elementwise(twin(source), [list(x.replace("->", "")) for x in value.types])


#: The names of numba's modules that are replaced.
COMPILERS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "numba": lambda: {"jit": uncompiled, "njit": uncompiled, "vectorize": vectorized},
    "numba.experimental": lambda: {"jitclass": uncompiled},
}
