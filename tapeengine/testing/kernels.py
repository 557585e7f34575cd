"""C kernels against Python: the value against the primal, the partials against the vjp rules."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tapeengine.testing.case import Case

__all__ = ["c_function", "kernel_messages"]

_RTOL = 1e-13


def c_function(address: int, arity: int) -> Callable[..., float]:
    """Return the C function ``double f(double, ...)`` at an address as a Python callable."""
    return ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * arity)(address)


def kernel_messages(case: Case) -> Iterator[str]:
    """Compare at every element of the sample, where all arguments are real."""
    kernel = case.primitive.kernel
    arrays = [np.asarray(arg) for arg in case.args]
    if any(array.dtype != np.float64 for array in arrays):
        return
    points = np.broadcast_arrays(*arrays)
    elements = list(zip(*(array.ravel().tolist() for array in points), strict=True))
    yield from _differing("value", c_function(kernel.value, kernel.arity), elements, np.asarray(case.out).ravel())
    for position, address in enumerate(kernel.partials):
        partial = c_function(address, kernel.arity)
        yield from _differing(f"partial {position}", partial, elements, _python_partials(case, position, elements))


def _python_partials(case: Case, position: int, elements: list[tuple[float, ...]]) -> Any:
    rule = case.primitive.vjp_rules[position]
    assert rule is not None
    outs = [case.value(element) for element in elements]
    with np.errstate(all="ignore"):
        kept = [rule.keep(e, case.static, out, position) for e, out in zip(elements, outs, strict=True)]
        return np.array([rule(1.0, values) for values in kept], dtype=float)


def _differing(
    what: str, function: Callable[..., float], elements: list[tuple[float, ...]], expected: Any
) -> Iterator[str]:
    for element, wanted in zip(elements, expected.tolist(), strict=True):
        found = function(*element)
        if not np.isclose(found, wanted, rtol=_RTOL, atol=1e-300, equal_nan=True):
            yield f"the kernel's {what} at {element} is {found!r}, and Python's is {wanted!r}"
            return
