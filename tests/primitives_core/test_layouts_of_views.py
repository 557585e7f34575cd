"""Results computed from views of every memory layout have numpy's values, to the last bit, and numpy's memory layout.

Broadcast views matter: numpy's loops go through their axes in another order than copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from verdicts import quiet

import tapeengine as te
from tapeengine.errors import TapeEngineError

VALUES = numpy.cos(numpy.arange(24.0)).reshape(2, 3, 4)
BROADCAST: dict[str, Callable[[Any], Any]] = {
    "first axis": lambda x: numpy.broadcast_to(x[0], (2, 3, 4)),
    "middle axis": lambda x: numpy.broadcast_to(x[:, :1], (2, 3, 4)),
    "transposed": lambda x: numpy.broadcast_to(x[:, :1], (2, 3, 4)).T,
    "permuted": lambda x: numpy.broadcast_to(x[:, :, :1], (2, 3, 4)).transpose(1, 2, 0),
    "two axes": lambda x: numpy.broadcast_to(x[:1, :, :1], (2, 3, 4)).transpose(2, 0, 1),
    "rows": lambda x: numpy.broadcast_to(x[0, 0], (3, 4)),
    "columns": lambda x: numpy.broadcast_to(x[0, 0], (3, 4)).T,
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x,
    "F": lambda x: x.T,
    "axes": lambda x: x.transpose(1, 2, 0),
    "reversed": lambda x: x[::-1, :, ::-1].T,
    "matrix": lambda x: x[0].T,
    "gaps": lambda x: x[:, ::2].T,
    **BROADCAST,
}
AXES: tuple[Any, ...] = ((), 0, -1, (0, 1), (0, -1), (1,), None)
CALLS: dict[str, Callable[[Any], Any]] = {}


def add(name: str, function: Any, *before: Any, after: tuple[Any, ...] = (), **options: Any) -> None:
    CALLS[f"{name} {before}{after} {options}"] = lambda v: function(*before, v, *after, **options)


for name in "sum prod mean var max min nansum nanprod nanmean nanstd nanvar nanmax ptp median nanmedian".split():
    for axis in AXES:
        add(name, getattr(numpy, name), axis=axis)
    if name not in ("ptp", "median", "nanmedian"):
        initial = {"initial": 0.5} if "max" in name or "min" in name else {}
        add(name, getattr(numpy, name), axis=(), where=numpy.array([True, False, True, True]), **initial)
for ufunc in (numpy.add, numpy.multiply, numpy.maximum, numpy.logaddexp, numpy.hypot):
    add(f"{ufunc.__name__}.outer", ufunc.outer, after=([1.0, 2.0],))
    for axis in (0, 1, -1):
        add(f"{ufunc.__name__}.reduce", ufunc.reduce, axis=axis)
        add(f"{ufunc.__name__}.accumulate", ufunc.accumulate, axis=axis)
        add(f"{ufunc.__name__}.reduceat", ufunc.reduceat, after=([0, 1],), axis=axis)
for name in "cumsum cumprod nancumsum nancumprod cumulative_sum gradient diff sort".split():
    for axis in (0, -1):
        add(name, getattr(numpy, name), axis=axis)
for name in "inner dot multiply kron".split():
    for number in (0.5, 2, numpy.array(0.5)):
        add(name, getattr(numpy, name), number)
        add(name, getattr(numpy, name), after=(number,))
for name in "linspace logspace geomspace".split():
    for options in ({"num": 0}, {"num": 1}, {"num": 2, "axis": -1}, {"num": 4, "endpoint": False}, {"num": 4}):
        add(name, getattr(numpy, name), 5.0, **options)
        add(name, getattr(numpy, name), after=(3.0,), **options)
        add(name, getattr(numpy, name), after=(0.5j,), **options)
        CALLS[f"{name} of two {options}"] = lambda v, name=name, o=options: getattr(numpy, name)(
            v * v + 1.0, v * 2 + 3.0, **o
        )
CALLS |= {
    "copy of no order": lambda v: numpy.copy(v, None),
    "norm of vectors": lambda v: numpy.linalg.norm(v, axis=-1),
    "norm of matrices": lambda v: numpy.linalg.matrix_norm(v),
    "geomspace in complex numbers": lambda v: numpy.geomspace(v * v + 1.0, 3.0, 4, dtype=complex),
    "nan_to_num": lambda v: numpy.nan_to_num(v),
    "einsum": lambda v: numpy.einsum("...ij,...ij->...ij", v, v),
    "matmul": lambda v: numpy.matmul(v, numpy.ones((v.shape[-1], 2))),
    "roll": lambda v: numpy.roll(v, 1, 0),
    "take": lambda v: numpy.take(v, [0, 1], axis=1),
    "index": lambda v: v[:, [0, 1]],
    "insert": lambda v: numpy.insert(v, 1, 2.0, axis=1),
    "delete": lambda v: numpy.delete(v, 1, axis=1),
    "piecewise": lambda v: numpy.piecewise(v, [v > 0], [lambda part: part * part, 0.0]),
    "modf": lambda v: numpy.modf(v),
    "fft": lambda v: numpy.fft.fft(v, axis=0),
}


def seen(result: Any) -> tuple[Any, Any]:
    """The plain values of a result, and its strides."""
    values = tuple(map(te.value, result)) if isinstance(result, tuple) else te.value(result)
    return values, strides_of(result)


def strides_of(result: Any) -> Any:
    """The strides along axes of several elements, on which alone a layout depends."""
    if isinstance(result, (list, tuple)):
        return list(map(strides_of, result))
    pairs = zip(getattr(result, "shape", ()), getattr(result, "strides", ()), strict=True)
    return [step for extent, step in pairs if extent > 1] if numpy.size(te.value(result)) else []


@pytest.mark.parametrize("name", CALLS)
def test_layouts_of_results_from_views(name: str) -> None:
    call = CALLS[name]
    for layout, view in LAYOUTS.items():
        try:
            with quiet():
                plain = call(view(VALUES))
        except Exception:  # such as an axis that a matrix lacks
            continue
        found: list[Any] = []
        try:
            with quiet():
                te.vjp(lambda x, view=view, found=found: found.append(seen(call(view(x)))) or 0.0, VALUES)
        except TapeEngineError:
            continue
        (values, strides) = found[0]
        assert strides == strides_of(plain), layout
        numpy.testing.assert_array_equal(values, plain, layout)


@pytest.mark.parametrize("name", "cbrt sinh arcsinh exp log expm1 log10 arccos power hypot logaddexp".split())
@pytest.mark.parametrize("arranged", [lambda x: x[::-1], lambda x: x[::-1, None], lambda x: x[None, ::-1].T])
def test_the_step_of_one_element_chooses_numpys_loop(arranged: Callable[[Any], Any], name: str) -> None:
    """numpy's loops for processors with wide registers round elsewhere where an array runs backwards."""
    ufunc = getattr(numpy, name)
    for x in numpy.linspace(0.1, 0.9, 40):
        x, others = numpy.array([x]), [numpy.array([1.7])[::-1]] * (ufunc.nin - 1)
        wanted = ufunc(arranged(x), *others)
        assert te.vjp(lambda x: ufunc(arranged(x), *others), x)[0].tobytes() == wanted.tobytes()  # noqa: B023
