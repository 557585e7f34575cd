"""Series, DataFrames and DataArrays as parameters: cotangents and results of the same class, with the same labels."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import StructureError
from tapeengine.structure import Container

SERIES: dict[str, Callable[[Any], Any]] = {
    "items": lambda s: s["a"] * s["b"] + s.iloc[-1] ** 2,
    "arithmetic": lambda s: ((2 * s + 1) ** 2 / 3).sum(),
    "selection": lambda s: (s[s > 1] ** 2).sum(),
    "maximum": lambda s: s.max() * s.min(),
    "running sum": lambda s: (s.cumsum() ** 2).sum(),
    "map": lambda s: s.map(lambda v: v * v).sum(),
    "numpy": lambda s: np.sum(np.sin(s.to_numpy()) * np.array(s.tolist())),
    "product": lambda s: s.dot(s),
}


@pytest.mark.parametrize("name", SERIES)
def test_series(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    s = pandas.Series([0.7, 2.0, 3.1], index=list("abc"), name="p")
    found = te.grad(SERIES[name])(s)
    assert type(found) is pandas.Series and list(found.index) == ["a", "b", "c"] and found.name == "p"
    for label in s.index:
        up, down = s.copy(), s.copy()
        up[label], down[label] = s[label] + 1e-5, s[label] - 1e-5
        assert found[label] == pytest.approx((SERIES[name](up) - SERIES[name](down)) / 2e-5, rel=1e-7, abs=1e-9)


def test_a_series_as_result() -> None:
    pandas = pytest.importorskip("pandas")
    s = pandas.Series([1.0, 2.0], index=["u", "v"])
    value, back = te.vjp(lambda s: s * s, s)
    assert value.to_dict() == {"u": 1.0, "v": 4.0} and value.dtype == float
    assert back(pandas.Series([1.0, 10.0], index=["u", "v"]))[0].to_dict() == {"u": 2.0, "v": 40.0}
    assert te.jvp(lambda s: s * s, (s,), (s,))[1].to_dict() == {"u": 2.0, "v": 8.0}


def test_a_frame_with_columns_that_hold_no_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    d = pandas.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0], "n": ["u", "v"], "k": [1, 2]}, index=["r", "t"])
    found = te.grad(lambda d: (d["x"] * d["y"] * d["k"]).sum() + d.groupby("n")["x"].sum().iloc[0])(d)
    assert list(found.columns) == list("xynk") and list(found.index) == ["r", "t"]
    assert found["x"].to_dict() == {"r": 4.0, "t": 8.0} and found["y"].to_dict() == {"r": 1.0, "t": 4.0}
    assert found["n"].tolist() == ["u", "v"] and found["k"].tolist() == [1, 2]


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "sums": lambda a: (a * a).sum().data,
    "selection": lambda a: a.mean("x").sel(t=1).data ** 2,
    "numpy": lambda a: np.sum(np.exp(a).data),
    "places": lambda a: a.isel(x=0).sum().item(),
    "broadcasting": lambda a: (a * a.isel(t=0)).sum().data,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_data_arrays(name: str) -> None:
    xarray = pytest.importorskip("xarray")
    a = xarray.DataArray(numpy.array([[1.0, 2, 3], [0.5, 1, 2]]), dims=("t", "x"), coords={"t": [0, 1]}, name="u")
    found = te.grad(ARRAYS[name])(a)
    assert type(found) is xarray.DataArray and found.dims == ("t", "x") and found.name == "u"
    assert found.coords["t"].values.tolist() == [0, 1]
    for index in numpy.ndindex(2, 3):
        up, down = a.copy(), a.copy()
        up[index], down[index] = a[index] + 1e-5, a[index] - 1e-5
        expected = (float(ARRAYS[name](up)) - float(ARRAYS[name](down))) / 2e-5
        assert float(found[index]) == pytest.approx(expected, rel=1e-7, abs=1e-9)


PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "pow")},
    **{f"numpy.{name}": getattr(numpy, name) for name in ("multiply", "hypot", "maximum", "arctan2", "logaddexp")},
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("x", [0.6, numpy.array([0.6, 1.2, 2.9])], ids=["number", "array"])
@pytest.mark.parametrize("name", PAIRS)
def test_plain_data_arrays_as_operands(name: str, x: Any, side: str) -> None:
    """The class can hold traced arrays, so it handles operators itself, with its labels, on either side."""
    xarray = pytest.importorskip("xarray")
    a = xarray.DataArray(numpy.array([1.0, 2.0, 3.0]), dims="t", coords={"t": [5, 6, 7]}, name="u")

    def program(x: Any) -> Any:
        found = PAIRS[name](x, a) if side == "left" else PAIRS[name](a, x)
        assert type(found) is xarray.DataArray and found.coords["t"].values.tolist() == [5, 6, 7]
        return (found * found.sel(t=6)).sum().item()

    value, found = te.value_and_grad(program)(x)
    assert value == program(x)
    h = 1e-6 * numpy.ones_like(x)
    expected = (program(x + h) - program(x - h)) / 2e-6
    assert numpy.sum(found) == pytest.approx(expected, rel=1e-8)


# -- derivatives of derivatives ---------------------------------------------------------------------------------------
class Halves:
    """A container that computes with what it holds where it is taken apart."""

    def __init__(self, values: Any) -> None:
        self.values = values


te.default_engine().structures.register(
    Halves,
    Container(
        lambda value: ([2.0 * np.stack(list(value.values))], None),
        lambda aux, children: Halves(children[0] / 2.0),
        lambda aux: [".values"],
    ),
)


def pandas_of(kind: str, values: Any) -> Any:
    return getattr(pytest.importorskip("pandas"), kind)(values)


WAYS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "Series": (lambda x: pandas_of("Series", dict(zip("abc", x, strict=True))), lambda s: s[["a", "b", "c"]].tolist()),
    "Series as an array": (lambda x: pandas_of("Series", list(x)), lambda s: s.to_numpy().tolist()),
    "DataFrame": (
        lambda x: pandas_of("DataFrame", {"a": list(x), "b": [y * y for y in x]}),
        lambda f: [f["a"][0], f["b"][1], f["a"][2] + f["b"][0]],
    ),
    "container of a user": (Halves, lambda held: list(held.values)),
}


@pytest.mark.parametrize("name", list(WAYS))
def test_an_inner_derivative_takes_what_the_outer_one_traces(name: str) -> None:
    """What is taken apart belongs to the trace of its numbers, also while the inner trace begins."""
    make, read = WAYS[name]

    def inner(x: list[Any]) -> Any:
        def f(held: Any) -> Any:
            a, b, c = read(held)
            return a * b * c + b**3 * a

        value, back = te.vjp(f, make(x))
        return value + sum(k * y**2 for k, y in enumerate(read(back(1.0)[0]), 1))

    x, v, h = [0.3, 0.5, 0.7], [1.0, -2.0, 0.5], 1e-6
    ahead, behind = ([a + s * h * b for a, b in zip(x, v, strict=True)] for s in (1, -1))
    slope = te.grad(inner)
    difference = (inner(ahead) - inner(behind)) / (2 * h)
    assert sum(a * b for a, b in zip(slope(x), v, strict=True)) == pytest.approx(difference, rel=1e-7)
    differences = [(a - b) / (2 * h) for a, b in zip(slope(ahead), slope(behind), strict=True)]
    assert te.hvp(inner, (x,), (v,)) == pytest.approx(differences, rel=1e-6)


@pytest.mark.parametrize("kind", ["Series", "DataFrame"])
def test_blocks_of_a_hessian_do_not_fit_into_columns(kind: str) -> None:
    values = numpy.ones(3)
    with pytest.raises(StructureError, match="write the program as a function of arrays"):
        te.hessian(lambda s: (s**3).to_numpy().sum())(pandas_of(kind, values if kind == "Series" else {"a": values}))


@pytest.mark.parametrize(
    "make", [np.array, np.asarray, lambda s: np.array(s.to_numpy()), lambda s: np.asarray(s, float)]
)
def test_an_array_of_a_series_takes_all_functions(make: Any) -> None:
    """numpy's own functions of arrays of objects do not know logaddexp, nor products with matrices."""
    matrix, at = numpy.array([[0.5, 1.0], [1.5, -2.0], [1.0, 0.0]]), numpy.array([0.1, -0.3])
    found = te.grad(lambda s: numpy.sum(numpy.logaddexp(0.0, matrix @ make(s))))(pandas_of("Series", at))
    numpy.testing.assert_allclose(found.to_numpy(), matrix.T @ (1.0 / (1.0 + numpy.exp(-matrix @ at))), rtol=1e-14)
