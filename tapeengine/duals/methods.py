"""Methods of traced arrays: each dispatches numpy's function of the same name."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any

import numpy

from .._core.arrays.array import Array, as_python, form_of, is_number, numbers_of, numbers_of_python, rules_of
from .._core.arrays.functions import mean_method, sum_method
from .._core.sweeps.trace import value_of
from .._core.tape.above import ABOVE
from ..errors import UnsupportedError, full_name
from .creation import is_discrete, objects
from .flat import Flat
from .foreign import shared
from .views import VIEWS, on_views

#: Methods that are numpy functions with the same name and parameters.
NAMES = (
    "all any argmax argmin argpartition argsort choose cumprod cumsum diagonal dot max "
    "mean min nonzero prod put ravel repeat round searchsorted squeeze std sum swapaxes take trace var"
).split()


def dispatched(function: Any) -> Callable[..., Any]:
    """A method that looks up a numpy function in the trace's rules."""
    if isinstance(function, numpy.ufunc):

        def of_ufunc(self: Any, **options: Any) -> Any:
            return rules_of(self).ufunc(function, "__call__", (self,), options)

        return of_ufunc

    def method(self: Any, *args: Any, **options: Any) -> Any:
        if "correction" in options:  # numpy's functions know it as another name of ddof, its methods do not
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument 'correction'")
        return rules_of(self).function(function, (self, *args), options)

    return method


def reshape(self: Any, *shape: Any, **options: Any) -> Any:
    """ndarray.reshape, with the shape as one argument or several."""
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    new = shape[0] if len(shape) == 1 else shape
    order = options.pop("order", "C")
    return VIEWS[numpy.reshape](self, new, order=order, **options)


def transpose(self: Any, *axes: Any) -> Any:
    """ndarray.transpose, with the axes as one argument, several or none."""
    order = None if not axes else axes[0] if len(axes) == 1 else axes
    return VIEWS[numpy.transpose](self, order)


def flatten(self: Any, order: str = "C") -> Any:
    """ndarray.flatten: always a copy."""
    order = order_of(self, "C" if order is None else order)
    return VIEWS[numpy.ravel](+self if order == "K" else self.copy(order), order)


