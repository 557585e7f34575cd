# Kernels for sums and products of float64 arrays.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.blocks cimport ArrayRecord

cdef extern from "tangents.h" nogil:
    void te_sum(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor)

cdef class ContractionRecord(ArrayRecord):
    cdef View result    # None if the result is the record's scalar
    cdef object place(self, uint32_t id)

cdef class SumRecord(ContractionRecord):
    cdef View source
    cdef int axis
    cdef double divisor
    cdef void extents(self, Py_ssize_t *outer, Py_ssize_t *n, Py_ssize_t *inner) noexcept
    cdef int spread(self, Reverse r, object ct) except -1

cdef class ProductRecord(ContractionRecord):
    cdef View left, right       # None where constant
    cdef object left_values, right_values
    cdef object pushed(self, object left, object right)
    cdef int add_outer(self, Reverse r, object ct) except -1

cdef void add_up(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor) noexcept nogil
cdef object total(object x, int axis, bint keepdims, bint mean)
cdef object product(object x, object y)
