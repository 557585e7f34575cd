"""Dual scalars: Python's arithmetic on floats, recorded.

A dual is a value, the id of its backpropagator (DN section 5) and the tag of its trace. Each operation makes one, so
duals come from a pool and are not tracked by the cyclic garbage collector.
"""

import decimal
import fractions
import math
import numbers
import operator
from functools import partial

import numpy

from cpython.complex cimport PyComplex_Check, PyComplex_CheckExact
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check, PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_Check, PyLong_CheckExact
from cpython.object cimport Py_EQ, Py_GE, Py_GT, Py_LE, Py_LT, Py_NE, PyObject_RichCompare
from libc.math cimport floor, isfinite, isnan, pow
from libc.stdint cimport uint32_t
cimport cython

from tapeengine._core.tape.tape cimport carried, look_in_order
from tapeengine._core.tape.guards cimport (
    TE_CALL, TE_CEIL, TE_EQ_FALSE, TE_EQ_TRUE, TE_EXACT, TE_FLOOR, TE_LE_FALSE, TE_LE_TRUE, TE_LT_FALSE, TE_LT_TRUE,
    TE_ROUND, TE_SELECTION, TE_TRUNC,
)
from tapeengine._core.tape.opcodes cimport (
    CONSTANT_LEFT, CONSTANT_RIGHT, OP_ABS, OP_ADD, OP_COUNT, OP_DIV, OP_MOD, OP_MUL, OP_NEG, OP_POW, OP_SQRT, OP_SUB,
    op_arities, op_da, op_db, op_selects, op_ufuncs, op_value,
)
from tapeengine._core.tape.tape cimport (
    Head, INPUT, NUMPY_DOUBLES, PYTHON_FLOATS, above, guard, head_of, record1, record2, record_function, tape_of, traces,
)

from tapeengine._core.scalars.discrete import quotient
from tapeengine._core.scalars.floatlike import FloatLike, refused
from tapeengine.dropped import is_formatting, told
from tapeengine.errors import DroppedDerivativeError, TraceError, UnsupportedError

cdef extern from "Python.h":
    double PyLong_AsDouble(object) except? -1.0

cdef object generic = numpy.generic, numpy_true = numpy.True_, numpy_false = numpy.False_
cdef object inexact = numpy.inexact
cdef object numpy_number = (numpy.floating, numpy.integer, numpy.bool_)
cdef object timedelta64 = numpy.timedelta64     # an integer of numpy's, but no number
cdef object Rational = numbers.Rational
cdef object Fraction = fractions.Fraction


cdef double value_of_op(int op, double a, double b) noexcept nogil:
    return op_value(op, a, b)


cdef double partial_a(int op, double a, double b, double v) noexcept nogil:
    return op_da(op, a, b, v)


cdef double partial_b(int op, double a, double b, double v) noexcept nogil:
    return op_db(op, a, b, v)


cdef bint as_double(object x, double *out) except -1:
    """Whether x is a real number other than a dual; sets `out` to its value."""
    if PyFloat_Check(x):
        out[0] = PyFloat_AS_DOUBLE(x)
    elif PyLong_Check(x):
        out[0] = PyLong_AsDouble(x)
    elif (isinstance(x, numpy_number) or isinstance(x, Rational)) and not isinstance(x, timedelta64):
        out[0] = <double> x
    else:
        return False
    return True


cdef bint as_operand(object x, double *out) except -1:
    """As `as_double`, but false for numpy.float32 and its like: with one, an operation may have its precision."""
    return False if other_precision(x) else as_double(x, out)


cdef bint is_reflected(object y, str name) except -1:
    """Whether the class of a right operand, a subclass of float, has its own method, which Python calls first."""
    if name is None or not PyFloat_Check(y) or is_numpy_scalar(y):
        return False
    return getattr(type(y), name) is not getattr(float, name)


cdef inline bint as_right(object y, str name, double *out) except -1:
    """As `as_operand` for a right operand; false for one with its own method of that name, as `beyond_reals` expects."""
    if PyFloat_CheckExact(y):
        out[0] = PyFloat_AS_DOUBLE(y)
        return True
    return not is_reflected(y, name) and as_operand(y, out)


cdef bint other_precision(object x) except -1:
    """Whether x is a number of numpy that is no float64 or complex128."""
    return not (PyFloat_Check(x) or PyLong_Check(x) or PyComplex_Check(x)) and isinstance(x, inexact)