def compress(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    """ndarray.compress."""
    return rules_of(self).function(numpy.compress, (condition, self, axis), {"out": out})


def clip(self: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """ndarray.clip, which may leave out a limit."""
    return rules_of(self).function(numpy.clip, (self, min, max), {"out": out, **options})


def astype(
    self: Any, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    """ndarray.astype; an integer or boolean dtype gives plain values."""
    dtype = numpy.dtype(dtype)
    numpy.empty(0, self.dtype).astype(dtype, order, casting)  # raises numpy's errors
    order = order_of(self, "K" if order is None else order)
    if dtype.kind == "O":
        found = objects(self.reshape(-1)).reshape(self.shape)
        return found[()] if is_number(self) else found
    if is_discrete(dtype):
        found = numbers_of(self).astype(dtype, order, casting)
        return found[()] if is_number(self) else found
    if dtype != self.dtype:
        self = self.real if dtype.kind == "f" else self  # numpy has warned
        self = rules_of(self).function(numpy.astype, (self, dtype), {})
    elif copy:
        return self.copy(order)
    return self if order == "K" or self.flags[f"{order}_CONTIGUOUS"] else self.copy(order)


def order_of(self: Any, order: str) -> str:
    """The letter of a memory order: "A" is "F" for arrays of that order alone, and "C" for others."""
    return ("F" if self.flags.fnc else "C") if order in ("A", "a") else str.upper(order)


def conjugate(self: Any, out: Any = None) -> Any:
    """ndarray.conj: a real array returns itself."""
    if out is not None:
        return rules_of(self).ufunc(numpy.conjugate, "__call__", (self,), {"out": (out,)})
    return rules_of(self).ufunc(numpy.conjugate, "__call__", (self,), {}) if self.dtype.kind == "c" else self


def fill(self: Any, value: Any) -> None:
    """ndarray.fill."""
    numpy.empty(1, self.dtype).fill(value_of(value))  # raises numpy's errors
    if not is_number(self):  # numpy fills a copy of a number
        self[...] = value


def item(self: Any, *index: Any) -> Any:
    """ndarray.item: a number of Python, which stays traced."""
    if len(index) == self.ndim and all(type(i) is int and 0 <= i < n for i, n in zip(index, self.shape, strict=True)):
        return as_python(self[index])
    numpy.broadcast_to(False, self.shape).item(*index)  # raises numpy's errors
    places = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    if len(places) == 1:
        places = place_of(self, places[0])
    return as_python(self[tuple(map(operator.index, places)) or (0,) * self.ndim])


def place_of(self: Any, number: Any) -> tuple[int, ...]:
    """The index of an element, given its number in C order."""
    return tuple(int(i) for i in numpy.unravel_index(range(self.size)[number], self.shape))


def tolist(self: Any) -> Any:
    """ndarray.tolist: nested lists of numbers of Python, which stay traced."""
    if self.ndim == 1:
        return numbers_of_python(self)
    return as_python(self[()]) if self.ndim == 0 else [tolist(row) for row in self]


def sort(self: Any, axis: int = -1, **options: Any) -> None:
    """ndarray.sort: in place."""
    self[...] = rules_of(self).function(numpy.sort, (self, operator.index(axis)), options)


def partition(self: Any, kth: Any, axis: int = -1, **options: Any) -> None:
    """ndarray.partition: in place."""
    self[...] = rules_of(self).function(numpy.partition, (self, kth, operator.index(axis)), options)


def view(self: Any, dtype: Any = None, type: Any = None) -> Any:
    """ndarray.view of the same numbers; complex numbers viewed as pairs of real ones are copied."""
    if isinstance(dtype, builtins.type) and issubclass(dtype, numpy.ndarray):
        dtype, type = None, dtype
    if (plain := shared(self)) is not self and (type not in (None, numpy.ndarray) or dtype not in (None, self.dtype)):
        return plain.view(self.dtype if dtype is None else dtype, type or numpy.ndarray)
    if type not in (None, numpy.ndarray):
        raise UnsupportedError(
            f"a traced array has no view as {full_name(type)}, whose operators and attributes are "
            "its own. Compute with plain arrays (a @ b for a product of matrices), and make the object of the result"
        )
    dtype = self.dtype if dtype is None else numpy.dtype(dtype)
    if dtype not in (self.dtype, numpy.empty(0, self.dtype).real.dtype):
        raise UnsupportedError(
            f"a view of traced numbers of {self.dtype} as {dtype} would show their bits, which have no derivative. "
            "astype converts the numbers; tapeengine.value(x).view drops the derivative on purpose"
        )
    if dtype == self.dtype:
        return on_views(lambda values: values[...])(self)
    pairs = rules_of(self).function(numpy.stack, ((self.real, self.imag),), {"axis": -1})
    return pairs.reshape(*self.shape[:-1], 2 * self.shape[-1])


def to_device(self: Any, device: str, **options: Any) -> Any:
    """ndarray.to_device; numpy has only one device."""
    form_of(self).to_device(device, **options)
    return self


def array_namespace(self: Any, *, api_version: Any = None) -> Any:
    """ndarray.__array_namespace__, of the standard for arrays."""
    numpy.empty(0).__array_namespace__(api_version=api_version)  # raises numpy's errors
    return namespace_of_plain(sys._getframe(1)) or ABOVE.numpy


def namespace_of_plain(caller: Any) -> Any:
    """The module that array_api_compat gives plain arrays, if it asks for that of several arrays; otherwise None.

    It wants one module for all. The functions there are numpy's, which dispatch.
    """
    while caller.f_globals is globals() and caller.f_back:  # of a number's method
        caller = caller.f_back
    root = caller.f_globals.get("__name__", "").rpartition(".common.")[0]
    asked = caller.f_locals.get("xs", ())
    if not root.endswith("array_api_compat") or not any(isinstance(x, numpy.ndarray) for x in asked):
        return None
    return numpy if caller.f_locals.get("use_compat") is False else import_module(f"{root}.numpy")


def setflags(self: Any, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """ndarray.setflags."""
    for name, flag in (("writeable", write), ("aligned", align), ("writebackifcopy", uic)):
        if flag is not None:
            setattr(self.flags, name, flag)


def device(self: Any) -> str:
    """ndarray.device."""
    return "cpu"


def table() -> dict[str, Callable[..., Any]]:
    """Functions that compute each attribute of traced arrays that the class itself does not define."""
    own = (
        *(reshape, transpose, flatten, compress, clip, astype, conjugate, fill, item, tolist, sort, partition),
        *(to_device, view, setflags),
    )
    methods = {name: dispatched(getattr(numpy, name)) for name in NAMES}
    methods.update({method.__name__: method for method in own})
    methods["sum"], methods["mean"] = sum_method, mean_method
    attributes = {name: bound(method) for name, method in methods.items()}
    attributes["conj"] = attributes["conjugate"]
    attributes["__array_namespace__"] = bound(array_namespace)
    attributes["flat"], attributes["device"] = Flat, device
    return attributes


def bound(method: Callable[..., Any]) -> Callable[[Any], Any]:
    """Turn a method into an attribute of an instance. Results of shape () of a number's method are numbers."""

    def of_number(self: Any, *args: Any, **options: Any) -> Any:
        result = method(self, *args, **options)
        return result[()] if type(result) is Array and result.ndim == 0 else result

    return lambda self: MethodType(of_number if is_number(self) else method, self)


METHODS = table()
