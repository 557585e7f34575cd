"""The operators of traced arrays: they try the kernels first, then the rules of the trace."""

from cpython.object cimport PyObject_RichCompare
from tapeengine._core.tape cimport numpy_c as cnp

from tapeengine._core.arrays.array cimport Array
from tapeengine._core.arrays.assignment cimport put
from tapeengine._core.arrays.calls cimport is_foreign
from tapeengine._core.scalars.scalar cimport Dual
from tapeengine._core.arrays.storing cimport kernels, look_at, need_rules, plain
from tapeengine._core.tape.tape cimport traces

import operator

import numpy

from tapeengine._core.scalars.scalar import opcode_of

cnp.import_array()

#: Indexed by Python's codes of comparisons.
cdef tuple COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)


cdef object np_multiply = numpy.multiply, np_power = numpy.power


cdef object operate(object ufunc, object x, object y, int op=-1):
    """Apply a binary operator; at least one operand is a traced array."""
    if op >= 0 and kernels.elementwise != NULL:
        result = kernels.elementwise(op, ufunc, x, y)
        if result is not NotImplemented:
            return result
    a, other = (x, y) if type(x) is Array else (y, x)
    if getattr(type(other), "__array_ufunc__", type) is None:    # numpy's rule: the other class decides
        return NotImplemented
    rules = need_rules(<Array> a, ufunc.__name__)
    if ufunc is np_power or ufunc is np_multiply and (<Array> a).storage.number:
        return rules.operator(ufunc, x, y)
    return rules.ufunc(ufunc, "__call__", (x, y)[:ufunc.nin], {})


cpdef int is_number(object x) except -1:
    """Whether x is a number, also a traced one of any precision; 2 for an array in place of a complex one of Python."""
    if type(x) is Array:
        return (<Array> x).storage.number + (<Array> x).storage.python
    return type(x) is Dual or type(x) is float or type(x) is int or isinstance(x, (numpy.generic, complex))


cdef object ufunc_call(object ufunc, tuple inputs):
    """Call a ufunc by the kernels; NotImplemented if they do not fit."""
    if ufunc is numpy.matmul:
        return kernels.product(inputs[0], inputs[1])
    op = opcode_of(ufunc)
    if op is None:
        return NotImplemented
    return kernels.elementwise(op, ufunc, inputs[0], inputs[1] if len(inputs) == 2 else None)


cdef object in_place(Array a, object ufunc, object y, int op=-1):
    """a op= y: the operation, and a write of its result."""
    if is_foreign(y):
        if getattr(type(y), "__array_ufunc__", type) is None:
            return NotImplemented
        y = need_rules(a, ufunc.__name__).operand_in_place(ufunc, a, y)
    result = operate(ufunc, a, y, op)
    if result is NotImplemented:
        return result
    if a.storage.number:    # a scalar has no in-place operators: Python rebinds the name
        return result
    if not numpy.can_cast(result.dtype, a.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc {ufunc.__name__!r} output from {result.dtype!r} to {a.dtype!r} with casting "
                        "rule 'same_kind'")
    if result.shape != a.shape:
        raise ValueError(f"non-broadcastable output operand with shape {a.shape} doesn't match the broadcast shape "
                         f"{result.shape}")
    put(a, Ellipsis, result)
    return a


cdef object compared(object x, object y, int kind):
    """Compare the values of two operands."""
    outcome = PyObject_RichCompare(unseen(x), unseen(y), kind)
    if traces.recordings:
        look_at(COMPARISONS[kind], (x, y), outcome)
    return outcome


cdef object unseen(object x):
    """The values of an operand for a comparison, which notes only the outcome."""
    return plain((<Array> x).current()) if type(x) is Array else (<Dual> x).v if type(x) is Dual else x