cdef Head *head_of_dual(Dual x) except NULL:
    cdef Head *h = head_of(x.tag)
    if h == NULL:
        raise TraceError(
            f"a dual number of the value {x.v!r} is used after its trace has ended. A program must return what it "
            "computes; elsewhere keep only plain numbers (tapeengine.value(x) gives one)"
        )
    return h


cdef inline bint is_numpy_scalar(object x) except -1:
    return not (PyFloat_CheckExact(x) or PyLong_CheckExact(x)) and isinstance(x, generic)


cdef bint is_numpy(object x) except -1:
    """Whether an operand follows numpy.float64, which divides by zero with a warning, and not Python's float."""
    cdef Head *h
    if type(x) is not Dual:
        return is_numpy_scalar(x)
    h = head_of((<Dual> x).tag)
    if h == NULL or not h.kinds & NUMPY_DOUBLES:
        return False
    return not h.kinds & PYTHON_FLOATS or above("arrays.array").counts_as_double(x)


cdef inline int learn(Head *h, int kind, uint32_t a, uint32_t b, double c) except -1:
    return 0 if h.guards == NULL else look_in_order(h, kind, a, b, c)


cdef int look(Dual x, int kind, double c) except -1:
    """Record that the program learns something about x, if the trace is a recording."""
    return learn(head_of_dual(x), kind, x.id, 0, c)


cdef int look_exactly(Dual x) except -1:
    """Record that the program learns the value of x."""
    return learn(head_of_dual(x), TE_EXACT, x.id, 0, x.v)


cdef uint32_t record_selection(Head *h, int op, uint32_t p1, uint32_t p2, double a, double b, double value) except 0:
    """Record an operation that selects among its operands, such as a maximum; an id of 0 is a constant.

    An operand that is not selected is no parent of the record, so no cotangent reaches it, not even an infinite one. A
    recording notes the operation itself, since a replay may select the other operand.
    """
    cdef double da = op_da(op, a, b, value) if p1 else 0.0
    cdef double db = op_db(op, a, b, value) if p2 else 0.0
    if h.guards != NULL:
        guard(h, TE_SELECTION | op, p1, p2, a if p1 == 0 else b)
    if da != 0.0 and db != 0.0:
        return record2(h, op, p1, p2, da, db, value)
    if da != 0.0:
        return record1(h, op + CONSTANT_RIGHT if op_arities[op] == 2 else op, p1, da, b, value)
    if db != 0.0:
        return record1(h, op + CONSTANT_LEFT, p2, db, a, value)
    # Where all scalars of the tape are Python's floats, d2 says that the result is one as well.
    return record2(h, INPUT, h.count, 0, 0.0, 0.0 if h.kinds & NUMPY_DOUBLES else <double> PYTHON_FLOATS, value)


cdef object value_seen(Dual x):
    """The value of a dual, for the program to see."""
    if traces.recordings:
        look_exactly(x)
    return x.v


cdef Dual answered(Dual result, object function, tuple operands):
    """The same dual. A recording notes that its value is what a function returns, which the opcode may not compute."""
    cdef Head *h
    if traces.recordings:
        h = head_of_dual(result)
        if h.guards != NULL:
            guard(h, TE_CALL, result.id, 0, <double> len(tape_of(h).noted))
            tape_of(h).note(h.count, (TE_CALL, function, [asked(h, x) for x in operands]))
    return result


cdef tuple asked(Head *h, object x):
    """(id, constant) of an operand; an id of 0 is the constant."""
    if type(x) is not Dual:
        return 0, x
    if (<Dual> x).tag != h.tag:
        h.guards.lost = b"it works on values of a trace around it"
    return (<Dual> x).id, None


cdef Dual by_ufunc(Dual result, int op, object ufunc, tuple operands):
    """The result of a ufunc. Only for these opcodes it is certain that numpy computes the same bits as C."""
    if op == OP_ADD or op == OP_SUB or op == OP_MUL or op == OP_DIV or op == OP_NEG or op == OP_ABS or op == OP_SQRT:
        return result
    return answered(result, ufunc, operands)


cdef object answer(object d, double value, object function, tuple operands):
    """A number with the same derivative as d, and the value that a function returns."""
    if type(d) is not Dual or head_of_dual(<Dual> d).guards == NULL:
        return with_value(d, value)
    return answered(with_right(<Dual> d, 0.0, OP_ADD, value), function, operands)


