# Dual scalars: a value, the id of its backpropagator and the tag of its trace (DN section 5).
from libc.stdint cimport uint32_t
from tapeengine._core.tape.tape cimport Head

cdef class Dual:
    cdef double v
    cdef uint32_t id
    cdef uint32_t tag

cdef extern from "dual_pool.h":
    ctypedef struct te_dual_pool:
        void *type
        void *free
        Py_ssize_t count
    object te_dual_new(te_dual_pool *pool, double value, uint32_t id, uint32_t tag)
    void te_dual_free(te_dual_pool *pool, object dual)

cdef te_dual_pool pool

cdef inline Dual new_dual(double value, uint32_t id, uint32_t tag):
    return <Dual> te_dual_new(&pool, value, id, tag)

# The table of opcodes, compiled once for the modules that do not inline it.
cdef double value_of_op(int op, double a, double b) noexcept nogil
cdef double partial_a(int op, double a, double b, double v) noexcept nogil
cdef double partial_b(int op, double a, double b, double v) noexcept nogil

cdef bint as_double(object x, double *out) except -1
cdef Head *head_of_dual(Dual x) except NULL
cdef object value_seen(Dual x)
cdef object number_seen(Dual x)
cdef bint is_numpy(object x) except -1
cdef Dual as_kind(Dual x, bint numpys)
cdef bint takes_one(int op) noexcept
cdef bint other_precision(object x) except -1
cdef int look(Dual x, int kind, double c) except -1
cdef Dual answered(Dual result, object function, tuple operands)
cdef Dual by_ufunc(Dual result, int op, object ufunc, tuple operands)
cdef object answer(object d, double value, object function, tuple operands)
cdef Dual unary_of(Dual x, int op, double value, int kind)
cdef Dual of_kind(Dual x, int kind)
cdef Dual as_float(Dual x)
cdef Dual as_numpy(Dual x)
cdef Dual binary_of(object x, object y, int op, double value)
cdef uint32_t record_selection(Head *h, int op, uint32_t p1, uint32_t p2, double a, double b, double value) except 0
