"""Methods of numpy's ufuncs, and ufuncs with `dtype=` and with operands of other kinds.

Each value has numpy's bits and dtype, or the call is refused; derivatives are compared with differences.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError
from tapeengine_primitives.ufunc_methods import RULES
from tests.outcomes import outcome

Call = Callable[[Any, Any], Any]
MATRIX = numpy.random.default_rng(3).uniform(0.3, 1.4, (3, 4))
DTYPES = (None, "f4", "f8", "c16", int, bool)
OF_TWO = sorted({ufunc.__name__ for ufunc, _ in RULES if ufunc.nin == 2})
REALS = (
    "sin exp absolute square sqrt floor sign conjugate isnan add multiply arctan2 maximum power greater divmod modf"
).split()
#: Relative and absolute; numpy computes narrow numbers one by one with other bits than many at once.
ROUNDING = {char: (3e-7, 0.0) if char in "fF" else (0.0, 0.0) for char in "?bhilqpBHILQPefdFDg"}
OTHERS: dict[str, Any] = {
    "truth values": MATRIX > 0.8,
    "one truth value": True,
    "integers": numpy.array([1, 2, 3, 1]),
    "bytes": numpy.array([1, 2, 3, 1], numpy.int8),
    "narrow": (MATRIX[::-1] + 0.05).astype("f4"),
    "list": [1.5, 2, 0.25, 3],
    "number": numpy.float32(0.7),
}


def methods() -> Iterator[tuple[str, Call]]:
    for name, dtype in itertools.product(OF_TWO, DTYPES):
        for axis in (0, -1):
            yield (
                f"{name}.reduce {dtype} {axis}",
                lambda np, x, n=name, d=dtype, a=axis: getattr(np, n).reduce(x, axis=a, dtype=d),
            )
            yield (
                f"{name}.accumulate {dtype} {axis}",
                lambda np, x, n=name, d=dtype, a=axis: getattr(np, n).accumulate(x, axis=a, dtype=d),
            )
            yield (
                f"{name}.reduceat {dtype} {axis}",
                lambda np, x, n=name, d=dtype, a=axis: getattr(np, n).reduceat(x, [0, 2, 1], axis=a, dtype=d),
            )


def precisions() -> Iterator[tuple[str, Call]]:
    for name, dtype, casting in itertools.product(REALS, DTYPES[1:], ("same_kind", "safe", "unsafe")):
        yield (
            f"{name} {dtype} {casting}",
            lambda np, x, n=name, d=dtype, c=casting: getattr(np, n)(
                *(x, x[::-1])[: getattr(numpy, n).nin], dtype=d, casting=c
            ),
        )


def of_other_kinds() -> Iterator[tuple[str, Call]]:
    for name, (kind, other) in itertools.product(OF_TWO, OTHERS.items()):
        yield f"{name} {kind} right", lambda np, x, n=name, y=other: getattr(np, n)(x, y)
        yield f"{name} {kind} left", lambda np, x, n=name, y=other: getattr(np, n)(y, x)


def total(value: Any) -> Any:
    """A number that depends on every element of a result."""
    value = value[0] if isinstance(value, tuple) else value
    value = np.real(value) if value.dtype.kind == "c" else value
    return np.sum(value * numpy.cos(numpy.arange(value.size)).reshape(value.shape))


def disagreement(call: Call, space: Any) -> str:
    expected = outcome(lambda: call(numpy, MATRIX.copy()))
    found = outcome(lambda: te.vjp(lambda x: call(space, x), MATRIX)[0])
    if isinstance(found, TapeEngineError) or isinstance(expected, Exception):
        return "" if isinstance(found, (TapeEngineError, type(expected))) else f"{found!r} for {expected!r}"
    if isinstance(found, Exception):
        return f"we raise {found!r}"
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        if (
            a.dtype != b.dtype
            or a.shape != b.shape
            or not numpy.allclose(a, b, *ROUNDING[a.dtype.char], equal_nan=True)
        ):
            return f"{a!r} for {b!r}"
    first = numpy.asarray(expected[0] if isinstance(expected, tuple) else expected)
    if first.dtype not in ("f8", "c16") or not numpy.isfinite(first).all():
        return ""
    return wrong_derivative(lambda x: total(call(space, x)), lambda x: total(call(numpy, x)))


def wrong_derivative(traced: Callable[[Any], Any], plain: Callable[[Any], Any]) -> str:
    t = numpy.sin(1.0 + numpy.arange(MATRIX.size)).reshape(MATRIX.shape)
    gradient = outcome(lambda: te.grad(traced)(MATRIX))
    along = outcome(lambda: te.jvp(traced, (MATRIX,), (t,))[1])
    for found in (gradient, along):
        if isinstance(found, Exception):
            return "" if isinstance(found, TapeEngineError) else f"the derivative raises {found!r}"
    slope = (plain(MATRIX + 1e-6 * t) - plain(MATRIX - 1e-6 * t)) / 2e-6
    if not numpy.allclose([(gradient * t).sum(), along], slope, 1e-6, 1e-7):
        return f"the derivatives {(gradient * t).sum()} and {along} for {slope}"
    return ""


@pytest.mark.parametrize("calls", [methods, precisions, of_other_kinds])
@pytest.mark.parametrize("space", [numpy, np], ids=["numpy", "tapeengine.numpy"])
def test_calls_are_numpys(space: Any, calls: Callable[[], Iterator[tuple[str, Call]]]) -> None:
    found = {label: disagreement(call, space) for label, call in calls()}
    wrong = [f"{label}: {text}" for label, text in found.items() if text]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("places", [p for n in (1, 2, 3, 4) for p in itertools.product(range(3), repeat=n)])
@pytest.mark.parametrize("name", ["multiply", "subtract", "true_divide", "power"])
def test_at_meets_repeated_places_in_their_order(name: str, places: tuple[int, ...]) -> None:
    index, weights = numpy.array(places), numpy.arange(1.0, 4.0)
    x, b = numpy.array([0.7, 1.3, 1.9]), numpy.array([1.5, 0.7, 2.5, 0.9])[: len(places)]

    def program(np: Any, x: Any, b: Any) -> Any:
        y = x * 1.0
        getattr(numpy, name).at(y, index, b)
        return np.sum(y * weights)

    def difference(k: int, of: int) -> float:
        steps = [numpy.zeros(3), numpy.zeros(len(places))]
        steps[of][k] = 1e-6
        up, down = (program(numpy, x + sign * steps[0], b + sign * steps[1]) for sign in (1.0, -1.0))
        return float(up - down) / 2e-6

    value, gradient = te.value_and_grad(lambda x, b: program(np, x, b), (0, 1))(x, b)
    assert value == program(numpy, x, b)
    for of, part in enumerate(gradient):
        numpy.testing.assert_allclose(part, [difference(k, of) for k in range(part.size)], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("order", [1, 2])
def test_the_gradient_of_too_few_points_says_how_many_it_needs(order: int) -> None:
    with pytest.raises(ValueError, match="too small to calculate a numerical gradient") as plain:
        numpy.gradient(numpy.ones(order), edge_order=order)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=re.escape(str(plain.value))):
        te.grad(lambda x: np.sum(np.gradient(x, edge_order=order)))(numpy.ones(order))
