"""Callables that users hand to solvers, with the traced values that they hold taken out.

A solver's derivative is taken with respect to everything traced that its callable uses: what stands in ``args``, and
what the callable itself captured. `Closed` finds those values (in closures, defaults, partials, bound methods, objects
and containers), packs them into one vector of parameters, and builds the callable again with other values in their
places. So the solver runs on plain values, and a rule differentiates the callable as a function of the parameters.
"""

import copy
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.spaces import children
from tapeengine_scipy._values import is_traced

_Rebuild = Callable[[list[Any]], Any]


class _Slot:
    """Stands for a traced value that was taken out."""

    def __init__(self, start: int, shape: tuple[int, ...], is_complex: bool) -> None:
        self.start = start
        self.shape = shape
        self.is_complex = is_complex

    def __call__(self) -> None:
        """Slots are callable, so that a traced callable's place can hold one."""

    @property
    def size(self) -> int:
        return int(numpy.prod(self.shape, dtype=int))

    def read(self, vector: Any) -> Any:
        size = self.size
        value = self._shaped(vector[self.start : self.start + size])
        if self.is_complex:
            value = value + 1j * self._shaped(vector[self.start + size : self.start + 2 * size])
        return value

    def _shaped(self, part: Any) -> Any:
        return np.reshape(part, self.shape) if self.shape else part[0]


class Closed:
    """A structure of callables and values, with its traced values taken out.

    Parameters
    ----------
    held : structure
        Such as ``(fun, args)``.

    Attributes
    ----------
    params : array
        The traced values, packed into one vector; an empty plain one where there are none.
    """

    def __init__(self, held: Any) -> None:
        slots: dict[int, _Slot] = {}
        packed: list[Any] = []
        kept: list[Any] = []

        def take(value: Any) -> _Slot:
            if id(value) not in slots:
                kept.append(value)  # so that no other object gets its id while slots are made
                slots[id(value)] = _pack(value, packed)
            return slots[id(value)]

        self._held = replaced(held, take, set())
        self._built = _template(self._held, set())
        self.params = np.concatenate(packed) if packed else numpy.zeros(0)

    @property
    def is_traced(self) -> bool:
        """Whether any value was taken out."""
        return bool(self.params.shape[0])

    def at(self, params: Any) -> Any:
        """Build the structure with the values of a vector of parameters."""
        return self._held if self._built is None else self._built(params)


def _pack(value: Any, packed: list[Any]) -> _Slot:
    start = sum(part.shape[0] for part in packed)
    shape = getattr(value, "shape", ())
    flat = np.ravel(value) if shape else np.array([value])
    is_complex = flat.dtype.kind == "c"
    packed.extend([np.real(flat), np.imag(flat)] if is_complex else [flat])
    return _Slot(start, tuple(shape), is_complex)


def replaced(value: Any, take: Callable[[Any], Any], clean: set[int], above: tuple[int, ...] = ()) -> Any:
    """Build a structure with `take(x)` for each traced x; what holds none is the same object.

    `clean` collects what was found to hold none, so that shared parts are visited once.
    """
    if is_traced(value):
        return take(value)
    split = None if id(value) in clean or id(value) in above else _split(value)
    if split is None:
        return value
    parts, rebuild = split
    changed = [replaced(part, take, clean, (*above, id(value))) for part in parts]
    if all(one is other for one, other in zip(parts, changed, strict=True)):
        clean.add(id(value))
        return value
    return rebuild(changed)


def _template(value: Any, clean: set[int], above: tuple[int, ...] = ()) -> Callable[[Any], Any] | None:
    """Return how to build a structure with slots from the parameters, or None where it has no slots.

    Built once, so that a call only touches what leads to a slot.
    """
    if isinstance(value, _Slot):
        return value.read
    split = None if id(value) in clean or id(value) in above else _split(value)
    if split is None:
        return None
    parts, rebuild = split
    made = [_template(part, clean, (*above, id(value))) for part in parts]
    if not any(made):
        clean.add(id(value))
        return None
    pairs = list(zip(parts, made, strict=True))
    return lambda params: rebuild([part if build is None else build(params) for part, build in pairs])


