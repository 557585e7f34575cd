# Sums and means of float64 arrays.
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.records cimport ArrayRecord

cdef extern from "tangents.h" nogil:
    void te_sum(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor)

cdef class SumRecord(ArrayRecord):
    cdef View source, result    # result is None if the sum is the record's scalar
    cdef int axis
    cdef double divisor
    cdef void extents(self, Py_ssize_t *outer, Py_ssize_t *n, Py_ssize_t *inner) noexcept
    cdef int spread(self, Reverse r, object ct) except -1

cdef void add_up(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor) noexcept nogil
cdef object total(object x, int axis, bint keepdims, bint mean)
