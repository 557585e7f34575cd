# Dual scalars: a value, the id of its backpropagator and the tag of its trace (DN section 5).
from libc.stdint cimport uint32_t
from tapeengine._core.tape cimport Head

cdef class Dual:
    cdef double v
    cdef uint32_t id
    cdef uint32_t tag

cdef inline Dual new_dual(double value, uint32_t id, uint32_t tag):
    cdef Dual d = Dual.__new__(Dual)
    d.v = value
    d.id = id
    d.tag = tag
    return d

cdef bint as_double(object x, double *out) except -1
cdef Head *head_of_dual(Dual x) except NULL
cdef Head *join(Dual x, Dual y, uint32_t *i, uint32_t *j) except NULL
cdef uint32_t id_on(Head *h, Dual x) except 0
cdef Dual unary_of(Dual x, int op, double value)
cdef Dual binary_of(object x, object y, int op, double value)