cdef object number_seen(Dual x):
    """The number that the plain program sees, of its class."""
    return (numpy.float64 if is_numpy(x) else float)(value_seen(x))


cdef object integer_seen(Dual x, int kind, object integer_of):
    """The integer to which a dual is converted, for the program to see."""
    if traces.recordings and not isfinite(x.v):
        look_exactly(x)     # an error also tells the program about the value
    integer = integer_of(x.v)
    if traces.recordings:
        look(x, kind, <double> integer)
    return integer


cdef int look_compared(Dual x, object y, double b, int kind, bint holds) except -1:
    """Record the outcome of a comparison of x with y, whose value is b."""
    cdef uint32_t i = x.id, j = 0
    cdef Head *h = join(x, <Dual> y, &i, &j) if type(y) is Dual else head_of_dual(x)
    cdef int known = TE_LT_TRUE if kind == Py_LT or kind == Py_GT else TE_LE_TRUE
    if kind == Py_EQ or kind == Py_NE:
        return learn(h, TE_EQ_TRUE if holds == (kind == Py_EQ) else TE_EQ_FALSE, i, j, b)
    if not holds:
        known = TE_LT_FALSE if known == TE_LT_TRUE else TE_LE_FALSE
    if kind == Py_LT or kind == Py_LE:
        return learn(h, known, i, j, b)
    return learn(h, known, j, i, b)


cdef uint32_t id_on(Head *h, Dual x) except 0:
    """The id of x on the tape of h: its own, or that of a link if x belongs to an outer trace."""
    if x.tag == h.tag:
        return x.id
    head_of_dual(x)
    return carried(h, x.tag, x.id, x.v)


cdef Head *join(Dual x, Dual y, uint32_t *i, uint32_t *j) except NULL:
    """The inner trace of two duals (the later one), and their ids on its tape."""
    cdef Head *h = head_of_dual(x)
    if x.tag != y.tag:
        head_of_dual(y)
        if y.tag > x.tag:
            h = head_of_dual(y)
    i[0] = id_on(h, x)
    j[0] = id_on(h, y)
    return h


cdef inline Dual unary(Dual x, const int op, double value):
    cdef Head *h = traces.current
    if h.tag != x.tag:
        h = head_of_dual(x)
    return new_dual(value, record1(h, op, x.id, op_da(op, x.v, 0.0, value), 0.0, value), x.tag)


cdef inline Dual both(Dual x, Dual y, const int op, double value):
    cdef Head *h = traces.current
    cdef uint32_t i = x.id, j = y.id
    if x.tag != y.tag or h.tag != x.tag:
        h = join(x, y, &i, &j)
    i = record2(h, op, i, j, op_da(op, x.v, y.v, value), op_db(op, x.v, y.v, value), value)
    return new_dual(value, i, h.tag)


cdef inline Dual with_right(Dual x, double c, const int op, double value):
    """Record an operation on a dual and a constant to its right."""
    cdef Head *h = traces.current
    if h.tag != x.tag:
        h = head_of_dual(x)
    return new_dual(value, record1(h, op + CONSTANT_RIGHT, x.id, op_da(op, x.v, c, value), c, value), x.tag)


cdef inline Dual with_left(double c, Dual y, const int op, double value):
    """Record an operation on a dual and a constant to its left."""
    cdef Head *h = traces.current
    if h.tag != y.tag:
        h = head_of_dual(y)
    return new_dual(value, record1(h, op + CONSTANT_LEFT, y.id, op_db(op, c, y.v, value), c, value), y.tag)


cdef Dual unary_of(Dual x, int op, double value, int kind):
    """Record a function of one real, whose result is of a kind; 0: of the kind of its operand."""
    cdef Head *h
    if op_selects[op]:
        chosen = selection(x, None, op, value)
        return of_kind(chosen, kind) if kind else as_kind(chosen, is_numpy(x))
    h = head_of_dual(x)
    return new_dual(value, record_function(h, op, x.id, op_da(op, x.v, 0.0, value), kind, value), x.tag)


cdef Dual of_kind(Dual x, int kind):
    """The same dual, whose kind is noted where its record does not tell it."""
    cdef Head *h = head_of_dual(x)
    if kind == NUMPY_DOUBLES and h.kinds & PYTHON_FLOATS:
        tape_of(h).note_double(x.id)
    elif kind == PYTHON_FLOATS and h.kinds & NUMPY_DOUBLES:
        tape_of(h).note_float(x.id)
    return x


