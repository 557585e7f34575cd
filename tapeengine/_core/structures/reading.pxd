# Structures held against layouts strictly.
from libc.stdint cimport uint32_t
from tapeengine._core.structures.interleave cimport Layout, Step

cdef class Reader:
    cdef object structures
    cdef list duals     # [(input, dual)] of an outer trace, which are taken for floats; None where there may be none
    cdef bint leaf(self, int kind, uint32_t id, object value) except -1
    cdef bint read(self, Layout layout, object value) except -1
    cdef bint single(self, Layout layout, object value) except -1
    cdef bint floats(self, Step s, object values) except -1
    cdef bint fits(self, int kind, object aux, object value) except -1
    cdef object children(self, int kind, uint32_t n, object aux, object value)

cdef class Arguments(Reader):
    cdef double *v
    cdef tuple known
    cdef Py_ssize_t at

cdef tuple known_leaves(Layout layout, object value, object structures)
