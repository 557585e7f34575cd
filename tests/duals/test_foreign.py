"""Operands of other libraries' classes, with every operator, ufunc and array function: correct or refused."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foreign_operations import FUNCTIONS, IN_PLACE, OPERATORS, SQUARE, UFUNCS, VECTOR, XS, X
from verdicts import Verdict, verdict

import tapeengine as te
from tapeengine.errors import StructureError, TapeEngineError, UnsupportedError


class Named(np.ndarray):
    """A subclass that overrides nothing and has an additional attribute."""

    def __array_finalize__(self, other: Any) -> None:
        self.name = getattr(other, "name", "")


class Doubling(np.ndarray):
    """A subclass that redefines multiplication."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        inputs = tuple(np.asarray(x) if isinstance(x, Doubling) else x for x in inputs)
        return getattr(ufunc, method)(*inputs, **options) * 2.0


class OnlyArray:
    """A class that numpy can read, and that implements none of numpy's protocols."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(VECTOR, dtype)


class Tensor(OnlyArray):
    """A class like other libraries' tensors: it wraps numpy's results again."""

    __array_priority__ = 1000.0

    def __init__(self, values: Any = VECTOR) -> None:
        self.values = np.array(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)

    def __array_wrap__(self, values: Any, context: Any = None, scalar: bool = False) -> Any:
        return Tensor(values)

    def __add__(self, other: Any) -> Any:
        return Tensor(self.values + np.asarray(other))

    __radd__ = __add__


class Handler:
    """A class that overrides numpy's functions and returns something that is no array."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return "answered"

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return "answered"


