"""Compares C with Python: a primitive's kernels, and the core's operation of its opcode, with its primal and rules."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reference import ops

if TYPE_CHECKING:
    from .case import Case

_RTOL = 1e-13
Elements = list[tuple[float, ...]]


def c_function(address: int, arity: int) -> Callable[..., float]:
    """Return the C function ``double f(double, ...)`` at an address as a Python callable."""
    return ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * arity)(address)


def kernel_messages(case: Case) -> Iterator[str]:
    """Compare the kernels at every element of the sample, if all arguments are real."""
    kernel = case.primitive.kernel
    partials = [c_function(address, kernel.arity) for address in kernel.partials]
    yield from _messages(case, "kernel", c_function(kernel.value, kernel.arity), partials)


def opcode_messages(case: Case) -> Iterator[str]:
    """Compare the row of the opcode table at every element of the sample, if all arguments are real."""
    name = case.primitive.opcode
    assert name is not None
    operation = ops.OPERATIONS.get(name)
    if operation is None or len(operation.partials) != len(case.args):
        yield f"the core has no opcode {name!r} of {len(case.args)} operands"
        return

    def slope(which: int, *operands: float) -> float:
        return ops.partial(name, which, operands, ops.value(name, *operands))

    partials = [partial(slope, which) for which in range(len(case.args))]
    yield from _messages(case, f"opcode {name}", partial(ops.value, name), partials)


def _messages(
    case: Case, what: str, value: Callable[..., float], partials: Sequence[Callable[..., float]]
) -> Iterator[str]:
    arrays = [np.asarray(arg) for arg in case.args]
    if any(array.dtype != np.float64 for array in arrays):
        return
    elements = list(zip(*(array.ravel().tolist() for array in np.broadcast_arrays(*arrays)), strict=True))
    yield from _differing(f"the {what}'s value", value, elements, np.asarray(case.out).ravel())
    for position, slope in enumerate(partials):
        if case.primitive.vjp_rules[position] is not None and case.sample.order >= 1:
            expected = _python_partials(case, position, elements)
            yield from _differing(f"the {what}'s partial {position}", slope, elements, expected)


def _python_partials(case: Case, position: int, elements: Elements) -> Any:
    rule = case.primitive.vjp_rules[position]
    assert rule is not None
    with np.errstate(all="ignore"):
        outs = [case.value(element) for element in elements]
        kept = [rule.keep(e, case.static, out, position) for e, out in zip(elements, outs, strict=True)]
        return np.array([rule(1.0, values) for values in kept], dtype=float)


def _differing(what: str, function: Callable[..., float], elements: Elements, expected: Any) -> Iterator[str]:
    for element, wanted in zip(elements, expected.tolist(), strict=True):
        found = function(*element)
        if not np.isclose(found, wanted, rtol=_RTOL, atol=1e-300, equal_nan=True):
            yield f"{what} at {element} is {found!r}, and Python's is {wanted!r}"
            return
