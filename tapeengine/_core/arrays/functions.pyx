"""numpy's functions for `tapeengine.numpy`: each tries the kernels first, then the trace's rules, then numpy.

They find traced arguments without numpy's protocols, which cost more than a small operation.
"""

from cpython.long cimport PyLong_CheckExact

from tapeengine._core.arrays.array cimport Array, check_depth, kernels
from tapeengine._core.arrays.kernels cimport elementwise, one_value, product, total
from tapeengine._core.scalars.complex cimport ComplexDual
from tapeengine._core.scalars.scalar cimport Dual, as_double, binary_of, by_ufunc, of_kind, other_precision, unary_of
from tapeengine._core.tape.tape cimport NUMPY_DOUBLES

from functools import partial

import numpy

from tapeengine._core.arrays.array import from_values, is_of_reader, rules_of
from tapeengine._core.scalars.scalar import opcode_of
from tapeengine._core.tape.above import ABOVE

kernels.product = product


cdef bint real(object x, double *value) except -1:
    """Whether x is a real scalar that is no numpy.float32 or its like; sets `value`."""
    if type(x) is Dual:
        value[0] = (<Dual> x).v
        return True
    return not other_precision(x) and as_double(x, value)


cdef object traced_in(object args):
    """A traced array among the arguments, or a traced value in lists of them; None if there is none."""
    for x in args:
        if type(x) is Array:
            return x
        if type(x) is list or type(x) is tuple:
            found = first_traced(x)
            if found is not None:
                return found
    return None


cdef object first_traced(object items, int depth=0):
    check_depth(depth)
    for x in items:
        if type(x) is Dual or type(x) is Array:
            return x
        if type(x) is ComplexDual:
            return (<ComplexDual> x).re if type((<ComplexDual> x).re) is Dual else (<ComplexDual> x).im
        if type(x) is list or type(x) is tuple:
            found = first_traced(x, depth + 1)
            if found is not None:
                return found
    return None


cdef tuple of_objects(tuple args):
    """Arguments with traced arrays in place of object arrays, Series and frames of pandas that hold traced numbers.

    None if there are no such arguments.
    """
    cdef bint met = False
    cdef list found = []
    for x in args:
        values = x.to_numpy() if hasattr(x, "to_numpy") else x
        if type(values) is numpy.ndarray and values.dtype == object:
            items = values.tolist()
            if type(items) is list and first_traced(items) is not None:
                x = from_values(items)
                met = True
        found.append(x)
    return tuple(found) if met else None


cdef object by_rules(object traced, object ufunc, tuple args, dict options):
    """Call a ufunc by the rules of a trace; outputs given by position become the option `out`."""
    out = args[ufunc.nin:]
    if out:
        if "out" in options or len(out) > ufunc.nout:
            return ufunc(*args, **options)  # raises numpy's error
        options = {**options, "out": out + (None,) * (ufunc.nout - len(out))}
    return rules_of(traced).ufunc(ufunc, "__call__", args[:ufunc.nin], options)


METHODS = frozenset(("accumulate", "at", "outer", "reduce", "reduceat"))


def on_arrays(method, *args, **options):
    """Call a method of a ufunc, with arrays in place of lists that hold traced values, except one to be changed."""
    traced = first_traced(options.values())
    if traced is not None:
        return rules_of(traced).ufunc(method.__self__, method.__name__, args, options)
    kept = args[:1] if method.__name__ == "at" else ()
    rest = [from_values(x) if type(x) in (list, tuple) and first_traced(x) is not None else x
            for x in args[len(kept):]]
    return method(*kept, *rest, **options)


cdef class Ufunc:
    """A ufunc: only the call is replaced, all other attributes are numpy's."""

    cdef readonly object ufunc
    cdef int op, nin

    def __init__(self, ufunc):
        self.nin = ufunc.nin
        op = opcode_of(ufunc)
        self.ufunc = ufunc
        self.op = -1 if op is None else op

    def __call__(self, *args, **options):
        cdef Py_ssize_t n = len(args)
        if n == 0 or n > self.nin or n > 2 or options:
            return self.of_lists(args, options)
        x = args[0]
        y = args[1] if n == 2 else None
        if type(x) is Dual or type(y) is Dual:
            return self.of_scalars(x, y, args)
        traced = x if type(x) is Array or type(x) is Dual else y
        if type(traced) is Array:
            if self.op >= 0 and n == self.nin:
                result = elementwise(self.op, self.ufunc, x, y)
                if result is not NotImplemented:
                    return result
            return rules_of(traced).ufunc(self.ufunc, "__call__", args, options)
        return self.of_lists(args, options)

    cdef object of_lists(self, tuple args, dict options):
        """A call with lists among the arguments, in which numpy does not look for traced values."""
        traced = traced_in(args)
        if traced is None:
            try:
                return self.ufunc(*args, **options)
            except ValueError as error:
                given = ABOVE.given(args) if is_of_reader(error) else ()
                if traced_in(given) is None:
                    raise
            return self(*given, **options)
        return by_rules(traced, self.ufunc, args, options)

    cdef object of_scalars(self, object x, object y, tuple args):
        """A call on scalars, at least one of them a dual."""
        cdef double a = 0.0, b = 0.0, value
        cdef bint known = self.op >= 0 and len(args) == self.nin and real(x, &a) and (self.nin == 1 or real(y, &b))
        try:
            known = known and one_value(self.ufunc, a, b, self.nin + 1, &value)
        except ArithmeticError:     # raised again below, by a function that notes it on a recording
            known = False
        if not known:
            return self.ufunc(*args)
        if self.nin == 1:
            return by_ufunc(unary_of(<Dual> x, self.op, value, NUMPY_DOUBLES), self.op, self.ufunc, args)
        return by_ufunc(of_kind(binary_of(x, y, self.op, value), NUMPY_DOUBLES), self.op, self.ufunc, args)

    def __getattr__(self, name: str):
        found = getattr(self.ufunc, name)
        return partial(on_arrays, found) if name in METHODS else found

    def __eq__(self, other):    # numpy passes its own functions to the methods of classes
        return other is self.ufunc or type(other) is Ufunc and (<Ufunc> other).ufunc is self.ufunc

    def __hash__(self):
        return hash(self.ufunc)

    def __repr__(self):
        return repr(self.ufunc)

    @property
    def __class__(self):    # what isinstance sees
        return numpy.ufunc

    @property
    def __doc__(self):
        return self.ufunc.__doc__

    def __reduce__(self):
        return Ufunc, (self.ufunc,)


