"""Whole numbers in every form that Python has for them, where functions take an index, an axis or a count.

What numpy computes is computed, and what it refuses is refused by an error of the same class or by one of the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from outcomes import outcome

import tapeengine as te
import tapeengine.numpy
from tapeengine.errors import TapeEngineError

X = numpy.cos(numpy.arange(6.0))


class Whole:
    """A whole number by `__index__`."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


class Both(Whole):
    """A whole number that is also an array of its number."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array(self.number)


class Other(Whole):
    """A whole number that is also an array of other numbers."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array([0, 2])


#: Numbers beyond all arrays, with which some functions of numpy would not end.
FAR = {
    **{f"Whole({number})": Whole(number) for number in (2**63, -(2**63) - 1, 2**100)},
    **{str(number): number for number in (2**40, 2**63, -(2**63) - 1, 2**100)},
    "numpy's 2**63": numpy.uint64(2**63),
}
NEAR = {
    **{f"Whole({number})": Whole(number) for number in (0, 1, -1, 9)},
    "True": True,
    "False": False,
    "numpy's True": numpy.True_,
    "Both(1)": Both(1),
    "Both(9)": Both(9),
    "numpy's 1": numpy.int8(1),
    "array": numpy.array(1),
    "1.0": 1.0,
    "None": None,
    "numpy's 1.0": numpy.float64(1.0),
    "text": "1",
}
ENDLESS = set(
    "array_split split polyder polyint diff tile resize repeat pad power vander rot90 broadcast_to zeros eye full "
    "arange kaiser linspace histogram".split()
)


