# Sums and means of float64 arrays.
from tapeengine._core.records cimport ArrayRecord, Reverse, View

cdef class SumRecord(ArrayRecord):
    cdef View source, result    # result None: the scalar that the record itself is
    cdef int axis
    cdef double divisor
    cdef int spread(self, Reverse r, object ct) except -1

cdef object total(object x, int axis, bint keepdims, bint mean)