cdef bint takes_one(int op) noexcept:
    """Whether a record with one parent is of a function of one number; others are of a number and a constant."""
    return op < CONSTANT_RIGHT


cdef Dual as_kind(Dual x, bint numpys):
    """The same dual, as a numpy.float64 or a Python float."""
    if is_numpy(x) != numpys:
        if numpys:
            tape_of(head_of_dual(x)).note_double(x.id)
        else:
            tape_of(head_of_dual(x)).note_float(x.id)
    return x


cdef Dual as_float(Dual x):
    """float(x)."""
    return of_kind(with_right(x, -0.0, OP_ADD, x.v), PYTHON_FLOATS) if is_numpy(x) else x


cdef Dual as_numpy(Dual x):
    """numpy.float64(x)."""
    return x if is_numpy(x) else of_kind(with_right(x, -0.0, OP_ADD, x.v), NUMPY_DOUBLES)


cdef Dual selection(object x, object y, int op, double value):
    """Record an operation that selects one of its operands; see `record_selection`."""
    cdef Head *h
    cdef uint32_t i = 0, j = 0
    cdef double a = 0.0, b = 0.0
    if type(x) is Dual and type(y) is Dual:
        h = join(<Dual> x, <Dual> y, &i, &j)
        a, b = (<Dual> x).v, (<Dual> y).v
    elif type(x) is Dual:
        h, i, a = head_of_dual(<Dual> x), (<Dual> x).id, (<Dual> x).v
        if y is not None:
            as_double(y, &b)
    else:
        h, j, b = head_of_dual(<Dual> y), (<Dual> y).id, (<Dual> y).v
        as_double(x, &a)
    return new_dual(value, record_selection(h, op, i, j, a, b, value), h.tag)


cdef Dual binary_of(object x, object y, int op, double value):
    """Record an operation on two reals whose value is known; at least one of them is a dual."""
    cdef double c = 0.0
    if op_selects[op]:
        return selection(x, y, op, value)
    if type(x) is Dual:
        if type(y) is Dual:
            return both(<Dual> x, <Dual> y, op, value)
        as_double(y, &c)
        return with_right(<Dual> x, c, op, value)
    as_double(x, &c)
    return with_left(c, <Dual> y, op, value)


cdef bint by_numpy(object x, object y) except -1:
    """Whether x op y is an operation of numpy's scalars; a fraction on the right makes a float of x."""
    return (is_numpy(x) or is_numpy(y)) and type(y) is not fractions.Fraction


#: The methods that comparisons call of a right operand.
cdef tuple SWAPPED = ("__gt__", "__ge__", "__eq__", "__ne__", "__lt__", "__le__")     # by Py_LT, Py_LE, ...
cdef dict operator_ufuncs = {
    OP_ADD: numpy.add, OP_SUB: numpy.subtract, OP_MUL: numpy.multiply, OP_DIV: numpy.divide, OP_POW: numpy.power,
    OP_MOD: numpy.remainder,
}
cdef dict operators = {
    OP_ADD: operator.add, OP_SUB: operator.sub, OP_MUL: operator.mul, OP_DIV: operator.truediv, OP_POW: operator.pow,
    OP_MOD: operator.mod,
}


cdef object of_doubles(int op, double a, double b):
    """a op b as of numpy's scalars, which warn or raise as `numpy.errstate` says."""
    return operators[op](numpy.float64(a), b)


cdef int report(object x, object y, int op) except -1:
    """Warn or raise as numpy does if x op y, which is infinite or NaN, is an operation on its scalars.

    An operand that is NaN, and a result as infinite as an operand, are no news.
    """
    cdef double a = 0.0, b = 0.0, v
    operands(x, y, None, &a, &b)
    v = op_value(op, a, b)
    if isnan(a) or isnan(b) or not (isnan(v) or isfinite(a) and isfinite(b)) or not by_numpy(x, y):
        return 0
    try:
        of_doubles(op, a, b)
    except Exception:
        look_at_operands(x, y)
        raise
    return 0


cdef bint answers(object x, object other, object ufunc, bint is_left=False) except -1:
    return above("arrays.array").answers_to_numpy(other, ufunc if is_numpy(x) else None, is_left)