def _split(value: Any) -> tuple[list[Any], _Rebuild] | None:
    if isinstance(value, numpy.ndarray) and value.dtype == object:
        return list(value.flat), lambda new: np.reshape(np.array(new), value.shape)
    if isinstance(value, (float, int, str, bytes, numpy.ndarray, numpy.generic, type, types.ModuleType, type(None))):
        return None
    if isinstance(value, types.FunctionType):
        return _split_function(value)
    if isinstance(value, functools.partial):
        parts = [value.func, value.args, value.keywords]
        return parts, lambda new: functools.partial(new[0], *new[1], **new[2])
    if isinstance(value, types.MethodType):
        return [value.__self__], lambda new: types.MethodType(value.__func__, new[0])
    split = children(value)
    if split is not None:
        return split[1], split[2]
    return _split_object(value)


def _split_function(function: types.FunctionType) -> tuple[list[Any], _Rebuild] | None:
    cells = function.__closure__ or ()
    full = [cell for cell in cells if _is_full(cell)]
    parts = [cell.cell_contents for cell in full]

    def rebuild(new: list[Any]) -> Any:
        filled = dict(zip(map(id, full), map(types.CellType, new[: len(full)]), strict=True))
        closure = tuple(filled.get(id(cell), cell) for cell in cells)
        made = types.FunctionType(function.__code__, function.__globals__, function.__name__, new[-2], closure)
        made.__kwdefaults__ = new[-1]
        made.__dict__.update(function.__dict__)
        return made

    return [*parts, function.__defaults__, function.__kwdefaults__], rebuild


def _is_full(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _split_object(value: Any) -> tuple[list[Any], _Rebuild] | None:
    attributes = getattr(value, "__dict__", None)
    if not isinstance(attributes, dict):
        return None
    names = list(attributes)

    def rebuild(new: list[Any]) -> Any:
        made = copy.copy(value)
        made.__dict__.update(zip(names, new, strict=True))
        return made

    return [attributes[name] for name in names], rebuild


def plain(fun: Callable[..., Any], solver: str) -> Callable[..., Any]:
    """Return `fun` as a function of plain values for a solver to call.

    It runs in a trace of its own, which turns arrays that `tapeengine.numpy` made into plain ones when it ends. What is
    traced after that depends on a traced value that was not found in the callable, and is refused.
    """

    def called(*args: Any) -> Any:
        value = te.vjp(lambda: fun(*args))[0]
        if is_traced(value) or (isinstance(value, (list, tuple)) and any(map(is_traced, value))):
            raise UnsupportedError(
                f"{solver}: the callable uses a traced value that could not be taken out of it (such as a global "
                "variable); hand it over in args="
            )
        return value

    return called


def as_array(value: Any) -> Any:
    """Return a callable's result as an array; lists and tuples may hold traced scalars."""
    return np.array(value) if isinstance(value, (list, tuple)) else np.asarray(value)


def as_vector(value: Any) -> Any:
    """Return a callable's result as a vector."""
    return np.reshape(as_array(value), (-1,))


def jacobian(back: Callable[..., Any], size: int, position: int) -> Any:
    """Return the Jacobian in one primal, row by row, of a backpropagator whose value is a vector of `size`."""
    return np.stack([back(row)[position] for row in numpy.eye(size)])


def directional(function: Callable[[Any], Any], x: Any, tangent: Any) -> Any:
    """Return the derivative of a vector function in a direction: the transpose of its transpose."""
    value, back = te.vjp(function, x)
    _, forward = te.vjp(lambda ct: back(ct)[0], np.zeros_like(value))
    return forward(tangent)[0]
