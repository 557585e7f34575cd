"""C kernels: addresses from capsules, LowLevelCallables, numba cfuncs and ctypes functions; others are refused."""

import ctypes
import ctypes.util
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tapeengine.errors import PrimitiveError
from tapeengine.plugins.kernels import CAPSULE_NAMES, scalar_kernel
from tapeengine.primitive import Primitive
from tapeengine.testing.kernels import c_function

C = ctypes.c_double
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def libm(name: str, arity: int) -> Any:
    function = LIBM[name]
    function.restype, function.argtypes = C, [C] * arity
    return function


def address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def capsule(function: Any, name: str | None, keep: list[bytes]) -> Any:
    """A capsule as a C extension makes it; its name must outlive it."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    text = None if name is None else name.encode()
    if text is not None:
        keep.append(text)
    return make(("PyCapsule_New", ctypes.pythonapi))(address(function), text, None)


def as_ctypes(function: Any, arity: int, keep: list[bytes]) -> Any:
    return function


def as_capsule(function: Any, arity: int, keep: list[bytes]) -> Any:
    return capsule(function, CAPSULE_NAMES[arity], keep)


def as_low_level_callable(function: Any, arity: int, keep: list[bytes]) -> Any:
    scipy = pytest.importorskip("scipy")
    return scipy.LowLevelCallable(function)


def as_low_level_callable_of_a_capsule(function: Any, arity: int, keep: list[bytes]) -> Any:
    scipy = pytest.importorskip("scipy")
    return scipy.LowLevelCallable(capsule(function, f"double ({', '.join(['double'] * arity)})", keep))


def as_cfunc(function: Any, arity: int, keep: list[bytes]) -> Any:
    """The attributes of numba's cfunc objects."""
    return SimpleNamespace(address=address(function), ctypes=function)


FORMS = [as_ctypes, as_capsule, as_low_level_callable, as_low_level_callable_of_a_capsule, as_cfunc]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_addresses(form: Callable[..., Any]) -> None:
    keep: list[bytes] = []
    sin, cos, power = libm("sin", 1), libm("cos", 1), libm("pow", 2)
    one = scalar_kernel(form(sin, 1, keep), form(cos, 1, keep))
    assert (one.arity, one.value, one.partials) == (1, address(sin), (address(cos),))
    two = scalar_kernel(form(power, 2, keep), form(power, 2, keep), form(power, 2, keep))
    assert (two.arity, two.value, two.partials) == (2, address(power), (address(power), address(power)))
    assert c_function(two.value, 2)(2.0, 10.0) == 1024.0


def test_a_real_cfunc() -> None:
    numba = pytest.importorskip("numba")
    square = numba.cfunc("double(double)")(lambda x: x * x)
    double = numba.cfunc("double(double)")(lambda x: 2.0 * x)
    assert scalar_kernel(square, double).value == square.address


def test_the_kernel_keeps_its_functions_alive() -> None:
    function = ctypes.CFUNCTYPE(C, C)
    kernel = scalar_kernel(function(lambda x: x + 1.0), function(lambda x: 1.0))
    assert c_function(kernel.value, 1)(2.0) == 3.0
    assert c_function(kernel.partials[0], 1)(2.0) == 1.0


WRONG = {
    "a Python function": (lambda keep: lambda x: x, "is a function; pass a capsule named"),
    "a number": (lambda keep: 12345, "is a int; pass"),
    "a capsule of another version": (
        lambda keep: capsule(libm("sin", 1), "tapeengine.kernel.v2:double(double)", keep),
        "capsule 'tapeengine.kernel.v2:double.*', but this tapeengine reads 'tapeengine.kernel.v1:double.*' or",
    ),
    "a capsule of another project": (lambda keep: capsule(libm("sin", 1), "other", keep), "named 'other'; its name"),
    "a capsule without a name": (lambda keep: capsule(libm("sin", 1), None, keep), "named None; its name must be"),
    "a ctypes function of ints": (lambda keep: ctypes.CFUNCTYPE(ctypes.c_int, C)(int), "restype c_double"),
    "a ctypes function without types": (lambda keep: ctypes.CDLL(None)["abs"], "restype c_double"),
    "a ctypes function of three": (lambda keep: libm("fma", 3), "takes 3 numbers; a kernel takes one or two"),
    "a null pointer": (lambda keep: ctypes.CFUNCTYPE(C, C)(0), "null pointer"),
}


@pytest.mark.parametrize(("make", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_kernel_is_refused(make: Callable[[list[bytes]], Any], message: str) -> None:
    keep: list[bytes] = []
    with pytest.raises(PrimitiveError, match=message):
        scalar_kernel(make(keep), libm("cos", 1))
    with pytest.raises(PrimitiveError, match=f"partial 0 .*{message.split(' or')[0]}"):
        scalar_kernel(libm("cos", 1), make(keep))


def test_low_level_callables_with_user_data_or_other_types_are_refused() -> None:
    scipy = pytest.importorskip("scipy")
    callback = ctypes.CFUNCTYPE(C, C, ctypes.c_void_p)(lambda x, data: x)
    with pytest.raises(PrimitiveError, match="user data"):
        scalar_kernel(scipy.LowLevelCallable(callback, ctypes.c_void_p(1)), libm("cos", 1))
    with pytest.raises(PrimitiveError, match="signature 'double"):
        scalar_kernel(scipy.LowLevelCallable(callback), libm("cos", 1))


def test_numbers_of_arguments_must_agree() -> None:
    with pytest.raises(PrimitiveError, match="2 arguments needs 2 partials, but 1"):
        scalar_kernel(libm("pow", 2), libm("pow", 2))
    with pytest.raises(PrimitiveError, match="partial 1 of the kernel takes 1 numbers, but the value takes 2"):
        scalar_kernel(libm("pow", 2), libm("pow", 2), libm("sin", 1))
    kernel = scalar_kernel(libm("sin", 1), libm("cos", 1))
    with pytest.raises(PrimitiveError, match="the kernel takes 1 numbers, the primitive 2"):
        Primitive("test.f", lambda x, y: x, {}, {}, kernel=kernel)