cdef object beyond_reals(object x, object y, object ufunc):
    """x op y with a complex number, a sequence or another library's array, by numpy's rules; else NotImplemented."""
    other, dual = (y, x) if type(x) is Dual else (x, y)
    if PyFloat_Check(other):    # its own method is called
        return NotImplemented
    if type(other) is complex:
        return above("scalars.complex").operation(x, y, ufunc)
    if other_precision(other):
        rules = rules_of(<Dual> dual, ufunc)
        if ufunc is numpy.power:
            return rules.operator(ufunc, x, y)
        return rules.ufunc(ufunc, "__call__", (x, y), {})
    if not isinstance(other, (complex, numpy.complexfloating)) and not answers(dual, other, ufunc, other is x):
        return NotImplemented
    return rules_of(<Dual> dual, ufunc).ufunc(ufunc, "__call__", (x, y), {})


cdef inline double valued(object x, object y, const int op, double a, double b) except? -1.0:
    """The value of x op y."""
    cdef double v = op_value(op, a, b)
    if not isfinite(v):
        report(x, y, op)
    return v


cdef inline object arithmetic(object x, object y, const int op, str name):
    """x op y for operations that raise only what numpy's scalars do."""
    cdef double c = 0.0
    if type(x) is Dual:
        if type(y) is Dual:
            return both(<Dual> x, <Dual> y, op, valued(x, y, op, (<Dual> x).v, (<Dual> y).v))
        if PyFloat_CheckExact(y):
            c = PyFloat_AS_DOUBLE(y)
            return with_right(<Dual> x, c, op, valued(x, y, op, (<Dual> x).v, c))
        if not as_right(y, name, &c):
            return beyond_reals(x, y, operator_ufuncs[op])
        return with_number(with_right(<Dual> x, c, op, valued(x, y, op, (<Dual> x).v, c)), x, y)
    if PyFloat_CheckExact(x):
        c = PyFloat_AS_DOUBLE(x)
        return with_left(c, <Dual> y, op, valued(x, y, op, c, (<Dual> y).v))
    if not as_operand(x, &c):
        return beyond_reals(x, y, operator_ufuncs[op])
    return with_number(with_left(c, <Dual> y, op, valued(x, y, op, c, (<Dual> y).v)), x, y)


cdef object with_number(Dual result, object x, object y):
    """The result of x op y, one of them a number: a numpy.float64 if that is a numpy scalar, a float if y a fraction."""
    constant = y if type(x) is Dual else x
    if type(constant) is Dual or PyLong_CheckExact(constant):
        return result
    if type(y) is fractions.Fraction:
        return of_kind(result, PYTHON_FLOATS)
    return of_kind(result, NUMPY_DOUBLES) if is_numpy_scalar(constant) else result


cdef inline bint operands(object x, object y, str name, double *a, double *b) except -1:
    """The values of two operands, one of them a dual; False if the other is no real number, or has its own method."""
    if type(x) is Dual:
        a[0] = (<Dual> x).v
    elif not as_operand(x, a):
        return False
    if type(y) is Dual:
        b[0] = (<Dual> y).v
    elif not as_right(y, name, b):
        return False
    return True


cdef int look_at_operands(object x, object y) except -1:
    """Record that the program learns something about two operands together: a result, or that they raise."""
    if not traces.recordings:
        return 0
    if type(x) is Dual:
        look_exactly(<Dual> x)
    if type(y) is Dual:
        look_exactly(<Dual> y)
    return 0


cdef object rounded_down(object x, object y, object a, object b, object function):
    """The quotient of the values a and b of two operands, for the program to see."""
    if by_numpy(x, y):
        a = numpy.float64(a)
    return quotient(x, y, a, b, function) if traces.recordings else function(a, b)


cdef Dual by_zero(object x, object y, int op, object function):
    """A quotient or remainder by 0."""
    cdef double a = 0.0, b = 0.0
    look_at_operands(x, y)
    if not by_numpy(x, y):
        function(1.0, 0.0)   # raises the error of this version of Python
    operands(x, y, None, &a, &b)
    return with_number(binary_of(x, y, op, of_doubles(op, a, b)), x, y)


cdef double power_value(object x, object y, double a, double b) except? -1.0:
    """a ** b with the value, the warnings and the errors of Python's floats or numpy's."""
    cdef double v = pow(a, b)
    if isfinite(v) and (a > 0 or v != 0 or b >= 0):
        return v
    look_at_operands(x, y)
    if by_numpy(x, y):
        return of_doubles(OP_POW, a, b)
    result = a ** <object> b
    if type(result) is complex:
        raise UnsupportedError(
            f"{a!r} ** {b!r} is complex, but a dual number is real. "
            "Use abs(x) ** p and apply the sign yourself, or use a complex array (numpy.complex128)"
        )
    return result


