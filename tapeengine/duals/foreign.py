"""Operands of other libraries' classes: converted to plain arrays if numpy's result is plain, refused otherwise.

numpy lets a class override its functions (a pandas Series, a masked array, a quantity with a unit), and the result is
of that class. It cannot hold a derivative, so the operation is first run on plain values: if the result equals that of
`numpy.asarray(operand)`, the array replaces the operand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy

from .._core.arrays.array import Array, constant_of, holds_foreign, holds_traced, is_foreign, rules_of
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from .._core.sweeps.trace import value_of
from ..errors import DroppedDerivativeError, TapeEngineError, UnsupportedError, class_name

#: Operators that may return NotImplemented, so that Python asks the other operand.
OPERATORS = {f"__{r}{name}__" for r in ("", "r") for name in ("add", "sub", "mul", "truediv", "matmul")}
#: Methods of such classes that convert their operand to an array.
METHODS = {"multiply", "dot", "maximum", "minimum"}
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def as_plain(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Arguments:
    """The arguments of a call with arrays in place of foreign operands, which may hold traced ones."""
    given = given_by_operands(function, args, options)
    return converted(function, *given) if holds_foreign((*given[0], *given[1].values())) else given


def converted(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Arguments:
    """The arguments of a call with foreign operands converted to plain arrays, if the result is the same.

    Raises
    ------
    UnsupportedError
        If the plain program's result is no plain array or number, or differs.
    """
    found = replaced(array_of, args), replaced(array_of, dict(options))
    own = next((x for x in args if isinstance(function, (numpy.ufunc, partial)) and has_own_operators(x)), None)
    wanted = function(*replaced(value_of, args), **replaced(value_of, dict(options))) if own is None else own
    if not is_plain(wanted) or not alike(wanted, on_values(function, *found)):
        raise no_place_for_derivatives(wanted, function, (*args, *options.values()))
    return found


def given_by_operands(function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Arguments:
    """The arguments of a call, with the traced arrays that methods `__array__` return, which numpy refuses.

    numpy calls this method of classes that do not override the function.
    """
    wraps = ufunc_of(function) is not None
    protocol = "__array_ufunc__" if wraps or isinstance(function, partial) else "__array_function__"

    def change(value: Any) -> Any:
        if hasattr(type(value), protocol):
            return value
        found = given_by(value)
        if found is not value and wraps and (has_own_operators(value) or hasattr(type(value), "__array_wrap__")):
            raise UnsupportedError(
                f"a {class_name(value)} holds a traced array, and numpy's result is of that class, which cannot hold "
                "derivatives. Convert it first, with numpy.asarray of tapeengine.numpy or in lifted code"
            )
        return found

    return replaced(change, args), replaced(change, dict(options))


def given_by(value: Any) -> Any:
    """The traced array that the method `__array__` of an object returns; other objects as they are."""
    if isinstance(value, numpy.ndarray) or not hasattr(type(value), "__array__"):
        return value
    found = type(value).__array__(value)
    return found if holds_traced(found) else value


def ufunc_of(function: Any) -> Any:
    """The ufunc that a function is, or is a method of; None for other functions."""
    found = function if isinstance(function, numpy.ufunc) else getattr(function, "__self__", None)
    return found if isinstance(found, numpy.ufunc) else None


def by_their_class(function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """The result of a ufunc or of its method by an operand's class that overrides these; NotImplemented by no other.

    As in the plain program, the class gets the other operands as they are, and may compute with them.
    """
    ufunc = ufunc_of(function)
    if ufunc is None:
        return NotImplemented
    method = "__call__" if ufunc is function else function.__name__
    for x in args:
        handle = getattr(type(x), "__array_ufunc__", None)
        if handle is None or not is_foreign(x) or isinstance(x, numpy.ndarray):
            continue
        try:
            found = handle(x, ufunc, method, *args, **options)
        except TapeEngineError:
            raise
        except Exception:  # of a class that knows plain arrays only
            continue
        if found is not NotImplemented:
            return found
    return NotImplemented


def as_object_for_operators(a: Array) -> Any:
    """An object array that holds a traced array, which makes an operator of another class return NotImplemented.

    Such operators read other operands with numpy if a plugin has rules for their class. None if the caller is not such
    an operator.
    """
    frame = sys._getframe(1)
    module = str(frame.f_globals.get("__name__"))
    rules = rules_of(a)
    root = next((name for name in getattr(rules, "operators", ()) if module.startswith(f"{name}.")), None)
    if root is None:
        return None
    met = ""
    while str(frame.f_globals.get("__name__")).startswith(f"{root}.") and frame.f_code.co_name not in OPERATORS:
        met = frame.f_code.co_name if frame.f_code.co_name in METHODS else met
        frame = frame.f_back  # type: ignore[assignment]
    name = frame.f_code.co_name
    if name in OPERATORS and rules.of_class((frame.f_locals.get("self"),)) is None:
        return None  # of a class without rules
    if not any(x is a for x in frame.f_locals.values()) or name not in OPERATORS:
        return on_the_left(name if name in OPERATORS else met, root)  # a method cannot return NotImplemented
    found = numpy.empty((), object)
    found[()] = a
    return found


def on_the_left(method: str, library: str) -> None:
    """Raise an error for an operator or method that converts its right operand; do nothing for other functions."""
    if method:
        raise DroppedDerivativeError(
            f"{method} of {library} would turn its traced operand into a plain one and lose its derivative. Put a "
            "traced number on the left (s * A, (1 / s) * A), or lift the program: program = tapeengine.lift(program)"
        )


def has_own_operators(value: Any) -> bool:
    """Whether numpy's arrays leave operators to the class of a value, because it does not support ufuncs."""
    cls = type(value)
    if not is_foreign(value) or hasattr(cls, "__array_ufunc__"):
        return False
    try:
        return float(getattr(value, "__array_priority__", 0.0)) > 0.0
    except (TypeError, ValueError):  # numpy takes other objects for no priority
        return False


