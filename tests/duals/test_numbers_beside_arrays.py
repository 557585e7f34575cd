"""numpy's functions of a traced number beside an array: the value, class, dtype and errors of the plain call.

Python's numbers adapt to the array where numpy reads them as numbers, and do not where it makes arrays of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError

Call = Callable[[Any, Any, Any], Any]
MASK = numpy.array([True, False, True])
#: Calls of the module, a number and an array, by what they are written as.
CALLS: dict[str, Call] = {
    text: eval(f"lambda n, e, a: {text}")
    for text in (
        *("n.insert(e, 0, a)", "n.concatenate([a, [e]])", "n.concatenate([a, e], axis=None)", "n.stack([a[0], e])"),
        *("n.hstack([e, a])", "n.vstack([a, [e, e, e]])", "n.dstack([a[0], e])", "n.block([a, e])", "n.r_[e, a]"),
        *("n.column_stack([a[:1], e])", "n.dot(a, e)", "n.dot(e, a)", "n.inner(e, a)", "n.outer(a, e)"),
        *("n.vdot(a[:1], e)", "n.kron(e, a)", "n.tensordot(a, e, 0)", "n.einsum('i,->i', a, e)", "n.matmul(a, e)"),
        *("n.einsum(',i,i->', e, a, a, optimize=True)", "n.vecdot(a, [e, e, e])", "n.cross(a, [e, e, 1])"),
        *("n.convolve(a, e)", "n.convolve(a, [e, 1])", "n.correlate(a, [e, e], 'full')", "n.polyval(a, e)"),
        *("n.polyval([e, 1], a)", "n.polyadd(a, e)", "n.polysub(e, a)", "n.polymul(a, e)", "n.polydiv(a, e)"),
        *("n.polyint(a, 1, [e])", "n.polyfit([1.0, 2.0, 4.0], a, 1, w=[e, 1, 1])", "n.poly([a[0], e])"),
        *("n.select([MASK, ~MASK], [e, 2.0], a)", "n.select([MASK], [e], default=a)", "n.select([MASK], [e], 1)"),
        *("n.select([MASK, ~MASK], [e, e], e)", "n.choose([0, 1, 0], [a, e])", "n.choose([0, 1, 0], [e, 2.0])"),
        *("n.clip(e, a, a + 1)", "n.sum(a, initial=e)", "n.sum(a, initial=e, where=MASK)", "n.prod(a, initial=e)"),
        *("n.nansum(a, initial=e)", "n.nanprod(a, initial=e)", "n.add.reduce(a, initial=e)", "n.add.outer(a, e)"),
        *("n.multiply.reduce(a, 0, initial=e)", "n.multiply.outer(e, a)"),
        *("n.hypot.reduce(a, initial=e)", "n.average([e, 1, 1], weights=a)", "n.average(a, weights=[e, 1, 1])"),
        *("n.gradient(a, [e, 2, 3])", "n.interp(e, [0.0, 1.0], a[:2])", "n.interp(a, [0.0, 1.0], [e, 2.0])"),
        *("n.interp([-7.0, 7.0], [0.0, 1.0, 2.0], a, left=e)", "n.unwrap([e, a[0]])", "n.pad(a, 1, constant_values=e)"),
        *("n.linspace(a, e, 3)", "n.linspace(e, a[0], 3)", "n.logspace(a, e, 3)", "n.geomspace(e, a, 3)"),
        *("n.meshgrid(a, e)", "n.broadcast_arrays(a, e)", "n.atleast_1d(e, a)", "n.c_[a, [e, e, e]]", "n.r_[e:3:2]"),
        *("n.histogram(a, [0, e, 2])", "n.bincount([0, 1], weights=[e, 2])", "n.union1d(a, e)", "n.squeeze(e)"),
        *("n.asarray(e, a.dtype)", "n.transpose(e)", "n.real(e)", "n.imag(e)", "n.copy(e)", "n.real_if_close(e)"),
        *("n.cumsum([e, a[0]])", "n.mean([e, a[0]])", "n.linalg.norm([e, a[0]])", "n.linalg.inv([[e, a[0]], [0, 1]])"),
        *("n.append(a, e)", "n.append(e, a)", "n.append(a, [e], 0)", "n.insert(a, 1, e)"),
        *("n.insert(a, [0, 1], [e, e])", "n.where(MASK, e, a)", "n.where(True, e, a[0])"),
        *("n.select([MASK, ~MASK], [a, e])", "n.select([MASK], [a], e)", "n.choose([0, 1, 0], (e, a[0]))"),
        *("n.piecewise(a, [MASK], [e, 0])", "n.piecewise(a, [MASK], [lambda v: v, e])"),
        *("n.piecewise(a, [MASK], [lambda v, w: v * w, lambda v, w: v + w], e)", "n.clip(a, 0.1, e)"),
        *("n.clip(a, min=e)", "n.cov(a, [e, 1, 2])", "n.diff(a, prepend=e)", "n.diff(a, append=e)"),
        *("n.ediff1d(a, to_end=e)", "n.ediff1d(a, to_begin=[e, e])", "n.trapezoid(a, dx=e)"),
        *("n.trapezoid([e, 1, 2], a)", "n.gradient([e, 2, 3], a)", "n.pad(a, 1, mode='linear_ramp', end_values=e)"),
        *("n.full(2, e, a.dtype)", "n.full_like(a, e)", "n.full(2, e)", "n.r_[0:e:1]", "n.r_[e:3:4j]", "n.arange(e)"),
        *("n.arange(e, 3, 1)", "n.isclose(a, 0.5, rtol=e)", "n.isclose(a, e)", "n.array_equal(a, e)"),
        *("n.searchsorted(a, e)", "n.histogram(a, 2, range=(0, abs(e)))", "n.array([a, [e, e, e]])"),
        *("n.float_power(a, e)", "n.add(a, e, dtype=numpy.complex64)", "str(n.result_type(a, e))"),
        *("n.can_cast(e, a.dtype)", "str(n.min_scalar_type(e))", "n.astype(n.asarray(e), a.dtype)", "a + e", "e * a"),
        *("e - a[0]", "a[0] / e", "a ** e", "a[0] == e", "e < a[0]", "a[0] <= e", "n.add(e, a[0])"),
        *("n.multiply(e, a)", "n.hypot(e, a[0])", "n.power(e, a)", "n.fmax(a[0], e)", "n.copysign(e, a[0])"),
        *("n.less(a, e)", "n.maximum(a, e)", "n.isin(a, e)", "n.lexsort([[e] * 3, a])"),
        *(
            "n.full_like(a, [e, 1, 2])",
            "n.iscomplexobj([e, 1])",
            "n.nanvar(a, mean=abs(e))",
            "n.linspace(a, [e, 1, 2], 7)",
        ),
        *("n.nanvar(a, ddof=abs(e))", "n.histogram(a, 2, weights=[e, 1, 2])", "n.median([e, a[0]])"),
    )
}
V = numpy.array([0.75, 1.5, 0.3])
ARRAYS = (V, V.astype(numpy.float32), V * (1 + 0.5j), (V * (1 + 0.5j)).astype(numpy.complex64), numpy.array([1, 3, 2]))
#: Primals, and the numbers that programs take of them.
NUMBERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "float": (0.7, lambda x: x),
    "complex": (0.7 + 0.4j, lambda x: x),
    "float64": (numpy.float64(0.7), lambda x: x),
    "float32": (numpy.array([0.7], numpy.float32), lambda x: x[0]),
    "complex128": (numpy.array([0.7 + 0.4j]), lambda x: x[0]),
    "complex64": (numpy.array([0.7 + 0.4j], numpy.complex64), lambda x: x[0]),
}


def seen(value: Any) -> Any:
    """The class, dtype, shape and numbers of a result."""
    if isinstance(value, (tuple, list)):
        return type(value), *map(seen, value)
    values = numpy.asarray(value)
    return type(value), values.dtype, values.shape, values.tolist()


def outcome(call: Callable[[], Any]) -> Any:
    """What is seen of a result, and whether numpy warns of a discarded imaginary part; or the error."""
    with warnings.catch_warnings(record=True) as given, numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", numpy.exceptions.ComplexWarning)
        try:
            return seen(call()), bool(given)
        except Exception as error:
            return error


def agrees(found: Any, wanted: Any) -> bool:
    """Whether a traced call has the outcome of the plain one, or is refused."""
    if isinstance(found, TapeEngineError):
        return True
    if isinstance(found, Exception) or isinstance(wanted, Exception):
        return isinstance(wanted, type(found)) or isinstance(found, type(wanted))
    return bool(found == wanted)


@pytest.mark.parametrize("text", CALLS)
def test_values_and_errors(text: str) -> None:
    call, wrong = CALLS[text], []
    for name, (primal, number) in NUMBERS.items():
        for a in ARRAYS:
            wanted = outcome(lambda: call(numpy, number(primal), a.copy()))  # noqa: B023
            traced = [outcome(lambda: te.vjp(lambda x: call(np, number(x), a.copy()), primal)[0])]  # noqa: B023
            if a.dtype.kind in "fc":
                traced.append(outcome(lambda: te.vjp(lambda x, y: call(np, number(x), y), primal, a)[0]))  # noqa: B023
            wrong += [(name, a.dtype, found, wanted) for found in traced if not agrees(found, wanted)]
    assert wrong == []


#: Calls whose results jump near the numbers, or have single precision.
DISCRETE = {"n.arange(e)", "n.arange(e, 3, 1)", "n.r_[0:e:1]", "n.r_[e:3:2]", "n.add(a, e, dtype=numpy.complex64)"}


def weighed(value: Any, module: Any = numpy) -> Any:
    """A real number that all elements of a result influence."""
    if isinstance(value, tuple | list):
        return sum(weighed(part, module) for part in value)
    if isinstance(value, bool | str) or getattr(value, "dtype", V.dtype).kind not in "fc":
        return 0.0
    value = module.asarray(value)
    return module.sum(module.real(value * (numpy.cos(numpy.arange(value.size)) * (1 + 0.5j)).reshape(value.shape)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", CALLS.keys() - DISCRETE)
def test_derivatives_in_both_modes(text: str) -> None:
    """Differences of the plain call beside arrays of double precision; beside others, the same to their precision."""
    for kind, way in (("float", 1.0), ("complex", 1.0), ("complex", 1j)):
        primal = NUMBERS[kind][0]
        for a in ARRAYS[:4]:
            checked(text, primal, a, way)


def checked(text: str, primal: Any, a: Any, way: complex) -> None:
    """Check the derivatives beside one array along a real or an imaginary way."""
    wide = a.astype(numpy.result_type(a, float))
    exact, close = (1e-9, 1e-6) if a.dtype == wide.dtype else (1e-4, 1e-4)

    def total(e: Any) -> Any:
        return weighed(CALLS[text](np, e, a.copy()), np)

    try:
        with numpy.errstate(all="ignore"):
            gradient = te.grad(total)(primal)
            tangent = te.jvp(total, (primal,), (type(primal)(way),))[1]
    except (TypeError, ValueError, TapeEngineError):
        return  # the test above says which of these are right
    low, high = (weighed(CALLS[text](numpy, primal + sign * 1e-6 * way, wide)) for sign in (-1, 1))
    assert tangent == pytest.approx((high - low) / 2e-6, rel=close, abs=close)
    assert (gradient * way).real == pytest.approx(tangent, rel=exact, abs=exact)


def test_replays_give_functions_the_number_of_the_program() -> None:
    """Python's complex number stays one when a recording is replayed."""

    def program(n: Any, x: Any, b: Any) -> Any:
        z = x * (1 + 0.5j)
        return n.where(MASK, z, b) * z, n.append(b, z), n.dot(z, b), n.less(b, z)

    staged = te.stage(lambda x, b: program(np, x, b))
    for k in range(4):
        x, b = 0.3 + 0.2 * k, (V + k).astype(numpy.float32)
        value, back = te.vjp(staged, x, b)
        assert seen(value) == seen(program(numpy, x, b))
        ct = tuple(part.conj() for part in value[:3])
        wanted = te.vjp(lambda x, b: program(np, x, b), x, b)[1]((*ct, None))
        assert seen(back((*ct, None))) == seen(wanted)
    assert staged.stats().replays == 2
