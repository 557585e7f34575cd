"""C kernels of scalar primitives: the addresses of C functions, in the forms that plugins use.

A kernel is a value and its partial derivatives, each a C function ``double f(double)`` or ``double f(double,
double)`` that needs no interpreter. The core calls them by address, at the speed of its own scalar operations.
Accepted are

* a capsule named ``tapeengine.kernel.v1:double(double)`` or ``tapeengine.kernel.v1:double(double,double)`` that holds
the function pointer;
* a `scipy.LowLevelCallable` without user data (its signature is read);
* a numba ``cfunc`` (anything with an ``address`` and a ``ctypes`` view);
* a ctypes function whose ``restype`` and ``argtypes`` are ``c_double``.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import PrimitiveError
from ..primitive import Primitive

__all__ = ["CAPSULE_NAMES", "Kernel", "scalar_function", "scalar_kernel"]

#: The capsule names that this version understands, by arity.
CAPSULE_NAMES = {1: "tapeengine.kernel.v1:double(double)", 2: "tapeengine.kernel.v1:double(double,double)"}
_OURS = "tapeengine.kernel."


class Kernel(NamedTuple):
    """The C functions of a scalar operation.

    Attributes
    ----------
    arity : int
        1 or 2.
    value : int
        The address of the value's function.
    partials : tuple of int
        The addresses of the partial derivatives' functions, one for each argument; each takes all arguments.
    owners : tuple
        Objects that keep the functions alive.
    """

    arity: int
    value: int
    partials: tuple[int, ...]
    owners: tuple[Any, ...]


def scalar_kernel(value: Any, *partials: Any) -> Kernel:
    """Read the C functions of a scalar operation.

    Parameters
    ----------
    value : capsule, scipy.LowLevelCallable, numba cfunc or ctypes function
        The value: one or two doubles to a double.
    *partials
        The partial derivative for each argument, as a function of all arguments.

    Returns
    -------
    Kernel
        For the parameter `kernel` of a `Primitive`.

    Raises
    ------
    PrimitiveError
        If something is not a C function of doubles, or the numbers of arguments differ.

    Examples
    --------
    >>> import ctypes
    >>> from tapeengine.plugins import scalar_kernel
    >>> function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    >>> kernel = scalar_kernel(function(lambda x: x * x), function(lambda x: 2 * x))
    >>> kernel.arity, len(kernel.partials)
    (1, 1)
    """
    arity, address = _function(value, "value")
    if len(partials) != arity:
        raise PrimitiveError(f"a kernel of {arity} arguments needs {arity} partials, but {len(partials)} were given")
    addresses = []
    for position, partial in enumerate(partials):
        found, where = _function(partial, f"partial {position}")
        if found != arity:
            raise PrimitiveError(f"partial {position} of the kernel takes {found} numbers, but the value takes {arity}")
        addresses.append(where)
    return Kernel(arity, address, tuple(addresses), (value, *partials))


def scalar_function(primitive: Primitive) -> Callable[..., Any]:
    """Return a primitive with a kernel as a function that is as fast as the core's own.

    A float gives a float; a dual is recorded without calling Python. Other values, such as arrays, go to the primitive.

    Parameters
    ----------
    primitive : Primitive
        A primitive with `kernel`.

    Returns
    -------
    callable
        A function of as many positional parameters as the kernel has.

    Raises
    ------
    PrimitiveError
        If the primitive has no kernel.

    Examples
    --------
    >>> import ctypes
    >>> from tapeengine.primitive.builders import elementwise
    >>> from tapeengine.plugins import scalar_function, scalar_kernel
    >>> function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    >>> kernel = scalar_kernel(function(lambda x: x * x), function(lambda x: 2 * x))
    >>> square = scalar_function(elementwise("example.square", lambda x: x * x, lambda x: 2.0 * x, kernel=kernel))
    >>> square(3.0)
    9.0
    """
    if primitive.kernel is None:
        raise PrimitiveError(f"{primitive.name} has no kernel; give it one, or call the primitive itself")
    from .._core.programs import machine

    return machine.scalar_function(primitive)


def _function(source: Any, what: str) -> tuple[int, int]:
    """Read the arity and the address of one C function."""
    kind = type(source).__name__
    if kind == "PyCapsule":
        return _from_capsule(source, what)
    if kind == "LowLevelCallable":
        return _from_low_level_callable(source, what)
    view = getattr(source, "ctypes", source)
    if hasattr(view, "argtypes") and hasattr(view, "restype"):
        return _from_ctypes(view, what)
    raise PrimitiveError(
        f"the kernel's {what} is a {kind}; pass a capsule named {CAPSULE_NAMES[1]!r}, a scipy.LowLevelCallable, "
        "a numba cfunc or a ctypes function"
    )


def _from_capsule(capsule: Any, what: str) -> tuple[int, int]:
    name = _capsule_name(capsule)
    for arity, wanted in CAPSULE_NAMES.items():
        if name == wanted:
            return arity, _capsule_pointer(capsule, name)
    if name is not None and name.startswith(_OURS):
        raise PrimitiveError(f"the kernel's {what} is a capsule {name!r}, but this tapeengine reads {_known_names()}")
    raise PrimitiveError(f"the kernel's {what} is a capsule named {name!r}; its name must be {_known_names()}")


def _known_names() -> str:
    return " or ".join(map(repr, CAPSULE_NAMES.values()))


def _from_low_level_callable(source: Any, what: str) -> tuple[int, int]:
    capsule = tuple.__getitem__(source, 0)
    if source.user_data is not None:
        raise PrimitiveError(f"the kernel's {what} is a LowLevelCallable with user data; a kernel takes numbers only")
    name = _capsule_name(capsule)
    arguments = re.fullmatch(r"double\(double(,double)?\)", re.sub(r"\s+", "", name or ""))
    if arguments is None:
        raise PrimitiveError(f"the kernel's {what} has the signature {name!r}; it must be double (double[, double])")
    return (2 if arguments[1] else 1), _capsule_pointer(capsule, name)


def _from_ctypes(function: Any, what: str) -> tuple[int, int]:
    arguments = function.argtypes
    if function.restype is not ctypes.c_double or arguments is None or set(arguments) != {ctypes.c_double}:
        raise PrimitiveError(f"the kernel's {what} must have restype c_double, and argtypes c_double once or twice")
    if len(arguments) not in CAPSULE_NAMES:
        raise PrimitiveError(f"the kernel's {what} takes {len(arguments)} numbers; a kernel takes one or two")
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        raise PrimitiveError(f"the kernel's {what} is a null pointer")
    return len(arguments), address


def _capsule_name(capsule: Any) -> str | None:
    read = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    name = read(capsule)
    return None if name is None else name.decode()


def _capsule_pointer(capsule: Any, name: str | None) -> int:
    read = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return int(read(capsule, None if name is None else name.encode()))