def made(name: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """A foreign operand of a module that may not be installed."""
    return lambda: make(pytest.importorskip(name))


def memmap() -> Any:
    import tempfile

    with tempfile.TemporaryFile() as file:
        values = np.memmap(file, dtype=float, shape=(3,))
    values[:] = VECTOR
    return values


FOREIGN: dict[str, Callable[[], Any]] = {
    "numpy masked": lambda: np.ma.array(VECTOR, mask=[False, True, False]),
    "numpy masked without a mask": lambda: np.ma.array(VECTOR),
    "numpy matrix": lambda: np.matrix(SQUARE),
    "numpy recarray": lambda: VECTOR.copy().view(np.recarray),
    "numpy memmap": memmap,
    "subclass": lambda: VECTOR.copy().view(Named),
    "subclass with ufuncs": lambda: VECTOR.copy().view(Doubling),
    "array only": OnlyArray,
    "tensor": Tensor,
    "handler": Handler,
    "pandas Series": made("pandas", lambda pd: pd.Series(VECTOR)),
    "pandas Series with labels": made("pandas", lambda pd: pd.Series(VECTOR, index=[2, 0, 1])),
    "pandas DataFrame": made("pandas", lambda pd: pd.DataFrame(SQUARE)),
    "pandas Index": made("pandas", lambda pd: pd.Index(VECTOR)),
    "polars Series": made("polars", lambda pl: pl.Series("a", VECTOR)),
    "xarray DataArray": made("xarray", lambda xr: xr.DataArray(VECTOR, dims=["a"])),
    "astropy Quantity": made("astropy.units", lambda u: VECTOR * u.m),
    "astropy dimensionless": made("astropy.units", lambda u: VECTOR * u.one),
    "scipy csr_array": made("scipy.sparse", lambda sp: sp.csr_array(SQUARE)),
    "scipy csr_matrix": made("scipy.sparse", lambda sp: sp.csr_matrix(SQUARE)),
    "scipy todense": made("scipy.sparse", lambda sp: sp.csr_matrix(SQUARE).todense()),
    "torch Tensor": made("torch", lambda torch: torch.tensor(VECTOR)),
}


def programs(kind: str) -> dict[str, Callable[[Any, Any], Any]]:
    """The operations of a kind, each a function of the traced value and the foreign one."""
    if kind == "operators":
        return {op.__name__: op for op in OPERATORS} | {
            f"{op.__name__} from the left": lambda x, y, op=op: op(y, x) for op in OPERATORS
        }
    if kind == "in place":
        return {op.__name__: lambda x, y, op=op: op(x * 1.0, y) for op in IN_PLACE} | {
            f"{op.__name__} into it": lambda x, y, op=op: op(y, x) for op in IN_PLACE
        }
    if kind == "ufuncs":
        return {f.__name__: f for f in UFUNCS} | {
            f"{f.__name__} from the left": lambda x, y, f=f: f(y, x) for f in UFUNCS
        }
    return FUNCTIONS


@pytest.mark.parametrize("kind", ["operators", "in place", "ufuncs", "functions"])
@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_operands(name: str, kind: str) -> None:
    make, wrong = FOREIGN[name], {}
    make()
    for label, program in programs(kind).items():
        for point, place in ((X, ...), (XS, ...), (X, 0)):
            found = verdict(lambda x, p=program, i=place: p(x[i], make()), point)
            if not in_order(found, label, name):
                wrong[label, point[place].shape] = found
    assert wrong == {}


def in_order(found: Verdict, label: str, name: str) -> bool:
    """Whether a result is correct or refused; a class that Python asks first may refuse by an error of its own."""
    own = {"numpy masked": "numpy.ma"}.get(" ".join(name.split()[:2]), name.split()[0])
    declined = found.word == "raw" and f" in {own}" in found.detail
    number_with_methods = found.word == "lenient" and "AttributeError" in found.detail
    return found.right or declined or number_with_methods


@pytest.mark.parametrize("name", FOREIGN)
def test_floats_and_foreign_operands(name: str) -> None:
    make, wrong = FOREIGN[name], {}
    make()
    for label, program in programs("operators").items():
        found = verdict(lambda x, p=program: p(x, make()), 1.3)
        if not in_order(found, label, name) and found.word != "lenient":  # a dual number also behaves as a numpy scalar
            wrong[label] = found
    assert wrong == {}


#: Structures whose cotangents are of the same class.
LABELLED = {"pandas Series", "pandas Series with labels", "pandas DataFrame", "xarray DataArray"}


@pytest.mark.parametrize("name", [name for name in FOREIGN if name not in LABELLED])
def test_foreign_primals(name: str) -> None:
    value = FOREIGN[name]()
    if isinstance(value, np.memmap):
        assert np.array_equal(te.grad(lambda x: (x * x).sum())(value), 2 * VECTOR)
        return
    with pytest.raises(StructureError, match=r"\[0\]"):
        te.vjp(lambda x: x * 1.0, value)


def test_what_is_refused_names_both_classes_and_what_to_write() -> None:
    with pytest.raises(UnsupportedError, match=r"subtract .* numpy\.MaskedArray gives a numpy\.MaskedArray.*asarray"):
        te.grad(lambda x: ((x - np.ma.array(VECTOR)) ** 2).sum())(X)


def test_what_numpy_reads_as_plain_arrays_is_differentiated() -> None:
    """If numpy's own result is a plain array, a foreign operand counts as the array that numpy makes from it."""
    for other in (OnlyArray(), memmap()):
        assert np.array_equal(te.grad(lambda x, y=other: (x * y).sum())(X), VECTOR)
    pandas = importlib.util.find_spec("pandas") and importlib.import_module("pandas")
    if pandas:
        series = pandas.Series(VECTOR, index=[5, 6, 7])
        assert np.array_equal(te.grad(lambda x: np.dot(x, series))(X), VECTOR)
        assert np.array_equal(te.grad(lambda x: (np.concatenate([x, series]) ** 2).sum())(X), 2 * X)
        assert verdict(lambda x: operator.isub(x * x, series), X).word == "refused"  # numpy returns a Series


def test_a_primitive_refuses_a_result_of_another_class() -> None:
    @te.primitive
    def scaled(x: Any) -> Any:
        return np.ma.array(x * 2.0)

    scaled.defvjp(x=lambda ct: ct * 2.0) if hasattr(scaled, "defvjp") else None
    with pytest.raises(TapeEngineError):
        te.grad(lambda x: scaled(x).sum())(X)


def test_a_foreign_operand_is_read_a_few_times() -> None:
    calls = []

    class Counted(OnlyArray):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            calls.append(1)
            return np.array(VECTOR)

    te.grad(lambda x: (x * Counted()).sum())(X)
    assert 0 < len(calls) <= 4


SUBCLASSES = {
    name: type(make())
    for name, make in FOREIGN.items()
    if name.startswith(("numpy", "subclass")) and name != "numpy masked without a mask"
}


@pytest.mark.parametrize("name", SUBCLASSES)
@pytest.mark.parametrize("how", ["first", "type", "dtype", "both"])
def test_a_view_as_a_subclass_is_refused_by_its_name(name: str, how: str) -> None:
    cls = SUBCLASSES[name]
    given = {"first": ((cls,), {}), "type": ((), {"type": cls}), "dtype": ((), {"dtype": cls})}
    args, options = given.get(how, ((float, cls), {}))
    with pytest.raises(UnsupportedError, match=f"no view as .*{cls.__name__}"):
        te.vjp(lambda x: np.sum(x.view(*args, **options) * x), SQUARE)
    assert te.grad(lambda x: np.sum(x.view(np.ndarray) * x.view(type=np.ndarray)))(SQUARE)[0, 0] == 2 * SQUARE[0, 0]
