"""numba's decorators in lifted code, where a function that numba would compile stays the Python function that it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import module_of

#: Decorators of numba that lifted code keeps, and the names of its modules.
TO_MACHINE_CODE, NUMBAS = ("vectorize", "guvectorize", "cfunc", "stencil"), ("numba", "nb")


def is_of_numba(value: Any) -> bool:
    """Whether numba has made an object."""
    return module_of(type(value)).partition(".")[0] == "numba"


def uncompiled(*args: Any, **options: Any) -> Any:
    """``numba.njit``, ``jit`` or ``jitclass``: the function or class itself."""
    if args and callable(args[0]) and not is_of_numba(args[0]):
        return args[0]
    return lambda function: function


def is_to_machine_code(function: ast.FunctionDef) -> bool:
    """Whether a decorator of numba compiles a function, whose text then has to stay as it is."""
    names = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return any(
        (isinstance(name, ast.Name) and name.id in TO_MACHINE_CODE)
        or (isinstance(name, ast.Attribute) and name.attr in TO_MACHINE_CODE and ast.unparse(name.value) in NUMBAS)
        for name in names
    )


def source_of_compiled(value: Any) -> Any:
    """The Python function that numba has compiled; other values unchanged."""
    return getattr(value, "py_func", value) if is_of_numba(value) else value


#: The names of numba's modules that are replaced.
COMPILERS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "numba": lambda: dict.fromkeys(("jit", "njit"), uncompiled),
    "numba.experimental": lambda: {"jitclass": uncompiled},
}
