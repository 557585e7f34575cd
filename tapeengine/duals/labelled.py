"""Labelled arrays of other libraries as containers: their numbers are differentiated, their labels are kept.

Within a program a pandas Series or DataFrame holds traced numbers in an object column, and an xarray DataArray holds a
traced array. Results and cotangents are of the same class, with the same labels.
"""

from __future__ import annotations

import numbers as numbers_of_python
import sys
from collections.abc import Sequence
from typing import Any

import numpy

from .._core.arrays.array import form_of, from_values
from ..errors import StructureError, module_of
from ..structure import Container

#: Libraries whose arrays can hold a traced array like a numpy array, and may override numpy's functions for it.
HOLDING = {"xarray"}


def holder_among(args: Sequence[Any]) -> Any:
    """The first operand whose class can hold traced arrays and overrides numpy's ufuncs; None if there is none."""
    for x in args:
        cls = type(x)
        if module_of(cls).partition(".")[0] in HOLDING and hasattr(cls, "__array_ufunc__"):
            return x
    return None


def elements(values: Any) -> Any:
    """Values for a column of pandas: a plain array unchanged, a traced array as an object array of its elements.

    Raises
    ------
    StructureError
        For a block of a Jacobian or Hessian, which has more axes than a column.
    """
    if numpy.ndim(values) != 1:
        raise StructureError(
            f"a derivative of the shape {numpy.shape(values)} does not fit into a column of pandas. For Jacobians and "
            "Hessians write the program as a function of arrays, and hand over to_numpy() of a Series or DataFrame"
        )
    if isinstance(values, numpy.ndarray):
        return values
    found = numpy.empty(values.shape, object)
    # pandas finds missing values by their class: NaN is a plain number.
    found[:] = [y if x != x else x for x, y in zip(values, form_of(values), strict=True)]
    return found


def numbers(column: Any) -> Any:
    """The numbers of a column as an array."""
    values = column.to_numpy()
    return from_values(values.tolist()) if values.dtype == object else values


def of_series(value: Any) -> tuple[Sequence[Any], Any]:
    """The numbers of a Series, and its labels."""
    return [numbers(value)], (value.index, value.name)


def series(aux: Any, children: Sequence[Any]) -> Any:
    """A Series with the same labels."""
    return sys.modules["pandas"].Series(elements(children[0]), index=aux[0], name=aux[1])


def of_frame(value: Any) -> tuple[Sequence[Any], Any]:
    """The columns of a DataFrame, and its labels; columns without numbers are kept unchanged."""
    parts = [value.iloc[:, k] for k in range(value.shape[1])]
    found = [numbers(part) if part.dtype.kind in "fcO" and not is_text(part) else None for part in parts]
    rest = {k: part for k, (part, mine) in enumerate(zip(parts, found, strict=True)) if mine is None}
    return [mine for mine in found if mine is not None], (value.index, value.columns, rest)


def is_text(part: Any) -> bool:
    """Whether an object column holds anything but numbers."""
    return part.dtype.kind == "O" and not all(isinstance(x, numbers_of_python.Number) for x in part)


def frame(aux: Any, children: Sequence[Any]) -> Any:
    """A DataFrame with the same labels."""
    index, columns, rest = aux
    given = iter(children)
    parts = {k: rest[k].array if k in rest else elements(next(given)) for k in range(len(columns))}
    found = sys.modules["pandas"].DataFrame(parts, index=index)
    found.columns = columns
    return found


def of_data_array(value: Any) -> tuple[Sequence[Any], Any]:
    """The values of a DataArray, and its other attributes."""
    return [value.data], (value.dims, dict(value.coords), dict(value.attrs), value.name)


def data_array(aux: Any, children: Sequence[Any]) -> Any:
    """A DataArray with the same dimensions and coordinates."""
    dims, coords, attrs, name = aux
    return sys.modules["xarray"].DataArray(children[0], coords=coords, dims=dims, attrs=attrs, name=name)


#: The functions that decompose and rebuild each class, by its library and name.
LABELLED: dict[type | tuple[str, str], Container] = {
    ("pandas", "Series"): Container(of_series, series, lambda aux: [".values"]),
    ("pandas", "DataFrame"): Container(
        of_frame,
        frame,
        lambda aux: [f"[{name!r}]" for k, name in enumerate(aux[1]) if k not in aux[2]],
    ),
    ("xarray", "DataArray"): Container(of_data_array, data_array, lambda aux: [".values"]),
}