def with_value(d, double value):
    """A number with the same derivative and another value, such as a more accurate one."""
    if type(d) is not Dual:
        return value
    cdef Head *h = head_of_dual(<Dual> d)
    cdef uint32_t id = record1(h, OP_ADD + CONSTANT_RIGHT, (<Dual> d).id, 1.0, value - (<Dual> d).v, value)
    return new_dual(value, id, (<Dual> d).tag)


cdef object drop(Dual x, str how):
    return DroppedDerivativeError(how.format(value=repr(x.v)))


cdef dict ufunc_opcodes = {getattr(numpy, name): op for op in range(OP_COUNT) for name in op_ufuncs[op].decode().split()}
cdef dict comparisons = {
    numpy.less: Py_LT, numpy.less_equal: Py_LE, numpy.equal: Py_EQ, numpy.not_equal: Py_NE, numpy.greater: Py_GT,
    numpy.greater_equal: Py_GE,
}


def opcode_of(ufunc):
    """The opcode of a ufunc, None if it has none."""
    return ufunc_opcodes.get(ufunc)


cdef object scalar_ufunc(object ufunc, tuple inputs):
    """Apply a ufunc that has an opcode, or a discrete result, to scalars; NotImplemented for other ufuncs."""
    cdef double c = 0.0
    cdef list values = []
    op = ufunc_opcodes.get(ufunc)
    kind = comparisons.get(ufunc) if op is None else None
    if op is None and kind is None and ufunc is not numpy.floor_divide and ufunc is not numpy.divmod:
        return NotImplemented
    for x in inputs:
        if type(x) is Dual:
            values.append((<Dual> x).v)
        elif as_operand(x, &c):
            values.append(c)
        else:
            return NotImplemented
    if kind is not None:    # a recording notes the outcome only
        values = [x if type(x) is Dual else y for x, y in zip(inputs, values)]
        return numpy_true if PyObject_RichCompare(values[0], values[1], kind) else numpy_false
    if op is None:
        look_at_all(inputs)
    try:
        found = ufunc(*values)
    except ArithmeticError:     # an error also tells the program about the values
        look_at_all(inputs)
        raise
    if op is None:
        if ufunc is not numpy.divmod:
            return found
        return found[0], of_kind(binary_of(inputs[0], inputs[1], OP_MOD, found[1]), NUMPY_DOUBLES)
    if len(values) == 1:
        return by_ufunc(unary_of(<Dual> inputs[0], op, found, NUMPY_DOUBLES), op, ufunc, inputs)
    return by_ufunc(of_kind(binary_of(inputs[0], inputs[1], op, found), NUMPY_DOUBLES), op, ufunc, inputs)


cdef int look_at_all(tuple operands) except -1:
    for x in operands:
        if type(x) is Dual:
            value_seen(<Dual> x)
    return 0


cdef object rules_of(Dual x, object function):
    rules = tape_of(head_of_dual(x)).rules
    if rules is None:
        raise UnsupportedError(
            f"numpy.{function.__name__} of a dual number needs an engine with numpy rules; "
            "install the primitives of tapeengine")
    return rules


