"""Dispatch for numpy's protocols: when a function meets a traced value, look up its rule and call it.

A `Rules` table belongs to an engine and is passed to each trace. It holds the functions that rearrange and fill arrays
(which need no primitive), and the rules from the plugins' `tapeengine_numpy_rules` hooks.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy

from .._core.arrays.array import Array, form_of, fresh, holds_foreign, is_foreign, is_number, numbers_of, widened
from .._core.scalars.complex import ComplexDual
from .._core.scalars.scalar import Dual
from .._core.scalars.sequences import is_read, repeats
from .._core.sweeps.trace import value_of
from ..dropped import frame_of_program, is_compiled
from ..errors import TapeEngineError, UnsupportedError, class_name, original_name, pass_on
from ..primitive import Primitive
from .creation import CREATION, asarray, at, is_discrete, mask_of, number_of, objects, sample_of, spread
from .flat import Flat
from .foreign import (
    as_plain,
    by_their_class,
    check_series,
    converted,
    given_by_operands,
    has_own_operators,
    is_opaque,
    no_place_for_derivatives,
    on_constants,
    replaced,
)
from .labelled import holder_among
from .outputs import (
    assigned,
    check_holds,
    check_outputs,
    check_spread,
    joined,
    laid_out,
    numpys,
    of_form,
    shares,
    stored,
)
from .views import VIEWS

#: Functions that depend only on the shape, type and order of arrays: numpy's result for the values is the result.
OF_FORM: tuple[Any, ...] = (
    *(numpy.shape, numpy.ndim, numpy.size, numpy.result_type, numpy.can_cast, numpy.iscomplexobj, numpy.isrealobj),
    *(numpy.may_share_memory, numpy.shares_memory, numpy.common_type, numpy.einsum_path),
    *(numpy.diag_indices_from, numpy.tril_indices_from, numpy.triu_indices_from),
)
#: Functions that write, and functions whose result has no derivative.
OF_VALUES: tuple[Any, ...] = (
    *(numpy.array_repr, numpy.array_str, numpy.array2string, numpy.min_scalar_type, numpy.lexsort),
    *(numpy.save, numpy.savez, numpy.savez_compressed, numpy.savetxt),
)
#: Functions whose third argument is the dtype in which they compute; whole numbers have no derivative.
AVERAGES = {numpy.mean, numpy.std, numpy.var, numpy.nanmean, numpy.nanstd, numpy.nanvar}
#: Functions whose arguments numpy checks, by computing with the values.
CHECKED = {
    *(numpy.polymul, numpy.polydiv, numpy.polyder, numpy.meshgrid, numpy.histogram2d, numpy.histogramdd, numpy.cross),
    *(numpy.block, numpy.choose, numpy.repeat, numpy.tile, numpy.pad, numpy.linalg.pinv),
}
#: Those of them whose errors depend on the values.
OF_RANGES = {numpy.histogram2d, numpy.histogramdd}
#: Options that numpy checks and rules do not read.
RARE = {"casting", "correction", "device", "mean", "overwrite_input", "subok"}
#: Options of ufuncs that rules do not read: numpy checks them, and its result has the order.
UNREAD = {"casting", "order", "sig", "signature", "subok"}
#: Options of ufuncs of vectors and matrices that name the axes.
OF_CORES = {"axes", "axis", "keepdims"}
#: Options whose default is numpy's object for no value, which some rules do not know.
UNSET = {"initial", "keepdims", "mean", "rtol", "where"}
#: The classes of an option `keepdims` that numpy uses unchanged; it converts or refuses others.
FLAGS = {bool, int, type(numpy._NoValue)}
#: The ufuncs of the operator ** for Python's exponents.
POWERS: dict[Any, Any] = {(int, 2): numpy.square, (int, -1): numpy.reciprocal, (float, 0.5): numpy.sqrt}
#: The classes of operands that are passed to rules unchanged.
OPERANDS = frozenset((Array, Dual, ComplexDual, numpy.ndarray, numpy.float64, float, int, complex, bool))
#: Functions that ask an array for its shape, and so take no list, unless the second argument is a list of places.
IN_EQUAL_PARTS = {numpy.split, numpy.hsplit, numpy.vsplit, numpy.dsplit}
#: Functions that change their first argument, which must be an array.
IN_PLACE = {numpy.copyto, numpy.fill_diagonal, numpy.put, numpy.put_along_axis, numpy.putmask, numpy.place}
#: Functions whose arguments may be lists, which are passed unchanged.
OF_ANY_LIST = {
    *(*IN_PLACE, *OF_FORM, *OF_VALUES, numpy.choose, numpy.insert, numpy.piecewise, numpy.select),
    *(numpy.histogram, numpy.histogramdd, numpy.histogram2d),
}
#: Functions with an argument that is a sequence of arrays, of which their rules read each.
OF_PARTS = {
    *(numpy.concatenate, numpy.stack, numpy.vstack, numpy.hstack, numpy.dstack, numpy.column_stack),
    numpy.linalg.multi_dot,
}
#: Those of them that take an output.
JOINS = {numpy.concatenate, numpy.stack}
#: Functions with arguments that hold arrays. In those of others, a sequence is read as one array.
OF_SEQUENCES = {*OF_PARTS, numpy.block, numpy.einsum, numpy.einsum_path, numpy.ix_}


class Rules:
    """The rules in which a trace looks up functions.

    Parameters
    ----------
    numpy_rules : mapping of callable to callable
        Maps a function or ufunc to its replacement; for a method of a ufunc the key is ``(ufunc, method)``. If the key
        is a module's name, the value is a function that returns further rules; it is called once that module has been
        imported. If the key is a class, the value is a rule for operators between its instances and traced arrays:
        ``rule(ufunc, x, y)`` returns the result, or NotImplemented.
    failures : sequence
        One text for each failure of a plugin; the error for a function without a rule repeats them.
    """

    #: What the sparsity pattern of each record needs, by the record's id; None unless the structure is computed.
    wanted: dict[int, Any] | None = None

    def __init__(self, numpy_rules: Mapping[Any, Callable[..., Any]], failures: Sequence[Any] = ()) -> None:
        self.failures = failures
        now = {key: rule for key, rule in numpy_rules.items() if not isinstance(key, str)}
        self.later = {key: rules for key, rules in numpy_rules.items() if isinstance(key, str)}
        self.table: dict[Any, Callable[..., Any]] = {**VIEWS, **CREATION, **now}
        for function in OF_VALUES:
            self.table[function] = on_values(function, as_number)
        for function in OF_FORM:
            self.table[function] = on_values(function, of_its_form)

    def knows(self, function: Any) -> bool:
        """Whether there is a rule for a function."""
        return self.find(function) is not None

    def find(self, key: Any) -> Callable[..., Any] | None:
        """Look up a rule; if there is none, look among the rules of modules imported since."""
        rule = self.table.get(key)
        if rule is None and self.later:
            for module in [name for name in self.later if name in sys.modules]:
                self.table.update(self.later.pop(module)())
            rule = self.table.get(key)
        return rule_of_python(key) if rule is None else rule

    def function(self, function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a numpy function (`__array_function__`)."""
        rule = self.find(function)
        if rule is None:
            return self.without_rule(function, function, args, options)
        given = args, options
        plain = partial(numpys, function, *given)
        if not args:
            args, options = first_by_position(function, options)
        if len(args) > 1:
            args, options = out_by_name(function, args, options)
        if holds_foreign(args) or (options and holds_foreign(options.values())):
            return self.foreign(function, lambda *a, **o: self.function(function, a, o), args, options)
        if list in map(type, args) or tuple in map(type, args):
            is_list = function in IN_EQUAL_PARTS and type(args[0]) in (list, tuple)
            if is_list and (function is numpy.hsplit or not numpy.ndim(args[-1])):
                plain()
            args = tuple(arrays_of_lists(function, arg) for arg in args)
        if options:
            options = dict(zip(options, widened((*options.values(),)), strict=True))
            options = {
                k: x if k == "out" else arrays_of_lists(function, x)
                for k, x in options.items()
                if x is not numpy._NoValue or k not in UNSET
            }
        args = args if function in IN_PLACE else widened(args)
        if "where" in options:
            where = options["where"]
            if function in AVERAGES and not (type(where) is bool or getattr(where, "dtype", None) == numpy.bool):
                plain()
            options = {**options, "where": mask_of(where)}
        if ("dtype" in options or len(args) > 2) and function in AVERAGES and is_asked("biu", *args[2:3], **options):
            rule = on_values(function, as_number)
        out = options.get("out")
        if function is numpy.dot and type(out) is Array and not out.flags.c_contiguous:
            raise ValueError("output array is not acceptable: it is no C-Array")
        checked = function in CHECKED or type(out) is tuple or not RARE.isdisjoint(options)
        checked = checked and function not in IN_PLACE  # their rules check the options before they write
        if checked or (out is not None and "dtype" in options) or type(options.get("keepdims", False)) not in FLAGS:
            plain() if out is not None or function in OF_RANGES else of_form(function, *given)
        try:
            if out is None or function is numpy.clip:  # whose rule calls ufuncs
                return fresh(rule(*args, **options))
            if function in JOINS and shares(args[0], out):
                plain()
                return joined(args, function is numpy.stack, **options)
            result = rule(*args, **{key: value for key, value in options.items() if key != "out"})
            return stored(result, out, plain)
        except Exception as error:
            raise explained(error, function, *given) from error.__cause__

    def ufunc(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a ufunc, also as an operator, or one of its methods."""
        if method != "at" and not OPERANDS.issuperset(map(type, inputs)):
            count = len(inputs) if method in ("__call__", "outer") else 1
            inputs = (*map(operand, inputs[:count]), *inputs[count:])
        if holds_foreign(inputs if method != "at" else inputs[:1] + inputs[2:]):  # an index is read as one
            called = ufunc if method == "__call__" else getattr(ufunc, method)
            return self.foreign(called, lambda *a, **o: self.ufunc(ufunc, method, a, o), inputs, options)
        inputs = widened(inputs)
        if method == "__call__" and not options:
            rule = self.find(ufunc)
            if rule is None:
                return self.without_rule(ufunc, ufunc, inputs, options)
            try:
                return rule(*inputs)
            except Exception as error:
                raise explained(error, ufunc, inputs, options) from error.__cause__
        if method == "at":
            return self.at(ufunc, inputs)
        return self.with_options(ufunc, method, inputs, options)

    def by_name(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a ufunc by its name (`__array_ufunc__`), which applies no operators of another library's class."""
        for x in inputs if holds_foreign(inputs) else ():
            if has_own_operators(x) and self.of_class((x,)):
                raise UnsupportedError(
                    f"numpy.{ufunc.__name__} does not use the operators of a {class_name(x)}. Write the operator, or "
                    "convert the operand with toarray()"
                )
        result = self.ufunc(ufunc, method, inputs, options)
        if result is NotImplemented:
            raise no_place_for_derivatives(next(filter(is_opaque, inputs)), ufunc, inputs)
        return result

    def with_options(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a ufunc with options, or one of its methods."""
        if method != "outer" and method != "__call__" and options.get("dtype") is not None:
            dtype = numpy.dtype(options["dtype"])
            if is_discrete(dtype):  # as by astype, the result is discrete
                found = getattr(ufunc, method)(*replaced(value_of, inputs), **replaced(value_of, dict(options)))
                out = options.get("out")
                out = out[0] if isinstance(out, tuple) else out
                return found if out is None else assigned(out, found)  # a copy of a traced output was written to
            ufunc.resolve_dtypes((dtype, dtype, None), signature=(dtype,) * 3)  # raises numpy's errors
        called = ufunc if method == "__call__" else getattr(ufunc, method)
        if options.get("out") is not None:
            check_outputs(ufunc.__name__, options["out"])
        elif "out" in options and ufunc.nout > 1:
            numpys(called, inputs, options)  # raises numpy's error
        if method == "__call__" and is_asked("O", **options) and {"out", "where"}.isdisjoint(options):
            return ufunc(*(asarray(x).astype(object) for x in inputs), **options)
        plain = partial(numpys, called, inputs, unmasked(ufunc, options))
        checked = UNREAD if method != "__call__" else UNREAD | OF_CORES
        is_read = checked.isdisjoint(options) and type(options.get("keepdims", False)) in FLAGS
        without_out = partial(of_form, called, inputs, unmasked(ufunc, options))
        expected = None if is_read else (without_out if options.get("out") is None else plain)()
        result, out, where = self.computed(ufunc, method, inputs, dict(options))
        if where is not True:
            return self.masked(result, where, out, plain)
        if out is not None:
            if ufunc is numpy.vecdot and type(out) is Array:
                check_spread(ufunc.__name__, inputs, result, out)
            return stored(result, out, plain)
        return result if expected is None else laid_out(result, expected)

    def computed(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The result of a ufunc or of one of its methods, the output for it, and the mask of what is stored there."""
        rule = self.find(ufunc if method == "__call__" else (ufunc, method))
        called, given = ufunc if method == "__call__" else getattr(ufunc, method), (inputs, {**options})
        if rule is None:
            return self.without_rule(called, ufunc, inputs, options, method), None, True
        dtypes: tuple[Any, ...] = ()
        after = None
        if method == "__call__" and ufunc.signature is not None:
            inputs, after = core_axes(ufunc, inputs, options)
        asked = asked_dtypes(ufunc, options) if method in ("__call__", "outer") else None
        if asked is not None:
            try:
                inputs, dtypes = in_precision(ufunc, inputs, asked, options.get("casting", "same_kind"))
            except TypeError as error:
                raise explained(error, called, *given) from None
        options = {key: value for key, value in options.items() if key not in UNREAD}
        out, where = options.pop("out", None), mask_of(options.pop("where", True))
        if where is not True and method == "reduce":
            options["where"] = where
            where = True
        try:
            result = rule(*inputs, **options)
        except Exception as error:
            raise explained(error, called, *given) from error.__cause__
        result = after(result) if after else result
        if dtypes:
            parts = result if isinstance(result, tuple) else (result,)
            parts = tuple(cast(part, dtype) for part, dtype in zip(parts, dtypes, strict=True))
            result = parts if isinstance(result, tuple) else parts[0]
        out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        return result, out, where

    def operator(self, ufunc: Any, x: Any, y: Any) -> Any:
        """A product or power by an operator, whose last bits are not always those of the ufunc.

        numpy has other loops for numbers, and other ufuncs for some of Python's exponents; only complex values differ.
        """
        x, y = (z._array() if type(z) is ComplexDual else z for z in (x, y))
        if not (is_number(x) and is_number(y)):
            if ufunc is numpy.multiply and (repeats(x) or repeats(y)):
                return NotImplemented
            exponent = (type(y), y) if type(y) in (int, float) and ufunc is numpy.power else None
            fast = POWERS.get(exponent) if type(x) is Array and x.dtype.kind == "c" else None
            return self.ufunc(ufunc, "__call__", (x, y), {}) if fast is None else self.ufunc(fast, "__call__", (x,), {})
        rule = self.find((ufunc, "numbers"))
        return self.ufunc(ufunc, "__call__", (x, y), {}) if rule is None else rule(*widened((x, y)))

    @property
    def operators(self) -> list[str]:
        """The packages with rules for their classes, whose operators leave traced operands to these rules."""
        self.find(None)
        return [key.__module__.rpartition(".")[0] for key in self.table if isinstance(key, type)]

    def of_class(self, args: tuple[Any, ...]) -> Callable[..., Any] | None:
        """The rule for the class of an operand, which handles operators and ufuncs of two operands."""
        classes = [cls for x in args if type(x) is not Array for cls in type(x).__mro__[:-1]]
        return next((rule for rule in map(self.find, classes) if rule is not None), None)

    def without_rule(self, called: Any, function: Any, args: Any, options: Any, method: str = "__call__") -> Any:
        """Call a function without a rule if no argument depends on an input."""
        result = on_constants(called, args, options)
        if result is NotImplemented:
            raise missing(function, len(args), self.failures, method)
        return result

    def foreign(self, function: Any, again: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a function whose operands include another library's; these become plain arrays if that is equivalent."""
        args, options = given_by_operands(function, args, options)
        if not holds_foreign((*args, *options.values())):
            return again(*args, **options)
        found = on_constants(function, args, options)
        if found is not NotImplemented:
            return found
        own = self.of_class(args) if isinstance(function, numpy.ufunc) and not options else None
        if own is not None:
            result = own(function, *args)
            if result is not NotImplemented:
                return result
        holder = holder_among(args) if isinstance(function, numpy.ufunc) else None
        if holder is not None:
            return holder.__array_ufunc__(function, "__call__", *args, **options)
        if isinstance(function, numpy.ufunc) and own is None:
            opaque = next(filter(is_opaque, args), None)  # on the left, its class has no such operator
            if opaque is not None and (args[-1] is opaque or not hasattr(opaque, "__array__")):
                return NotImplemented
        rule = self.find(function)
        if isinstance(rule, Primitive) and not any(rule.vjp_rules):
            result = function(*replaced(value_of, args), **replaced(value_of, dict(options)))
            if numpy.asarray(result).dtype.kind in "biu":
                return result
        try:
            plain, named = converted(function, args, options)
        except UnsupportedError:
            found = by_their_class(function, args, options)
            if found is NotImplemented:
                raise
            return found
        return again(*plain, **named)

    def operand_in_place(self, ufunc: Any, a: Any, y: Any) -> Any:
        """The plain array for a foreign operand of `a op= y`, whose result is always an array."""
        return as_plain(partial(into_first, ufunc), (a, y), {})[0][1]

    def error_in_place(self, error: Exception, ufunc: Any, a: Any, y: Any) -> Exception:
        """The error of `a op= y`, which numpy computes with the array as `out`."""
        return explained(error, partial(into_first, ufunc), (a, y), {})

    def at(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        """`ufunc.at`."""
        if not isinstance(inputs[0], Array):
            check_holds(inputs[0], inputs[-1])
            return ufunc.at(*replaced(value_of, inputs))
        rule = self.table.get((ufunc, "at"))
        if rule is not None and ufunc not in (numpy.add, numpy.subtract):
            return rule(
                *inputs[:2], *(x.copy() if type(x) is Array else x for x in inputs[2:])
            )  # which may share memory
        try:
            at(ufunc, *inputs)
        except NotImplementedError:
            self.without_rule(ufunc.at, ufunc, inputs, {}, "at")

    def masked(self, result: Any, where: Any, out: Any, plain: Any) -> Any:
        """A ufunc's results with `where`: other elements keep the values of `out`, or are arbitrary without it."""
        results = result if isinstance(result, tuple) else (result,)
        outs = out if isinstance(out, tuple) else (out,) * len(results)
        for part, place in zip(results, outs, strict=True):
            if place is not None:
                check_holds(place, part)
        if out is not None:
            plain()
        found = tuple(self.kept(part, where, place) for part, place in zip(results, outs, strict=True))
        return found if isinstance(result, tuple) else found[0]

    def kept(self, result: Any, where: Any, out: Any) -> Any:
        """One of these results."""
        if out is None:
            other = numpy.zeros(numpy.broadcast_shapes(numpy.shape(form_of(result)), where.shape), result.dtype)
            return self.function(numpy.where, (where, result, other), {})[()]
        mask = numpy.broadcast_to(where, out.shape)
        out[mask] = spread(result, out.shape)[mask]
        return out


def unmasked(ufunc: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options with which numpy may compute values: SciPy's loops write beyond their arrays under a mask (1.17)."""
    if "where" not in options or getattr(numpy, ufunc.__name__, None) is ufunc:
        return options
    return {name: value for name, value in options.items() if name not in ("where", "out")}


@functools.cache
def place_of_out(function: Any) -> int | None:
    """The position of the argument `out` in a function's signature; None if it has none there."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # numpy does not tell the signatures of some of its compiled functions
        return None
    found = parameters.get("out")
    return None if found is None or found.kind is found.KEYWORD_ONLY else [*parameters].index("out")


def out_by_name(function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """The arguments of a call with `out` by name: rules do not read it."""
    place = place_of_out(function)
    if place is None or len(args) <= place or "out" in options:
        return args, options
    rest = (None, *args[place + 1 :]) if len(args) > place + 1 else ()
    return (*args[:place], *rest), options if args[place] is None else {**options, "out": args[place]}


def first_by_position(function: Any, options: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments of a call by names only, with the first one by position: rules need not know its name."""
    try:
        name = next(iter(inspect.signature(function).parameters), None)
    except ValueError:  # numpy does not tell the signatures of some of its compiled functions
        name = None
    if name is None or name not in options:
        return (), options
    return (options[name],), {key: value for key, value in options.items() if key != name}


def operand(x: Any) -> Any:
    """An operand of a ufunc, which reads buffers and sequences as arrays; other classes may have rules of their own."""
    if isinstance(x, (list, tuple)):
        return asarray(x)
    if type(x) is Flat:
        return x.copy()
    return numpy.asarray(x) if is_read(x) and not is_foreign(x) else x


def arrays_of_lists(function: Any, value: Any) -> Any:
    """An argument of a function; in place of a list of numbers or arrays, of which some are traced, one array."""
    if function in OF_ANY_LIST or type(value) not in (list, tuple) or not value:
        return value
    if function in OF_PARTS and any(type(part) in (list, tuple) for part in value):
        return value
    leaves = [*value]
    while any(type(item) in (list, tuple) for item in leaves):
        leaves = [leaf for item in leaves for leaf in (item if type(item) in (list, tuple) else [item])]
    traced, numbers = (Dual, ComplexDual, Array), (float, int, complex, numpy.generic, Dual, ComplexDual)
    read = numbers if function in OF_SEQUENCES else (*numbers, Array, numpy.ndarray)
    is_read = any(type(x) in traced for x in leaves) and all(isinstance(x, read) for x in leaves)
    return asarray(value) if is_read else value


def is_asked(kinds: str, dtype: Any = None, **options: Any) -> bool:
    """Whether a dtype of some kinds is asked for."""
    try:
        return dtype is not None and numpy.dtype(dtype).kind in kinds
    except TypeError:
        return False


def explained(error: Exception, function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Exception:
    """The error of a failed call: the engine's, the plain program's, or one that says what the rule cannot do."""
    pass_on(error)
    if isinstance(error, TapeEngineError | RecursionError):
        return error
    check_series()
    is_of_numbers = isinstance(error, (FloatingPointError, Warning))  # the plain program may have asked to be told
    try:
        with nullcontext() if is_of_numbers else numpy.errstate(all="ignore"):
            numpys(function, args, options)
    except Exception as plain:
        return error if (type(plain), plain.args) == (type(error), error.args) else plain
    name = f"{getattr(function, '__module__', None) or 'numpy'}.{getattr(function, '__name__', function)}"
    return UnsupportedError(
        f"the rule of {name} does not support these arguments for traced values ({type(error).__name__}: {error}). Use "
        "arrays instead of lists, and pass options and out as keyword arguments"
    )


def asked_dtypes(ufunc: Any, options: dict[str, Any]) -> Any:
    """The dtypes of operands and results that a call asks for by `dtype` or `signature`, None for a free one.

    The dtype is taken out of the options.
    """
    dtype, asked = options.pop("dtype", None), options.get("signature", options.get("sig"))
    asked = asked.replace("->", "") if isinstance(asked, str) else asked
    if asked is None:
        asked = None if dtype is None else (None,) * ufunc.nin + (dtype,) * ufunc.nout
    return asked and tuple(None if one is None else numpy.dtype(one) for one in asked)


def core_axes(ufunc: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    """The operands of a ufunc of vectors and matrices with the axes that it reads at the end, and their places after.

    The options that name the axes are taken out.
    """
    axes, axis, keep = options.pop("axes", None), options.pop("axis", None), options.pop("keepdims", False)
    if axes is None:
        axes = [-1 if axis is None else axis] * (ufunc.nargs if keep else ufunc.nin) if keep or axis is not None else []
    axes = [one if isinstance(one, tuple) else (one,) for one in axes]
    last = [range(-len(one), 0) for one in axes]
    inputs = (*map(numpy.moveaxis, inputs, axes, last), *inputs[len(axes) :])
    after = axes[ufunc.nin] if len(axes) > ufunc.nin else (-1,) if keep else ()
    if keep or not after:
        return inputs, partial(numpy.expand_dims, axis=after) if after else None
    return inputs, partial(numpy.moveaxis, source=last[ufunc.nin], destination=after)


def in_precision(ufunc: Any, inputs: tuple[Any, ...], asked: Any, casting: Any) -> tuple[tuple[Any, ...], Any]:
    """The operands of a ufunc in the dtypes in which numpy computes if some are asked for, and those of the results.

    Python's numbers adapt.
    """
    given = [getattr(x, "dtype", type(x) if type(x) in (int, float, complex) else None) for x in inputs]
    given = [
        float if type(x) is Dual else kind or numpy.asarray(x).dtype for x, kind in zip(inputs, given, strict=True)
    ]
    found = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout), signature=asked, casting=casting)
    operands = [adapted(x, kind, to) for x, kind, to in zip(inputs, given, found[: ufunc.nin], strict=True)]
    return tuple(operands), found[ufunc.nin :]


def adapted(x: Any, kind: Any, to: Any) -> Any:
    """An operand in the dtype in which numpy computes; Python's whole numbers adapt by themselves."""
    is_other = kind is float or (isinstance(kind, numpy.dtype) and (kind.kind in "fc" or to.kind in "fc"))
    return asarray(x).astype(to) if is_other and kind != to else x


def cast(result: Any, dtype: Any) -> Any:
    """A result of a ufunc in the dtype that was asked for."""
    return result if getattr(result, "dtype", numpy.dtype(float)) == dtype else asarray(result).astype(dtype)


def as_number(x: Any) -> Any:
    """A traced argument without the derivative."""
    return numbers_of(x) if type(x) is Array and not is_number(x) else number_of(x)


def of_its_form(x: Any) -> Any:
    """A traced argument as a plain one with the same shape and dtype."""
    return form_of(x) if type(x) is Array and not is_number(x) else sample_of(x)


def into_first(ufunc: Any, a: Any, y: Any) -> Any:
    """Apply an in-place operation to a plain array, and return that array."""
    if ufunc is numpy.matmul:
        a @= y
        return a
    return ufunc(a, y, out=a)


def on_values(function: Any, seen: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function whose result does not depend on derivatives, applied to the plain versions of its arguments."""

    def answered(*args: Any, **options: Any) -> Any:
        return function(*replaced(seen, args), **replaced(seen, options))

    return answered


def is_of_python(ufunc: numpy.ufunc) -> bool:
    """Whether a function of numpy calls one of Python, which it does not show (`numpy.frompyfunc`)."""
    return bool(ufunc.types) and all(set(kinds) <= {"O", "-", ">"} for kinds in ufunc.types)


def rule_of_python(key: Any) -> Callable[..., Any] | None:
    """The rule of a ufunc that calls a function of Python, or of one of its methods: it gets traced elements."""
    ufunc, method = key if isinstance(key, tuple) else (key, "__call__")
    if not isinstance(ufunc, numpy.ufunc) or not is_of_python(ufunc):
        return None
    called = getattr(ufunc, method)
    traced = (Array, Dual, ComplexDual)
    return lambda *inputs, **options: called(*(objects(x) if type(x) in traced else x for x in inputs), **options)


def missing(function: Any, count: int, failures: Sequence[Any], method: str = "__call__") -> UnsupportedError:
    """The error for a function of `count` arguments without a rule; its lines work once the partials are filled in."""
    module, name = home(function)
    module = original_name(module)
    dot, underscore = ("", "") if method == "__call__" else (f".{method}", f"_{method}")
    called = (f"{module}.{name}" if module else name or "ufunc") + dot
    own = ("" if module else "my_") + (name or "ufunc") + underscore
    headline = called if name else f"{function!r}{dot}"
    is_missing = "scipy." in called and find_spec("tapeengine_scipy") is None
    hint = "pip install 'tapeengine[scipy]' brings rules for many functions of SciPy. " if is_missing else ""
    names = ["x"] if count <= 1 else [f"x{k}" for k in range(1, count + 1)]
    args = ", ".join(names)
    rules = ", ".join(f"{x}=lambda ct, {args}: ct * ..." for x in names)
    lines = [
        f"{headline} has no derivative rule. {hint}Call a primitive of your own in its place:",
        f"    import {', '.join(filter(None, (module, 'tapeengine')))}",
        "    @tapeengine.primitive",
        f"    def {own}({args}): return {called}({args})",
        f"    {own}.def_vjp({rules})  # in place of ...: the partial derivative by that argument",
        "A plugin's tapeengine_numpy_rules brings it everywhere. tapeengine.value(x) drops the derivative on purpose",
        *map(str, failures),
    ]
    return UnsupportedError("\n".join(lines))


def home(function: Any) -> tuple[str, str]:
    """The module that exports a function, and its name there; for one of the program's own, "" and its variable.

    A ufunc does not name its module, so modules are searched, public ones first.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    if module is not None or getattr(numpy, name, None) is function:
        return module or "numpy", name
    held = {key: getattr(value, "__dict__", {}).get(name) for key, value in list(sys.modules.items())}
    holders = [key for key, x in held.items() if x is function or getattr(x, "ufunc", None) is function]
    if holders:
        return min(holders, key=lambda key: (not is_compiled(key.partition(".")[0]), "._" in key, len(key))), name
    frame = frame_of_program(sys._getframe(1))
    variables = {**frame.f_globals, **frame.f_locals}
    return "", next((key for key, value in variables.items() if value is function), "")