def is_opaque(value: Any) -> bool:
    """Whether numpy's operators leave a value to the operators of its class, which gets traced operands as they are."""
    readers = ("__array_function__", "__array_wrap__")
    is_known = str(type(value).__module__).startswith("scipy.")  # whose operators read plain numbers only
    return has_own_operators(value) and not is_known and not any(hasattr(value, name) for name in readers)


def on_values(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a function on plain values; NotImplemented if it does not accept plain arrays."""
    try:
        return function(*replaced(value_of, args), **replaced(value_of, options))
    except (TypeError, ValueError):
        return NotImplemented


def check_series() -> None:
    """Refuse a traced array that numpy.polynomial would combine with several series as if it were a number."""
    frame: Any = sys._getframe(1)
    while frame and str(frame.f_globals.get("__package__")).startswith("tapeengine"):
        frame = frame.f_back
    if not frame or frame.f_globals.get("__package__") != "numpy.polynomial":
        return
    names = frame.f_locals
    x, series = names.get("x"), names.get("c")
    if type(x) is Array and x.ndim and ("r" in names or (isinstance(series, numpy.ndarray) and series.ndim > 1)):
        raise UnsupportedError(
            "numpy.polynomial takes a traced array for a number, and would combine it wrongly with the coefficients. "
            "Use the function of tapeengine.numpy.polynomial, or lift the program: tapeengine.lift(program)"
        )


def is_plain(result: Any) -> bool:
    """Whether a result is a plain array or number, a tuple or list of them, or None."""
    if isinstance(result, (list, tuple)):
        return all(map(is_plain, result))
    return result is None or (
        isinstance(result, (numpy.ndarray, numpy.generic, int, float, complex)) and not is_foreign(result)
    )


def replaced(change: Callable[[Any], Any], value: Any) -> Any:
    """Arguments with each traced or foreign value replaced, also in lists, tuples and dicts."""
    if type(value) in (list, tuple):
        return type(value)(replaced(change, item) for item in value)
    if type(value) is dict:
        return {key: replaced(change, item) for key, item in value.items()}
    return change(value) if type(value) in (Array, Dual, ComplexDual) or is_foreign(value) else value


def shared(value: Any) -> Any:
    """An array that depends on no input as a plain array of the same memory; any other value as it is."""
    return numpy.asarray(value) if type(value) is Array and type(constant_of(value)) is numpy.ndarray else value


def on_constants(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """The result for arguments that depend on no input; NotImplemented for others."""
    plain, named = replaced(shared, args), replaced(shared, dict(options))
    if holds_traced([*plain, *named.values()]) or not holds_traced([*args, *options.values()]):
        return NotImplemented
    return function(*plain, **named)


def array_of(value: Any) -> Any:
    """A foreign operand as an array."""
    found = given_by(value) if is_foreign(value) else value
    return numpy.asarray(value) if found is value and is_foreign(value) else found


def alike(wanted: Any, got: Any) -> bool:
    """Whether the plain program's result equals the result for plain operands."""
    if isinstance(wanted, (list, tuple)):
        return type(wanted) is type(got) and len(wanted) == len(got) and all(map(alike, wanted, got))
    if wanted is None or got is NotImplemented:
        return got is None
    a, b = numpy.asarray(wanted), numpy.asarray(got)
    return a.dtype == b.dtype != object and numpy.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def foreign_classes(value: Any) -> list[str]:
    """The names of the foreign classes among arguments."""
    if type(value) in (list, tuple):
        return [name for item in value for name in foreign_classes(item)]
    return [class_name(value)] if is_foreign(value) else []


def no_place_for_derivatives(result: Any, function: Any = None, args: tuple[Any, ...] = ()) -> UnsupportedError:
    """The error for an operation whose result is of a class that cannot hold derivatives."""
    name = getattr(getattr(function, "args", [function])[0], "__name__", "an operation")
    given = "".join(f" and a {cls}" for cls in dict.fromkeys(foreign_classes(args)))
    kind = f"an array of dtype {result.dtype}" if type(result) is numpy.ndarray else f"a {class_name(result)}"
    hint = (
        "Convert the other operand to a plain array first, with numpy.asarray or a method of its class (to_numpy, "
        "filled, to_value, toarray)"
    )
    if isinstance(result, (numpy.ndarray, numpy.generic)) and result.dtype.kind == "V":
        hint = "Use float32 or float64"
    return UnsupportedError(f"{name} of a traced value{given} gives {kind}, which cannot hold derivatives. {hint}")