@cython.final
@cython.no_gc
cdef class Dual:
    """A scalar that is being differentiated: a float whose computation is recorded on a tape.

    Duals are made when a transform such as `vjp` runs a program, which uses them like floats.
    Comparisons, `bool`, `int`, `round` and `//` look at the value and give plain results.

    Attributes
    ----------
    value : float
        The value, without the derivative.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.grad(lambda x: x * x if x > 0 else -x)(3.0)
    6.0
    """

    def __init__(self, *args, **options):
        refused()

    @property
    def _value(self):
        """The value as a float, without the derivative."""
        return value_seen(self)

    @property
    def __class__(self):
        """A class that has float among its bases."""
        return FloatLike

    # -- arithmetic ---------------------------------------------------------------------------------------------------
    def __add__(x, y):
        return arithmetic(x, y, OP_ADD, "__radd__")

    def __sub__(x, y):
        return arithmetic(x, y, OP_SUB, "__rsub__")

    def __mul__(x, y):
        return arithmetic(x, y, OP_MUL, "__rmul__")

    def __truediv__(x, y):
        cdef double a = 0.0, b = 0.0
        if not operands(x, y, "__rtruediv__", &a, &b):
            return beyond_reals(x, y, numpy.divide)
        return by_zero(x, y, OP_DIV, operator.truediv) if b == 0 else arithmetic(x, y, OP_DIV, "__rtruediv__")

    def __mod__(x, y):
        cdef double a = 0.0, b = 0.0
        if not operands(x, y, "__rmod__", &a, &b):
            return beyond_reals(x, y, numpy.remainder)
        return by_zero(x, y, OP_MOD, operator.mod) if b == 0 else arithmetic(x, y, OP_MOD, "__rmod__")

    def __floordiv__(x, y):
        cdef double a = 0.0, b = 0.0
        if not operands(x, y, "__rfloordiv__", &a, &b):
            return beyond_reals(x, y, numpy.floor_divide)
        return rounded_down(x, y, a, b, operator.floordiv)

    def __divmod__(x, y):
        cdef double a = 0.0, b = 0.0
        if not operands(x, y, "__rdivmod__", &a, &b):
            return beyond_reals(x, y, numpy.divmod)
        whole, remainder = rounded_down(x, y, a, b, divmod)
        return whole, with_number(binary_of(x, y, OP_MOD, remainder), x, y)

    def __pow__(x, y, modulus):
        cdef double a = 0.0, b = 0.0
        if modulus is not None:
            raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
        if not operands(x, y, "__rpow__", &a, &b):
            return beyond_reals(x, y, numpy.power)
        return with_number(binary_of(x, y, OP_POW, power_value(x, y, a, b)), x, y)

    def __neg__(self):
        return unary(self, OP_NEG, -self.v)

    def __pos__(self):
        return self

    def __abs__(self):
        return unary(self, OP_ABS, abs(self.v))

    # -- primitives and numpy's protocols -----------------------------------------------------------------------------
    @staticmethod
    def __tapeengine_trace__(primitive, args, static):
        """Record a call of a primitive."""
        return above("arrays.array").record(primitive, args, static)

    def __getattr__(self, name):
        """Attributes of numpy scalars that floats lack, and the methods that numpy calls on object-array elements."""
        if name == "__numpy_dtype__" and not is_numpy(self):    # numpy.dtype reads it before `dtype`
            raise TypeError(f"Cannot interpret '{self.v!r}' as a data type")
        if name.startswith("__") and name != "__array_namespace__":
            raise AttributeError(f"a dual number has no attribute {name!r}")
        ufunc = getattr(numpy, name, None)
        if isinstance(ufunc, numpy.ufunc) and name != "conj":
            return partial(ufunc, self)
        return above("arrays.array").attribute_of_number(self, name)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method == "__call__" and not options:
            result = scalar_ufunc(ufunc, inputs)
            if result is not NotImplemented:
                return result
        return rules_of(self, ufunc).by_name(ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        return rules_of(self, function).function(function, args, options)

    # -- discrete results ---------------------------------------------------------------------------------------------
    def __bool__(self):
        if traces.recordings:
            look(self, TE_EQ_FALSE if self.v != 0 else TE_EQ_TRUE, 0.0)
        return self.v != 0

    def __int__(self):
        return integer_seen(self, TE_TRUNC, int)

    def __trunc__(self):
        return integer_seen(self, TE_TRUNC, int)

    def __floor__(self):
        return integer_seen(self, TE_FLOOR, math.floor)

    def __ceil__(self):
        return integer_seen(self, TE_CEIL, math.ceil)

    def __round__(self, ndigits=None):
        if ndigits is None:
            return integer_seen(self, TE_ROUND, round)
        if not traces.recordings or not -1e300 < self.v < 1e300:    # where rounding may be an error
            return round(number_seen(self), ndigits)
        function = numpy.round if is_numpy(self) else round     # numpy rounds in another way than Python
        rounded = function(self.v, ndigits)
        value_seen(answer(self, rounded, function, (self, ndigits)))
        return rounded

    def __richcmp__(x, y, int kind):
        cdef double a = (<Dual> x).v, b = 0.0
        cdef bint holds
        if type(y) is Dual:
            b = (<Dual> y).v
        elif PyFloat_CheckExact(y):
            b = PyFloat_AS_DOUBLE(y)
        elif PyLong_Check(y) and is_small(y):
            b = PyLong_AsDouble(y)
        elif PyLong_Check(y) or isinstance(y, Rational):  # exact, also beyond 2**53
            return PyObject_RichCompare(number_seen(<Dual> x), y, kind)
        elif is_reflected(y, SWAPPED[kind]):
            return NotImplemented
        elif other_precision(y) or PyComplex_CheckExact(y):
            return PyObject_RichCompare(number_seen(<Dual> x), y, kind)
        elif not as_double(y, &b):
            if not isinstance(y, decimal.Decimal) and not answers(x, y, numpy.equal):
                return NotImplemented
            return PyObject_RichCompare(number_seen(<Dual> x), y, kind)
        if kind == Py_LT:
            holds = a < b
        elif kind == Py_GT:
            holds = a > b
        elif kind == Py_LE:
            holds = a <= b
        elif kind == Py_GE:
            holds = a >= b
        elif kind == Py_EQ:
            holds = a == b
        else:
            holds = a != b
        if traces.recordings:
            look_compared(<Dual> x, y, b, kind, holds)
        if is_numpy(x) or is_numpy(y):
            return numpy_true if holds else numpy_false
        return holds

    def is_integer(self):
        """Whether the value is a whole number."""
        return value_seen(self).is_integer()

    # -- a numpy scalar -----------------------------------------------------------------------------------------------
    def __getitem__(self, index):
        """Index like a numpy scalar: with (), ..., None and tuples of them. Python's floats have no items."""
        if not is_numpy(self):
            raise TypeError("'float' object is not subscriptable")
        return above("arrays.reports").scalar_item(above("arrays.array").zero_dim(self), index)

    # -- a real number ------------------------------------------------------------------------------------------------
    @property
    def real(self):
        """The dual itself."""
        return self

    @property
    def imag(self):
        """The imaginary part of a real number, 0.0."""
        return numpy.float64(0.0) if is_numpy(self) else 0.0

    def conjugate(self):
        """The dual itself."""
        return self

    def __repr__(self):
        return repr(number_seen(self))

    def __str__(self):
        return str(value_seen(self))

    def __format__(self, spec):
        return format(value_seen(self), spec)

    # -- operations that would lose the derivative --------------------------------------------------------------------
    def __float__(self):
        if is_formatting():
            return value_seen(self)
        raise DroppedDerivativeError(told(f"a dual number ({self.v!r})", "float"))

    def __hash__(self):
        raise drop(self, "a dual number ({value}) has no hash: sets, dicts and functools.lru_cache find keys by value, "
                   "and would return the derivative of another number with the same value. Use tapeengine.value(x) as "
                   "the key if only the value matters; otherwise use a key that is not differentiated, such as an "
                   "index or a name")

    def as_integer_ratio(self):
        """Refused: a ratio of integers has no derivative."""
        raise drop(self, "as_integer_ratio would turn a dual number ({value}) into integers and lose its derivative. "
                   "Instead of `statistics` use numpy.mean, numpy.var or numpy.std; instead of fractions use "
                   "arithmetic on x itself; tapeengine.value(x) drops the derivative on purpose")

    def hex(self):
        """Refused: a text has no derivative."""
        raise drop(self, "hex would turn a dual number ({value}) into text, and a number read from that text has no "
                   "derivative; tapeengine.value(x).hex() drops the derivative on purpose")

    def __complex__(self):
        raise DroppedDerivativeError(told(f"a dual number ({self.v!r})", "complex number"))

    def __reduce__(self):
        raise drop(self, "a dual number ({value}) cannot be pickled: it refers to a tape of this process. Send "
                   "plain numbers to other processes; tapeengine.value(x) gives one")

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


cdef bint is_small(object integer) except -1:
    """Whether an integer is certainly small enough for a float to hold it exactly."""
    cdef int overflow = 0
    cdef long long n = PyLong_AsLongLongAndOverflow(integer, &overflow)
    return not overflow and -(<long long> 1 << 53) <= n <= <long long> 1 << 53


cdef extern from *:
    """
    static te_dual_pool *te_the_pool;
    static void te_dual_dealloc(PyObject *dual) { te_dual_free(te_the_pool, dual); }
    static void te_use_pool(te_dual_pool *pool, PyObject *type) {
        te_the_pool = pool;
        pool->type = (PyTypeObject *)type;
        pool->type->tp_name = "tapeengine.Dual";  /* which errors of Python show */
        pool->type->tp_dealloc = te_dual_dealloc;
        pool->type->tp_as_sequence->sq_item = NULL;  /* numpy-style subscripts do not make a dual a sequence */
    }
    """
    void te_use_pool(te_dual_pool *pool, object type)

te_use_pool(&pool, Dual)
numbers.Real.register(Dual)