def changed(change: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A program that changes an array made of its argument."""

    def program(np: Any, x: Any, n: Any) -> Any:
        y = x * 2
        change(np, y, n)
        return y

    return program


PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "read": lambda np, x, n: x[n],
    "read of two": lambda np, x, n: x[n, ...],
    "read in a matrix": lambda np, x, n: x.reshape(2, 3)[n, 0],
    "read in a row": lambda np, x, n: x.reshape(2, 3)[0, n],
    "slice": lambda np, x, n: x[n:],
    "slice2": lambda np, x, n: x[:n],
    "slice3": lambda np, x, n: x[::n],
    "write": changed(lambda np, y, n: y.__setitem__(n, 5.0)),
    "write in a matrix": changed(lambda np, y, n: y.reshape(2, 3).__setitem__((n, 0), 5.0)),
    "write to a slice": changed(lambda np, y, n: y.__setitem__(slice(n, None), 5.0)),
    "add.at": changed(lambda np, y, n: np.add.at(y, n, 1.0)),
    "sub.at": changed(lambda np, y, n: np.subtract.at(y, n, 1.0)),
    "mul.at": changed(lambda np, y, n: np.multiply.at(y, n, 3.0)),
    "max.at": changed(lambda np, y, n: np.maximum.at(y, n, 3.0)),
    "neg.at": changed(lambda np, y, n: np.negative.at(y, n)),
    "add.at2": changed(lambda np, y, n: np.add.at(y.reshape(2, 3), (n, 0), 1.0)),
    "mul.at2": changed(lambda np, y, n: np.multiply.at(y.reshape(2, 3), (n, 0), 3.0)),
    "add.at l": changed(lambda np, y, n: np.add.at(y, [n], 1.0)),
    "mul.at l": changed(lambda np, y, n: np.multiply.at(y, [n], 3.0)),
    "add.at s": changed(lambda np, y, n: np.add.at(y, slice(n), 1.0)),
    "mul.at s": changed(lambda np, y, n: np.multiply.at(y, slice(n), 3.0)),
    "read by a list": lambda np, x, n: x[[n]],
    "take": lambda np, x, n: np.take(x, n),
    "take method": lambda np, x, n: x.take(n),
    "takeax": lambda np, x, n: np.take(x.reshape(2, 3), 0, axis=n),
    "take clip": lambda np, x, n: np.take(x, n, mode="clip"),
    "item": lambda np, x, n: x.item(n),
    "item2": lambda np, x, n: x.reshape(2, 3).item(n, 0),
    "itemt": lambda np, x, n: x.reshape(2, 3).item((n, 0)),
    "insert": lambda np, x, n: np.insert(x, n, 2.0),
    "insertl": lambda np, x, n: np.insert(x, [n], 2.0),
    "insertax": lambda np, x, n: np.insert(x.reshape(2, 3), 0, 2.0, axis=n),
    "delete": lambda np, x, n: np.delete(x, n),
    "deletel": lambda np, x, n: np.delete(x, [n]),
    "deleteax": lambda np, x, n: np.delete(x.reshape(2, 3), 0, axis=n),
    "roll": lambda np, x, n: np.roll(x, n),
    "rollax": lambda np, x, n: np.roll(x.reshape(2, 3), 1, n),
    "roll2": lambda np, x, n: np.roll(x.reshape(2, 3), (n, 1), (0, 1)),
    "repeat": lambda np, x, n: np.repeat(x, n),
    "repeatax": lambda np, x, n: np.repeat(x.reshape(2, 3), 2, axis=n),
    "repeatl": lambda np, x, n: np.repeat(x, [n]),
    "swapaxes": lambda np, x, n: np.swapaxes(x.reshape(2, 3), 0, n),
    "swapm": lambda np, x, n: x.reshape(2, 3).swapaxes(n, 0),
    "expand": lambda np, x, n: np.expand_dims(x, n),
    "expandt": lambda np, x, n: np.expand_dims(x, (n,)),
    "moveaxis": lambda np, x, n: np.moveaxis(x.reshape(2, 3), 0, n),
    "rollaxis": lambda np, x, n: np.rollaxis(x.reshape(2, 3), n),
    "transpose": lambda np, x, n: np.transpose(x.reshape(2, 3), (n, 0)),
    "squeeze": lambda np, x, n: np.squeeze(x.reshape(1, 6), n),
    "flip": lambda np, x, n: np.flip(x.reshape(2, 3), n),
    "rot90": lambda np, x, n: np.rot90(x.reshape(2, 3), n),
    "diagonal": lambda np, x, n: np.diagonal(x.reshape(2, 3), n),
    "diag": lambda np, x, n: np.diag(x, n),
    "diagm": lambda np, x, n: np.diag(x.reshape(2, 3), n),
    "trace": lambda np, x, n: np.trace(x.reshape(2, 3), n),
    "traceax": lambda np, x, n: np.trace(x.reshape(2, 3), 0, n),
    "tril": lambda np, x, n: np.tril(x.reshape(2, 3), n),
    "triu": lambda np, x, n: np.triu(x.reshape(2, 3), n),
    "reshape": lambda np, x, n: np.reshape(x, n),
    "reshape2": lambda np, x, n: np.reshape(x, (n, -1)),
    "reshapem": lambda np, x, n: x.reshape(n, -1),
    "broadcast_to": lambda np, x, n: np.broadcast_to(x, (n, 6)),
    "tile": lambda np, x, n: np.tile(x, n),
    "sum": lambda np, x, n: np.sum(x.reshape(2, 3), n),
    "sumt": lambda np, x, n: np.sum(x.reshape(2, 3), (n,)),
    "sum method": lambda np, x, n: x.reshape(2, 3).sum(n),
    "max": lambda np, x, n: np.max(x.reshape(2, 3), n),
    "mean": lambda np, x, n: np.mean(x.reshape(2, 3), n),
    "std": lambda np, x, n: np.std(x.reshape(2, 3), n),
    "var": lambda np, x, n: np.var(x.reshape(2, 3), n),
    "median": lambda np, x, n: np.median(x.reshape(2, 3), n),
    "prod": lambda np, x, n: np.prod(x.reshape(2, 3), n),
    "cumsum": lambda np, x, n: np.cumsum(x.reshape(2, 3), n),
    "cumprod": lambda np, x, n: np.cumprod(x.reshape(2, 3), n),
    "sort": lambda np, x, n: np.sort(x.reshape(2, 3), n),
    "argsort": lambda np, x, n: np.argsort(x.reshape(2, 3), n),
    "partition": lambda np, x, n: np.partition(x, n),
    "diff": lambda np, x, n: np.diff(x, n),
    "diffax": lambda np, x, n: np.diff(x.reshape(2, 3), 1, n),
    "concat": lambda np, x, n: np.concatenate([x.reshape(2, 3)] * 2, n),
    "stack": lambda np, x, n: np.stack([x.reshape(2, 3)] * 2, n),
    "split": lambda np, x, n: np.split(x, n)[0],
    "splitax": lambda np, x, n: np.split(x.reshape(2, 3), 1, n)[0],
    "array_split": lambda np, x, n: np.array_split(x, n)[0],
    "splitl": lambda np, x, n: np.split(x, [n])[0],
    "pad": lambda np, x, n: np.pad(x, n),
    "round": lambda np, x, n: np.round(x, n),
    "power": lambda np, x, n: np.linalg.matrix_power(x[:4].reshape(2, 2), n),
    "vander": lambda np, x, n: np.vander(x, n),
    "linspace": lambda np, x, n: np.linspace(x, 1.0, n),
    "unwrap": lambda np, x, n: np.unwrap(x.reshape(2, 3), axis=n),
    "gradient": lambda np, x, n: np.gradient(x.reshape(2, 3), axis=n),
    "trapezoid": lambda np, x, n: np.trapezoid(x.reshape(2, 3), axis=n),
    "norm": lambda np, x, n: np.linalg.norm(x.reshape(2, 3), axis=n),
    "fft": lambda np, x, n: np.fft.fft(x, n),
    "fftax": lambda np, x, n: np.fft.fft(x.reshape(2, 3), axis=n),
    "polyder": lambda np, x, n: np.polyder(x, n),
    "polyint": lambda np, x, n: np.polyint(x, n),
    "flat": lambda np, x, n: x.flat[n],
    "flatset": changed(lambda np, y, n: y.flat.__setitem__(n, 5.0)),
    "put": changed(lambda np, y, n: np.put(y, n, 5.0)),
    "take_along": lambda np, x, n: np.take_along_axis(x.reshape(2, 3), numpy.array([[0]]), n),
    "compress": lambda np, x, n: np.compress([True], x.reshape(2, 3), n),
    "bincount": lambda np, x, n: np.bincount([0, 1, 1, 0, 2, 1], x, n),
    "choose": lambda np, x, n: np.choose(n, [x, x]),
    "add.reduce": lambda np, x, n: np.add.reduce(x.reshape(2, 3), n),
    "hypot.reduce": lambda np, x, n: np.hypot.reduce(x.reshape(2, 3), n),
    "add.accumulate": lambda np, x, n: np.add.accumulate(x.reshape(2, 3), n),
    "add.reduceat": lambda np, x, n: np.add.reduceat(x, [n]),
    "apply": lambda np, x, n: np.apply_along_axis(lambda r: r * 2, n, x.reshape(2, 3)),
    "average": lambda np, x, n: np.average(x.reshape(2, 3), n),
    "quantile": lambda np, x, n: np.quantile(x.reshape(2, 3), 0.5, n),
    "tensordot": lambda np, x, n: np.tensordot(x, x, n),
    "cross": lambda np, x, n: np.cross(x[:3], x[3:], axis=n),
    "unstack": lambda np, x, n: np.unstack(x.reshape(2, 3), axis=n)[0],
    "sliding": lambda np, x, n: np.lib.stride_tricks.sliding_window_view(x, n),
    "zeros": lambda np, x, n: np.zeros(n) * x[0],
    "histogram": lambda np, x, n: np.histogram(numpy.arange(6.0), n, weights=x)[0],
    "unique": lambda np, x, n: np.unique(x.reshape(2, 3), axis=n),
    "nansum": lambda np, x, n: np.nansum(x.reshape(2, 3), n),
    "ptp": lambda np, x, n: np.ptp(x.reshape(2, 3), n),
    "resize": lambda np, x, n: np.resize(x, n),
    "eye": lambda np, x, n: np.eye(n) * x[0],
    "full": lambda np, x, n: np.full(n, x[0]),
    "arange": lambda np, x, n: np.arange(n) * x[0],
    "cov": lambda np, x, n: np.cov(x.reshape(2, 3), ddof=n),
    "kaiser": lambda np, x, n: np.hanning(n) * x[0],
}
#: Programs that read an index.
INDEXED = [name for name in PROGRAMS if name.startswith(("read", "write")) or ".at" in name]


#: What numpy computes and the engine refuses.
REFUSED = {("hypot.reduce", "None")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_whole_numbers(name: str) -> None:
    program = PROGRAMS[name]
    numbers = {**NEAR, **({} if name in ENDLESS else FAR), **({"Other(1)": Other(1)} if name in INDEXED else {})}
    for place, (kind, number) in enumerate(numbers.items()):
        space = (numpy, tapeengine.numpy)[place % 2]
        expected = outcome(lambda number=number: program(numpy, X.copy(), number))
        found = outcome(lambda number=number, space=space: te.vjp(lambda x: program(space, x, number), X)[0])
        if isinstance(found, TapeEngineError):
            assert isinstance(expected, Exception) or (name, kind) in REFUSED or isinstance(number, Both), (
                f"{kind}: {found!r}"
            )
            continue
        if isinstance(expected, Exception):
            assert isinstance(found, type(expected)), f"{kind}: numpy raises {expected!r}, and we give {found!r}"
        else:
            numpy.testing.assert_array_equal(found, expected, err_msg=kind)


@pytest.mark.parametrize("p", [numpy.inf, -numpy.inf, 1.0, -1.0, 2.0, -2.0])
def test_condition_numbers_of_whole_numbers(p: float) -> None:
    for x in ([[1, 2], [3, 4]], numpy.array([[True, False], [True, True]])):
        value = te.vjp(lambda p, x=x: tapeengine.numpy.linalg.cond(x, p), p)[0]
        assert (type(value), value) == (numpy.float64, numpy.linalg.cond(x, p))