cdef class Function:
    """A numpy function that dispatches on its arguments."""

    cdef readonly object function
    cdef dict __dict__

    def __init__(self, function):
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __call__(self, *args, **options):
        traced = first_traced(args)
        if traced is None and options:
            traced = first_traced(options.values())
        if traced is not None:
            return rules_of(traced).function(self.function, args, options)
        try:
            return self.function(*args, **options)
        except (TypeError, AttributeError):  # raised by numpy for objects that it cannot compute with
            traced_args = of_objects(args)
            if traced_args is None:
                raise
        except ValueError as error:
            traced_args, options = ABOVE.given((args, options)) if is_of_reader(error) else ((), {})
            if first_traced((*traced_args, *options.values())) is None:
                raise
        return self(*traced_args, **options)

    def __getattr__(self, name: str):
        return getattr(self.function, name)

    def __eq__(self, other):
        return other is self.function or isinstance(other, Function) and (<Function> other).function is self.function

    def __hash__(self):
        return hash(self.function)

    def __repr__(self):
        return repr(self.function)

    @property
    def __class__(self):
        return type(self.function)

    def __reduce__(self):
        return type(self), (self.function,)


cdef class Sum(Function):
    """numpy.sum or numpy.mean."""

    cdef bint mean

    def __init__(self, function):
        Function.__init__(self, function)
        self.mean = function is numpy.mean

    def __call__(self, *args, **options):
        if args and type(args[0]) is Array:
            result = summed(args, options, self.mean)
            if result is not NotImplemented:
                return result
        return Function.__call__(self, *args, **options)


cdef object summed(tuple args, dict options, bint mean):
    """The sum or mean by the kernel; NotImplemented if the kernel does not fit."""
    cdef Py_ssize_t n = len(args), place
    axis = None
    if n == 2 and not options:
        axis = args[1]
    elif n == 1 and len(options) == 1 and "axis" in options:
        axis = options["axis"]
    elif n != 1 or options:
        return NotImplemented
    if axis is None:
        return total(args[0], -1, False, mean)
    if not PyLong_CheckExact(axis):
        return NotImplemented
    place = axis
    if place < 0:
        place += args[0].ndim
    return total(args[0], place, False, mean) if 0 <= place < 64 else NotImplemented


cdef class Product(Function):
    """numpy.dot, or the ufunc numpy.matmul."""

    def __call__(self, *args, **options):
        if len(args) == 2 and not options and (type(args[0]) is Array or type(args[1]) is Array):
            result = product(args[0], args[1])
            if result is not NotImplemented:
                return result
        if self.function is numpy.dot:
            return Function.__call__(self, *args, **options)
        traced = traced_in(args)
        return self.function(*args, **options) if traced is None else by_rules(traced, self.function, args, options)


def sum_method(Array self, *args, **options):
    """ndarray.sum."""
    result = summed((self, *args), options, False)
    return rules_of(self).function(numpy.sum, (self, *args), options) if result is NotImplemented else result


def mean_method(Array self, *args, **options):
    """ndarray.mean."""
    result = summed((self, *args), options, True)
    return rules_of(self).function(numpy.mean, (self, *args), options) if result is NotImplemented else result


def offered(value):
    """The object that `tapeengine.numpy` offers under one of numpy's names."""
    if value is numpy.sum or value is numpy.mean:
        return Sum(value)
    if value is numpy.dot or value is numpy.matmul:
        return Product(value)
    if isinstance(value, numpy.ufunc):
        return Ufunc(value)
    if type(value).__name__ == "_ArrayFunctionDispatcher":
        return Function(value)
    return value
