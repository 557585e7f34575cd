# Arithmetic on the parts of complex scalars, each of which is a float or a dual.
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact

from tapeengine._core.scalars.scalar cimport Dual, binary_of, unary_of, value_of_op
from tapeengine._core.tape.opcodes cimport OP_ADD, OP_DIV, OP_MUL, OP_NEG, OP_SUB


cdef inline double v(object x):
    return (<Dual> x).v if type(x) is Dual else PyFloat_AS_DOUBLE(x)


cdef inline object two(object x, object y, int op):
    """An operation on two parts."""
    cdef double value = value_of_op(op, v(x), v(y))
    return binary_of(x, y, op, value) if type(x) is Dual or type(y) is Dual else value


cdef inline object valued(object x, object y, int op, double value):
    """An operation on two parts whose value is known."""
    return binary_of(x, y, op, value) if type(x) is Dual or type(y) is Dual else value


cdef inline object one(object x, int op):
    cdef double value = value_of_op(op, v(x), 0.0)
    return unary_of(<Dual> x, op, value, 0) if type(x) is Dual else value


cdef inline object add(object x, object y):
    return two(x, y, OP_ADD)


cdef inline object sub(object x, object y):
    return two(x, y, OP_SUB)


cdef inline object mul(object x, object y):
    return two(x, y, OP_MUL)


cdef inline object div(object x, object y):
    return two(x, y, OP_DIV)


cdef inline object neg(object x):
    return one(x, OP_NEG)


cdef inline bint is_zero(object x):
    return PyFloat_CheckExact(x) and PyFloat_AS_DOUBLE(x) == 0.0
