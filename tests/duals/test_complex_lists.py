"""Functions of `tapeengine.numpy` on lists of traced complex numbers, and the methods of ufuncs on lists."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from namespaces import functions_of
from verdicts import quiet

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import DroppedDerivativeError, TapeEngineError

Z = 1.25 - 0.5j


def items(z: Any) -> list[Any]:
    return [z, 1, 2 - 1j, z * z]


def plain_result(function: Any) -> Any:
    """The function's result for a list of complex numbers, if it is numbers."""
    try:
        with quiet():
            result = function(items(Z))
        values = numpy.asarray(result)
    except Exception:
        return None
    return result if isinstance(result, (complex, numpy.ndarray, numpy.generic)) and values.dtype.kind in "fc" else None


FUNCTIONS = {
    name: function
    for name, function in functions_of(numpy).items()
    if not name.startswith(("empty", "asmatrix", "bmat")) and plain_result(function) is not None
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_list_of_complex_numbers_is_an_array(name: str) -> None:
    """The value is that of numpy, and the derivative that for an array of the same numbers, or both are refused."""
    wanted = numpy.asarray(plain_result(FUNCTIONS[name]))

    def total(z: Any, made: Any) -> Any:
        result = getattr(np, name)(made(items(z)))
        seen.append(numpy.asarray(te.value(result)))
        assert seen[-1].dtype == wanted.dtype
        return np.sum(np.abs(result * 1.0) ** 2)

    seen: list[Any] = []
    try:
        of_array = te.grad(lambda z: total(z, np.array))(Z)
    except TapeEngineError:
        with pytest.raises(TapeEngineError):
            te.grad(lambda z: total(z, list))(Z)
        return
    of_list = te.grad(lambda z: total(z, list))(Z)
    assert numpy.allclose(seen[-1], wanted, rtol=1e-13, equal_nan=True)
    assert of_list == of_array or (of_list != of_list and of_array != of_array)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_plain_numpy_are_right_or_refuse_the_list(name: str) -> None:
    """Those that do not call the rules would make an array of objects of it, and take its numbers for real ones."""
    try:
        value, _ = te.vjp(lambda z: FUNCTIONS[name](items(z)), Z)
    except TapeEngineError:
        return
    assert numpy.allclose(value, plain_result(FUNCTIONS[name]), rtol=1e-13, equal_nan=True)


@pytest.mark.parametrize("made", [numpy.array, numpy.asarray, lambda z: numpy.zeros(4, object).__setitem__(..., z)])
def test_numpy_makes_no_array_of_objects_of_the_list(made: Any) -> None:
    with pytest.raises(DroppedDerivativeError, match=r"\(1\.25-0\.5j\)"):
        te.vjp(lambda z: made(items(z)), Z)


METHODS = {
    f"{ufunc.__name__}.{method}": getattr(getattr(np, ufunc.__name__), method)
    for ufunc in (numpy.add, numpy.multiply, numpy.maximum, numpy.logaddexp, numpy.hypot)
    for method in ("reduce", "accumulate", "outer", "reduceat")
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_ufuncs_take_lists(name: str) -> None:
    method, others = METHODS[name], {"outer": ([0.2, 0.5],), "reduceat": ([0, 2],)}.get(name.split(".")[1], ())

    def total(x: Any, made: Any) -> Any:
        return np.sum(method(made([x, 0.4, x * x]), *others))

    assert te.value_and_grad(lambda x: total(x, list))(0.7) == te.value_and_grad(lambda x: total(x, np.array))(0.7)
    assert te.value_and_grad(lambda x: total(x, list))(0.7)[0] == total(0.7, list)
